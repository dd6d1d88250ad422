// A checkpoint file is the output, the errors file or the checkpoint of uploads, and is written by one run at a time.
// Its .run file, or its rows, show that it is a checkpoint file: no other file is cut, replaced or written. A lease in
// the .run file, which its holder must renew, names the run that writes the checkpoint file.
import { existsSync, renameSync, type Stats, statSync, unlinkSync } from "node:fs";
import { type Context, orUndefined, UsageError } from "../context.js";
import type { Line } from "../input/lines.js";
import { digestOf, isInShard } from "./ids.js";
import { type Lease, type LeaseRequest, takeLease } from "./lease.js";
import { type Row, type RowSource, type RowsEnd, readRows } from "./readRows.js";
import { refuseRescued } from "./rescueFile.js";
import { cannotBegin, copyTail, copyWhole, droppedRows, type RowSink, RowWriter } from "./rowWriter.js";
import { filesBeside, randomText, readText, stateOf } from "./runFile.js";

interface WaitOptions extends Pick<LeaseRequest, "wait" | "signal" | "note" | "staleMs"> {
  /** Whether files are only read: no lease is taken, and rows that are added go nowhere. */
  readonly isDry?: boolean;
}

export function waitOptionsOf(
  { signal, terminal, leaseMs, dryRun }: Context,
  wait: boolean | undefined,
): WaitOptions {
  const note = terminal.quiet ? () => {} : (line: string) => terminal.tell({ note: line }, line);
  return { wait: wait === true, signal, note, staleMs: leaseMs, isDry: dryRun !== undefined };
}

type HeldLease = Pick<Lease, keyof Lease>;

// The lease of a dry run, which only reads: it keeps no other run out, and cannot be lost.
const noLease: HeldLease = {
  signal: new AbortController().signal,
  ...{ mustCopy: false, hasTorn: false, alsoHolds: () => true },
  ...{ note() {}, check() {}, release() {} },
};

/** A checkpoint file that only this run writes, until it is closed or another run takes it over. */
export class CheckpointFile {
  readonly path: string;
  readonly #source: RowSource;
  readonly #lease: HeldLease;
  #there: RowsEnd = { end: 0, lacksEnd: false };
  #rows: RowWriter | undefined;
  #isNew: boolean | undefined;

  private constructor(source: RowSource, lease: HeldLease) {
    this.path = source.path;
    this.#source = source;
    this.#lease = lease;
  }

  /**
   * Takes the lease of a checkpoint file.
   * @param run A random text that identifies this run
   * @throws UsageError if the file is of another kind, or another run is writing it
   */
  static async take(source: RowSource, run: string, waiting: WaitOptions): Promise<CheckpointFile> {
    const { path, option } = source;
    try {
      const isKnown = stateOf(readText(filesBeside(path).run), option) !== undefined;
      const stats = statOf(path, option);
      // Without a .run file, only the rows can show that a run wrote the file: `readRows` rejects other content.
      if (stats !== undefined && !isKnown)
        await readRows(source, false, (line, row) => checkShard(line, row, source));
    } catch (error) {
      throw cannotBegin(option, error);
    }
    if (waiting.isDry) return new CheckpointFile(source, noLease);
    const lease = await takeLease({ ...source, run, ...waiting });
    const file = new CheckpointFile(source, lease);
    try {
      if (lease.mustCopy) file.#copy();
      return file;
    } catch (error) {
      lease.release(false);
      throw cannotBegin(option, error);
    }
  }

  /** Aborts with the reason if another run has taken the file over. */
  get signal(): AbortSignal {
    return this.#lease.signal;
  }

  /** Calls `note` for each row in the file. @throws UsageError for a line that is no row */
  async read(note: (line: Line, row: Row) => void): Promise<void> {
    const stats = statOf(this.path, this.#source.option);
    this.#isNew ??= stats === undefined;
    this.#lease.alsoHolds = () => (stats === undefined ? !existsSync(this.path) : isSame(stats, this.path));
    if (stats !== undefined) this.#there = await readRows(this.#source, true, note);
    await refuseRescued(this.#source);
  }

  /**
   * Opens the file to add rows after those that were read. A partly written last row is first copied to the .torn file,
   * then cut off.
   */
  open(): RowSink {
    if (this.#lease === noLease) return droppedRows;
    this.#lease.check();
    this.#keepTorn();
    return this.#writing(new RowWriter(this.#source.option, this.path, this.#there));
  }

  /** Replaces the file with a new one, which has only the rows that `fill` adds. */
  async rewrite(fill: (rows: RowWriter) => Promise<void>): Promise<RowSink> {
    if (this.#lease === noLease) return droppedRows;
    if (this.#rows === undefined) this.#keepTorn();
    else this.#closeRows();
    const { rows: name } = filesBeside(this.path);
    const rows = new RowWriter(this.#source.option, name, { end: 0, lacksEnd: false }, this.path);
    await fill(rows);
    rows.flush();
    this.#lease.check();
    // A renamed file stays open, so `rows` goes on writing to it.
    renameSync(name, this.path);
    return this.#writing(rows);
  }

  /** Checks the lease. @throws Error if another run has taken the file over */
  check(): void {
    this.#lease.check();
  }

  /** Removes the file if this run created it and it has no rows, so that a rejected run leaves nothing behind. */
  discard(): void {
    if (this.#isNew !== true || this.#rows?.isEmpty !== true) return;
    this.#lease.check();
    unlinkSync(this.path);
    this.#lease.alsoHolds = () => !existsSync(this.path);
  }

  /** Closes the file and releases its lease. @param hasEndedWell If true, the .torn copy of a cut row is removed */
  close(hasEndedWell: boolean): void {
    try {
      orUndefined(() => this.#lease.check());
      this.#closeRows();
    } catch (error) {
      this.#lease.release(false);
      throw error;
    }
    this.#lease.release(hasEndedWell);
  }

  #closeRows(): void {
    const rows = this.#rows;
    this.#rows = undefined;
    rows?.close();
  }

  #writing(rows: RowWriter): RowWriter {
    this.#rows = rows;
    const stats = rows.stats();
    this.#lease.alsoHolds = () => isSame(stats, this.path);
    this.#lease.onMoved = () => rows.leave();
    return rows;
  }

  // Replaces the file with a copy of itself. A process that lost the lease while it was suspended can then write only
  // to the old file, which is deleted.
  #copy(): void {
    if (existsSync(this.path)) {
      const { rows: name } = filesBeside(this.path);
      copyWhole(this.path, name);
      this.#lease.check();
      renameSync(name, this.path);
    }
    this.#lease.note("copied");
  }

  #keepTorn(): void {
    const { end } = this.#there;
    const size = statOf(this.path, this.#source.option)?.size ?? 0;
    if (size < end) throw new UsageError(`${this.#source.option} has changed while it was read.`);
    if (size === end) return;
    const { torn } = filesBeside(this.path);
    if (existsSync(torn) && !this.#lease.hasTorn)
      throw new UsageError(
        `${this.#source.option} has a torn last row, and the file whose name ends in .torn, for its copy, is there: move that.`,
      );
    try {
      this.#lease.note("torn");
      copyTail(this.path, end, torn);
    } catch (error) {
      throw cannotBegin(this.#source.option, error);
    }
  }
}

function checkShard({ number }: Line, { id }: Row, { option, shard }: RowSource): void {
  if (id !== undefined && !isInShard(digestOf(JSON.stringify(id)), shard))
    throw new UsageError(`${option}, line ${number}, is a row of another shard. Name another file.`);
}

/**
 * Takes the leases of files in order, calls `use`, and then releases them. The signal for `use` also aborts if another
 * run takes one of the files over.
 */
export async function withFiles<T>(
  sources: readonly RowSource[],
  waiting: WaitOptions,
  use: (files: readonly CheckpointFile[], signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const run = randomText();
  const files: CheckpointFile[] = [];
  let hasEndedWell = false;
  try {
    for (const source of sources) files.push(await CheckpointFile.take(source, run, waiting));
    const result = await use(files, AbortSignal.any([waiting.signal, ...files.map(({ signal }) => signal)]));
    hasEndedWell = true;
    return result;
  } catch (error) {
    // A lost lease is the real cause: throw its reason instead of the error that followed from it.
    for (const { signal } of files) signal.throwIfAborted();
    if (error instanceof UsageError) for (const file of files) file.discard();
    throw error;
  } finally {
    closeAll(files, hasEndedWell);
  }
}

function closeAll([file, ...others]: readonly CheckpointFile[], hasEndedWell: boolean): void {
  if (file === undefined) return;
  try {
    file.close(hasEndedWell);
  } finally {
    closeAll(others, hasEndedWell);
  }
}

function statOf(path: string, option: string): Stats | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  if (!stats.isFile()) throw new UsageError(`${option} must be a file, so that a run can continue from it.`);
  if (stats.nlink > 1)
    throw new UsageError(
      `${option} has ${stats.nlink} names (hard links), under each of which a run could write it. Name a copy.`,
    );
  return stats;
}

function isSame(stats: Stats, path: string): boolean {
  const there = statSync(path, { throwIfNoEntry: false });
  return there !== undefined && there.ino === stats.ino && there.dev === stats.dev;
}
