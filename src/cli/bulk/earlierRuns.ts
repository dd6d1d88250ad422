import { readSync } from "node:fs";
import type { CheckpointFile } from "../checkpoints/checkpointFile.js";
import { hashOf, IdTable } from "../checkpoints/ids.js";
import type { Line } from "../checkpoints/lines.js";
import type { Row } from "../checkpoints/readRows.js";
import type { RowWriter } from "../checkpoints/rowWriter.js";
import { withFile } from "../checkpoints/runFile.js";
import type { BulkRequest } from "./bulkRequest.js";

/** What an earlier run has done of a request; of another request with the same id, `"other"`. */
export type DoneRows = "done" | "other" | "no";

/** What an output file holds of earlier runs. */
export class DoneRequests {
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
  }

  /** What became of a request. */
  find(request: BulkRequest): DoneRows {
    let found: DoneRows = "no";
    for (const number of this.#ids.find(request.hash)) {
      // The fingerprint stands for the id, too.
      if (this.#fingerprints[number] === shortened(request.fingerprint)) return "done";
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

/** Reads what an output file holds. @throws UsageError for a line that is no row */
export async function readDone(file: CheckpointFile): Promise<DoneRequests> {
  const checkpoint = new DoneRequests(file.path);
  await file.read((line, row) => checkpoint.note(line, row));
  return checkpoint;
}

// 48 bits of it, which a number holds exactly.
function shortened(fingerprint: string): number {
  return Buffer.from(fingerprint.slice(0, 8), "base64url").readUIntBE(0, 6);
}

/** What an errors file holds of earlier runs: by the id's JSON, the fingerprints of requests that are wrong. */
export type WrongRequests = Map<string, string>;

/** Reads which requests are wrong. @throws UsageError for a line that is no row */
export async function readWrong(file: CheckpointFile | undefined): Promise<WrongRequests> {
  const wrong: WrongRequests = new Map();
  await file?.read((_line, { id, fingerprint, final }) => {
    if (final === true) wrong.set(JSON.stringify(id), fingerprint);
  });
  return wrong;
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
