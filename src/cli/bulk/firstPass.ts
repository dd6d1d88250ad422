import { readSync } from "node:fs";
import type { CheckpointFile } from "../checkpoints/checkpointFile.js";
import { digestOf, type IdHash, IdTable, LineSet } from "../checkpoints/ids.js";
import type { Row } from "../checkpoints/readRows.js";
import type { RowSink } from "../checkpoints/rowWriter.js";
import { withFile } from "../checkpoints/runFile.js";
import { UsageError } from "../context.js";
import { FileContent } from "../input/fileContent.js";
import type { InvalidLines } from "../input/invalidLines.js";
import type { Line } from "../input/lines.js";
import { type InputRequest, rowsOf } from "../input/readInput.js";
import { BulkRequest, type InputFormat, isOwn, readLine } from "./bulkRequest.js";
import { FirstLines, faultOf } from "./firstLines.js";

interface FirstPass {
  readonly file: string;
  readonly input: InputRequest;
  readonly signal: AbortSignal;
  readonly reading: InputFormat;
  /** Reports the invalid lines; undefined without `--strict`. */
  readonly invalid?: InvalidLines | undefined;
  readonly checkpoint: DoneRequests;
  readonly wrong: WrongRequests;
}

export interface FirstPassResult {
  readonly requests: number;
  /** The numbers of the lines whose requests earlier runs have finished. */
  readonly done: LineSet;
  /** How many of the lines in `done` are invalid requests. */
  readonly wrong: number;
  /** How many of the lines in `done` were paid for without a usable result. */
  readonly paid: number;
  /** How many of the lines in `done` were ranked without documents that the service rejected. */
  readonly partly: number;
  /** For each field, how many of the lines to send have a value of their own, used instead of the command line's. */
  readonly ownInstead: ReadonlyMap<string, number>;
  /** For each field that is probably a misspelt request field, how many of the lines to send have it. */
  readonly nearNames: ReadonlyMap<string, number>;
  /** The content that this pass read. The line numbers in `done` are valid for this content only. */
  readonly content: FileContent;
  /** What to say of an input whose few lines are all invalid in the same way. */
  readonly allInvalid: string | undefined;
}

const shown = 5;

/**
 * Reads the whole input before anything is sent.
 * @throws UsageError if two lines have one id, the output has an id with another request, or the first 20 lines are
 * invalid in the same way; with `--strict`, if a line is invalid
 */
export async function firstPass(pass: FirstPass): Promise<FirstPassResult> {
  const { file, checkpoint, wrong } = pass;
  const content = new FileContent(file);
  const first = new FirstLines();
  const seen = new IdTable();
  const suspects = new Set<string>();
  const changed: number[] = [];
  const done = new LineSet();
  const ownInstead = new Map<string, number>();
  const nearNames = new Map<string, number>();
  const ended = { wrong: 0, paid: 0, partly: 0 };
  for await (const requests of requestsOf(pass, content, first)) {
    for (const request of requests) {
      if (seen.has(request.hash)) suspects.add(textOf(request.hash));
      else seen.add(request.hash, request.line);
      const inOutput = checkpoint.find(request);
      if (inOutput === "other") changed.push(request.line);
      const known = inOutput === "no" || inOutput === "other" ? knownError(wrong, request) : inOutput;
      if (known !== undefined && known !== "done") ended[known] += 1;
      if (known !== undefined) done.add(request.line);
      else {
        countEach(request.ownInstead, ownInstead);
        countEach(request.nearNames, nearNames);
      }
    }
  }
  pass.invalid?.refuse();
  if (suspects.size > 0) await refuseDuplicates(pass, suspects);
  if (changed.length > 0) throw refusalOf(changed);
  return { requests: seen.size, done, ...ended, ownInstead, nearNames, content, allInvalid: first.said };
}

// Each line of a file may have other fields: only the first few names are counted.
function countEach(names: readonly string[], counts: Map<string, number>): void {
  for (const name of names) {
    const count = counts.get(name) ?? 0;
    if (count > 0 || counts.size < shown) counts.set(name, count + 1);
  }
}

// The requests of the file, many at a time.
async function* requestsOf(
  { input, signal, reading, invalid }: FirstPass,
  content: FileContent,
  first?: FirstLines,
): AsyncGenerator<readonly BulkRequest[]> {
  for await (const lines of rowsOf(content.see(signal), input)) {
    content.lines += lines.length;
    const requests: BulkRequest[] = [];
    for (const line of lines) {
      const read = readLine(line, reading);
      if (read === undefined) continue;
      first?.add(read);
      if (!isOwn(read, reading)) continue;
      if (read instanceof BulkRequest) requests.push(read);
      const problem = invalid && faultOf(read);
      if (problem !== undefined) invalid?.add({ line: read.line, problem });
    }
    yield requests;
  }
}

const textOf = ({ high, low }: IdHash): string => `${high}.${low}`;

// Two different ids may have the same hash. So the ids whose hash occurred twice (`suspects`) are compared as text.
async function refuseDuplicates(pass: FirstPass, suspects: ReadonlySet<string>): Promise<void> {
  const lines = new Map<string, number>();
  const found: string[] = [];
  let count = 0;
  const see = ({ key, line, hash }: BulkRequest): void => {
    if (!suspects.has(textOf(hash))) return;
    const first = lines.get(key);
    if (first === undefined) lines.set(key, line);
    else if (++count <= shown) found.push(`line ${line} has the id of line ${first}`);
  };
  const content = new FileContent(pass.file);
  for await (const requests of requestsOf({ ...pass, invalid: undefined }, content))
    for (const request of requests) see(request);
  if (count === 0) return;
  const more = count > shown ? `, and ${count - shown} more` : "";
  throw new UsageError(`Each id may occur only once: ${found.join(", ")}${more}. Nothing was sent.`);
}

function refusalOf(changed: readonly number[]): UsageError {
  const lines = changed.slice(0, shown).join(", ");
  const more = changed.length > shown ? `, and ${changed.length - shown} more` : "";
  const s = changed.length === 1 ? "" : "s";
  return new UsageError(
    `Line${s} ${lines}${more}: the id is done in --output, but with another request or other options. Use another id, or name another --output. Nothing was sent.`,
  );
}

/** The finished requests that an output file holds from earlier runs. */
export class DoneRequests {
  readonly #path: string;
  readonly #ids: IdTable = new IdTable();
  readonly #offsets: number[] = [];
  readonly #fingerprints: number[] = [];
  /** The numbers of the rows of invalid requests, and of requests that were paid for without a usable result. */
  readonly #wrong: LineSet = new LineSet();
  readonly #paid: LineSet = new LineSet();
  /** The numbers of the rows of requests that were ranked without documents which the service rejected. */
  readonly #partly: LineSet = new LineSet();

  /** Whether there are rows of requests that were paid for without a usable result. */
  hasPaid = false;

  constructor(path: string) {
    this.#path = path;
  }

  get size(): number {
    return this.#ids.size;
  }

  note(line: Line, row: Row): void {
    const number = this.#offsets.length;
    this.#ids.add(digestOf(JSON.stringify(row.id)), number);
    if (row.rejected !== undefined) this.#partly.add(number);
    if (row.error !== undefined) (isPaid(row) ? this.#paid : this.#wrong).add(number);
    this.#offsets.push(line.offset);
    this.#fingerprints.push(shortened(row.fingerprint));
  }

  /**
   * How a request ended in an earlier run. `"done"`: it has a result. `"partly"`: its result lacks documents.
   * `"wrong"`: it was invalid. `"paid"`: it was paid for, but has no usable result. `"no"`: it has no row. `"other"`:
   * the row with its id belongs to another request.
   */
  find(request: BulkRequest): "done" | "partly" | "wrong" | "paid" | "other" | "no" {
    let found: "other" | "no" = "no";
    for (const number of this.#ids.find(request.hash)) {
      // The fingerprint covers the id too, so this row is of the same request.
      if (this.#fingerprints[number] === shortened(request.fingerprint)) {
        if (this.#paid.has(number)) return "paid";
        if (this.#partly.has(number)) return "partly";
        return this.#wrong.has(number) ? "wrong" : "done";
      }
      // Two different ids may have the same hash, so the id is read from the row in the file.
      if (JSON.stringify(this.rowAt(this.#offsets[number] as number).id) === request.key) found = "other";
    }
    return found;
  }

  /** Where the row with a request's ranking begins in the file; undefined if the file has no ranking of it. */
  rankedAt(request: BulkRequest): number | undefined {
    const number = [...this.#ids.find(request.hash)].find(
      (each) => this.#fingerprints[each] === shortened(request.fingerprint),
    );
    if (number === undefined || this.#wrong.has(number) || this.#paid.has(number)) return undefined;
    return this.#offsets[number];
  }

  /** Reads a row of the file. */
  rowAt(offset: number): Row {
    return withFile(this.#path, "r", (file) => {
      let text = "";
      const chunk = Buffer.alloc(64 * 1024);
      for (let bytes = -1; bytes !== 0 && !text.includes("\n"); text += chunk.toString("latin1", 0, bytes))
        bytes = readSync(file, chunk, 0, chunk.length, offset + text.length);
      return JSON.parse(Buffer.from(text.split("\n")[0] ?? "", "latin1").toString());
    });
  }
}

/**
 * Reads the finished requests of an output file.
 * @param resendPaid If true, requests paid for without a usable result do not count as finished
 * @throws UsageError for a line that is no row
 */
export async function readDone(file: CheckpointFile, resendPaid: boolean): Promise<DoneRequests> {
  const checkpoint = new DoneRequests(file.path);
  await file.read((line, row) => {
    if (isPaid(row)) checkpoint.hasPaid = true;
    if (!(isPaid(row) && resendPaid)) checkpoint.note(line, row);
  });
  return checkpoint;
}

/** Whether the request of a row ran, and so was paid for, without a usable result. */
function isPaid({ final, error }: Row): boolean {
  return final === true && (error as { executed?: unknown } | undefined)?.executed === "yes";
}

/**
 * Opens the output for new rows. If paid requests are sent again, the file is first rewritten without their old rows,
 * so that each id has one row.
 */
export async function openOutput(
  file: CheckpointFile,
  { hasPaid }: DoneRequests,
  resendPaid: boolean,
): Promise<RowSink> {
  if (!resendPaid || !hasPaid) return file.open();
  return file.rewrite((rows) =>
    file.read((_line, row) => {
      if (!isPaid(row)) rows.add(row);
    }),
  );
}

// The first 48 bits of a fingerprint, which a number holds exactly.
function shortened(fingerprint: string): number {
  return Buffer.from(fingerprint.slice(0, 8), "base64url").readUIntBE(0, 6);
}

/** The requests in an errors file that do not run again, by their ids as JSON. */
export type WrongRequests = Map<string, { readonly fingerprint: string; readonly ended: "wrong" | "paid" }>;

/** Reads from an errors file which requests do not run again. @throws UsageError for a line that is no row */
export async function readWrong(
  file: CheckpointFile | undefined,
  resendPaid: boolean,
): Promise<WrongRequests> {
  const wrong: WrongRequests = new Map();
  await file?.read((_line, row) => {
    const { id, fingerprint } = row;
    const ended = isPaid(row) ? "paid" : "wrong";
    if (row.final === true && !(ended === "paid" && resendPaid))
      wrong.set(JSON.stringify(id), { fingerprint, ended });
  });
  return wrong;
}

/**
 * How this request failed for good in an earlier run; undefined if it did not. If the request has changed since then,
 * its entry is deleted.
 */
export function knownError(wrong: WrongRequests, request: BulkRequest): "wrong" | "paid" | undefined {
  const known = wrong.get(request.key);
  if (known === undefined || known.fingerprint === request.fingerprint) return known?.ended;
  wrong.delete(request.key);
  return undefined;
}

/** Rewrites the errors file with only the rows of requests that do not run again. */
export async function openErrors(file: CheckpointFile, wrong: WrongRequests): Promise<RowSink> {
  const written = new Set<string>();
  return file.rewrite((rows) =>
    file.read((_line, row) => {
      const key = JSON.stringify(row.id);
      if (row.final !== true || wrong.get(key)?.fingerprint !== row.fingerprint || written.has(key)) return;
      written.add(key);
      rows.add(row);
    }),
  );
}
