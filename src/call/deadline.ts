import { longestTimerMs } from "../options/arguments.js";
import type { AbortSignalLike } from "../options/callOptions.js";

/** How long a call and each of its attempts may take, in milliseconds. */
export interface CallTimes {
  readonly timeoutMs: number;
  readonly attemptTimeoutMs: number;
}

/** Why a call ended before its answer. */
export type EndReason = "aborted" | "closed" | "deadline";

/** What a call is doing, as far as it can be stopped. */
export interface Stoppable {
  abort(reason: "aborted" | "attempt-timeout"): void;
}

/** One call's time: one timer for its deadline and its attempts', and the caller's signal; `dispose` releases both. */
export class Deadline {
  /** Set once the call is over, whatever it is doing. */
  ended: EndReason | undefined;
  /** What to stop when time runs out. */
  running: Stoppable | undefined;
  readonly #attemptTimeoutMs: number;
  readonly #endsAt: number;
  #attemptEndsAt = Number.POSITIVE_INFINITY;
  #firesAt: number;
  #timer: ReturnType<typeof setTimeout>;
  readonly #signal: AbortSignalLike | undefined;

  constructor({ timeoutMs, attemptTimeoutMs }: CallTimes, signal: AbortSignalLike | undefined) {
    const now = performance.now();
    this.#attemptTimeoutMs = attemptTimeoutMs;
    this.#endsAt = now + timeoutMs;
    // The first attempt ends first or not at all: in most calls the timer is set once.
    const firstMs = Math.min(timeoutMs, attemptTimeoutMs);
    this.#firesAt = now + firstMs;
    // As given: after a fraction, which a sum with `now` may leave, V8 compiles all of Node's timers again.
    this.#timer = this.#start(firstMs);
    if (signal === undefined) return;
    if (signal.aborted) {
      this.ended = "aborted";
      return;
    }
    this.#signal = signal;
    endOnAbort(signal, this);
  }

  get leftMs(): number {
    return this.#endsAt - performance.now();
  }

  /** Begins an attempt's time: it no longer waits for other calls to end. */
  started(): void {
    const now = performance.now();
    this.#attemptEndsAt = now + this.#attemptTimeoutMs;
    if (this.#attemptEndsAt < this.#firesAt) this.#restart(now);
  }

  /** Ends an attempt's time, and with it what `running` names. */
  attemptOver(): void {
    this.#attemptEndsAt = Number.POSITIVE_INFINITY;
    this.running = undefined;
  }

  /** Waits for `promise`; resolves to undefined as soon as the call is over. */
  during<T>(promise: Promise<T>): Promise<T | undefined> {
    return new Promise<T | undefined>((resolve, reject) => {
      promise.then(resolve, reject);
      this.#run({ abort: () => resolve(undefined) });
    });
  }

  /** Waits, but no longer than the call lasts. */
  wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const endsAt = performance.now() + ms;
      const wake = () => {
        const leftMs = endsAt - performance.now();
        // A timer leaves out fractions of a millisecond, and may fire one early.
        if (leftMs > 0) timer = setTimeout(wake, leftMs);
        else resolve();
      };
      let timer = setTimeout(wake, ms);
      const abort = () => {
        clearTimeout(timer);
        resolve();
      };
      this.#run({ abort });
    });
  }

  dispose(): void {
    clearTimeout(this.#timer);
    if (this.#signal) stopEndingOnAbort(this.#signal, this);
    this.running = undefined;
  }

  // The call may have ended before this began.
  #run(running: Stoppable): void {
    this.running = running;
    if (this.ended) running.abort("aborted");
  }

  #start(ms: number): ReturnType<typeof setTimeout> {
    return setTimeout(() => this.#fire(), Math.min(ms, longestTimerMs));
  }

  #restart(now: number): void {
    clearTimeout(this.#timer);
    this.#firesAt = Math.min(this.#endsAt, this.#attemptEndsAt);
    this.#timer = this.#start(this.#firesAt - now);
  }

  #fire(): void {
    const now = performance.now();
    // A timer may fire a fraction of a millisecond early.
    const attemptOver = now + 1 >= this.#attemptEndsAt;
    if (now + 1 >= this.#endsAt) {
      this.end("deadline");
      return;
    }
    if (attemptOver) this.#attemptEndsAt = Number.POSITIVE_INFINITY;
    this.#restart(now);
    if (attemptOver) this.running?.abort("attempt-timeout");
  }

  end(reason: EndReason): void {
    this.ended ??= reason;
    this.running?.abort("aborted");
  }
}

/** What ends when a signal is aborted. */
export interface Endable {
  end(reason: "aborted"): void;
}

// One listener for all that a signal ends: Node warns of a leak when an eleventh is added.
const listening = new WeakMap<AbortSignalLike, { calls: Set<Endable>; onAbort: () => void }>();

/** Ends a call when the signal is aborted, until {@link stopEndingOnAbort}. */
export function endOnAbort(signal: AbortSignalLike, call: Endable): void {
  const entry = listening.get(signal);
  if (entry) {
    entry.calls.add(call);
    return;
  }
  const calls = new Set([call]);
  const onAbort = () => {
    for (const each of calls) each.end("aborted");
  };
  listening.set(signal, { calls, onAbort });
  signal.addEventListener("abort", onAbort);
}

/** The call listens no longer. */
export function stopEndingOnAbort(signal: AbortSignalLike, call: Endable): void {
  const entry = listening.get(signal);
  entry?.calls.delete(call);
  if (entry?.calls.size !== 0) return;
  signal.removeEventListener("abort", entry.onAbort);
  listening.delete(signal);
}
