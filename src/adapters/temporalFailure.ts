import type { StatusCode } from "../errors/codes.js";
import type { StatusError } from "../errors/statusError.js";
import { isInstance } from "../values.js";
import { mayRetry } from "./queues.js";
import type { CallFailure } from "./temporalTypes.js";

const optional = ["operation", "notRetried", "httpStatus", "requestId", "retryAfterMs", "path"] as const;

/** What of an error is kept in a workflow's history. Its body may be long, or hold what nobody wants there. */
export function activityFailure(error: StatusError): CallFailure {
  const { code, message, executed, executedBecause, attempts } = error;
  const known = optional.filter((name) => error[name] !== undefined).map((name) => [name, error[name]]);
  const optionals = Object.fromEntries(known);
  return { code, message, executed, executedBecause, ...optionals, requests: attempts.length };
}

/** What an ApplicationFailure is made of. */
export interface FailureOptions {
  readonly message: string;
  readonly type: StatusCode;
  readonly nonRetryable: boolean;
  readonly nextRetryDelay: number | undefined;
  readonly details: [CallFailure];
  /** What a client of the caller's own threw. */
  readonly cause?: Error;
}

/** A failed call in Temporal's terms: its type is the code, and it is repeated only where that is allowed. */
export function failureOptions(error: StatusError): FailureOptions {
  const { message, code, retryAfterMs } = error;
  const nonRetryable = !mayRetry(error);
  const nextRetryDelay = nonRetryable ? undefined : retryAfterMs;
  const failure = { message, type: code, nonRetryable, nextRetryDelay, details: [activityFailure(error)] };
  const { cause } = error;
  // The causes of this package's own errors are not kept: they may be large.
  const isForeign = error.codeSource === "client" && error.attempts.length === 0 && isInstance(cause, Error);
  return { ...(failure as FailureOptions), ...(isForeign && { cause }) };
}
