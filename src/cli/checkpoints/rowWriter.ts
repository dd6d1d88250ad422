import {
  closeSync,
  constants,
  copyFileSync,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  type Stats,
  writeSync,
} from "node:fs";
import { orUndefined, reasonOf, UsageError } from "../context.js";
import type { RowsEnd } from "./readRows.js";
import { withFile } from "./runFile.js";

const syncEveryMs = 1000;

/**
 * A file that rows of JSON are added to. Each is handed to the system at once, so that a process that is killed loses
 * none; about once a second they are forced to the disk, so that a machine that loses power loses little.
 */
export class RowWriter {
  readonly #name: string;
  readonly #file: number;
  #end: number;
  #syncedAt: number = performance.now();
  #isSyncing = false;
  #failure: Error | undefined;

  /** @param name What the command line calls it @param end Where rows are added: what is behind is cut off */
  constructor(name: string, path: string, { end, lacksEnd }: RowsEnd) {
    this.#name = name;
    this.#end = end;
    try {
      this.#file = openSync(path, constants.O_RDWR | constants.O_CREAT);
      ftruncateSync(this.#file, end);
      if (lacksEnd) this.#write(Buffer.from("\n"));
    } catch (error) {
      throw cannotBegin(name, error);
    }
  }

  /** Which file it is, whatever its name is now. */
  stats(): Stats {
    return fstatSync(this.#file);
  }

  /** @throws Error when it cannot be written, as on a full disk: what was written before is kept */
  add(row: object): void {
    if (this.#failure) throw this.#failure;
    const bytes = Buffer.from(`${JSON.stringify(row)}\n`);
    try {
      this.#write(bytes);
    } catch (error) {
      // A row that was written in part is cut off. Where that fails, the next start of the run does it.
      orUndefined(() => ftruncateSync(this.#file, this.#end));
      throw cannotGoOn(this.#name, error);
    }
    if (performance.now() - this.#syncedAt >= syncEveryMs) this.#sync();
  }

  /** Forces all rows to the disk, before what depends on them is done. */
  flush(): void {
    try {
      fdatasyncSync(this.#file);
    } catch (error) {
      throw cannotGoOn(this.#name, error);
    }
  }

  /** Forces all rows to the disk, and ends. */
  close(): void {
    try {
      this.flush();
    } catch (error) {
      this.#failure ??= error as Error;
    }
    if (!this.#isSyncing) closeSync(this.#file);
    if (this.#failure) throw this.#failure;
  }

  #write(bytes: Buffer): void {
    for (let from = 0; from < bytes.length; ) {
      from += writeSync(this.#file, bytes, from, bytes.length - from, this.#end + from);
    }
    this.#end += bytes.length;
  }

  // Without waiting: the disk may take long.
  #sync(): void {
    if (this.#isSyncing) return;
    this.#isSyncing = true;
    fdatasync(this.#file, (error) => {
      this.#isSyncing = false;
      this.#syncedAt = performance.now();
      if (error) this.#failure ??= cannotGoOn(this.#name, error);
    });
  }
}

// What another file, folder or user would mend. All else, such as a full disk, is this machine's.
const notOfThisMachine = new Set(
  "EACCES EPERM EROFS ENOENT ENOTDIR EISDIR ENAMETOOLONG ELOOP EBUSY".split(" "),
);

/** Why a run does not begin to write a file. @param option What the command line calls it */
export function cannotBegin(option: string, error: unknown): Error {
  if (error instanceof UsageError) return error;
  const failure = error as NodeJS.ErrnoException;
  if (failure.code === undefined || failure.name === "AbortError") return failure;
  const message = `${option} cannot be written: ${reasonOf(failure)}. Nothing was sent.`;
  return notOfThisMachine.has(failure.code) ? new UsageError(message) : new Error(message, { cause: error });
}

/** Why a run stops to write a file. */
export function cannotGoOn(option: string, error: unknown): Error {
  const reason = reasonOf(error as NodeJS.ErrnoException);
  return new Error(
    `${option} cannot be written: ${reason}. What was written stays: fix this, then run the same command again.`,
    { cause: error },
  );
}

const copyBytes = 1024 * 1024;

/** Copies a file; the copy is on the disk before anything is done that relies on it. */
export function copyWhole(from: string, to: string): void {
  copyFileSync(from, to);
  withFile(to, "r+", fsyncSync);
}

/** Adds what is behind a place to another file, and forces it to the disk. */
export function copyTail(from: string, start: number, to: string): void {
  const chunk = Buffer.alloc(copyBytes);
  const copy = (source: number, target: number): void => {
    for (let at = start, bytes = -1; bytes !== 0; at += bytes) {
      bytes = readSync(source, chunk, 0, chunk.length, at);
      for (let written = 0; written < bytes; ) written += writeSync(target, chunk, written, bytes - written);
    }
    fsyncSync(target);
  };
  withFile(from, "r", (source) => withFile(to, "a", (target) => copy(source, target)));
}
