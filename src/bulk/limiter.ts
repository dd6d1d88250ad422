import type { Decision } from "../call/retry.js";
import type { StatusError } from "../errors/statusError.js";

const firstLimit = 4;
const mostAtOnce = 64;
// Fewer failures in a row than this say nothing of the service.
const fewestForOutage = 4;

/** When an attempt began and ended. */
export interface AttemptEnd {
  /** What {@link Limiter.begin} returned. */
  readonly epoch: number;
  readonly now: number;
}

/**
 * How many attempts may be under way, and from when: for all requests of a run together. The clock is passed in.
 * Adaptive, it begins with 4, adds one after each round without a refusal, and halves on RESOURCE_EXHAUSTED.
 */
export class Limiter {
  /** The most attempts at once. */
  limit: number;
  inFlight = 0;
  /** Nothing is sent before. */
  heldUntil = 0;
  readonly #adaptive: boolean;
  // Attempts sent before the limit was halved say nothing of the new one.
  #epoch = 0;
  #answered = 0;
  #failuresInRow = 0;

  constructor(concurrency: number | "auto") {
    this.#adaptive = concurrency === "auto";
    this.limit = concurrency === "auto" ? firstLimit : concurrency;
  }

  /** Whether the service seems to be away: then one attempt at a time finds out when it is back. */
  get isOutage(): boolean {
    return this.#failuresInRow >= Math.max(fewestForOutage, this.limit);
  }

  /** Whether another attempt may be sent now. */
  isOpen(now: number): boolean {
    return now >= this.heldUntil && this.inFlight < (this.isOutage ? 1 : this.limit);
  }

  /** An attempt begins. @returns what to pass to the method that notes its end */
  begin(): number {
    this.inFlight += 1;
    return this.#epoch;
  }

  /** An attempt ended with an answer of the service that is no sign of overload. */
  answered(epoch: number): void {
    const wasFull = this.inFlight >= this.limit;
    this.inFlight -= 1;
    this.#failuresInRow = 0;
    if (!this.#adaptive || epoch !== this.#epoch || !wasFull) return;
    this.#answered += 1;
    if (this.#answered < this.limit) return;
    this.#answered = 0;
    this.limit = Math.min(mostAtOnce, this.limit + 1);
  }

  /** An attempt failed. @param decision Whether there is another, and when */
  failed(error: StatusError, { waitMs }: Decision, { epoch, now }: AttemptEnd): void {
    const { code, codeSource, httpStatus, notRetried, retryAfterMs } = error;
    // A call that has no retries to spend says this of everything transient.
    const isTransient = notRetried === "retries-used-up" || notRetried === "deadline-too-close";
    if (isTransient && retryAfterMs !== undefined) this.#hold(now + retryAfterMs);
    if (code === "RESOURCE_EXHAUSTED" && codeSource !== "client") this.#refused(epoch);
    else if (!isTransient && httpStatus !== undefined) this.answered(epoch);
    else {
      this.inFlight -= 1;
      if (isTransient) this.#noteFailure(now, waitMs);
    }
  }

  #refused(epoch: number): void {
    this.inFlight -= 1;
    this.#failuresInRow = 0;
    if (!this.#adaptive || epoch !== this.#epoch) return;
    this.limit = Math.max(1, Math.floor(this.limit / 2));
    this.#epoch += 1;
    this.#answered = 0;
  }

  #noteFailure(now: number, waitMs: number | undefined): void {
    this.#failuresInRow += 1;
    if (this.isOutage && waitMs !== undefined) this.#hold(now + waitMs);
  }

  #hold(until: number): void {
    this.heldUntil = Math.max(this.heldUntil, until);
  }
}
