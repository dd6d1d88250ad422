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
import { cannotRescue, changedByOthers, RescueFile } from "./rescueFile.js";
import { withFile } from "./runFile.js";

const syncEveryMs = 1000;

/**
 * A file that rows of JSON are added to. Each is handed to the system at once, so that a process that is killed loses
 * none; about once a second they are forced to the disk, so that a machine that loses power loses little. Somebody may
 * empty, cut or write it meanwhile: from then on rows go to another file beside it, until the run has ended.
 */
export class RowWriter {
  readonly #name: string;
  readonly #path: string;
  readonly #file: number;
  readonly #changed: AbortController = new AbortController();
  #end: number;
  #rescue: RescueFile | undefined;
  #syncedAt: number = performance.now();
  #isSyncing = false;
  #failure: Error | undefined;

  /**
   * @param name What the command line calls it
   * @param rows Where rows are added: what is behind is cut off
   * @param path What the file will be called, where it is put in the place of another
   */
  constructor(name: string, opened: string, { end, lacksEnd }: RowsEnd, path: string = opened) {
    this.#name = name;
    this.#path = path;
    this.#end = end;
    try {
      // Appending leaves no hole where the file has just been cut.
      this.#file = openSync(opened, constants.O_RDWR | constants.O_CREAT | constants.O_APPEND);
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

  get isEmpty(): boolean {
    return this.#end === 0;
  }

  /** Aborted once somebody else has changed the file. Rows can still be added: they are kept in another. */
  get changed(): AbortSignal {
    return this.#changed.signal;
  }

  /** @throws Error when it cannot be written, as on a full disk: what was written before is kept */
  add(row: object): void {
    if (this.#failure && !this.#rescue) throw this.#failure;
    const bytes = Buffer.from(`${JSON.stringify(row)}\n`);
    const isOwn = this.#rescue === undefined && this.stats().size === this.#end;
    if (isOwn) this.#append(bytes);
    else this.#keep(bytes);
  }

  #append(bytes: Buffer): void {
    try {
      this.#write(bytes);
    } catch (error) {
      // A row that was written in part is cut off. Where that fails, the next start of the run does it.
      orUndefined(() => ftruncateSync(this.#file, this.#end));
      this.#failure = cannotGoOn(this.#name, error);
      throw this.#failure;
    }
    if (performance.now() - this.#syncedAt >= syncEveryMs) this.#sync();
  }

  /** Forces all rows to the disk, before what depends on them is done. */
  flush(): void {
    if (this.#failure) throw this.#failure;
    try {
      fdatasyncSync(this.#file);
    } catch (error) {
      throw cannotGoOn(this.#name, error);
    }
  }

  /** Forces all rows to the disk, and ends. @throws Error also when somebody else has changed the file */
  close(): void {
    try {
      this.#rescue?.close();
      this.flush();
      if (this.stats().size !== this.#end) this.#fail();
    } catch (error) {
      this.#failure ??= error as Error;
    }
    if (!this.#isSyncing) closeSync(this.#file);
    if (this.#failure) throw this.#failure;
  }

  #write(bytes: Buffer): void {
    for (let from = 0; from < bytes.length; ) from += writeSync(this.#file, bytes, from, bytes.length - from);
    this.#end += bytes.length;
  }

  // A row that has been paid for.
  #keep(bytes: Buffer): void {
    this.#changed.abort();
    try {
      this.#rescue ??= RescueFile.beside(this.#path);
      this.#rescue.add(bytes);
    } catch (error) {
      this.#failure = cannotRescue(this.#name, error);
      throw this.#failure;
    }
    this.#fail();
  }

  #fail(): void {
    const { size } = this.stats();
    this.#failure = changedByOthers(this.#name, { size, growth: size - this.#end }, this.#rescue);
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
