// The rows that earlier runs left in the output and errors files: they say which requests are not sent again.
import { readSync } from "node:fs";
import type { CheckpointFile } from "../checkpoints/checkpointFile.js";
import { digestOf, IdTable, LineSet } from "../checkpoints/ids.js";
import type { Row } from "../checkpoints/readRows.js";
import type { RowSink } from "../checkpoints/rowWriter.js";
import { withFile } from "../checkpoints/runFile.js";
import type { Line } from "../input/lines.js";
import type { BulkRequest } from "./bulkRequest.js";

type Asked = Pick<BulkRequest, "key" | "hash" | "fingerprint">;

/** How a request ended for good without a ranking: it is invalid, or it was paid for. */
type EndedWrong = "wrong" | "paid";

/** The rows of earlier runs. */
export class EarlierRows {
  readonly output: OutputRows;
  readonly #errors: ErrorRows;

  private constructor(output: OutputRows, errors: ErrorRows) {
    this.output = output;
    this.#errors = errors;
  }

  /**
   * Reads the rows of an output file, and of an errors file, if there is one.
   * @param resendPaid If true, requests that were paid for without a usable result are sent again: only those that were
   * sent again least often, so that after an interruption the next run goes on with those that this one did not reach
   * @throws UsageError for a line that is no row
   */
  static async read(
    output: Pick<CheckpointFile, "path" | "read">,
    errors: Pick<CheckpointFile, "read"> | undefined,
    resendPaid: boolean,
  ): Promise<EarlierRows> {
    const rows = new EarlierRows(new OutputRows(output.path), new ErrorRows());
    await output.read((line, row) => rows.output.note(line, row));
    await errors?.read((line, row) => rows.#errors.note(line, row));
    if (resendPaid) {
      const least = Math.min(rows.output.leastResent, rows.#errors.leastResent);
      rows.output.resend = least;
      rows.#errors.resend = least;
    }
    return rows;
  }

  get size(): number {
    return this.output.size + this.#errors.size;
  }

  /**
   * How a request ended in an earlier run. `"done"`: it has a result. `"partly"`: its result lacks documents.
   * `"wrong"`: it was invalid. `"paid"`: it was paid for, but has no usable result. `"no"`: it is to be sent. `"other"`:
   * its id has the result of another request.
   */
  find(request: Asked): "done" | "partly" | EndedWrong | "other" | "no" {
    const found = this.output.find(request);
    return found === "no" ? (this.#errors.find(request) ?? "no") : found;
  }

  /**
   * How often a request, which is sent now, was sent again after it was paid for, this time included; 0 if an error row of
   * its id was of another request. Undefined if its id has no error row.
   */
  resentOf(request: Asked): number | undefined {
    return this.output.resentOf(request) ?? this.#errors.resentOf(request);
  }

  /** Opens the output for new rows. It is rewritten without error rows that a later row of their id has replaced. */
  openOutput(file: CheckpointFile): Promise<RowSink> | RowSink {
    const { output } = this;
    if (!output.hasReplaced) return file.open();
    let number = 0;
    return file.rewrite((rows) =>
      file.read((_line, row) => {
        if (!output.isReplaced(number++)) rows.add(row);
      }),
    );
  }

  /** Rewrites the errors file with only the rows of requests that have no result, and do not run again unasked. */
  openErrors(file: CheckpointFile): Promise<RowSink> {
    return file.rewrite((rows) =>
      file.read((line, row) => {
        if (this.#errors.isLast(line, row) && this.output.find(askedIn(row)) === "no") rows.add(row);
      }),
    );
  }
}

/**
 * Drops the rows of earlier runs whose request has another final row now, so that each id has one row.
 * @param replaced The ids, as JSON
 * @param end Where the rows of earlier runs end
 */
export async function dropReplaced(
  file: CheckpointFile,
  replaced: ReadonlySet<string>,
  end: number,
): Promise<void> {
  await file.rewrite((rows) =>
    file.read((line, row) => {
      if (line.offset >= end || !replaced.has(JSON.stringify(row.id))) rows.add(row);
    }),
  );
}

function askedIn({ id, fingerprint }: Row): Asked {
  const key = JSON.stringify(id);
  return { key, hash: digestOf(key), fingerprint };
}

/** The rows of an output file, by the hash of their id. */
class OutputRows {
  /** A request that was paid for is sent again if it was sent again exactly this often before; undefined: none is. */
  resend: number | undefined;
  readonly #path: string;
  readonly #ids: IdTable = new IdTable();
  readonly #offsets: number[] = [];
  readonly #fingerprints: number[] = [];
  /** The numbers of the rows of invalid requests, and of requests that were paid for without a usable result. */
  readonly #wrong: LineSet = new LineSet();
  readonly #paid: LineSet = new LineSet();
  /** The numbers of the rows of requests that were ranked without documents which the service rejected. */
  readonly #partly: LineSet = new LineSet();
  /** The numbers of error rows that a later row of the same id has replaced. */
  readonly #replaced: LineSet = new LineSet();
  /** How often the requests of rows in `#paid` were sent again; missing for 0. */
  readonly #resent: Map<number, number> = new Map();

  constructor(path: string) {
    this.#path = path;
  }

  get size(): number {
    return this.#ids.size - this.#replaced.size;
  }

  get hasReplaced(): boolean {
    return this.#replaced.size > 0;
  }

  /** The least number of times that a request which was paid for was sent again; Infinity if there is none. */
  get leastResent(): number {
    let least = Number.POSITIVE_INFINITY;
    for (let number = 0; number < this.#offsets.length && this.#paid.size > 0; number += 1)
      if (this.#paid.has(number) && !this.#replaced.has(number))
        least = Math.min(least, this.#resent.get(number) ?? 0);
    return least;
  }

  note(line: Line, row: Row): void {
    const { key, hash } = askedIn(row);
    const number = this.#offsets.length;
    const before = this.#ids.has(hash) ? this.#errorOf({ key, hash }) : undefined;
    if (before !== undefined) this.#replaced.add(before);
    this.#ids.add(hash, number);
    if (row.rejected !== undefined) this.#partly.add(number);
    if (row.error !== undefined) (isPaid(row) ? this.#paid : this.#wrong).add(number);
    if (row.resent !== undefined) this.#resent.set(number, row.resent);
    this.#offsets.push(line.offset);
    this.#fingerprints.push(shortened(row.fingerprint));
  }

  isReplaced(number: number): boolean {
    return this.#replaced.has(number);
  }

  find(request: Asked): "done" | "partly" | EndedWrong | "other" | "no" {
    let found: "other" | "no" = "no";
    for (const number of this.#ids.find(request.hash)) {
      if (this.#replaced.has(number)) continue;
      // A fingerprint covers the id too: a row with the request's fingerprint is of the same request.
      if (this.#fingerprints[number] === shortened(request.fingerprint)) {
        if (this.#paid.has(number)) return (this.#resent.get(number) ?? 0) === this.resend ? "no" : "paid";
        if (this.#partly.has(number)) return "partly";
        return this.#wrong.has(number) ? "wrong" : "done";
      }
      if (!this.#isError(number) && this.#hasId(number, request.key)) found = "other";
    }
    return found;
  }

  resentOf(request: Asked): number | undefined {
    const number = this.#errorOf(request);
    if (number === undefined) return undefined;
    const isSame = this.#fingerprints[number] === shortened(request.fingerprint);
    return isSame ? (this.#resent.get(number) ?? 0) + 1 : 0;
  }

  /** Where the row with a request's ranking begins in the file; undefined if the file has no ranking of it. */
  rankedAt(request: Asked): number | undefined {
    const fingerprint = shortened(request.fingerprint);
    const number = [...this.#ids.find(request.hash)].find(
      (each) => this.#fingerprints[each] === fingerprint && !this.#isError(each),
    );
    return number === undefined ? undefined : this.#offsets[number];
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

  #isError(number: number): boolean {
    return this.#wrong.has(number) || this.#paid.has(number);
  }

  // Returns the number of an id's error row, unless a later row has replaced that row.
  #errorOf({ key, hash }: Pick<Asked, "key" | "hash">): number | undefined {
    for (const number of this.#ids.find(hash))
      if (this.#isError(number) && !this.#replaced.has(number) && this.#hasId(number, key)) return number;
    return undefined;
  }

  // Two different ids may have the same hash, so the id is read from the row in the file.
  #hasId(number: number, key: string): boolean {
    return JSON.stringify(this.rowAt(this.#offsets[number] as number).id) === key;
  }
}

interface ErrorRow {
  readonly fingerprint: string;
  readonly ended: EndedWrong;
  readonly resent: number;
  readonly offset: number;
}

/** The final rows of an errors file: the last one of each id, by the id as JSON. */
class ErrorRows {
  /** The same as `resend` of {@link OutputRows}. */
  resend: number | undefined;
  readonly #rows: Map<string, ErrorRow> = new Map();

  get size(): number {
    return this.#rows.size;
  }

  get leastResent(): number {
    const paid = [...this.#rows.values()].filter(({ ended }) => ended === "paid");
    return paid.reduce((least, { resent }) => Math.min(least, resent), Number.POSITIVE_INFINITY);
  }

  note({ offset }: Line, row: Row): void {
    const { id, fingerprint, final, resent = 0 } = row;
    const ended = isPaid(row) ? "paid" : "wrong";
    if (final === true) this.#rows.set(JSON.stringify(id), { fingerprint, ended, resent, offset });
  }

  /** How a request failed for good. If the request has changed since then, its entry is deleted. */
  find({ key, fingerprint }: Asked): EndedWrong | undefined {
    const row = this.#rows.get(key);
    if (row !== undefined && row.fingerprint !== fingerprint) this.#rows.delete(key);
    if (row?.fingerprint !== fingerprint) return undefined;
    return row.ended === "paid" && row.resent === this.resend ? undefined : row.ended;
  }

  resentOf({ key }: Asked): number | undefined {
    const row = this.#rows.get(key);
    return row && row.resent + 1;
  }

  isLast({ offset }: Line, { id }: Row): boolean {
    return this.#rows.get(JSON.stringify(id))?.offset === offset;
  }
}

/** Whether the request of a row ran, and so was paid for, without a usable result. */
function isPaid({ final, error }: Row): boolean {
  return final === true && (error as { executed?: unknown } | undefined)?.executed === "yes";
}

// The first 48 bits of a fingerprint, which a number holds exactly.
function shortened(fingerprint: string): number {
  return Buffer.from(fingerprint.slice(0, 8), "base64url").readUIntBE(0, 6);
}
