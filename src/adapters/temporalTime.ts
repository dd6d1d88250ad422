import type { Executed, OperationName, StatusErrorDetails } from "../errors/codes.js";
import { detailsOf, isStatusError, StatusError } from "../errors/statusError.js";
import type { AbortSignalLike } from "../options/types.js";

/** The times of an activity. */
export interface ActivityTimes {
  readonly startToCloseTimeoutMs: number;
  readonly scheduleToCloseTimeoutMs: number;
  readonly scheduledTimestampMs: number;
  readonly currentAttemptScheduledTimestampMs: number;
}

// A day: no call takes as long.
const longestMs = 24 * 60 * 60 * 1000;
/** After a cancellation, the longest that a write of what was paid for is waited for. */
const lastWriteMs = 5_000;
/** The same for a client of the caller's own that does not listen to its signal. */
const lastCallMs = 6_000;

/** Which of its times an activity has least of, and how much. */
function limitOf(times: ActivityTimes): { readonly ms: number; readonly text: string } {
  const { startToCloseTimeoutMs, scheduleToCloseTimeoutMs } = times;
  // Both times are the server's, so that clocks that differ do not count.
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

// So much is left for the failure to be recorded before the activity's time is up.
function spareMs(ms: number): number {
  return Math.min(ms / 10, 2_000);
}

/** The milliseconds an activity's call may take, so that its failure is recorded before the activity's time is up. */
export function timeLeftMs(times: ActivityTimes): number {
  const { ms } = limitOf(times);
  return ms - spareMs(ms);
}

/** The time of an activity's call: it ends with the activity's cancellation, and shortly before the activity's time is up. */
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

  /** A signal of its own: the client's deadline, which is the client's to know, may end the call earlier. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** What comes of `work`, or a failure as soon as the time has ended. @param name What the failure calls it */
  before<T>(name: string, work: () => T | PromiseLike<T>): Promise<T> {
    return this.signal.aborted
      ? Promise.reject(this.#notEnded(name, "no"))
      : this.#during(name, work, 0, "no");
  }

  /** The same for a write, which may take some time more: what was paid for is to be kept. */
  write<T>(name: string, work: () => T | PromiseLike<T>): Promise<T> {
    return this.#during(name, work, lastWriteMs, "unknown");
  }

  /** The same for the whole call, writes included. @param executed What is known of it then */
  call<T>(work: () => T | PromiseLike<T>, executed: () => Executed): Promise<T> {
    return this.#during("The call", work, lastCallMs, executed);
  }

  /** The failure of a call that the activity's time has ended, which the client takes for an abort. */
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
      // What throws at once rejects this one.
      new Promise<T>((done) => done(work())).then(
        (value) => settle(() => resolve(value)),
        (error) => settle(() => reject(error)),
      );
      if (signal.aborted) onEnd();
    });
  }

  // Of the time after the end.
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
