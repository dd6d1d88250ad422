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
  statSync,
  writeSync,
} from "node:fs";
import { orUndefined, reasonOf, UsageError } from "../context.js";
import { escaped, writtenBy } from "../terminal.js";
import type { RowsEnd } from "./readRows.js";
import {
  cannotRescue,
  changedByOthers,
  copyBytes,
  type Moved,
  movedByOthers,
  RescueFile,
} from "./rescueFile.js";
import { withFile } from "./runFile.js";

const syncEveryMs = 1000;
// Characters that JSON need not escape, but at which Python's splitlines() ends a line: they are written escaped.
const otherLineEnds = /[\u0085\u2028\u2029]/g;

/** Where rows are added. */
export type RowSink = Pick<RowWriter, "add" | "flush" | "changed" | "end">;

/** Rows that go nowhere: those of a dry run. */
export const droppedRows: RowSink = { add() {}, flush() {}, end: 0, changed: new AbortController().signal };

/**
 * Adds rows of JSON to a file. Each row is passed to the operating system at once, so that a process that is killed
 * loses none. About once a second, rows are forced to the disk, so that a power loss costs little. If another program
 * empties, cuts or writes the file meanwhile, the further rows of the run go to another file beside it.
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
  #moved: Moved | undefined;
  #failure: Error | undefined;

  /**
   * @param name The option that names the file
   * @param opened The file to open
   * @param rows Where rows are added: everything after that is cut off
   * @param path The path that the file gets later, if it replaces another file
   */
  constructor(name: string, opened: string, { end, lacksEnd }: RowsEnd, path: string = opened) {
    this.#name = name;
    this.#path = path;
    this.#end = end;
    try {
      // Opened for appending: if another program has just cut the file, a write at an offset would leave a hole.
      this.#file = openSync(opened, constants.O_RDWR | constants.O_CREAT | constants.O_APPEND);
      ftruncateSync(this.#file, end);
      if (lacksEnd) this.#write(Buffer.from("\n"));
    } catch (error) {
      throw cannotBegin(name, error);
    }
  }

  /** The status of the open file, whatever its name is now. */
  stats(): Stats {
    return fstatSync(this.#file);
  }

  /** The offset at which the next row begins. */
  get end(): number {
    return this.#end;
  }

  get isEmpty(): boolean {
    return this.#end === 0;
  }

  /** Aborts when another program has changed the file. Rows can still be added: they go to a rescue file. */
  get changed(): AbortSignal {
    return this.#changed.signal;
  }

  /** Adds a row. @throws Unwritable; Error if the file cannot be written, such as on a full disk; earlier rows are kept */
  add(row: object): void {
    if (this.#failure && !this.#rescue) throw this.#failure;
    const line = writtenBy(() => `${JSON.stringify(row).replace(otherLineEnds, escaped)}\n`);
    const bytes = Buffer.from(line);
    const isOwn = this.#rescue === undefined && this.#moved !== "in place" && this.stats().size === this.#end;
    if (isOwn) this.#append(bytes);
    else this.#keep(bytes);
  }

  #append(bytes: Buffer): void {
    try {
      this.#write(bytes);
    } catch (error) {
      // Cuts off the row that was written only in part. If this fails, the next start of the run cuts it off.
      orUndefined(() => ftruncateSync(this.#file, this.#end));
      this.#failure = cannotGoOn(this.#name, error);
      throw this.#failure;
    }
    if (this.stats().size !== this.#end) {
      this.#takeBack(bytes);
      this.#keep(bytes);
    } else if (performance.now() - this.#syncedAt >= syncEveryMs) this.#sync();
  }

  /** Forces all rows to the disk, so that work that depends on them can begin. */
  flush(): void {
    if (this.#failure) throw this.#failure;
    try {
      fdatasyncSync(this.#file);
    } catch (error) {
      throw cannotGoOn(this.#name, error);
    }
  }

  /**
   * Says that the file, or its .run file, was moved. Further rows go to the moved file; to the rescue file if only the
   * .run file was moved, because another run may begin; and to it with all earlier rows if the file was deleted.
   */
  leave(): void {
    const isThere = statSync(this.#path, { throwIfNoEntry: false })?.ino === this.stats().ino;
    this.#moved = isThere ? "in place" : "moved";
    this.#changed.abort();
    this.#keepAll();
  }

  // If the open file was deleted (no link to it is left), copies all its rows to a new file beside its path.
  #keepAll(): void {
    if (this.#moved !== "moved" || this.stats().nlink > 0) return;
    this.#moved = "removed";
    try {
      this.#rescue ??= RescueFile.beside(this.#path);
      this.#rescue.addAll(this.#file);
    } catch (error) {
      this.#failure = cannotRescue(this.#name, error);
    }
  }

  /** Forces all rows to the disk, and closes the file. @throws Error also if another program has changed the file */
  close(): void {
    try {
      this.#keepAll();
      this.#rescue?.close();
      // Makes the error anew: its advice on adding the rescued rows depends on how the file ends now.
      if (this.#rescue || (this.#moved && !this.#failure)) this.#fail();
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

  // Removes a row that was just added to a file which another program had changed: the row may follow part of another.
  #takeBack(bytes: Buffer): void {
    this.#end -= bytes.length;
    const at = this.stats().size - bytes.length;
    const last = Buffer.alloc(bytes.length);
    if (at >= 0 && readSync(this.#file, last, 0, last.length, at) === last.length && last.equals(bytes))
      ftruncateSync(this.#file, at);
  }

  // Writes a row to the rescue file: its request was paid for, so the row must not be lost.
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
    const path = this.#path;
    const { size } = this.stats();
    this.#failure = this.#moved
      ? movedByOthers(this.#name, { path, how: this.#moved }, this.#rescue)
      : changedByOthers(this.#name, { path, size, growth: size - this.#end }, this.#rescue);
  }

  // Syncs without blocking, because the disk may take long.
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

// Error codes that count as errors of the command line, because naming another file or folder, or running as another
// user, would help. All others, such as a full disk, are faults of this machine.
const notOfThisMachine = new Set(
  "EACCES EPERM EROFS ENOENT ENOTDIR EISDIR ENAMETOOLONG ELOOP EBUSY".split(" "),
);

/**
 * The error if a file cannot be opened for writing, before anything is sent.
 * @param option The option that names the file
 */
export function cannotBegin(option: string, error: unknown): Error {
  if (error instanceof UsageError) return error;
  const failure = error as NodeJS.ErrnoException;
  if (failure.code === undefined || failure.name === "AbortError") return failure;
  const message = `${option} cannot be written: ${reasonOf(failure)}. Nothing was sent.`;
  return notOfThisMachine.has(failure.code) ? new UsageError(message) : new Error(message, { cause: error });
}

/** The error if a file can no longer be written during a run. */
export function cannotGoOn(option: string, error: unknown): Error {
  const reason = reasonOf(error as NodeJS.ErrnoException);
  return new Error(
    `${option} cannot be written: ${reason}. What was written stays: fix this, then run the same command again.`,
    { cause: error },
  );
}

/** Copies a file, and forces the copy to the disk. */
export function copyWhole(from: string, to: string): void {
  copyFileSync(from, to);
  withFile(to, "r+", fsyncSync);
}

/** Appends the bytes of a file from `start` on to another file, and forces them to the disk. */
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
