import type { Failure } from "../errors/failure.js";
import { networkCode } from "../transport/transport.js";
import { backoff } from "./decisions.js";
import { type Decision, jitterOf } from "./retry.js";
import type { LimitSearch } from "./search.js";
import type { AttemptTimes } from "./types.js";

// Fewer failures in a row than this say nothing of the service.
const fewestForOutage = 4;

/** One of the runs that share a limiter. */
export interface Sharer {
  /** Lets begin what may. */
  takeTurn(): void;
}

/** How many attempts may be under way, and from when: for all calls of a run together. The clock is passed in. */
export class Limiter {
  /** The runs whose attempts it limits: the next is the one whose turn was longest ago. */
  readonly sharers: Set<Sharer> = new Set();
  /** Whether they are all over. */
  isSpent = false;
  inFlight = 0;
  /** Nothing is sent before: the time that the service asked for, and a random part. */
  heldUntil = 0;
  // Without that part, which is drawn once a hold: the longest of many draws is nearly the same in each process of a fleet.
  #askedUntil = 0;
  #random = 0;
  #limit: number;
  #failuresInRow = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Counts the changes of the limit: the response to an attempt that began in an earlier epoch tells nothing of the present limit. */
  get epoch(): number {
    return 0;
  }

  /** The most attempts at once. */
  get limit(): number {
    return this.#limit;
  }

  /** Whether the service seems to be away: then one attempt at a time finds out when it is back. */
  get isOutage(): boolean {
    return this.#failuresInRow >= Math.max(fewestForOutage, this.limit);
  }

  /** Whether another attempt may be sent now. @param endsAt When its call ends, if it was tried before */
  isOpen(now: number, endsAt?: number): boolean {
    return now >= this.opensAt(now, endsAt) && this.taken(now) < (this.isOutage ? 1 : this.limit);
  }

  /** Until then only time keeps another from being sent: of a call with little time left, not the random part. */
  opensAt(_now: number, endsAt: number = Number.POSITIVE_INFINITY): number {
    const { heldUntil } = this;
    const asked = Math.min(this.#askedUntil, heldUntil);
    return heldUntil - asked > (endsAt - asked) * backoff.jitterShare ? asked : heldUntil;
  }

  /** There are never more than so many. */
  cap(most: number): void {
    this.#limit = Math.min(this.#limit, most);
  }

  /** An attempt begins. @returns what to pass to the method that notes its end */
  begin(now: number): number {
    this.change(1, now);
    return this.epoch;
  }

  /** An attempt ended with an answer of the service that is no sign of overload. */
  answered(times: AttemptTimes): void {
    this.#failuresInRow = 0;
    this.change(-1, times.now);
  }

  /** An attempt ended with nothing that tells of the service. */
  ended(now: number): void {
    this.change(-1, now);
  }

  /**
   * An attempt failed.
   * @param decision Whether there is another, and when
   * @param random A number from 0 up to 1
   * @returns whether it was one too many for this machine, and there are fewer from now on
   */
  failed(failed: Failure, decision: Decision, times: AttemptTimes, random: number): boolean {
    const { code, codeSource, httpStatus } = failed;
    const { now } = times;
    const transient = isTransient(failed, decision);
    const askedMs = holdAskedBy(failed, decision);
    if (now >= this.heldUntil) this.#random = random;
    if (askedMs > 0) this.#hold(now + askedMs, this.#random * jitterOf(askedMs));
    if (code === "RESOURCE_EXHAUSTED" && codeSource !== "client") this.refused(times, askedMs);
    else if (!transient && httpStatus !== undefined) this.answered(times);
    else {
      this.change(-1, now);
      if (transient) this.#noteFailure(now, decision.waitMs);
    }
    return false;
  }

  /** The service refused an attempt as one too many. @param _askedMs How long it asked to wait */
  protected refused(times: AttemptTimes, _askedMs: number): void {
    this.#failuresInRow = 0;
    this.change(-1, times.now);
  }

  /** How many places are not free. */
  protected taken(_now: number): number {
    return this.inFlight;
  }

  protected change(by: 1 | -1, _now: number): void {
    this.inFlight += by;
  }

  #noteFailure(now: number, waitMs: number | undefined): void {
    this.#failuresInRow += 1;
    if (this.isOutage && waitMs !== undefined) this.#hold(now + waitMs);
  }

  #hold(until: number, moreMs = 0): void {
    this.#askedUntil = Math.max(Math.min(this.#askedUntil, this.heldUntil), until);
    this.heldUntil = Math.max(this.heldUntil, until + moreMs);
  }
}

/** One whose number is found by a search, or fixed. */
export class SearchedLimiter extends Limiter {
  readonly #search: LimitSearch | undefined;
  // When the places of refused attempts are free again.
  readonly #resting: number[] = [];

  constructor(concurrency: number | LimitSearch) {
    const isFixed = typeof concurrency === "number";
    super(isFixed ? concurrency : 0);
    if (!isFixed) this.#search = concurrency;
  }

  override get epoch(): number {
    return this.#search?.epoch ?? 0;
  }

  override get limit(): number {
    return this.#search?.limit ?? super.limit;
  }

  override opensAt(now: number, endsAt?: number): number {
    const opensAt = super.opensAt(now, endsAt);
    if (this.#resting.length === 0) return opensAt;
    const isResting = this.inFlight < this.limit && this.taken(now) >= this.limit;
    return isResting ? Math.max(opensAt, this.#resting[0] ?? 0) : opensAt;
  }

  override cap(most: number): void {
    super.cap(most);
    this.#search?.cap(most);
  }

  override answered(times: AttemptTimes): void {
    super.answered(times);
    this.#search?.answered(times);
  }

  protected override refused(times: AttemptTimes, askedMs: number): void {
    super.refused(times, askedMs);
    const restsUntil = this.#search?.refused(times, this.inFlight, askedMs);
    if (restsUntil !== undefined) this.#resting.push(restsUntil);
    this.#resting.sort((a, b) => a - b);
  }

  protected override taken(now: number): number {
    const resting = this.#resting;
    if (resting.length === 0) return this.inFlight;
    while ((resting[0] ?? now + 1) <= now) resting.shift();
    return this.inFlight + resting.length;
  }

  protected override change(by: 1 | -1, now: number): void {
    this.#search?.passed(now, this.inFlight, this.#resting.length);
    super.change(by, now);
  }
}

/** Whether a failure may pass. */
function isTransient({ notRetried }: Failure, decision: Decision): boolean {
  return !/^(not-transient|refused|aborted)$/.test(notRetried ?? decision.notRetried ?? "");
}

/** How long the service asks all calls to wait, in milliseconds; 0 when it asks for nothing. */
export function holdAskedBy(failed: Failure, decision: Decision): number {
  return isTransient(failed, decision) ? (failed.retryAfterMs ?? 0) : 0;
}

// Where no more files may be open, some are left to the rest of the process: a quarter, and at most so many.
const mostSpared = 4;

/** What this machine calls it when the process (EMFILE) or all of them (ENFILE) may open no more files and sockets. */
export type OutOfFiles = "EMFILE" | "ENFILE";

/** Whether a connection failed because no more files may be open. @param cause What the network reported */
export function outOfFiles(cause: unknown): OutOfFiles | undefined {
  const code = networkCode(cause);
  return code === "EMFILE" || code === "ENFILE" ? code : undefined;
}

/**
 * A limiter that knows how many sockets this machine opens: where it opens no more, the limit is what it opened, less a
 * few, for the rest of the run.
 */
export class MachineLimiter extends SearchedLimiter {
  // Of a fixed limit; a search has its own.
  #lowered = 0;

  override get epoch(): number {
    return super.epoch + this.#lowered;
  }

  override failed(failed: Failure, decision: Decision, times: AttemptTimes, random: number): boolean {
    const isFull = failed.codeSource === "transport" && outOfFiles(failed.cause) !== undefined;
    return isFull ? this.#ranOut(times) : super.failed(failed, decision, times, random);
  }

  // It says nothing of the service. Of those begun together, as many were too many as fail so.
  #ranOut({ epoch, now }: AttemptTimes): boolean {
    const before = this.limit;
    let most = before;
    if (epoch === this.epoch) {
      most = Math.min(before, this.inFlight);
      most -= Math.min(mostSpared, most >> 2);
      this.#lowered += 1;
    }
    this.ended(now);
    this.cap(Math.max(1, most - 1));
    return this.limit < before;
  }
}
