import type { Failure } from "../errors/failure.js";
import { networkCode } from "../transport/exchange.js";
import { backoff } from "./decisions.js";
import { type AttemptTimes, type Decision, jitterOf } from "./retry.js";
import type { LimitSearch } from "./search.js";

/** How many requests a run has in flight at most; `concurrency` may allow more. */
export const mostAtOnce: number = 256;

/** Limits how many attempts of a run's calls are in flight, and when more may begin. */
export class Limiter {
  /** The runs that share this limiter; the first had its turn longest ago. */
  readonly sharers: Set<{ takeTurn(): void }> = new Set();
  /** Whether all runs that share this limiter have ended. */
  isSpent = false;
  inFlight = 0;
  /** When the pause ends: the wait that the service asked for plus a random part, or a wait in an outage. */
  pausedUntil = 0;
  /** Finds the concurrency limit; undefined if the limit is a fixed number. */
  readonly search: LimitSearch | undefined;
  /** Measures what the event loop adds to response times. Only a search needs it, and simulations have none. */
  loop: LoopDelay | undefined;
  #fixed = 0;
  // When the pause would end without its random part. `#random` gives that part, and is drawn once a pause: of one for each
  // response the largest would count, which is nearly the same in every process of a fleet.
  #askedUntil = 0;
  #random = 0;
  #failuresInRow = 0;

  constructor(concurrency: number | LimitSearch) {
    if (typeof concurrency === "number") this.#fixed = concurrency;
    else this.search = concurrency;
  }

  /** How many attempts may be in flight. */
  get limit(): number {
    return this.search?.limit ?? this.#fixed;
  }

  /** A number that changes with the limit. A fixed limit is its own epoch: it is only lowered, so no number recurs. */
  get epoch(): number {
    return this.search?.epoch ?? this.#fixed;
  }

  /** Whether the service seems to be down: then one attempt at a time finds out when it is back. */
  get isOutage(): boolean {
    return this.#failuresInRow >= Math.max(4, this.limit);
  }

  /** Whether another attempt may be sent now. @param endsAt The deadline of its call, if it is a retry */
  isOpen(now: number, endsAt?: number): boolean {
    // Checks the number in flight first: that costs least, and in most turns of a run it already says no.
    return this.inFlight < (this.isOutage ? 1 : this.limit) && now >= this.opensAt(now, endsAt);
  }

  /**
   * The earliest time for another attempt; a time that has passed if it may begin now. A call with little time left
   * does not wait for the pause's random part.
   */
  opensAt(now: number, endsAt: number = Number.POSITIVE_INFINITY): number {
    const { pausedUntil } = this;
    const slotAt = this.search?.opensAt(now, this.inFlight) ?? 0;
    if (pausedUntil <= now) return slotAt;
    const asked = Math.min(this.#askedUntil, pausedUntil);
    const isTight = pausedUntil - asked > (endsAt - asked) * backoff.jitterShare;
    return Math.max(isTight ? asked : pausedUntil, slotAt);
  }

  /** The limit never exceeds `most` from now on. */
  cap(most: number): void {
    this.search?.cap(most);
    this.#fixed = Math.min(this.#fixed, most);
  }

  /** Records that an attempt begins. @returns the limit's epoch at its start */
  begin(): number {
    this.search?.began(this.inFlight);
    this.inFlight += 1;
    return this.epoch;
  }

  /** Records a response that is no sign of overload. */
  responded(times: AttemptTimes): void {
    this.#failuresInRow = 0;
    this.ended();
    this.search?.responded(times);
  }

  /** Records the end of an attempt that tells nothing about the service. */
  ended(): void {
    this.search?.ended(this.inFlight);
    this.inFlight -= 1;
  }

  /**
   * Records that an attempt failed.
   * @param random A number from 0 up to 1
   * @returns How long the service asks all calls to wait, in milliseconds; 0 when it asks for nothing
   */
  failed(failure: Failure, decision: Decision, times: AttemptTimes, random: number): number {
    const { code, codeSource, httpStatus, notRetried = decision.notRetried ?? "" } = failure;
    const { ended } = times;
    const transient = !/^(not-transient|refused|aborted)$/.test(notRetried);
    const askedMs = transient ? (failure.retryAfterMs ?? 0) : 0;
    if (ended >= this.pausedUntil) this.#random = random;
    // A wait that is too long ends the run that was asked for it. The runs that share this limiter keep their pause.
    const isWaitedFor = askedMs > 0 && decision.notRetried !== "asked-to-wait-too-long";
    if (isWaitedFor) this.#pause(ended + askedMs, this.#random * jitterOf(askedMs));
    const isRateLimited = code === "RESOURCE_EXHAUSTED" && codeSource !== "client";
    if (isRateLimited || transient || httpStatus === undefined) this.ended();
    else this.responded(times);
    if (isRateLimited) {
      this.#failuresInRow = 0;
      this.search?.rateLimited(times, askedMs);
    } else if (transient) {
      this.#failuresInRow += 1;
      if (this.isOutage && decision.waitMs !== undefined) this.#pause(ended + decision.waitMs);
    }
    return askedMs;
  }

  /**
   * Lowers the limit for the rest of the run after this machine could not open another socket: to the number of open
   * sockets, less a few. Each further attempt that began with the same limit and fails this way lowers it by one more.
   * @param epoch The limit's epoch when the attempt began; the attempt is no longer in flight
   * @returns whether the limit is lower now
   */
  lowerToOpen(epoch: number): boolean {
    const before = this.limit;
    const opened = Math.min(before, this.inFlight + 1);
    // A quarter of the sockets, at most 4, is left to other code.
    const most = epoch === this.epoch ? opened - Math.min(4, opened >> 2) : before;
    this.cap(Math.max(1, most - 1));
    return this.limit < before;
  }

  #pause(until: number, moreMs = 0): void {
    this.#askedUntil = Math.max(Math.min(this.#askedUntil, this.pausedUntil), until);
    this.pausedUntil = Math.max(this.pausedUntil, until + moreMs);
  }
}

/** Tells how long a response may have waited for this program's event loop. Only Node says when the loop was idle. */
class LoopDelay {
  #last: ReturnType<typeof utilization> = utilization();
  // An object, not a number: when a whole number becomes a fraction, V8 changes the object's shape and compiles again.
  #beforeIdle: { readonly active: number } = this.#last;

  /** Call it for each response. An idle event loop reads a response at once, so none waited longer than it was busy. */
  busyMs(): number {
    const now = utilization();
    if (now.idle > this.#last.idle) this.#beforeIdle = this.#last;
    this.#last = now;
    return now.idle > 0 ? now.active - this.#beforeIdle.active : 0;
  }
}

function utilization(): { readonly idle: number; readonly active: number } {
  const { performance } = globalThis as {
    performance?: { eventLoopUtilization?(): { idle: number; active: number } };
  };
  return performance?.eventLoopUtilization?.() ?? { idle: 0, active: 0 };
}

/** The limiters of a client's runs that search for their limit. */
export interface Limiters {
  /** Those of the present runs. Clients made from one another share them. */
  readonly running: Map<string, Limiter>;
  /** The last run's search. Not shared with clients made from this one: their address or key may differ. */
  last?: LimitSearch | undefined;
}

/**
 * The limiter that the present runs with this maximum and `maxPauseMs` share; a later run starts from what the client's
 * last one found.
 */
export function sharedLimiter(
  Search: typeof LimitSearch,
  limiters: Limiters,
  max: number,
  maxPauseMs: number,
): Limiter {
  const { running, last } = limiters;
  const name = `${max}/${maxPauseMs}`;
  let limiter = running.get(name);
  if (limiter === undefined || limiter.isSpent) {
    limiter = new Limiter(new Search(max, last?.learned));
    limiter.loop = new LoopDelay();
    running.set(name, limiter);
  }
  limiters.last = limiter.search;
  return limiter;
}

/**
 * The error code if the process (EMFILE) or the whole machine (ENFILE) may open no more files and sockets.
 * @param cause The network's error
 */
export function outOfFiles(cause: unknown): "EMFILE" | "ENFILE" | undefined {
  const code = networkCode(cause);
  return code === "EMFILE" || code === "ENFILE" ? code : undefined;
}
