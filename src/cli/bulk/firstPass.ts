import { readSync } from "node:fs";
import type { CheckpointFile } from "../checkpoints/checkpointFile.js";
import { digestOf, type IdHash, IdTable, LineSet } from "../checkpoints/ids.js";

import type { Row } from "../checkpoints/readRows.js";
import type { RowWriter } from "../checkpoints/rowWriter.js";
import { withFile } from "../checkpoints/runFile.js";
import { UsageError } from "../context.js";
import { FileContent } from "../input/fileContent.js";
import type { Line } from "../input/lines.js";
import { type InputRequest, rowsOf } from "../input/readInput.js";
import { BulkRequest, type InputFormat, readLine } from "./bulkRequest.js";

interface FirstPass {
  readonly file: string;
  readonly input: InputRequest;
  readonly signal: AbortSignal;
  readonly reading: InputFormat;
  readonly checkpoint: DoneRequests;
  readonly wrong: WrongRequests;
}

export interface FirstPassResult {
  readonly requests: number;
  /** Lines whose requests are done already. */
  readonly done: LineSet;
  /** How many of them were wrong. */
  readonly wrong: number;
  /** By a field, in how many of the others it is used instead of what the command line gives. */
  readonly ownInstead: ReadonlyMap<string, number>;
  /** What was read: the lines of anything else are not those. */
  readonly content: FileContent;
}

const shown = 5;

/** Reads a whole file before anything is sent. @throws UsageError when an id is there twice, or done with another request */
export async function firstPass(pass: FirstPass): Promise<FirstPassResult> {
  const { file, checkpoint, wrong } = pass;
  const content = new FileContent(file);
  const seen = new IdTable();
  const suspects = new Set<string>();
  const changed: number[] = [];
  const done = new LineSet();
  const ownInstead = new Map<string, number>();
  let wrongs = 0;
  for await (const requests of requestsOf(pass, content)) {
    for (const request of requests) {
      if (seen.has(request.hash)) suspects.add(textOf(request.hash));
      else seen.add(request.hash, request.line);
      const known = checkpoint.find(request);
      if (known === "other") changed.push(request.line);
      const isWrong = known === "wrong" || isKnownWrong(wrong, request);
      if (isWrong) wrongs += 1;
      if (isWrong || known === "done") done.add(request.line);
      else for (const name of request.ownInstead) ownInstead.set(name, (ownInstead.get(name) ?? 0) + 1);
    }
  }
  if (suspects.size > 0) await refuseDuplicates(pass, suspects);
  if (changed.length > 0) throw refusalOf(changed);
  return { requests: seen.size, done, wrong: wrongs, ownInstead, content };
}

// The lines that are requests, many at once.
async function* requestsOf(
  { input, signal, reading }: FirstPass,
  content: FileContent,
): AsyncGenerator<readonly BulkRequest[]> {
  for await (const lines of rowsOf(content.see(signal), input)) {
    content.lines += lines.length;
    const requests: BulkRequest[] = [];
    for (const line of lines) {
      const request = readLine(line, reading);
      if (request instanceof BulkRequest) requests.push(request);
    }
    yield requests;
  }
}

const textOf = ({ high, low }: IdHash): string => `${high}.${low}`;

// Two ids may have one hash: only those with a hash that was there twice are compared as they are.
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
  for await (const requests of requestsOf(pass, content)) for (const request of requests) see(request);
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

/** What an output file holds of earlier runs. */
export class DoneRequests {
  readonly #path: string;
  readonly #ids: IdTable = new IdTable();
  readonly #offsets: number[] = [];
  readonly #fingerprints: number[] = [];
  /** The numbers of those that are errors. */
  readonly #wrong: LineSet = new LineSet();

  /** Rows of requests that ran, and so were paid for, without a result. */
  paid = 0;

  constructor(path: string) {
    this.#path = path;
  }

  get size(): number {
    return this.#ids.size;
  }

  note(line: Line, row: Row): void {
    const number = this.#offsets.length;
    this.#ids.add(digestOf(JSON.stringify(row.id)), number);
    if (row.error !== undefined) this.#wrong.add(number);
    this.#offsets.push(line.offset);
    this.#fingerprints.push(shortened(row.fingerprint));
  }

  /** What became of a request in an earlier run; of another request with the same id, `"other"`. */
  find(request: BulkRequest): "done" | "wrong" | "other" | "no" {
    let found: "other" | "no" = "no";
    for (const number of this.#ids.find(request.hash)) {
      // The fingerprint stands for the id, too.
      if (this.#fingerprints[number] === shortened(request.fingerprint))
        return this.#wrong.has(number) ? "wrong" : "done";
      // Two ids may have one hash: the row says which it is.
      if (this.#keyAt(this.#offsets[number] as number) === request.key) found = "other";
    }
    return found;
  }

  #keyAt(offset: number): string | undefined {
    return withFile(this.#path, "r", (file) => {
      let text = "";
      const chunk = Buffer.alloc(64 * 1024);
      for (let bytes = -1; bytes !== 0 && !text.includes("\n"); text += chunk.toString("latin1", 0, bytes))
        bytes = readSync(file, chunk, 0, chunk.length, offset + text.length);
      return JSON.stringify(JSON.parse(Buffer.from(text.split("\n")[0] ?? "", "latin1").toString()).id);
    });
  }
}

/** Reads what an output file holds. @param resendPaid Then what was paid for in vain is not done @throws UsageError for a line that is no row */
export async function readDone(file: CheckpointFile, resendPaid: boolean): Promise<DoneRequests> {
  const checkpoint = new DoneRequests(file.path);
  await file.read((line, row) => {
    if (isPaid(row)) checkpoint.paid += 1;
    if (!(isPaid(row) && resendPaid)) checkpoint.note(line, row);
  });
  return checkpoint;
}

/** Whether a request ran, and so was paid for, without a result that could be used. */
function isPaid({ final, error }: Row): boolean {
  return final === true && (error as { executed?: unknown } | undefined)?.executed === "yes";
}

/** Opens the output; where it has rows of what is sent again it is written anew without them, so that each id has one. */
export async function openOutput(
  file: CheckpointFile,
  { paid }: DoneRequests,
  resendPaid: boolean,
): Promise<RowWriter> {
  if (!resendPaid || paid === 0) return file.open();
  return file.rewrite((rows) =>
    file.read((_line, row) => {
      if (!isPaid(row)) rows.add(row);
    }),
  );
}

// 48 bits of it, which a number holds exactly.
function shortened(fingerprint: string): number {
  return Buffer.from(fingerprint.slice(0, 8), "base64url").readUIntBE(0, 6);
}

/** What an errors file holds of earlier runs: by the id's JSON, the fingerprints of requests that do not run again. */
export type WrongRequests = Map<string, string>;

/** Reads which requests do not run again, and how many of them were paid for. @throws UsageError for a line that is no row */
export async function readWrong(
  file: CheckpointFile | undefined,
  resendPaid: boolean,
): Promise<{ readonly wrong: WrongRequests; readonly paid: number }> {
  const wrong: WrongRequests = new Map();
  let paid = 0;
  await file?.read((_line, row) => {
    if (isPaid(row)) paid += 1;
    if (row.final === true && !(isPaid(row) && resendPaid))
      wrong.set(JSON.stringify(row.id), row.fingerprint);
  });
  return { wrong, paid };
}

/** Whether a request was found to be wrong; one that was mended since is not known any more. */
export function isKnownWrong(wrong: WrongRequests, request: BulkRequest): boolean {
  const known = wrong.get(request.key);
  if (known === undefined || known === request.fingerprint) return known !== undefined;
  wrong.delete(request.key);
  return false;
}

/** Writes the file anew, with the rows that still hold: all others run again. */
export async function openErrors(file: CheckpointFile, wrong: WrongRequests): Promise<RowWriter> {
  const written = new Set<string>();
  return file.rewrite((rows) =>
    file.read((_line, row) => {
      const key = JSON.stringify(row.id);
      if (row.final !== true || wrong.get(key) !== row.fingerprint || written.has(key)) return;
      written.add(key);
      rows.add(row);
    }),
  );
}
