// The checkpoint of a bulk run or of several uploads. A run writes rows only to its part, a file that nobody else ever
// writes; the output is a view of all parts, and can be made again. So nothing is ever overwritten, and a run that is
// killed anywhere loses no row.
import { randomBytes } from "node:crypto";
import * as fs from "node:fs";
import { type FileHandle, rename } from "node:fs/promises";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { orUndefined, reasonOf, UsageError } from "./context.js";
import type { IdTable } from "./ids.js";
import { chunkBytes, realName } from "./input.js";
import { isGone, type ProcessName, thisProcess } from "./processes.js";
import { copyRows, type LineRow, opened, type Row, type RowSource, Rows } from "./rows.js";
import { jsonLine } from "./terminal.js";

const aliveMs = 30_000;
const beatSeconds = 5;
const starts = 3;
const longestPauseMs = 2000;
const secondsOnFullDisk = 60;
const mostMerges = 5;
const partName = /^(\d+)-[\w-]+\.jsonl$/;

/** A part, as another run sees it. */
interface Part {
  readonly path: string;
  readonly number: number;
  readonly size: number;
  readonly changedAt: number;
  readonly run: Partial<ProcessName> & { readonly command?: string };
  readonly hasEnded: boolean;
}

/** What a run left at its end. */
export interface RunEnd {
  /** Rows that could not be written, such as on a full disk. */
  readonly unwritten: number;
  /** Results that two runs paid for, since both ran at one time. */
  readonly twice: number;
}

export class Checkpoint {
  /** The rows of the output and of all parts when this run began. */
  known: Rows;
  readonly #source: RowSource;
  readonly #folder: string;
  readonly #full = new AbortController();
  #part: { readonly path: string; readonly file: number } | undefined;
  #timer: NodeJS.Timeout | undefined;
  #pending: string[] = [];
  #hasRows = false;
  // Whether the part ends in the middle of a line, and whether its last rows may not be on the disk yet.
  #isTorn = false;
  #isDirty = false;
  #failure: unknown;

  private constructor(source: RowSource) {
    this.#source = source;
    this.#folder = `${source.path}.parts`;
    this.known = new Rows([], source.strengthOf);
  }

  /**
   * Begins a run, and reads what is known.
   * @param isDry Whether the files are only read: no part is created, and rows go nowhere
   * @throws UsageError if another run is writing, or the output has a line that is no row
   */
  static async open(source: RowSource, isDry: boolean, signal: AbortSignal): Promise<Checkpoint> {
    const checkpoint = new Checkpoint({ ...source, path: outputOf(source) });
    try {
      if (isDry) checkpoint.#refuseOthers(Date.now());
      else await checkpoint.#begin(signal);
      checkpoint.known = await checkpoint.#read(checkpoint.#parts());
      return checkpoint;
    } catch (error) {
      checkpoint.close();
      if (error instanceof UsageError || (error as Error).name === "AbortError") throw error;
      throw new UsageError(
        `${source.option} cannot be written: ${reasonOf(error as NodeJS.ErrnoException)}. Nothing was sent.`,
      );
    }
  }

  /** Aborts once a row cannot be written: nothing more is to be sent. */
  get full(): AbortSignal {
    return this.#full.signal;
  }

  /** Adds a row. It is passed to the operating system at once, and is on the disk a second later. @throws Unwritable */
  add(row: Row | LineRow): void {
    if (this.#part === undefined) return;
    this.#hasRows = true;
    this.#pending.push(jsonLine(row));
    this.#flush();
  }

  /** Forces all rows to the disk. @throws Error if a row cannot be written */
  sync(): void {
    if (this.#part === undefined) return;
    if (this.#pending.length > 0 && !this.#flush()) throw this.cannotGoOn();
    fs.fdatasyncSync(this.#part.file);
  }

  /** The error if rows cannot be written. */
  cannotGoOn(): Error {
    return new Error(
      `${this.#source.option} cannot be written: ${reasonOf(this.#failure as NodeJS.ErrnoException)}. What was written stays: fix this, then run the same command again.`,
      { cause: this.#failure },
    );
  }

  /**
   * Ends the run: makes the output anew from all parts, and removes the parts once they are not needed.
   * @param asked The requests of the input as they are asked now: the fingerprints by the ids
   * @param isComplete Whether every request of the input has a result
   * @throws Error if the output cannot be written; the parts stay
   */
  async end(asked: IdTable, isComplete: boolean): Promise<RunEnd> {
    if (this.#part === undefined) return { unwritten: 0, twice: 0 };
    for (let left = secondsOnFullDisk; !this.#flush() && left > 0; left -= 1) await wait(1000);
    const unwritten = this.#pending.length;
    this.known = new Rows([], this.#source.strengthOf);
    try {
      if (unwritten > 0) return { unwritten, twice: 0 };
      fs.fdatasyncSync(this.#part.file);
      const { rows, parts } = await this.#merge(asked);
      if (isComplete) this.#remove(parts);
      return { unwritten, twice: rows.twice };
    } catch (error) {
      if (error instanceof UsageError) throw new Error(error.message);
      this.#failure = error;
      throw this.cannotGoOn();
    } finally {
      this.close();
    }
  }

  // Creates a part, then looks at the others: of two runs that begin at one time, at least one sees the other, and ends.
  async #begin(signal: AbortSignal): Promise<void> {
    for (let start = 1; ; start += 1) {
      this.#create();
      try {
        this.#refuseOthers(fs.fstatSync(this.#file).mtimeMs);
        break;
      } catch (error) {
        this.close();
        if (start === starts) throw error;
        await wait(Math.random() * longestPauseMs, undefined, { signal });
      }
    }
    for (const name of fs.readdirSync(this.#folder))
      if (name.startsWith("merge-")) orUndefined(() => fs.unlinkSync(path.join(this.#folder, name)));
    let seconds = 0;
    this.#timer ??= setInterval(() => {
      seconds += 1;
      if (this.#pending.length > 0) this.#flush();
      // An empty line shows others that this run is alive: the file system itself dates it.
      if (seconds % beatSeconds === 0) orUndefined(() => this.#write(""));
      if (!this.#isDirty) return;
      this.#isDirty = false;
      fs.fdatasync(this.#file, () => {});
    }, 1000).unref();
  }

  get #file(): number {
    return (this.#part as { readonly file: number }).file;
  }

  #create(): void {
    const isNew = fs.mkdirSync(this.#folder, { recursive: true }) !== undefined;
    const number = Math.max(0, ...this.#parts().map((part) => part.number)) + 1;
    const name = path.join(this.#folder, `${number}-${randomBytes(6).toString("hex")}.jsonl`);
    this.#part = { path: name, file: fs.openSync(name, "ax+") };
    this.#isTorn = false;
    const command = process.argv.slice(2, 3).join();
    this.#write(JSON.stringify({ run: { ...thisProcess(), command } }));
    fs.fdatasyncSync(this.#file);
    syncFolder(this.#folder);
    if (isNew) syncFolder(path.dirname(this.#folder));
  }

  // All parts, in order.
  #parts(): readonly Part[] {
    const names = orUndefined(() => fs.readdirSync(this.#folder), "ENOENT") ?? [];
    return names
      .flatMap((name) => {
        const number = Number(partName.exec(name)?.[1]);
        const file = path.join(this.#folder, name);
        return Number.isNaN(number) ? [] : (orUndefined(() => seenPart(file, number), "ENOENT") ?? []);
      })
      .sort((a, b) => a.number - b.number || (a.path < b.path ? -1 : 1));
  }

  /** @param now The time by the clock of the file system */
  #refuseOthers(now: number): void {
    const isAlive = ({ hasEnded, run, changedAt }: Part) =>
      !hasEnded && !isGone(run) && now - changedAt < aliveMs;
    const other = this.#parts().find((part) => part.path !== this.#part?.path && isAlive(part));
    if (other === undefined) return;
    const { pid, host, command } = other.run;
    const who =
      pid === undefined ? "it has just begun" : `process ${pid} on ${host}, \`tunerank ${command}\``;
    throw new UsageError(
      `Another run writes ${this.#source.option} (${who}). Wait until it has ended; if it was killed, wait 30 seconds. Nothing was sent.`,
    );
  }

  // Makes the output from all rows, again if a part has changed meanwhile: whoever writes the output last has read all
  // parts before, and looks at them again after, so that no row is missing from it.
  async #merge(asked: IdTable): Promise<{ readonly rows: Rows; readonly parts: readonly Part[] }> {
    const { path: output } = this.#source;
    for (let merge = 1; ; merge += 1) {
      const own = this.#named();
      const parts = this.#parts();
      const rows = await this.#read(parts);
      const made = path.join(this.#folder, `merge-${randomBytes(6).toString("hex")}`);
      const mode = fs.statSync(output, { throwIfNoEntry: false })?.mode;
      const file = (await opened(made, "wx+")) as FileHandle;
      try {
        if (mode !== undefined) await file.chmod(mode & 0o7777);
        await copyRows(rows, asked, file);
        await file.sync();
        await rename(made, output);
      } catch (error) {
        orUndefined(() => fs.unlinkSync(made));
        // Another run that begins removes what it takes for the file of a killed merge: then it is made again.
        if ((error as NodeJS.ErrnoException).code !== "ENOENT" || merge >= mostMerges) throw error;
        continue;
      } finally {
        await file.close();
      }
      syncFolder(path.dirname(output));
      const stateOf = (all: readonly Part[]): string =>
        all.map((part) => (part.path === own ? own : `${part.path} ${part.size}`)).join();
      if (merge >= mostMerges || stateOf(this.#parts()) === stateOf(parts)) return { rows, parts };
    }
  }

  #read(parts: readonly Part[]): Promise<Rows> {
    return Rows.read(this.#source, parts, this.#part?.path);
  }

  // Removes the parts, its own last, unless another run may still write one of them.
  #remove(parts: readonly Part[]): void {
    const others = this.#parts().filter((part) => part.path !== this.#part?.path);
    // A part without its first line, whose run was killed before it wrote one, has no rows.
    const isOver = ({ hasEnded, run }: Part) => hasEnded || run.pid === undefined || isGone(run);
    const isKnown = (part: Part) => parts.some(({ path, size }) => path === part.path && size === part.size);
    if (!others.every((part) => isOver(part) && isKnown(part))) return;
    for (const part of others) orUndefined(() => fs.unlinkSync(part.path), "ENOENT");
    syncFolder(this.#folder);
    this.#hasRows = false;
  }

  /** Closes the part. One without rows is removed; another gets an end line: nobody writes it any more. */
  close(): void {
    clearInterval(this.#timer);
    const part = this.#part;
    this.#part = undefined;
    if (part === undefined) return;
    if (this.#hasRows)
      orUndefined(() => fs.writeSync(part.file, `${this.#isTorn ? "\n" : ""}{"end":true}\n`));
    orUndefined(() => fs.fdatasyncSync(part.file));
    fs.closeSync(part.file);
    if (this.#hasRows) return;
    orUndefined(() => fs.unlinkSync(part.path));
    // Fails, as it should, if there are other parts.
    orUndefined(() => fs.rmdirSync(this.#folder));
  }

  // Writes what is pending. @returns Whether all is written; if not, the next second tries again
  #flush(): boolean {
    try {
      if (this.#pending.length > 0) this.#named();
      for (; this.#pending.length > 0; this.#pending.shift()) this.#write(this.#pending[0] as string);
      return true;
    } catch (error) {
      this.#failure = error;
      this.#full.abort();
      return false;
    }
  }

  // Appends a line. After a write that failed, it begins with a newline: readers skip the line that was cut.
  #write(line: string): void {
    const bytes = Buffer.from(`${this.#isTorn ? "\n" : ""}${line}\n`);
    this.#isTorn = true;
    for (let from = 0; from < bytes.length; )
      from += fs.writeSync(this.#file, bytes, from, bytes.length - from);
    this.#isTorn = false;
    this.#isDirty = true;
  }

  // The path of the part. If it was moved or removed, all that it holds is first copied to a new part.
  #named(): string {
    const { path: name, file } = this.#part as { readonly path: string; readonly file: number };
    const there = fs.statSync(name, { throwIfNoEntry: false });
    const { ino, dev, size } = fs.fstatSync(file);
    if (there?.ino === ino && there.dev === dev) return name;
    const held = this.#part;
    try {
      this.#create();
      const bytes = Buffer.alloc(chunkBytes);
      for (let at = 0; at < size; ) {
        const read = fs.readSync(file, bytes, 0, bytes.length, at);
        for (let from = 0; from < read; ) from += fs.writeSync(this.#file, bytes, from, read - from);
        at += read;
      }
      // The old part may end in the middle of a line.
      this.#isTorn = true;
      fs.closeSync(file);
      return (this.#part as { readonly path: string }).path;
    } catch (error) {
      const made = this.#part;
      this.#part = held;
      this.#isTorn = true;
      if (made !== undefined && made !== held) {
        fs.closeSync(made.file);
        orUndefined(() => fs.unlinkSync(made.path));
      }
      throw error;
    }
  }
}

function seenPart(name: string, number: number): Part {
  const file = fs.openSync(name, "r");
  try {
    const { size, mtimeMs } = fs.fstatSync(file);
    const textAt = (at: number): string => {
      const bytes = Buffer.alloc(4096);
      return bytes.toString("utf8", 0, fs.readSync(file, bytes, 0, bytes.length, at));
    };
    const { run = {} } = Object(orUndefined(() => JSON.parse(textAt(0).split("\n")[0] ?? "")));
    const hasEnded = textAt(Math.max(0, size - 100)).endsWith('\n{"end":true}\n');
    return { path: name, number, size, changedAt: mtimeMs, run, hasEnded };
  } finally {
    fs.closeSync(file);
  }
}

// The path of an output without links. The file may not exist yet.
function outputOf({ path: given, option }: RowSource): string {
  const name = realName(given, option);
  const stats = fs.statSync(name, { throwIfNoEntry: false });
  if (stats !== undefined && !stats.isFile())
    throw new UsageError(`${option} must be a file, so that a run can continue from it.`);
  if (stats !== undefined && stats.nlink > 1)
    throw new UsageError(
      `${option} has ${stats.nlink} names (hard links), of which a run would replace one. Name a copy.`,
    );
  return name;
}

function syncFolder(folder: string): void {
  const file = orUndefined(() => fs.openSync(folder, "r"));
  if (file === undefined) return;
  // Some file systems cannot sync a folder.
  orUndefined(() => fs.fsyncSync(file));
  fs.closeSync(file);
}
