import type { LimitSearch } from "./limitSearch.js";
import type { Decision } from "./retry.js";
import type { AttemptTimes, FailedAttempt } from "./types.js";

// Fewer failures in a row than this say nothing of the service.
const fewestForOutage = 4;

/** One of the runs that share a limiter. */
export interface Sharer {
  /** Lets begin what may. */
  takeTurn(): void;
}

/**
 * How many attempts may be under way, and from when: for all calls of a run together. The clock is passed in. The number
 * is fixed, or found by a search.
 */
export class Limiter {
  /** The runs whose attempts it limits: the next is the one whose turn was longest ago. */
  readonly sharers: Set<Sharer> = new Set();
  /** Whether they are all over. */
  isSpent = false;
  inFlight = 0;
  /** Nothing is sent before. */
  heldUntil = 0;
  readonly #search: LimitSearch | undefined;
  #fixed = 0;
  // When the places of refused attempts are free again.
  readonly #resting: number[] = [];
  #failuresInRow = 0;

  constructor(concurrency: number | LimitSearch) {
    if (typeof concurrency === "number") this.#fixed = concurrency;
    else this.#search = concurrency;
  }

  /** Attempts of an earlier one say nothing of this limit. */
  get epoch(): number {
    return this.#search?.epoch ?? 0;
  }

  /** The most attempts at once. */
  get limit(): number {
    return this.#search?.limit ?? this.#fixed;
  }

  /** Whether the service seems to be away: then one attempt at a time finds out when it is back. */
  get isOutage(): boolean {
    return this.#failuresInRow >= Math.max(fewestForOutage, this.limit);
  }

  /** Whether another attempt may be sent now. */
  isOpen(now: number): boolean {
    return now >= this.heldUntil && this.#taken(now) < (this.isOutage ? 1 : this.limit);
  }

  /** Until then only time keeps another from being sent. */
  opensAt(now: number): number {
    const isResting = this.inFlight < this.limit && this.#taken(now) >= this.limit;
    return isResting ? Math.max(this.heldUntil, this.#resting[0] ?? 0) : this.heldUntil;
  }

  /** There are never more than so many. */
  cap(most: number): void {
    this.#fixed = Math.min(this.#fixed, most);
    this.#search?.cap(most);
  }

  /** An attempt begins. @returns what to pass to the method that notes its end */
  begin(now: number): number {
    this.#change(1, now);
    return this.epoch;
  }

  /** An attempt ended with an answer of the service that is no sign of overload. */
  answered(times: AttemptTimes): void {
    this.#failuresInRow = 0;
    this.#change(-1, times.now);
    this.#search?.answered(times);
  }

  /** An attempt ended with nothing that tells of the service. */
  ended(now: number): void {
    this.#change(-1, now);
  }

  /**
   * An attempt failed.
   * @param decision Whether there is another, and when
   * @returns whether it was one too many for this machine, and there are fewer from now on
   */
  failed(failed: FailedAttempt, decision: Decision, times: AttemptTimes): boolean {
    const { code, codeSource, httpStatus } = failed;
    const { now } = times;
    const transient = isTransient(failed, decision);
    const askedMs = holdAskedBy(failed, decision);
    this.#hold(now + askedMs);
    if (code === "RESOURCE_EXHAUSTED" && codeSource !== "client") this.#refused(times, askedMs);
    else if (!transient && httpStatus !== undefined) this.answered(times);
    else {
      this.#change(-1, now);
      if (transient) this.#noteFailure(now, decision.waitMs);
    }
    return false;
  }

  #refused(times: AttemptTimes, askedMs: number): void {
    this.#failuresInRow = 0;
    this.#change(-1, times.now);
    const restsUntil = this.#search?.refused(times, this.inFlight, askedMs);
    if (restsUntil !== undefined) this.#resting.push(restsUntil);
    this.#resting.sort((a, b) => a - b);
  }

  #noteFailure(now: number, waitMs: number | undefined): void {
    this.#failuresInRow += 1;
    if (this.isOutage && waitMs !== undefined) this.#hold(now + waitMs);
  }

  #taken(now: number): number {
    while ((this.#resting[0] ?? now + 1) <= now) this.#resting.shift();
    return this.inFlight + this.#resting.length;
  }

  #hold(until: number): void {
    this.heldUntil = Math.max(this.heldUntil, until);
  }

  #change(by: 1 | -1, now: number): void {
    this.#search?.passed(now, this.inFlight, this.#resting.length);
    this.inFlight += by;
  }
}

/** Whether a failure may pass. */
function isTransient({ notRetried }: FailedAttempt, decision: Decision): boolean {
  return !/^(not-transient|refused|aborted)$/.test(notRetried ?? decision.notRetried ?? "");
}

/** How long the service asks all calls to wait, in milliseconds; 0 when it asks for nothing. */
export function holdAskedBy(failed: FailedAttempt, decision: Decision): number {
  return isTransient(failed, decision) ? (failed.retryAfterMs ?? 0) : 0;
}
