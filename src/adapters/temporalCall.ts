import type { OperationName } from "../errors/codes.js";
import { isStatusError, StatusError } from "../errors/statusError.js";
import type { AbortSignalLike } from "../options/types.js";
import { now } from "../transport/time.js";
import { memberOf } from "../values.js";
import { mayRetry } from "./queues.js";

/** The fields of Temporal's activity information that are used here; times are in milliseconds. */
export interface ActivityInfo {
  readonly attempt: number;
  readonly heartbeatTimeoutMs?: number | undefined;
  /** The last heartbeat details that an earlier attempt of the activity recorded. */
  readonly heartbeatDetails?: unknown;
  readonly startToCloseTimeoutMs: number;
  readonly scheduleToCloseTimeoutMs: number;
  readonly scheduledTimestampMs: number;
  readonly currentAttemptScheduledTimestampMs: number;
}

/** The fields of the running activity's Temporal context that are used here. */
export interface ActivityContext {
  readonly info: ActivityInfo;
  readonly cancellationSignal: AbortSignalLike;
  heartbeat(details?: unknown): void;
}

/** What an activity passes to its call. */
export interface CallAids {
  /** Temporal's signal: it aborts when the activity is cancelled. */
  readonly signal: AbortSignalLike;
  /** The milliseconds left for the call: a failure can then be recorded before the activity's timeout. */
  readonly timeoutMs: () => number;
  /** Sets the progress that the next heartbeats report. */
  readonly onProgress: (progress: object) => void;
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

// A day: the limit of an activity without timeouts.
const longestMs = 24 * 60 * 60 * 1000;

/** How long an activity's call may take, in milliseconds. A tenth of the time, at most 2 s, is left to record a failure. */
export function timeLeftMs(info: ActivityInfo): number {
  const { startToCloseTimeoutMs, scheduleToCloseTimeoutMs } = info;
  // Both timestamps are from Temporal's server, so a difference to this machine's clock has no effect.
  const waitedMs = info.currentAttemptScheduledTimestampMs - info.scheduledTimestampMs;
  const ms = Math.min(
    startToCloseTimeoutMs || longestMs,
    scheduleToCloseTimeoutMs > 0 ? Math.max(1, scheduleToCloseTimeoutMs - waitedMs) : longestMs,
  );
  return ms - Math.min(ms / 10, 2_000);
}

/**
 * Makes a call in an activity: sends heartbeats, and records in a last heartbeat whether the next attempt may start.
 * @throws StatusError
 */
export async function callWithin<T>(context: ActivityContext, activity: ActivityCall<T>): Promise<T> {
  const { info, cancellationSignal } = context;
  const { operation, once, call } = activity;
  const { attempt } = info;
  if (once && !mayStart(info))
    throw new StatusError(
      `Attempt ${attempt} of this activity sends nothing: an earlier one began, and did not say how it ended.`,
      { code: "UNKNOWN", executed: "unknown", codeSource: "client", operation, notRetried: "not-safe" },
    );
  const beating = startHeartbeats(context);
  const endsAt = now() + timeLeftMs(info);
  try {
    return await call({
      signal: cancellationSignal,
      timeoutMs: () => Math.max(1, Math.floor(endsAt - now())),
      onProgress: beating.onProgress,
    });
  } catch (error) {
    // The worker reports the last heartbeat first and the failure after it, so the next attempt finds the heartbeat.
    // A call that was cancelled before it was sent, because its worker shuts down, may start on another worker. Calls
    // reject only with a StatusError: any other error is of what comes before the call.
    const sentNothing = !isStatusError(error) || error.executedBecause === "nothing-sent";
    if (once) context.heartbeat({ attempt, mayRetry: sentNothing || mayRetry(error) });
    throw error;
  } finally {
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
