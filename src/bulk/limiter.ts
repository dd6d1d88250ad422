import type { Decision } from "../call/retry.js";
import type { StatusError } from "../errors/statusError.js";
import { networkCode } from "../transport/transport.js";
import { memberOf } from "../values.js";
import { holdAskedBy, isTransient } from "./decision.js";

const firstLimit = 4;
const mostAtOnce = 64;
// Fewer failures in a row than this say nothing of the service.
const fewestForOutage = 4;
// Where no more files may be open, some are left to the rest of the process: a quarter, and at most so many.
const mostSpared = 4;

/** What this machine calls it when the process (EMFILE) or all of them (ENFILE) may open no more files and sockets. */
export type OutOfFiles = "EMFILE" | "ENFILE";

/** Whether a connection failed because no more files may be open. @param cause What the network reported */
export function outOfFiles(cause: unknown): OutOfFiles | undefined {
  const code = networkCode(cause);
  return code === "EMFILE" || code === "ENFILE" ? code : undefined;
}

/** When an attempt began and ended. */
export interface AttemptEnd {
  /** What {@link Limiter.begin} returned. */
  readonly epoch: number;
  readonly now: number;
}

/**
 * How many attempts may be under way, and from when: for all requests of a run together. The clock is passed in.
 * Adaptive, it begins with 4, adds one after each round without a refusal, and halves on RESOURCE_EXHAUSTED. Where this
 * machine opens no more sockets, the limit is what it opened, less a few, for the rest of the run.
 */
export class Limiter {
  /** The most attempts at once. */
  limit: number;
  inFlight = 0;
  /** Nothing is sent before. */
  heldUntil = 0;
  readonly #adaptive: boolean;
  #most = mostAtOnce;
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
    this.limit = Math.min(this.#most, this.limit + 1);
  }

  /**
   * An attempt failed.
   * @param decision Whether there is another, and when
   * @returns whether it was one too many for this machine, and there are fewer from now on
   */
  failed(error: StatusError, { waitMs }: Decision, { epoch, now }: AttemptEnd): boolean {
    const { code, codeSource, httpStatus } = error;
    const transient = isTransient(error);
    const holdMs = holdAskedBy(error);
    if (holdMs > 0) this.#hold(now + holdMs);
    if (codeSource === "transport" && outOfFiles(memberOf(error, "cause"))) return this.#ranOutOfFiles(epoch);
    if (code === "RESOURCE_EXHAUSTED" && codeSource !== "client") this.#refused(epoch);
    else if (!transient && httpStatus !== undefined) this.answered(epoch);
    else {
      this.inFlight -= 1;
      if (transient) this.#noteFailure(now, waitMs);
    }
    return false;
  }

  #refused(epoch: number): void {
    this.inFlight -= 1;
    this.#failuresInRow = 0;
    if (!this.#adaptive || epoch !== this.#epoch) return;
    this.limit = Math.max(1, Math.floor(this.limit / 2));
    this.#epoch += 1;
    this.#answered = 0;
  }

  // It says nothing of the service. Of those begun together, as many were too many as fail so.
  #ranOutOfFiles(epoch: number): boolean {
    const before = this.limit;
    if (epoch === this.#epoch) {
      this.limit = Math.min(before, this.inFlight);
      this.limit -= Math.min(mostSpared, this.limit >> 2);
      this.#epoch += 1;
      this.#answered = 0;
    }
    this.inFlight -= 1;
    this.limit = Math.max(1, this.limit - 1);
    this.#most = this.limit;
    return this.limit < before;
  }

  #noteFailure(now: number, waitMs: number | undefined): void {
    this.#failuresInRow += 1;
    if (this.isOutage && waitMs !== undefined) this.#hold(now + waitMs);
  }

  #hold(until: number): void {
    this.heldUntil = Math.max(this.heldUntil, until);
  }
}
