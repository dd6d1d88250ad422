/**
 * What a job queue or a workflow engine may run again.
 *
 * @module tunerank/queues
 */

import { isIdempotent, type NotRetried } from "../errors/codes.js";
import { isStatusError, type StatusError } from "../errors/statusError.js";
import { eventOfCode, events } from "../policy/decisions.js";
import { isRetrySafe } from "../policy/retry.js";

/**
 * Whether a queue may run the job of a failed call again: the client's own decision, without its limits of number, time
 * and budget. It may if the failure is transient, and if nothing was sent or the service refused (`executed` is `"no"`),
 * or a second time does no harm (a rerank, a scale), or the service named UNAVAILABLE, its code for "retry with
 * backoff". Then wait for at least the error's `retryAfterMs`. A stream has to be made again.
 * A call that ran, and that the client has retried already, is not run again: each time is paid for.
 *
 * @param error Anything that was caught; false for all that is no StatusError.
 * @example
 * catch (error) { throw mayRetry(error) ? error : new UnrecoverableError(error.message); }
 */
export function mayRetry(error: unknown): boolean {
  // A key that was refused is refused again.
  if (!isStatusError(error) || error.code === "UNAUTHENTICATED" || error.httpStatus === 401) return false;
  // What ran was paid for: the client has made the retries that the table allows of it.
  if (error.executed === "yes" && error.attempts.length > 1) return false;
  return verdicts[error.notRetried ?? reasonOf(error)](error);
}

const always = (): boolean => true;
const never = (): boolean => false;
const whenNothingRan = ({ executed }: StatusError): boolean => executed === "no";

// Why the client made no other attempt tells what the decision table says of the last one.
const verdicts: Readonly<Record<NotRetried, (error: StatusError) => boolean>> = {
  "retries-used-up": always,
  budget: always,
  "asked-to-wait-too-long": always,
  "single-use-body": always,
  // Such as a 429 without a time: the table waits for no time that it does not know, and a queue has waits of its own.
  "not-safe": whenNothingRan,
  // Of a deadline that passed the table says nothing: a repeat has a new one.
  "deadline-too-close": (error) => whenNothingRan(error) || isSafe(error) || isNamedUnavailable(error),
  "not-transient": never,
  refused: never,
  aborted: never,
};

// The error is not that of a call.
function reasonOf({ code }: StatusError): NotRetried {
  // What is retried for a read is transient.
  return events[eventOfCode[code]].retries.read > 0 ? "deadline-too-close" : "not-transient";
}

function isSafe({ operation, method }: StatusError): boolean {
  if (operation === undefined) return false;
  return operation === "request" ? isIdempotent(method) : isRetrySafe(operation, undefined);
}

function isNamedUnavailable({ code, codeSource }: StatusError): boolean {
  return code === "UNAVAILABLE" && codeSource === "body";
}
