// A lease is a lock on a file, even across machines. Every few seconds its holder raises a counter in the .run file
// beside that file; if the counter stops, another run takes the lease over. To take a lease, a process renames a file
// with its own random token (the claim file) over the .run file. A holder that was only suspended still writes to the
// .run file that it has open, which is deleted by then, and finds the token of another run in the new one.
import { closeSync, existsSync, fdatasync, fdatasyncSync, openSync, renameSync, unlinkSync } from "node:fs";
import { orUndefined, UsageError } from "../context.js";
import { named } from "../terminal.js";
import type { RowSource } from "./readRows.js";
import { cannotBegin, cannotGoOn } from "./rowWriter.js";
import {
  filesBeside,
  isGone,
  type LeaseState,
  parsed,
  type RunFileState,
  randomText,
  readText,
  stateOf,
  thisProcess,
  tokenOf,
  writeState,
} from "./runFile.js";

/** The right to write a file, which is held until it is released, or until another run takes it over. */
export class Lease {
  /** A further condition for holding the lease, such as that the path still leads to the same file. */
  alsoHolds: () => boolean = () => true;
  /** Called once if the file was moved: the rows of requests in flight can still be written elsewhere. */
  onMoved?: () => void;
  readonly #request: LeaseRequest;
  readonly #file: number;
  readonly #state: RunFileState;
  readonly #since: number = performance.now();
  readonly #lost: AbortController = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #isSyncing = false;
  #isOver = false;
  #moved: Error | undefined;

  constructor(request: LeaseRequest, file: number, state: RunFileState) {
    this.#request = request;
    this.#file = file;
    this.#state = state;
    this.#renewLater();
  }

  /** Aborts with the reason if another run has taken the file over. */
  get signal(): AbortSignal {
    return this.#lost.signal;
  }

  /** Whether an earlier holder of the lease may still write to the file, so that the file must be copied. */
  get mustCopy(): boolean {
    return this.#state.uncopied === true;
  }

  get hasTorn(): boolean {
    return this.#state.torn === true;
  }

  /**
   * Records in the .run file what happens to the output. `"copied"`: a copy takes the output's place, so that no process
   * that held the lease before can write to it. `"torn"`: a partly written last row is about to move to the .torn file.
   */
  note(what: "copied" | "torn"): void {
    if (what === "torn") this.#state.torn = true;
    else delete this.#state.uncopied;
    writeState(this.#file, this.#state);
    fdatasyncSync(this.#file);
  }

  /** Checks that the lease is still held. @throws Error if another run has taken the file over, or it was moved */
  check(): void {
    this.signal.throwIfAborted();
    if (this.#moved) throw this.#moved;
    const text = readText(filesBeside(this.#request.path).run);
    if (tokenOf(text) !== this.#state.lease?.token || !this.alsoHolds()) this.#lose(text);
    this.signal.throwIfAborted();
  }

  /** Releases the lease. @param hasEndedWell If true, the .torn copy of a cut row is removed */
  release(hasEndedWell: boolean): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    try {
      if (this.#moved === undefined) this.check();
      if (hasEndedWell && this.hasTorn) {
        remove(filesBeside(this.#request.path).torn);
        delete this.#state.torn;
      }
      delete this.#state.lease;
      // If the checkpoint file does not exist, as after a run that was rejected, its .run file is removed too.
      if (this.#moved === undefined && !existsSync(this.#request.path))
        unlinkSync(filesBeside(this.#request.path).run);
      else writeState(this.#file, this.#state);
    } finally {
      if (!this.#isSyncing) closeSync(this.#file);
    }
  }

  #renewLater(): void {
    this.#timer = setTimeout(() => this.#renew(), renewMsOf(this.#request)).unref();
  }

  // Raises the counter that shows that this run is alive. Other machines see it only after the sync, which does not
  // block, because the disk may take long.
  #renew(): void {
    const { lease } = this.#state;
    if (lease === undefined) return;
    lease.counter += 1;
    lease.heldMs = Math.round(performance.now() - this.#since);
    try {
      writeState(this.#file, this.#state);
      this.check();
    } catch (error) {
      // The lease of a file that was moved is still renewed: it keeps other runs away while requests are in flight.
      if (error !== this.#moved) {
        this.#fail(error);
        return;
      }
    }
    this.#isSyncing = true;
    fdatasync(this.#file, (error) => {
      this.#isSyncing = false;
      if (this.#isOver) closeSync(this.#file);
      else if (error) this.#fail(error);
      else this.#renewLater();
    });
  }

  #fail(error: unknown): void {
    const isErrno = (error as NodeJS.ErrnoException).code !== undefined;
    this.#lost.abort(isErrno ? cannotGoOn(this.#request.option, error) : error);
  }

  // Aborts the run if another run took the file over. If the file was only moved, `onMoved` keeps the rows to come.
  #lose(text: string | undefined): void {
    const other = parsed(text);
    const isMoved = other === undefined || other.run === this.#request.run;
    const error = this.#lostTo(isMoved ? undefined : other);
    if (!isMoved || this.onMoved === undefined) {
      this.#fail(error);
      return;
    }
    this.#moved = error;
    this.onMoved();
    throw error;
  }

  #lostTo(other: RunFileState | undefined): Error {
    const { option } = this.#request;
    const holder = other?.lease === undefined ? "" : `, ${nameOf(other.lease)}`;
    const reason =
      other === undefined
        ? "was moved, removed or replaced while this run was writing it, or the file beside it was"
        : `was taken over by another run${holder}, which saw no sign of life of this one`;
    return new Error(
      `${option} ${reason}. What this run wrote since then is not in it: run the same command again, once no other run writes it.`,
    );
  }
}

/**
 * Waits until a file may be written, and takes its lease.
 * @throws UsageError if another run writes it and `wait` is false
 */
export async function takeLease(request: LeaseRequest): Promise<Lease> {
  const names = filesBeside(request.path);
  const watch = new Watch(request);
  const claims = new SilenceWatch(renewMsOf(request));
  try {
    for (;;) {
      const seen = readText(names.run);
      const verdict = watch.see(seen);
      removeLeft(names.claim, claims);
      const lease = verdict === "in use" ? undefined : claimed(request, seen, verdict);
      if (lease !== undefined) return lease;
      await watch.pause();
    }
  } catch (error) {
    throw cannotBegin(request.option, error);
  }
}

// Removes the claim file that a killed process left: a running one keeps its claim file only for a moment. A process
// that was only slow finds its claim file gone, and makes another.
function removeLeft(name: string, claims: SilenceWatch): void {
  const text = readText(name);
  if (text === undefined || claims.see(text, parsed(text)?.lease) === undefined) return;
  if (readText(name) === text) remove(name);
}

// Tries to take the lease. Only one process at a time can create the claim file, which it renames to the .run file if
// that is still as `seen`. A process that was suspended before the rename may find its claim file removed, or rename
// that of another process. The process whose random token is then in the .run file has the lease. If its own rename
// did not put the token there, the process assumes that an earlier holder may still write to the checkpoint file.
function claimed(request: LeaseRequest, seen: string | undefined, verdict: Verdict): Lease | undefined {
  const names = filesBeside(request.path);
  const file = orUndefined(() => openSync(names.claim, "wx"), "EEXIST");
  if (file === undefined) return undefined;
  const [token, before] = [randomText(), parsed(seen)];
  let taken: Lease | undefined;
  try {
    const state: RunFileState = {
      format: 1,
      kind: request.kind,
      ...(request.shard !== undefined && { shard: request.shard.name }),
      run: request.run,
      ...(before?.torn && { torn: true }),
      ...((verdict === "stale" || before?.uncopied) && { uncopied: true }),
      lease: { token, counter: 0, heldMs: 0, ...thisProcess() },
    };
    writeState(file, state);
    fdatasyncSync(file);
    const rename = (): true => renameSync(names.claim, names.run) ?? true;
    const isMine = readText(names.run) === seen && orUndefined(rename, "ENOENT") === true;
    if (tokenOf(readText(names.run)) !== token) return undefined;
    if (!isMine) state.uncopied = true;
    taken = new Lease(request, file, state);
    return taken;
  } finally {
    if (taken === undefined) withdraw(names.claim, file, token);
  }
}

function withdraw(name: string, file: number, token: string): void {
  closeSync(file);
  const text = readText(name);
  // Removes this process's claim file, which is empty if the disk was full.
  if (parsed(text) === undefined || tokenOf(text) === token) remove(name);
}

function remove(name: string): void {
  orUndefined(() => unlinkSync(name), "ENOENT");
}

/** A request for the lease of a file, and how to wait for it. */
export interface LeaseRequest extends RowSource {
  readonly run: string;
  /** Whether to wait as long as another run writes the file (`--wait`). */
  readonly wait: boolean;
  readonly signal: AbortSignal;
  /** Prints a line that says which file and process this run waits for. */
  readonly note: (line: string) => void;
  /** A lease without a sign of life for this many milliseconds is stale. */
  readonly staleMs: number;
}

const noteMs = 10_000;

/** How often a lease is renewed, in milliseconds. */
function renewMsOf({ staleMs }: LeaseRequest): number {
  return staleMs / 10;
}

/** Watches for signs of life: a living process keeps rewriting the text of its file. */
class SilenceWatch {
  isChanged = false;
  readonly #staleMs: number;
  #text: string | undefined;
  #since = 0;

  constructor(staleMs: number) {
    this.#staleMs = staleMs;
  }

  get ms(): number {
    return performance.now() - this.#since;
  }

  /**
   * `"gone"` if the process that wrote the text is known to have ended; `"stale"` if the text has not changed for
   * `staleMs`.
   */
  see(text: string, holder: LeaseState | undefined): "gone" | "stale" | undefined {
    if (text !== this.#text) {
      this.isChanged = this.#text !== undefined;
      this.#text = text;
      this.#since = performance.now();
    }
    if (holder !== undefined && isGone(holder)) return "gone";
    return this.ms >= this.#staleMs ? "stale" : undefined;
  }
}

/**
 * What a run may do with a file: take it (`free`), take it over from a process that has ended (`gone`) or may be
 * suspended (`stale`), or wait (`in use`).
 */
export type Verdict = "free" | "gone" | "stale" | "in use";

export class Watch {
  readonly #request: LeaseRequest;
  readonly #still: SilenceWatch;
  #since = performance.now();
  #notedAt = Number.NEGATIVE_INFINITY;

  constructor(request: LeaseRequest) {
    this.#request = request;
    this.#still = new SilenceWatch(request.staleMs);
  }

  /**
   * Judges the text of a .run file.
   * @throws UsageError if it describes another kind of file or another shard, or if another run is writing and `wait`
   * is false
   */
  see(text: string | undefined): Verdict {
    const { option, kind, shard, run, wait } = this.#request;
    const state = stateOf(text, option);
    if (state !== undefined && state.kind !== kind)
      throw new UsageError(`${option} is the ${named(state.kind)} of another run. Name another file.`);
    if (state !== undefined && state.shard !== shard?.name)
      throw new UsageError(
        `${option} is that of ${state.shard === undefined ? "a run without --shard" : `shard ${named(state.shard)}`}. Each shard needs files of its own.`,
      );
    const { lease } = state ?? {};
    if (text === undefined || (state !== undefined && lease === undefined)) return "free";
    if (state?.run === run) throw new UsageError("Two options name one file: they must be different files.");
    const verdict = this.#still.see(text, lease) ?? "in use";
    if (this.#still.isChanged && !wait)
      throw new UsageError(
        `Another run is writing to ${option}: ${nameOf(lease)}${ageOf(lease)}. Wait for its end, or add --wait.`,
      );
    this.#tell(verdict, lease);
    return verdict;
  }

  #tell(verdict: Verdict, lease: LeaseState | undefined): void {
    const { option, note, wait, staleMs } = this.#request;
    const now = performance.now();
    const isFirst = this.#notedAt < 0;
    if (verdict !== "in use") {
      const seconds = Math.round(this.#still.ms / 1000);
      if (!isFirst) note(`${option}: no sign of life for ${seconds} s. This run takes it over.`);
    } else if (now - this.#notedAt >= noteMs) {
      this.#notedAt = now;
      const most = Math.round(staleMs / 1000);
      const until = wait
        ? `until it ends, or is silent for ${most} s`
        : `${most} s, or until it gives a sign of life`;
      const waited = Math.round((now - this.#since) / 1000);
      if (isFirst) note(`Waiting for ${option}, which ${nameOf(lease)} may be writing: ${until}.`);
      else note(`Waiting for ${option}, which ${nameOf(lease)} may be writing, for ${waited} s so far.`);
    }
  }

  /** Waits at most 250 ms. @throws DOMException `AbortError` if the signal aborts */
  async pause(): Promise<void> {
    const { signal } = this.#request;
    signal.throwIfAborted();
    const ms = Math.min(250, renewMsOf(this.#request) / 2);
    await new Promise<void>((resolve, reject) => {
      const stop = (): void => {
        clearTimeout(timer);
        reject(signal.reason);
      };
      const timer = setTimeout(() => {
        signal.removeEventListener("abort", stop);
        resolve();
      }, ms);
      signal.addEventListener("abort", stop, { once: true });
    });
  }
}

function nameOf(lease: LeaseState | undefined): string {
  return lease === undefined ? "another run" : `process ${lease.pid} on ${named(lease.host)}`;
}

function ageOf(lease: LeaseState | undefined): string {
  if (lease === undefined) return "";
  const seconds = Math.round(lease.heldMs / 1000);
  return seconds < 120 ? `, for ${seconds} s` : `, for ${Math.round(seconds / 60)} min`;
}
