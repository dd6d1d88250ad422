import type { OperationName } from "../errors/codes.js";
import { isStatusError, StatusError } from "../errors/statusError.js";
import type { AbortSignalLike } from "../options/types.js";
import { memberOf } from "../values.js";
import { mayRetry } from "./queues.js";
import { ActivityTime, type ActivityTimes } from "./temporalTime.js";

export { timeLeftMs } from "./temporalTime.js";

/** The fields of Temporal's activity information that are used here. */
export interface ActivityInfo extends ActivityTimes {
  readonly attempt: number;
  readonly heartbeatTimeoutMs?: number | undefined;
  /** The last heartbeat details that an earlier attempt of the activity recorded. */
  readonly heartbeatDetails?: unknown;
}

/** The fields of the running activity's Temporal context that are used here. */
export interface ActivityContext {
  readonly info: ActivityInfo;
  readonly cancellationSignal: AbortSignalLike;
  heartbeat(details?: unknown): void;
}

/** The signal and functions that an activity passes to its call. */
export interface CallAids {
  /** Aborts when the activity is cancelled, and shortly before the activity's timeout. */
  readonly signal: AbortSignalLike;
  /** Sets the progress that the next heartbeats report. */
  readonly onProgress: (progress: object) => void;
  /**
   * Runs work that comes before sending: if it fails, nothing was sent.
   * @param name The work's name in error messages
   */
  readonly prepare: <P>(name: string, work: () => P | PromiseLike<P>) => Promise<P>;
  /** Waits for a write, even a short time after the call has ended, so that results that were paid for are kept. */
  readonly write: <P>(name: string, work: () => P | PromiseLike<P>) => Promise<P>;
}

/** An operation that runs as an activity. */
export interface ActivityCall<T> {
  readonly operation: OperationName;
  /**
   * Whether the operation must not be sent twice: a later attempt starts only if the attempt before recorded that it
   * may.
   */
  readonly once: boolean;
  readonly call: (aids: CallAids) => PromiseLike<T>;
}

/**
 * Makes a call in an activity: sends heartbeats, ends the call when the activity ends, and records in a last heartbeat
 * whether the next attempt may start.
 * @throws StatusError
 */
export async function callWithin<T>(context: ActivityContext, activity: ActivityCall<T>): Promise<T> {
  const { info, cancellationSignal } = context;
  const { operation, once, call } = activity;
  const { attempt } = info;
  if (once && !mayStart(info)) throw secondSending(operation, attempt);
  const beating = startHeartbeats(context);
  const time = new ActivityTime(cancellationSignal, info, operation);
  let unprepared = false;
  const aids: CallAids = {
    signal: time.signal,
    onProgress: beating.onProgress,
    async prepare(name, work) {
      unprepared = true;
      const prepared = await time.before(name, work);
      unprepared = false;
      return prepared;
    },
    write: (name, work) => time.write(name, work),
  };
  try {
    // A custom client may ignore the signal: `time.call` then stops waiting for it.
    return await time.call(
      () => call(aids),
      () => (unprepared ? "no" : "unknown"),
    );
  } catch (thrown) {
    const error = time.failureOf(thrown);
    // The worker reports the last heartbeat first and the failure after it, so the next attempt finds the heartbeat.
    if (once) context.heartbeat({ attempt, mayRetry: unprepared || mayStartAgain(error) });
    throw error;
  } finally {
    time.dispose();
    beating.stop();
  }
}

// Whether this attempt may send. Only a heartbeat of the attempt directly before it allows that: after an older one,
// that attempt may have sent and died. If attempt 1 finds a heartbeat, a reset of the workflow restarted the count, so
// it is not the first attempt.
function mayStart({ attempt, heartbeatDetails }: ActivityInfo): boolean {
  if (attempt === 1) return heartbeatDetails === undefined || heartbeatDetails === null;
  return (
    memberOf(heartbeatDetails, "attempt") === attempt - 1 && memberOf(heartbeatDetails, "mayRetry") === true
  );
}

// Whether another attempt may send. A call that was cancelled before it was sent, because its worker shuts down, may
// start on another worker.
function mayStartAgain(error: unknown): boolean {
  return mayRetry(error) || (isStatusError(error) && error.executedBecause === "nothing-sent");
}

function secondSending(operation: OperationName, attempt: number): StatusError {
  return new StatusError(
    `Attempt ${attempt} of this activity sends nothing: an earlier one began, and did not say how it ended.`,
    { code: "UNKNOWN", executed: "unknown", codeSource: "client", operation, notRetried: "not-safe" },
  );
}

// Sends heartbeats at an interval: Temporal tells an activity of its cancellation only in response to a heartbeat.
// Temporal's worker may drop heartbeats that come too often.
function startHeartbeats({ info, heartbeat }: ActivityContext) {
  const { attempt, heartbeatTimeoutMs = 0 } = info;
  const everyMs = heartbeatTimeoutMs > 0 ? Math.min(heartbeatTimeoutMs / 3, longestBeatMs) : longestBeatMs;
  let progress: object = {};
  let timer: ReturnType<typeof setTimeout>;
  const beat = (): void => {
    heartbeat({ ...progress, attempt });
    timer = setTimeout(beat, everyMs);
  };
  beat();
  return {
    onProgress: (latest: object) => {
      progress = latest;
    },
    stop: () => clearTimeout(timer),
  };
}

// The longest time between two heartbeats: a cancellation arrives within about this time.
const longestBeatMs = 2_000;
