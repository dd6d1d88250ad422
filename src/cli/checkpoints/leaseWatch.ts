// Watching who writes a file, by the clock of the process that watches: no two machines' clocks are compared.

import { UsageError } from "../context.js";
import type { RowSource } from "./readRows.js";
import { isGone, type LeaseState, stateOf } from "./runFile.js";

/** A run that wants a file, and how it waits. */
export interface LeaseRequest extends RowSource {
  readonly run: string;
  /** Whether it waits for as long as another run writes. */
  readonly wait: boolean;
  readonly signal: AbortSignal;
  /** Tells people what it waits for. */
  readonly note: (line: string) => void;
}

const usualStaleMs = 30_000;
const noteMs = 10_000;

/** After how long without a sign of life a lease is stale, and how often it is renewed. A test may shorten it. */
export function leaseTimes(): { readonly staleMs: number; readonly renewMs: number } {
  const staleMs = Number(process.env.TUNERANK_TEST_LEASE_MS) || usualStaleMs;
  return { staleMs, renewMs: staleMs / 10 };
}

/** Whether a text that a living process would write anew stays the same. */
export class SilenceWatch {
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
  readonly #still: SilenceWatch = new SilenceWatch(leaseTimes().staleMs);
  #since = performance.now();
  #notedAt = Number.NEGATIVE_INFINITY;

  constructor(request: LeaseRequest) {
    this.#request = request;
  }

  /** @throws UsageError when it is another file, or when another run is writing and nobody wants to wait */
  see(text: string | undefined): Verdict {
    const { option, kind, shard, run, wait } = this.#request;
    const state = stateOf(text, option);
    if (state !== undefined && state.kind !== kind)
      throw new UsageError(`${option} is the ${state.kind} of another run. Name another file.`);
    if (state !== undefined && state.shard !== shard?.name)
      throw new UsageError(
        `${option} is that of ${state.shard === undefined ? "a run without --shard" : `shard ${state.shard}`}. Each shard needs files of its own.`,
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
    const { option, note, wait } = this.#request;
    const now = performance.now();
    const isFirst = this.#notedAt < 0;
    if (verdict !== "in use") {
      const seconds = Math.round(this.#still.ms / 1000);
      if (!isFirst) note(`${option}: no sign of life for ${seconds} s. This run takes it over.`);
    } else if (now - this.#notedAt >= noteMs) {
      this.#notedAt = now;
      const most = Math.round(leaseTimes().staleMs / 1000);
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
    const ms = Math.min(250, leaseTimes().renewMs / 2);
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
  return lease === undefined ? "another run" : `process ${lease.pid} on ${lease.host}`;
}

function ageOf(lease: LeaseState | undefined): string {
  if (lease === undefined) return "";
  const seconds = Math.round(lease.heldMs / 1000);
  return seconds < 120 ? `, for ${seconds} s` : `, for ${Math.round(seconds / 60)} min`;
}
