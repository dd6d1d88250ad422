import { networkCode } from "../transport/transport.js";
import { SearchedLimiter } from "./limiter.js";
import type { Decision } from "./retry.js";
import type { AttemptTimes, FailedAttempt } from "./types.js";

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

  override failed(failed: FailedAttempt, decision: Decision, times: AttemptTimes, random: number): boolean {
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
