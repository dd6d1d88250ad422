import type { StatusCode } from "../errors/codes.js";
import type { StatusError } from "../errors/statusError.js";
import { mayRetry } from "./queues.js";
import type { CallFailure } from "./temporalTypes.js";

const optional = ["operation", "notRetried", "httpStatus", "requestId", "retryAfterMs", "path"] as const;

/**
 * The fields of an error that are kept in a workflow's history. The body is not: it may be long, or hold private data.
 */
export function activityFailure(error: StatusError): CallFailure {
  const { code, message, executed, executedBecause, attempts } = error;
  const known = optional.filter((name) => error[name] !== undefined).map((name) => [name, error[name]]);
  const optionals = Object.fromEntries(known);
  return { code, message, executed, executedBecause, ...optionals, requests: attempts.length };
}

/** The fields that an ApplicationFailure is created from. */
export interface FailureOptions {
  readonly message: string;
  readonly type: StatusCode;
  readonly nonRetryable: boolean;
  readonly nextRetryDelay: number | undefined;
  readonly details: [CallFailure];
}

/**
 * A failed call in Temporal's terms: the type is the error's code, and Temporal retries only what `mayRetry` allows.
 * @param attempt The number of the activity's attempt, from 1
 */
export function failureOptions(error: StatusError, attempt: number): FailureOptions {
  const { message, code, retryAfterMs } = error;
  const nonRetryable = !mayRetry(error, attempt);
  const nextRetryDelay = nonRetryable ? undefined : retryAfterMs;
  return { message, type: code, nonRetryable, nextRetryDelay, details: [activityFailure(error)] };
}
