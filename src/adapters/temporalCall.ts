import type { OperationName } from "../errors/codes.js";
import { isStatusError, StatusError } from "../errors/statusError.js";
import type { AbortSignalLike } from "../options/types.js";
import { memberOf } from "../values.js";
import { mayRetry } from "./queues.js";
import { ActivityTime, type ActivityTimes } from "./temporalTime.js";

export { timeLeftMs } from "./temporalTime.js";

/** What is read of an activity. */
export interface ActivityInfo extends ActivityTimes {
  readonly attempt: number;
  readonly heartbeatTimeoutMs?: number | undefined;
  /** What the attempts before it recorded last. */
  readonly heartbeatDetails?: unknown;
}

/** An activity under way. */
export interface ActivityContext {
  readonly info: ActivityInfo;
  readonly cancellationSignal: AbortSignalLike;
  heartbeat(details?: unknown): void;
}

/** What a call of an activity is given. */
export interface CallAids {
  /** Aborts with the activity, and shortly before its time is up. */
  readonly signal: AbortSignalLike;
  /** Takes what the next heartbeats carry. */
  readonly onProgress: (progress: object) => void;
  /** Does what comes before sending: when it fails, nothing was sent. @param name What a failure calls it */
  readonly prepare: <P>(name: string, work: () => P | PromiseLike<P>) => Promise<P>;
  /** Waits for a write, also for a while after the call has ended: what was paid for is to be kept. */
  readonly write: <P>(name: string, work: () => P | PromiseLike<P>) => Promise<P>;
}

/** An operation as an activity. */
export interface ActivityCall<T> {
  readonly operation: OperationName;
  /** Whether it must not be sent twice: a later attempt then starts only when the one before recorded that it may. */
  readonly once: boolean;
  readonly call: (aids: CallAids) => PromiseLike<T>;
}

/** Makes a call within an activity: it ends with it, sends heartbeats, and leaves a record of its failure. @throws StatusError */
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
    // A client of the caller's own may not listen to the signal.
    return await time.call(
      () => call(aids),
      () => (unprepared ? "no" : "unknown"),
    );
  } catch (thrown) {
    const error = time.failureOf(thrown);
    // The worker sends the last heartbeat before the failure, so that the next attempt finds it.
    if (once) context.heartbeat({ attempt, mayRetry: unprepared || mayStartAgain(error) });
    throw error;
  } finally {
    time.dispose();
    beating.stop();
  }
}

// Heartbeat details of an attempt before the last one prove nothing: the last one may have died before it recorded any. An
// attempt 1 that has details is one whose attempts were counted anew (a reset workflow).
function mayStart({ attempt, heartbeatDetails }: ActivityInfo): boolean {
  if (attempt === 1) return heartbeatDetails === undefined || heartbeatDetails === null;
  return (
    memberOf(heartbeatDetails, "attempt") === attempt - 1 && memberOf(heartbeatDetails, "mayRetry") === true
  );
}

// What was cancelled before it was sent, as when a worker shuts down, may start on another one.
function mayStartAgain(error: unknown): boolean {
  return mayRetry(error) || (isStatusError(error) && error.executedBecause === "nothing-sent");
}

function secondSending(operation: OperationName, attempt: number): StatusError {
  return new StatusError(
    `Attempt ${attempt} of this activity sends nothing: an earlier one began, and did not say how it ended.`,
    { code: "UNKNOWN", executed: "unknown", codeSource: "client", operation, notRetried: "not-safe" },
  );
}

// A cancellation reaches an activity by its heartbeats alone. The worker sends no more of them than are needed.
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

// A cancellation is to arrive soon.
const longestBeatMs = 2_000;
