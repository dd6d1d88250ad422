// One writer for a file, also on several machines: who writes it says so every few seconds in the file beside it. That is
// only ever replaced by renaming a claim over it, and whoever holds a lease writes through a descriptor: a process that was
// asleep meanwhile writes into what has no name, and finds another's token.
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
  /** What else has to hold while it is held. */
  alsoHolds: () => boolean = () => true;
  readonly #request: LeaseRequest;
  readonly #file: number;
  readonly #state: RunFileState;
  readonly #since: number = performance.now();
  readonly #lost: AbortController = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #isSyncing = false;
  #isOver = false;

  constructor(request: LeaseRequest, file: number, state: RunFileState) {
    this.#request = request;
    this.#file = file;
    this.#state = state;
    this.#renewLater();
  }

  /** Aborted with the reason, when another run has taken the file over. */
  get signal(): AbortSignal {
    return this.#lost.signal;
  }

  /** Whether somebody who had it may still write into the file. */
  get mustCopy(): boolean {
    return this.#state.uncopied === true;
  }

  get hasTorn(): boolean {
    return this.#state.torn === true;
  }

  /** Notes that nobody else can write into the file any more; or, before it is made, the copy of what is cut. */
  note(what: "copied" | "torn"): void {
    if (what === "torn") this.#state.torn = true;
    else delete this.#state.uncopied;
    writeState(this.#file, this.#state);
    fdatasyncSync(this.#file);
  }

  /** @throws Error when another run has taken the file over */
  check(): void {
    this.signal.throwIfAborted();
    const text = readText(filesBeside(this.#request.path).run);
    if (tokenOf(text) !== this.#state.lease?.token || !this.alsoHolds()) this.#fail(this.#lostTo(text));
    this.signal.throwIfAborted();
  }

  /** Lets others write the file. @param hasEndedWell Then there is no copy of what was cut any more */
  release(hasEndedWell: boolean): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    try {
      this.check();
      if (hasEndedWell && this.hasTorn) {
        remove(filesBeside(this.#request.path).torn);
        delete this.#state.torn;
      }
      delete this.#state.lease;
      // Of a run that was refused there is nothing left.
      if (!existsSync(this.#request.path)) unlinkSync(filesBeside(this.#request.path).run);
      else writeState(this.#file, this.#state);
    } finally {
      if (!this.#isSyncing) closeSync(this.#file);
    }
  }

  #renewLater(): void {
    this.#timer = setTimeout(() => this.#renew(), renewMsOf(this.#request)).unref();
  }

  // Without waiting: the disk may take long. What is not forced to it, other machines do not see.
  #renew(): void {
    const { lease } = this.#state;
    if (lease === undefined) return;
    lease.counter += 1;
    lease.heldMs = Math.round(performance.now() - this.#since);
    try {
      writeState(this.#file, this.#state);
      this.check();
    } catch (error) {
      this.#fail(error);
      return;
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

  #lostTo(text: string | undefined): Error {
    const { option, run } = this.#request;
    const other = parsed(text);
    const holder = other?.lease === undefined ? "" : `, ${nameOf(other.lease)}`;
    const reason =
      other === undefined || other.run === run
        ? "was moved, removed or replaced while this run was writing it, or the file beside it was"
        : `was taken over by another run${holder}, which saw no sign of life of this one`;
    return new Error(
      `${option} ${reason}. What this run wrote since then is not in it: run the same command again, once no other run writes it.`,
    );
  }
}

/** Waits until a file may be written, and takes it. @throws UsageError while another run writes it */
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

// A claim lasts for a moment, unless whoever made it was killed. Who was only slow finds it gone, and makes another.
function removeLeft(name: string, claims: SilenceWatch): void {
  const text = readText(name);
  if (text === undefined || claims.see(text, parsed(text)?.lease) === undefined) return;
  if (readText(name) === text) remove(name);
}

// Of several that see the same, one gets it: a claim is made by one alone, and holds only while what was seen is still
// there. Who was asleep meanwhile may find its claim removed, and rename another's: whose token is read then has the
// lease, and takes it for one that was held.
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
  // Where the disk is full there is nothing in it.
  if (parsed(text) === undefined || tokenOf(text) === token) remove(name);
}

function remove(name: string): void {
  orUndefined(() => unlinkSync(name), "ENOENT");
}

/** A run that wants a file, and how it waits. */
export interface LeaseRequest extends RowSource {
  readonly run: string;
  /** Whether it waits for as long as another run writes. */
  readonly wait: boolean;
  readonly signal: AbortSignal;
  /** Tells people what it waits for. */
  readonly note: (line: string) => void;
  /** After how long without a sign of life a lease is stale. */
  readonly staleMs: number;
}

const noteMs = 10_000;

/** How often a lease is renewed. */
function renewMsOf({ staleMs }: LeaseRequest): number {
  return staleMs / 10;
}

/** Whether a text that a living process would write anew stays the same. */
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

  /** Whether whoever wrote it is known to be gone, or gave no sign of life for so long. */
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

/** What a run may do with a file: take it, take it over from a process that is gone or may be asleep, or wait. */
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

  /** @throws UsageError when it is another file, or when another run is writing and nobody wants to wait */
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

  /** Waits a little. @throws DOMException `AbortError` on the signal */
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
