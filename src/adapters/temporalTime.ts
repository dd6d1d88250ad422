import type { Executed, OperationName, StatusErrorDetails } from "../errors/codes.js";
import { detailsOf, isStatusError, StatusError } from "../errors/statusError.js";
import type { AbortSignalLike } from "../options/types.js";

/** The timeouts of an activity and its timestamps, in milliseconds. */
export interface ActivityTimes {
  readonly startToCloseTimeoutMs: number;
  readonly scheduleToCloseTimeoutMs: number;
  readonly scheduledTimestampMs: number;
  readonly currentAttemptScheduledTimestampMs: number;
}

// A day: the limit of an activity without timeouts.
const longestMs = 24 * 60 * 60 * 1000;
/** How long a write of results that were paid for may take after a cancellation, in milliseconds. */
const lastWriteMs = 5_000;
/** How long a custom client that ignores its signal is waited for after a cancellation, in milliseconds. */
const lastCallMs = 6_000;

/** The timeout that ends this attempt of the activity first: the milliseconds left, and its name for messages. */
function limitOf(times: ActivityTimes): { readonly ms: number; readonly text: string } {
  const { startToCloseTimeoutMs, scheduleToCloseTimeoutMs } = times;
  // Both timestamps are from Temporal's server, so a difference to this machine's clock has no effect.
  const waitedMs = times.currentAttemptScheduledTimestampMs - times.scheduledTimestampMs;
  const limits = [{ ms: longestMs, text: `longest time, ${longestMs} ms` }];
  if (startToCloseTimeoutMs > 0)
    limits.push({
      ms: startToCloseTimeoutMs,
      text: `startToCloseTimeout of ${startToCloseTimeoutMs} ms`,
    });
  if (scheduleToCloseTimeoutMs > 0) {
    const before = waitedMs > 0 ? `, of which ${waitedMs} ms had gone by before this attempt` : "";
    limits.push({
      ms: Math.max(1, scheduleToCloseTimeoutMs - waitedMs),
      text: `scheduleToCloseTimeout of ${scheduleToCloseTimeoutMs} ms${before}`,
    });
  }
  return limits.reduce((least, limit) => (limit.ms < least.ms ? limit : least));
}

// The milliseconds kept free at the end of the activity's time to record a failure.
function spareMs(ms: number): number {
  return Math.min(ms / 10, 2_000);
}

/**
 * How long an activity's call may take, in milliseconds: a failure can then be recorded before the activity's timeout.
 */
export function timeLeftMs(times: ActivityTimes): number {
  const { ms } = limitOf(times);
  return ms - spareMs(ms);
}

/** Ends the call of an activity when the activity is cancelled, and shortly before the activity's timeout. */
export class ActivityTime {
  readonly #controller: AbortController = new AbortController();
  readonly #cancellation: AbortSignalLike;
  readonly #operation: OperationName;
  readonly #limit: { readonly ms: number; readonly text: string };
  readonly #timer: ReturnType<typeof setTimeout>;
  #isOver = false;
  #endedAt = 0;

  constructor(cancellation: AbortSignalLike, times: ActivityTimes, operation: OperationName) {
    this.#operation = operation;
    this.#cancellation = cancellation;
    this.#limit = limitOf(times);
    this.#timer = setTimeout(() => this.#end(true), timeLeftMs(times));
    cancellation.addEventListener("abort", this.#cancel);
    if (cancellation.aborted) this.#cancel();
  }

  /** Aborts when the call must end. The client's own deadline may end the call earlier. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /**
   * Runs work that comes before sending. Rejects as soon as the call must end.
   * @param name The work's name in messages
   */
  before<T>(name: string, work: () => T | PromiseLike<T>): Promise<T> {
    return this.signal.aborted
      ? Promise.reject(this.#notEnded(name, "no"))
      : this.#during(name, work, 0, "no");
  }

  /** Runs a write, which may take a little longer than the call, so that results that were paid for are kept. */
  write<T>(name: string, work: () => T | PromiseLike<T>): Promise<T> {
    return this.#during(name, work, lastWriteMs, "unknown");
  }

  /**
   * Runs the whole call, with the writes of its results.
   * @param executed The `executed` of the error after a timeout
   */
  call<T>(work: () => T | PromiseLike<T>, executed: () => Executed): Promise<T> {
    return this.#during("The call", work, lastCallMs, executed);
  }

  /**
   * The error to report: if the activity's timeout ended the call, the client's CANCELLED becomes DEADLINE_EXCEEDED.
   */
  failureOf(error: unknown): unknown {
    if (!this.#isOver || !isStatusError(error, "CANCELLED")) return error;
    return new StatusError(`No response within the activity's ${this.#limit.text}.`, {
      ...detailsOf(error),
      ...outOfTime,
    });
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.#cancellation.removeEventListener("abort", this.#cancel);
  }

  #during<T>(
    name: string,
    work: () => T | PromiseLike<T>,
    mostMs: number,
    executed: Executed | (() => Executed),
  ): Promise<T> {
    const { signal } = this;
    return new Promise<T>((resolve, reject) => {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const giveUp = (): void =>
        settle(() => reject(this.#notEnded(name, typeof executed === "function" ? executed() : executed)));
      const onEnd = (): void => {
        const ms = this.#leftMs(mostMs);
        if (ms > 0) timer = setTimeout(giveUp, ms);
        else giveUp();
      };
      const settle = (end: () => void): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", onEnd);
        end();
      };
      signal.addEventListener("abort", onEnd);
      // An error that `work` throws synchronously rejects this promise too.
      new Promise<T>((done) => done(work())).then(
        (value) => settle(() => resolve(value)),
        (error) => settle(() => reject(error)),
      );
      if (signal.aborted) onEnd();
    });
  }

  // How long work may go on after the call's end. After a timeout, only a share of the spare time (spareMs) is left.
  #leftMs(mostMs: number): number {
    const most = this.#isOver
      ? Math.min(mostMs, (spareMs(this.#limit.ms) * mostMs) / (lastCallMs * 1.1))
      : mostMs;
    return most - (performance.now() - this.#endedAt);
  }

  #cancel = (): void => this.#end(false);

  #end(isOver: boolean): void {
    if (this.signal.aborted) return;
    this.#isOver = isOver;
    this.#endedAt = performance.now();
    this.#controller.abort(isOver ? undefined : this.#cancellation.reason);
  }

  #notEnded(name: string, executed: Executed): StatusError {
    const when = this.#isOver
      ? `within the activity's ${this.#limit.text}`
      : "when the activity was cancelled";
    return new StatusError(`${name} had not ended ${when}.`, {
      code: "CANCELLED",
      notRetried: "aborted",
      codeSource: "client",
      operation: this.#operation,
      executed,
      ...(this.#isOver && outOfTime),
    });
  }
}

const outOfTime = {
  code: "DEADLINE_EXCEEDED",
  notRetried: "deadline-too-close",
  advice: undefined,
  reason: undefined,
  cause: undefined,
} satisfies Partial<StatusErrorDetails>;
