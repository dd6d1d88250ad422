import type { Failure } from "../errors/failure.js";
import { networkCode } from "../transport/transport.js";
import { backoff } from "./decisions.js";
import { type AttemptTimes, type Decision, jitterOf } from "./retry.js";
import type { LimitSearch } from "./search.js";

// Fewer failures in a row than this say nothing of the service.
const fewestForOutage = 4;

/** How many attempts may be in flight, and from when: one for all calls of a run. The clock is passed in. */
export class Limiter {
  /** The schedules of the runs that share it: the next is the one whose turn was longest ago. */
  readonly sharers: Set<{ takeTurn(): void }> = new Set();
  /** Whether those runs are all over. */
  isSpent = false;
  inFlight = 0;
  /** The end of the pause: of the time that the service asked for, and a random part; or of a wait in an outage. */
  pausedUntil = 0;
  /** What finds the concurrency limit, where it is not a fixed number. */
  readonly search: LimitSearch | undefined;
  #fixed = 0;
  // The end of the pause without the random part, and a number that is drawn once a pause: the longest of many draws would be
  // nearly the same in each process of a fleet.
  #askedUntil = 0;
  #random = 0;
  #failuresInRow = 0;

  constructor(concurrency: number | LimitSearch) {
    if (typeof concurrency === "number") this.#fixed = concurrency;
    else this.search = concurrency;
  }

  /** The most attempts in flight at once. */
  get limit(): number {
    return this.search?.limit ?? this.#fixed;
  }

  /** Changes with the limit; a fixed one only falls, and tells by itself. */
  get epoch(): number {
    return this.search?.epoch ?? this.#fixed;
  }

  /** Whether the service seems to be away: then one attempt at a time finds out when it is back. */
  get isOutage(): boolean {
    return this.#failuresInRow >= Math.max(fewestForOutage, this.limit);
  }

  /** Whether another attempt may be sent now. @param endsAt The deadline of its call, if that was tried before */
  isOpen(now: number, endsAt?: number): boolean {
    return now >= this.opensAt(now, endsAt) && this.inFlight < (this.isOutage ? 1 : this.limit);
  }

  /** Until when time alone keeps another from being sent. A call with little time left does not wait for the random part. */
  opensAt(now: number, endsAt: number = Number.POSITIVE_INFINITY): number {
    const { pausedUntil } = this;
    const asked = Math.min(this.#askedUntil, pausedUntil);
    const isTight = pausedUntil - asked > (endsAt - asked) * backoff.jitterShare;
    return Math.max(isTight ? asked : pausedUntil, this.search?.opensAt(now, this.inFlight) ?? 0);
  }

  /** The limit never exceeds `most` from now on. */
  cap(most: number): void {
    this.search?.cap(most);
    this.#fixed = Math.min(this.#fixed, most);
  }

  /** An attempt begins. @returns the epoch of the limit that it began with */
  begin(now: number): number {
    this.search?.passed(now, this.inFlight);
    this.inFlight += 1;
    return this.epoch;
  }

  /** An attempt ended with a response that is no sign of overload. */
  answered(times: AttemptTimes): void {
    this.#failuresInRow = 0;
    this.ended(times.ended);
    this.search?.answered(times);
  }

  /** An attempt ended with nothing that tells of the service. */
  ended(now: number): void {
    this.search?.passed(now, this.inFlight);
    this.inFlight -= 1;
  }

  /**
   * An attempt failed.
   * @param decision Whether there is another, and when
   * @param random A number from 0 up to 1
   */
  failed(failure: Failure, decision: Decision, times: AttemptTimes, random: number): void {
    const { code, codeSource, httpStatus } = failure;
    const { ended } = times;
    const transient = isTransient(failure, decision);
    const askedMs = pauseAskedBy(failure, decision);
    if (ended >= this.pausedUntil) this.#random = random;
    if (askedMs > 0) this.#pause(ended + askedMs, this.#random * jitterOf(askedMs));
    const isRateLimited = code === "RESOURCE_EXHAUSTED" && codeSource !== "client";
    if (!isRateLimited && !transient && httpStatus !== undefined) {
      this.answered(times);
      return;
    }
    this.ended(ended);
    if (isRateLimited) {
      this.#failuresInRow = 0;
      this.search?.rateLimited(times, this.inFlight, askedMs);
    } else if (transient) {
      this.#failuresInRow += 1;
      if (this.isOutage && decision.waitMs !== undefined) this.#pause(ended + decision.waitMs);
    }
  }

  #pause(until: number, moreMs = 0): void {
    this.#askedUntil = Math.max(Math.min(this.#askedUntil, this.pausedUntil), until);
    this.pausedUntil = Math.max(this.pausedUntil, until + moreMs);
  }
}

/** Whether a failure may pass. */
function isTransient({ notRetried }: Failure, decision: Decision): boolean {
  return !/^(not-transient|refused|aborted)$/.test(notRetried ?? decision.notRetried ?? "");
}

/** How long the service asks all calls to wait, in milliseconds; 0 when it asks for nothing. */
export function pauseAskedBy(failure: Failure, decision: Decision): number {
  return isTransient(failure, decision) ? (failure.retryAfterMs ?? 0) : 0;
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
 * Lowers the limit for the rest of the run where this machine could not open another socket: to what it had opened, less a
 * few. Of those that began together, as many were too many as fail so.
 * @param epoch That of the attempt, which is not in flight any more
 * @returns whether there are fewer at once from now on
 */
export function lowerToOpen(limiter: Limiter, epoch: number): boolean {
  const before = limiter.limit;
  const opened = Math.min(before, limiter.inFlight + 1);
  const most = epoch === limiter.epoch ? opened - Math.min(mostSpared, opened >> 2) : before;
  limiter.cap(Math.max(1, most - 1));
  return limiter.limit < before;
}
