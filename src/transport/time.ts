// Turns of the event loop, a clock that a test may move forward, and the deadline of a call.
import { longestTimerMs } from "../options/arguments.js";
import type { AbortSignalLike } from "../options/types.js";
import { addTo, removeFrom } from "../values.js";

// Read when the module loads, because tests replace these functions.
const { setImmediate, MessageChannel: Channel, setTimeout: setRealTimeout } = globalThis;

/** Calls `run` in the next turn of the event loop, after the bytes that have arrived are read. */
export const nextTurn: (run: () => void) => unknown = setImmediate ?? (Channel ? byMessage : setRealTimeout);

function byMessage(run: () => void): void {
  const { port1, port2 } = new Channel();
  const onmessage = (): void => {
    port1.close();
    run();
  };
  Object.assign(port1, { onmessage });
  port2.postMessage(0);
}

// A timer that fires more than `lateMs` late was delayed by a busy event loop, or by a suspended process.
const lateMs = 2;
// How many milliseconds `readOn` lasts at most, and how many turns if the timer fired in time: a test's clock may stand still.
const longestMs = 250;
const fewTurns = 50;

/** Whether a timer fired late: bytes that arrived in time may then be unread. */
export function isLate(dueAt: number, now: number): boolean {
  return now - dueAt > lateMs;
}

/**
 * Calls `end` after the first turn in which nothing arrives, after 250 ms, or after 50 turns if the timer was not late.
 * @param arrived A number that changes when something arrives, NaN if that is unknown; undefined to end at once
 */
export function readOn(wasLate: boolean, arrived: () => number | undefined, end: () => void): void {
  const until = performance.now() + longestMs;
  let turns = wasLate ? Number.POSITIVE_INFINITY : fewTurns;
  let seen = arrived();
  const look = (): void => {
    const found = arrived();
    if (found === undefined || found === seen || --turns < 0 || performance.now() > until) end();
    else {
      seen = found;
      nextTurn(look);
    }
  };
  nextTurn(look);
}

// The most milliseconds by which a real timer fires too early.
const earlyMs = 2;
// The largest rounding error, in milliseconds, of sums of times with fractions.
const roundingMs = 1e-6;
// How many milliseconds a test has moved its timers forward without moving `performance`.
let movedMs = 0;

/** The current time in milliseconds, for measuring durations. */
export function now(): number {
  return performance.now() + movedMs;
}

/** The time at which a timer fired. If it fired early, a test moved it, but not `performance`: then it counts as due. */
export function firedAt(dueAt: number): number {
  const leftMs = dueAt - now();
  // Rounded up to whole milliseconds, so that no fraction of one is left to wait for.
  if (leftMs > earlyMs) movedMs += Math.ceil(leftMs);
  return now();
}

/** Calls `run` after `ms` milliseconds, never too early. Returns a function that cancels the timer. */
export function after(ms: number, run: () => void): () => void {
  const endsAt = now() + ms;
  let timer: ReturnType<typeof setTimeout>;
  let live: (() => void) | undefined = run;
  const wait = (leftMs: number): void => {
    const timerMs = Math.min(leftMs, longestTimerMs);
    const dueAt = now() + timerMs;
    timer = setTimeout(() => look(firedAt(dueAt) - 1), timerMs);
  };
  // If a timer fired a little early, a real timer waits for the rest: a test's timer would fire only when it is moved
  // again. If `now` stands still, a test controls the clock, and its timer waits.
  const look = (before: number): void => {
    const time = now();
    const restMs = endsAt - time;
    if (restMs < roundingMs) live?.();
    else if (restMs > earlyMs || time === before) wait(restMs);
    else setRealTimeout(() => live && look(time), 1);
  };
  wait(ms);
  return () => {
    live = undefined;
    clearTimeout(timer);
  };
}

/** Why a call ended before its response. */
export type EndReason = "aborted" | "closed" | "deadline";

/**
 * A call from its first line to `dispose`: one of its client's calls, with one deadline, one signal and one timer, also
 * for the attempt timeout. A wait that its end cuts short rejects with this object.
 */
export class Deadline {
  /** The index of this deadline in `calls`. */
  at = 0;
  /** Why the call ended; undefined until then. */
  ended: EndReason | undefined;
  /** The request or wait to abort when time runs out; a wait has no `arrived`. */
  running:
    | { abort(reason: "aborted" | "attempt-timeout"): void; readonly arrived?: number | undefined }
    | undefined;
  timeoutMs: number = Number.POSITIVE_INFINITY;
  signal: AbortSignalLike | undefined;
  readonly #calls: Deadline[];
  readonly #begunAt: number = now();
  #attemptTimeoutMs = Number.POSITIVE_INFINITY;
  #endsAt = Number.POSITIVE_INFINITY;
  #attemptEndsAt = Number.POSITIVE_INFINITY;
  // When the timer is due, and whether this attempt got extra time, as a busy event loop kept it from connecting.
  #dueAt = 0;
  #isExtended = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #ignoreSignal: (() => void) | undefined;

  /** @param calls The deadlines of the client's running calls */
  constructor(calls: Deadline[]) {
    this.#calls = calls;
    addTo(calls, this);
  }

  /** Sets the times, which count from the call's first line, and the signal; then a request's own times. */
  limit(
    { timeoutMs, attemptTimeoutMs }: { readonly timeoutMs: number; readonly attemptTimeoutMs: number },
    signal: AbortSignalLike | undefined,
  ): void {
    const isFirst = this.#timer === undefined;
    const start = isFirst ? this.#begunAt : now();
    this.timeoutMs = timeoutMs;
    this.#attemptTimeoutMs = attemptTimeoutMs;
    this.#endsAt = this.#begunAt + timeoutMs;
    // Most calls set one timer. Its duration is an option's value: a difference of times may have a fraction, for which
    // V8 recompiles all of Node's timers.
    this.#restart(start, Math.min(isFirst ? timeoutMs : this.#endsAt - start, attemptTimeoutMs));
    if (!isFirst || signal === undefined) return;
    this.signal = signal;
    this.#ignoreSignal = endOnAbort(signal, this);
  }

  get leftMs(): number {
    return this.#endsAt - now();
  }

  /** Starts the attempt timeout: the attempt no longer waits for other calls to end. */
  started(): void {
    const start = now();
    this.#isExtended = false;
    this.#attemptEndsAt = start + this.#attemptTimeoutMs;
    if (this.#attemptEndsAt < this.#dueAt) this.#restart(start);
  }

  /** Stops the attempt timeout and clears `running`. */
  attemptOver(): void {
    this.#attemptEndsAt = Number.POSITIVE_INFINITY;
    this.running = undefined;
  }

  /**
   * Waits for `promise`, or rejects with this deadline as soon as the call is over.
   * @param release Called with a value that comes too late, such as an open file
   */
  untilEnded<T>(promise: Promise<T>, release?: (late: T) => unknown): Promise<T> {
    const over = new Promise<never>((_, reject) => {
      this.running = { abort: () => reject(this) };
      if (this.ended) reject(this);
    });
    // `race`, because V8's stacks go through it to the caller, and not through a promise of our own.
    const first = Promise.race([over, promise]);
    if (release === undefined) return first;
    return first.catch((error: unknown) => {
      if (error === this) promise.then(release, () => {});
      throw error;
    });
  }

  /** Waits for `ms` milliseconds, or until the call ends if that is sooner. */
  async wait(ms: number): Promise<void> {
    let cancel: (() => void) | undefined;
    const over = new Promise<void>((resolve) => {
      cancel = after(ms, resolve);
    });
    await this.untilEnded(over).catch(() => {});
    cancel?.();
  }

  dispose(): void {
    if (this.at < 0) return;
    removeFrom(this.#calls, this);
    this.at = -1;
    clearTimeout(this.#timer);
    this.#ignoreSignal?.();
    this.running = undefined;
  }

  #restart(start: number, ms: number = Math.min(this.#endsAt, this.#attemptEndsAt) - start): void {
    clearTimeout(this.#timer);
    const timerMs = Math.min(ms, longestTimerMs);
    this.#dueAt = start + timerMs;
    this.#timer = setTimeout(() => this.#fire(), timerMs);
  }

  #fire(): void {
    const dueAt = this.#dueAt;
    const time = firedAt(dueAt);
    const wasBusy = isLate(dueAt, time);
    // A timer may fire up to `earlyMs` early, which counts as in time.
    if (time + earlyMs >= this.#endsAt) this.#over(wasBusy, () => this.end("deadline"));
    else if (time + earlyMs < this.#attemptEndsAt) this.#restart(time);
    else if (wasBusy && !this.#isExtended && this.running?.arrived === undefined) {
      this.#isExtended = true;
      this.#attemptEndsAt = time + (time - dueAt);
      this.#restart(time);
    } else {
      this.#attemptEndsAt = Number.POSITIVE_INFINITY;
      this.#restart(time);
      this.#over(wasBusy, () => this.running?.abort("attempt-timeout"));
    }
  }

  // Data that arrived while the event loop was busy is read before a timeout takes effect.
  #over(wasBusy: boolean, end: () => void): void {
    const { running } = this;
    const arrived = (): number | undefined => (this.running === running ? running?.arrived : undefined);
    if (arrived() === undefined) end();
    else readOn(wasBusy, arrived, () => this.running === running && end());
  }

  end(reason: EndReason): void {
    this.ended ??= reason;
    this.running?.abort("aborted");
  }
}

// One listener per signal for all calls that it ends: Node warns of a leak at the eleventh listener.
const listening = new WeakMap<AbortSignalLike, ReturnType<typeof listenTo>>();

/** Ends a call when the signal is aborted, or now if it is. Returns a function that stops listening; call it once. */
export function endOnAbort(signal: AbortSignalLike, call: Pick<Deadline, "end">): (() => void) | undefined {
  if (signal.aborted) {
    call.end("aborted");
    return undefined;
  }
  const { calls, onAbort } = listening.get(signal) ?? listenTo(signal);
  const member = { at: 0, call };
  addTo(calls, member);
  return () => {
    removeFrom(calls, member);
    if (calls.length > 0) return;
    signal.removeEventListener("abort", onAbort);
    listening.delete(signal);
  };
}

function listenTo(signal: AbortSignalLike) {
  const calls: { at: number; call: Pick<Deadline, "end"> }[] = [];
  // A copy of the list, because a call that ends removes itself from the list.
  const onAbort = () => {
    for (const { call } of [...calls]) call.end("aborted");
  };
  listening.set(signal, { calls, onAbort });
  signal.addEventListener("abort", onAbort);
  return { calls, onAbort };
}
