/**
 * Whether a job queue or a workflow engine may retry a failed job.
 *
 * @module tunerank/queues
 */
import { isIdempotent, isIdempotentKind, type NotRetried } from "../errors/codes.js";
import { isStatusError, type StatusError } from "../errors/statusError.js";
import { operations } from "../generated/contract.js";
import { events } from "../policy/decisions.js";
import { eventOfCode } from "../policy/ofResponse.js";

/** What to do with a job whose call failed. */
export interface RetryVerdict {
  /** Whether the job may be retried. */
  readonly retry: boolean;
  /** The wait before the retry that the service asks for, in milliseconds. If undefined, the engine's own backoff. */
  readonly afterMs: number | undefined;
  /**
   * Why: `transient`, if the job may be retried; `paid`, if the operation ran and was retried already; `key`, if the
   * service rejected the API key; `unknown-error` for anything but a StatusError; else why the client made no further
   * attempt.
   */
  readonly reason: "transient" | "paid" | "key" | "unknown-error" | NotRetried;
}

/**
 * Whether and when a job engine may retry the job of a failed call: the client's own retry decision, without its limits
 * (the number of retries, the deadline, the retry budget). It may if the failure is transient and one of these holds:
 * the operation did not run (`executed` is `"no"`); the operation is idempotent (a rerank, a scale); or the service's
 * error code is UNAVAILABLE, which means "retry with backoff". Create a new stream if the job uploads one. It may not if
 * the operation ran and was retried already, by the client or as a job: each run is paid for.
 *
 * @param error The caught value.
 * @param attempt The number of the job's attempt that failed, from 1: in BullMQ `job.attemptsMade + 1`. Default: 1.
 * Without it an engine may run again and again what is paid for each time.
 * @example
 * const { retry, afterMs } = retryVerdict(error, attempt);
 */
export function retryVerdict(error: unknown, attempt = 1): RetryVerdict {
  const refused = (reason: RetryVerdict["reason"]): RetryVerdict => ({
    retry: false,
    afterMs: undefined,
    reason,
  });
  if (!isStatusError(error)) return refused("unknown-error");
  // The service would reject the same key again.
  if (error.code === "UNAUTHENTICATED" || error.httpStatus === 401) return refused("key");
  // The operation ran and was retried before, by the client or as a job: each further run would be paid for again.
  if (error.executed === "yes" && (error.attempts.length > 1 || attempt > 1)) return refused("paid");
  const why = error.notRetried ?? reasonOf(error);
  if (!verdicts[why](error)) return refused(why);
  return { retry: true, afterMs: error.retryAfterMs, reason: "transient" };
}

/**
 * Whether a queue may retry the job of a failed call: the `retry` of {@link retryVerdict}.
 *
 * @param error The caught value.
 * @param attempt The number of the job's attempt that failed, from 1.
 * @example
 * catch (error) { throw mayRetry(error, job.attemptsMade + 1) ? error : new UnrecoverableError(error.message); }
 */
export function mayRetry(error: unknown, attempt = 1): boolean {
  return retryVerdict(error, attempt).retry;
}

const always = (): boolean => true;
const never = (): boolean => false;
const whenNothingRan = ({ executed }: StatusError): boolean => executed === "no";

// Whether a job may be retried, by the reason why the client made no further attempt (`notRetried`).
const verdicts: Readonly<Record<NotRetried, (error: StatusError) => boolean>> = {
  "retries-used-up": always,
  budget: always,
  "asked-to-wait-too-long": always,
  "single-use-body": always,
  "not-safe": never,
  // A queue has waits of its own. An earlier attempt of the call may have run.
  "no-retry-after": whenNothingRan,
  // The call's deadline passed, for which the decision table has no rule. A retried job has a new deadline.
  "deadline-too-close": (error) => whenNothingRan(error) || isSafe(error) || isNamedUnavailable(error),
  "not-transient": never,
  refused: never,
  aborted: never,
};

// The `notRetried` to assume for an error that has none, such as one that the caller's own code created.
function reasonOf({ code }: StatusError): NotRetried {
  // A failure that is retried for the retry class `read` is transient: it is judged as if the deadline had passed.
  return events[eventOfCode[code]].retries.read > 0 ? "deadline-too-close" : "not-transient";
}

function isSafe({ operation, method }: StatusError): boolean {
  if (operation === undefined) return false;
  return operation === "request" ? isIdempotent(method) : isIdempotentKind[operations[operation].kind];
}

function isNamedUnavailable({ code, codeSource }: StatusError): boolean {
  return code === "UNAVAILABLE" && codeSource === "body";
}
