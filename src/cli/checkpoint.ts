// The checkpoint of a bulk run or of several uploads. A run writes rows only to its part, a file that nobody else ever
// writes; the output is a view of all parts, and can be made again. So a run that is killed anywhere loses no row.
import { randomBytes } from "node:crypto";
import * as fs from "node:fs";
import { type FileHandle, rename } from "node:fs/promises";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { orUndefined, reasonOf, UsageError } from "./context.js";
import { chunkBytes } from "./input.js";
import { isGone, type ProcessName, thisProcess } from "./processes.js";
import { type AskedRow, IdTable, opened, printOf, type RowSource, Rows } from "./rows.js";
import { jsonLine } from "./terminal.js";

const aliveMs = 30_000;
const beatSeconds = 5;
const starts = 3;
const longestPauseMs = 2000;
const secondsOnFullDisk = 60;
const mostMerges = 5;

/** A part, as another run sees it. */
type Part = Readonly<
  { path: string; hasEnded: boolean } & Record<"number" | "size" | "changedAt", number>
> & {
  readonly run: Partial<ProcessName> & { readonly command?: string };
};

/** The part of this run. */
type OwnPart = { readonly path: string; readonly file: number };

export class Checkpoint {
  /** The rows of the output and of all parts when this run began. */
  known: Rows;
  /** The requests of the input as they are asked now: the fingerprints by the ids. */
  readonly asked: IdTable = new IdTable();
  readonly #source: RowSource;
  readonly #folder: string;
  readonly #full = new AbortController();
  /** Aborts once a row cannot be written: nothing more is to be sent. */
  readonly full: AbortSignal = this.#full.signal;
  #part: OwnPart | undefined;
  #timer: NodeJS.Timeout | undefined;
  #pending: string[] = [];
  #hasRows = false;
  #failure: unknown;

  private constructor(source: RowSource) {
    this.#source = source;
    this.#folder = `${source.path}.parts`;
    this.known = new Rows(source);
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
      checkpoint.known = await new Rows(checkpoint.#source, checkpoint.#parts()).read();
      return checkpoint;
    } catch (error) {
      checkpoint.close();
      if (error instanceof UsageError || (error as Error).name === "AbortError") throw error;
      throw new UsageError(`${source.option} cannot be written: ${reasonOf(error)}. Nothing was sent.`);
    }
  }

  /** Whether a file, by its path without links, is the output or a part. */
  owns(file: string): boolean {
    return file === this.#source.path || path.dirname(file) === this.#folder;
  }

  /** Adds a request to what is asked. @returns What is known of it */
  ask(request: AskedRow): ReturnType<Rows["find"]> {
    this.asked.add(request.hash, printOf(request.fingerprint));
    return this.known.find(request);
  }

  /** Adds a row. It is passed to the operating system at once, and is on the disk a second later. */
  add(row: object): void {
    if (this.#part === undefined) return;
    this.#hasRows = true;
    this.#pending.push(jsonLine(row));
    this.#flush();
  }

  /** Forces all rows to the disk. @throws Error if a row cannot be written */
  sync(): void {
    if (this.#part === undefined) return;
    if (!this.#flush()) throw this.failure;
    fs.fdatasyncSync(this.#part.file);
  }

  /** The error if rows or the output cannot be written. */
  get failure(): Error | undefined {
    const cause = this.#failure;
    if (cause === undefined || cause instanceof UsageError) return cause && new Error(cause.message);
    const text = `${this.#source.option} cannot be written: ${reasonOf(cause)}. What was written stays: fix this, then run the same command again.`;
    return new Error(text, { cause });
  }

  /**
   * Ends the run: makes the output anew from all parts, and removes the parts once they are not needed. If the output
   * cannot be written, there is a {@link failure}, and the parts stay.
   * @param isComplete Whether every request of the input has a result
   * @returns How many rows could not be written, as on a full disk, and how many results this and another run paid for
   */
  async end(isComplete: boolean): Promise<Record<"unwritten" | "twice", number>> {
    const ended = { unwritten: 0, twice: 0 };
    if (this.#part === undefined) return ended;
    for (let left = secondsOnFullDisk; !this.#flush() && left > 0; left -= 1) await wait(1000);
    ended.unwritten = this.#pending.length;
    this.known = new Rows(this.#source);
    try {
      if (ended.unwritten === 0) ended.twice = await this.#merge(isComplete);
    } catch (error) {
      this.#failure = error;
    }
    this.close();
    return ended;
  }

  // Creates a part, then looks at the others: of two runs that begin at one time, at least one sees the other, and ends.
  async #begin(signal: AbortSignal): Promise<void> {
    for (let start = 1; ; start += 1) {
      const { file } = this.#create();
      try {
        this.#refuseOthers(fs.fstatSync(file).mtimeMs);
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
    this.#timer = setInterval(() => {
      seconds += 1;
      this.#flush();
      // An empty line shows others that this run is alive: the file system itself dates it.
      if (seconds % beatSeconds === 0) orUndefined(() => this.#write(""));
      if (this.#part !== undefined) fs.fdatasync(this.#part.file, () => {});
    }, 1000).unref();
  }

  #create(): OwnPart {
    fs.mkdirSync(this.#folder, { recursive: true });
    const number = Math.max(0, ...this.#parts().map((part) => part.number)) + 1;
    const name = path.join(this.#folder, `${number}-${randomBytes(6).toString("hex")}.jsonl`);
    const file = orUndefined(() => fs.openSync(name, "ax+"), "ENOENT");
    if (file === undefined) return this.#create(); // Another run has just removed the empty folder.
    this.#part = { path: name, file };
    append(file, JSON.stringify({ run: { ...thisProcess(), command: process.argv[2] } }));
    fs.fdatasyncSync(file);
    for (const folder of [this.#folder, path.dirname(this.#folder)]) syncFolder(folder);
    return this.#part;
  }

  #discard(part: OwnPart): void {
    fs.closeSync(part.file);
    orUndefined(() => fs.unlinkSync(part.path));
    // Fails, as it should, if there are other parts.
    orUndefined(() => fs.rmdirSync(this.#folder));
  }

  // All parts, in order.
  #parts(): readonly Part[] {
    const names = orUndefined(() => fs.readdirSync(this.#folder), "ENOENT") ?? [];
    return names
      .filter((name) => /^\d+-[\w-]+\.jsonl$/.test(name))
      .flatMap((name) => orUndefined(() => seenPart(path.join(this.#folder, name)), "ENOENT") ?? [])
      .sort((a, b) => a.number - b.number || (a.path < b.path ? -1 : 1));
  }

  /** @param now The time by the clock of the file system */
  #refuseOthers(now: number): void {
    const isAlive = ({ hasEnded, run, changedAt }: Part) =>
      !hasEnded && !isGone(run) && now - changedAt < aliveMs;
    const other = this.#parts().find((part) => part.path !== this.#part?.path && isAlive(part));
    if (other === undefined) return;
    const { pid, host, command } = other.run;
    const who = pid ? `process ${pid} on ${host}, \`tunerank ${command}\`` : "it has just begun";
    throw new UsageError(
      `Another run writes ${this.#source.option} (${who}). Wait until it has ended; if it was killed, wait 30 seconds. Nothing was sent.`,
    );
  }

  // Makes the output from all rows, again if a part has changed meanwhile: whoever writes the output last has read all
  // parts before, and looks at them again after, so that no row is missing from it. @returns The results paid for twice
  async #merge(isComplete: boolean): Promise<number> {
    const { path: output } = this.#source;
    for (let merge = 1; ; merge += 1) {
      const own = this.#named();
      this.sync();
      const parts = this.#parts();
      const rows = await new Rows(this.#source, parts, own).read();
      const made = path.join(this.#folder, `merge-${randomBytes(6).toString("hex")}`);
      const mode = fs.statSync(output, { throwIfNoEntry: false })?.mode;
      const file = (await opened(made, "wx+")) as FileHandle;
      try {
        if (mode !== undefined) await file.chmod(mode & 0o7777);
        await rows.copy(this.asked, file);
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
      const stateOf = ({ path, size }: Part): string => (path === own ? own : `${path} ${size}`);
      const read = parts.map(stateOf);
      if (`${this.#parts().map(stateOf)}` !== `${read}` && merge < mostMerges) continue;
      // The parts are removed, its own last, unless another run may still write one of them.
      const others = this.#parts().filter((part) => part.path !== own);
      // A part without its first line, whose run was killed before it wrote one, has no rows.
      const isOver = ({ hasEnded, run }: Part) => hasEnded || run.pid === undefined || isGone(run);
      const isKnown = (part: Part): boolean => read.includes(stateOf(part));
      if (!isComplete || !others.every((part) => isOver(part) && isKnown(part))) return rows.twice;
      for (const part of others) orUndefined(() => fs.unlinkSync(part.path), "ENOENT");
      syncFolder(this.#folder);
      this.#hasRows = false;
      return rows.twice;
    }
  }

  /** Closes the part. One without rows is removed; another gets an end line: nobody writes it any more. */
  close(): void {
    clearInterval(this.#timer);
    const part = this.#part;
    if (part === undefined) return;
    if (this.#hasRows) orUndefined(() => this.#write('{"end":true}'));
    orUndefined(() => fs.fdatasyncSync(part.file));
    this.#part = undefined;
    if (this.#hasRows) fs.closeSync(part.file);
    else this.#discard(part);
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

  // Appends a line. Once a write has failed, each begins with a newline: readers skip the line that was cut.
  #write(line: string): void {
    append((this.#part as OwnPart).file, this.#failure === undefined ? line : `\n${line}`);
  }

  // The path of the part. If it was moved or removed, all that it holds is first copied to a new part.
  #named(): string {
    const held = this.#part as OwnPart;
    const there = fs.statSync(held.path, { throwIfNoEntry: false });
    const { ino, dev } = fs.fstatSync(held.file);
    if (there?.ino === ino && there.dev === dev) return held.path;
    try {
      const { file } = this.#create();
      const bytes = Buffer.alloc(chunkBytes);
      for (let at = 0, read = 1; read > 0; at += read) {
        read = fs.readSync(held.file, bytes, 0, bytes.length, at);
        append(file, bytes.subarray(0, read));
      }
      // The old part may end in the middle of a line.
      append(file, "");
    } catch (error) {
      if (this.#part !== held) this.#discard(this.#part as OwnPart);
      this.#part = held;
      throw error;
    }
    fs.closeSync(held.file);
    return (this.#part as OwnPart).path;
  }
}

function append(file: number, line: string | Buffer): void {
  const bytes = typeof line === "string" ? Buffer.from(`${line}\n`) : line;
  for (let from = 0; from < bytes.length; ) from += fs.writeSync(file, bytes, from, bytes.length - from);
}

function seenPart(name: string): Part {
  const number = Number.parseInt(path.basename(name), 10);
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

// The absolute path of an output without links. The file may not exist yet.
function outputOf({ path: given, option }: RowSource): string {
  let name: string;
  try {
    name = realName(given);
  } catch (error) {
    throw new UsageError(`The folder of ${option} cannot be found: ${reasonOf(error)}. Nothing was sent.`);
  }
  const stats = fs.statSync(name, { throwIfNoEntry: false });
  if (stats !== undefined && !stats.isFile())
    throw new UsageError(`${option} must be a file, so that a run can continue from it.`);
  if (stats !== undefined && stats.nlink > 1)
    throw new UsageError(
      `${option} has ${stats.nlink} names (hard links), of which a run would replace one. Name a copy.`,
    );
  return name;
}

function realName(file: string): string {
  const folder = fs.realpathSync(path.dirname(file));
  const name = path.join(folder, path.basename(file));
  const link = orUndefined(() => fs.readlinkSync(name));
  return link === undefined ? name : realName(path.resolve(folder, link));
}

function syncFolder(folder: string): void {
  const file = orUndefined(() => fs.openSync(folder, "r"));
  if (file === undefined) return;
  // Some file systems cannot sync a folder.
  orUndefined(() => fs.fsyncSync(file));
  fs.closeSync(file);
}
