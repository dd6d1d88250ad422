import { isIdempotentKind } from "../errors/codes.js";
import { isStatusError, refusal, StatusError } from "../errors/statusError.js";
import { type OperationId, operations } from "../generated/contract.js";
import type { AbortSignalLike, CallOptions } from "../options/types.js";
import { Deadline } from "../transport/time.js";
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
  /** Ends with the activity: at its cancellation, or before its timeout, so that a failure can be recorded. */
  readonly time: Deadline;
  /** The options by which a client's call ends with the activity. */
  readonly ending: () => Pick<CallOptions, "signal" | "timeoutMs">;
  /** Sets the progress that the next heartbeats report. */
  readonly onProgress: (progress: object) => void;
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
 * Makes a call in an activity: sends heartbeats, and records in a last heartbeat whether the next attempt may start. What
 * must not be sent twice is sent again only if the attempt before recorded that it may.
 * @throws StatusError
 */
export async function callWithin<T>(
  context: ActivityContext,
  operation: OperationId,
  call: (aids: CallAids) => PromiseLike<T>,
): Promise<T> {
  const { info, cancellationSignal } = context;
  const { attempt, heartbeatTimeoutMs = 0 } = info;
  const once = !isIdempotentKind[operations[operation].kind];
  if (once && !mayStart(info))
    throw new StatusError(
      `Attempt ${attempt} of this activity sends nothing: an earlier one began, and did not say how it ended.`,
      { code: "UNKNOWN", executed: "unknown", codeSource: "client", operation, notRetried: "not-safe" },
    );
  let progress: object = {};
  let timer: ReturnType<typeof setTimeout> | undefined;
  const everyMs = Math.min(heartbeatTimeoutMs / 3 || longestBeatMs, longestBeatMs);
  const beat = (): void => {
    context.heartbeat({ ...progress, attempt });
    timer = setTimeout(beat, everyMs);
  };
  beat();
  const time = new Deadline([]);
  const timeoutMs = timeLeftMs(info);
  time.limit({ timeoutMs, attemptTimeoutMs: timeoutMs }, cancellationSignal);
  const ending = () => ({ signal: cancellationSignal, timeoutMs: Math.max(1, Math.floor(time.leftMs)) });
  try {
    return await call({
      time,
      ending,
      onProgress(latest) {
        progress = latest;
      },
    });
  } catch (thrown) {
    const code = time.ended === "aborted" ? "CANCELLED" : "DEADLINE_EXCEEDED";
    const ended = "The activity ended before what it reads was there.";
    const error = thrown === time ? refusal(code, undefined, ended, { operation }) : thrown;
    // The worker reports the last heartbeat first and the failure after it, so the next attempt finds the heartbeat.
    // A call that was cancelled before it was sent, because its worker shuts down, may start on another worker. Calls
    // reject only with a StatusError: any other error is of what comes before the call.
    const sentNothing = !isStatusError(error) || error.executedBecause === "nothing-sent";
    if (once) context.heartbeat({ attempt, mayRetry: sentNothing || mayRetry(error) });
    throw error;
  } finally {
    clearTimeout(timer);
    time.dispose();
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

// The longest time between two heartbeats: a cancellation arrives within about this time, as Temporal tells an activity of
// it only in response to a heartbeat. Its worker may drop heartbeats that come too often.
const longestBeatMs = 2_000;
