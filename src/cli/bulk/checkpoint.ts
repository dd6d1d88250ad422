import { closeSync, createReadStream, existsSync, openSync, readSync, statSync } from "node:fs";
import { UsageError } from "../context.js";
import type { BulkRequest } from "./bulkRequest.js";
import { hashOf, type IdHash, IdTable } from "./idTable.js";
import { type Line, linesOf } from "./lines.js";

/** A row of an output or of an errors file, as far as it is read again. */
export interface Row {
  readonly id: string | number;
  readonly fingerprint: string;
  readonly response?: unknown;
  readonly error?: unknown;
  /** Of an upload: it began. */
  readonly sending?: true;
  /** Of an error: whether the request is wrong, so that it does not run again. */
  readonly final?: boolean;
  /** Of a line that is no request: its number. Then there is no id. */
  readonly line?: number;
}

/** What an earlier run has done of a request; of another request with the same id, `"other"`. */
export type Done = "done" | "other" | "no";

/** What an output file holds of earlier runs. */
export class Checkpoint {
  /** Where the next row goes: what is behind is a torn one. */
  end = 0;
  /** Whether the last row lacks the end of its line. */
  lacksEnd = false;
  readonly #path: string;
  readonly #ids: IdTable = new IdTable();
  readonly #offsets: number[] = [];
  readonly #fingerprints: number[] = [];

  constructor(path: string) {
    this.#path = path;
  }

  /** How many requests are done. */
  get size(): number {
    return this.#ids.size;
  }

  note(line: Line, row: Row): void {
    this.#ids.add(hashOf(JSON.stringify(row.id)), this.#offsets.length);
    this.#offsets.push(line.offset);
    this.#fingerprints.push(shortened(row.fingerprint));
    this.end = line.offset + (line.bytes?.length ?? 0) + (line.hasEnd ? 1 : 0);
    this.lacksEnd = !line.hasEnd;
  }

  /** What became of a request. */
  find(request: BulkRequest, hash: IdHash): Done {
    let found: Done = "no";
    for (const number of this.#ids.find(hash)) {
      // The fingerprint stands for the id, too.
      if (this.#fingerprints[number] === shortened(request.fingerprint)) return "done";
      // Two ids may have one hash: the row says which it is.
      if (this.#keyAt(this.#offsets[number] as number) === request.key) found = "other";
    }
    return found;
  }

  #keyAt(offset: number): string | undefined {
    const file = openSync(this.#path, "r");
    try {
      let text = "";
      const chunk = Buffer.alloc(64 * 1024);
      for (let at = offset; !text.includes("\n"); ) {
        const bytes = readSync(file, chunk, 0, chunk.length, at);
        if (bytes === 0) break;
        text += chunk.toString("latin1", 0, bytes);
        at += bytes;
      }
      return JSON.stringify(JSON.parse(Buffer.from(text.split("\n")[0] ?? "", "latin1").toString()).id);
    } finally {
      closeSync(file);
    }
  }
}

/** Reads what an output file holds. @throws UsageError when it is no file of this command */
export async function readCheckpoint(path: string): Promise<Checkpoint> {
  const checkpoint = new Checkpoint(path);
  await readRows(path, "--output", (line, row) => checkpoint.note(line, row));
  return checkpoint;
}

/** Calls `note` for each row of a file. A torn last line is passed over; any other line that is no row is refused. */
export async function readRows(
  path: string,
  name: string,
  note: (line: Line, row: Row) => void,
): Promise<void> {
  if (!existsSync(path)) return;
  if (!statSync(path).isFile())
    throw new UsageError(`${name} must be a file, so that a run can continue from it.`);
  for await (const line of linesOf(createReadStream(path, { highWaterMark: 256 * 1024 }))) {
    const row = rowOf(line);
    if (row !== undefined) note(line, row);
    else if (line.hasEnd || !isTorn(line))
      throw new UsageError(
        `${name}, line ${line.number}, is not a row of a bulk run. Is it another file? Name a new one, or remove the line.`,
      );
  }
}

function rowOf({ bytes }: Line): Row | undefined {
  try {
    const row: Row | null = JSON.parse(bytes?.toString("utf8") ?? "");
    if (row === null || typeof row !== "object") return undefined;
    const isResult = ["response", "error", "sending"].some((name) => Object.hasOwn(row, name));
    // The row of a line that is no request has no id.
    return isResult && (typeof row.fingerprint === "string" || row.line !== undefined) ? row : undefined;
  } catch {
    return undefined;
  }
}

// The beginning of a row, or what a disk leaves of one when it loses power. Anything else is somebody's file.
function isTorn({ bytes }: Line): boolean {
  const text = bytes?.toString("latin1") ?? "";
  const begins = ['{"id":', '{"line":'].some((start) => text.startsWith(start) || start.startsWith(text));
  return begins || /^\0*$/.test(text);
}

// 48 bits of it, which a number holds exactly.
function shortened(fingerprint: string): number {
  return Buffer.from(fingerprint.slice(0, 8), "base64url").readUIntBE(0, 6);
}
