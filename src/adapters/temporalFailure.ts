import type { ApplicationFailure } from "@temporalio/activity";
import type { OperationName } from "../errors/codes.js";
import { StatusError } from "../errors/statusError.js";
import { jsonBytes } from "../ranking/plan.js";
import { valueOr } from "../values.js";
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

/**
 * A failed call in Temporal's terms: the type is the error's code, and Temporal retries only what `mayRetry` allows.
 * @param attempt The number of the activity's attempt, from 1
 */
export function failureOptions(
  error: StatusError,
  attempt: number,
): Parameters<typeof ApplicationFailure.create>[0] {
  const { message, code: type, retryAfterMs } = error;
  const nonRetryable = !mayRetry(error, attempt);
  const nextRetryDelay = nonRetryable ? undefined : retryAfterMs;
  return { message, type, nonRetryable, nextRetryDelay, details: [activityFailure(error)] };
}

/** The largest activity result in bytes that Temporal accepts by default: 2 MiB, less what Temporal itself adds. */
export const mostResultBytes: number = 2 * 1024 * 1024 - 1024;

/**
 * Returns the result of an activity if Temporal accepts its size. A larger result would be lost, and each retry of the
 * activity would be paid for.
 * @throws StatusError `RESOURCE_EXHAUSTED`, which is not retried
 */
export function fitting<T>(result: T, mostBytes: number, operation: OperationName): T {
  // JSON.stringify fails if the result is nested too deeply, or is too long.
  const bytes = valueOr(() => jsonBytes(result), Number.POSITIVE_INFINITY);
  if (bytes <= mostBytes) return result;
  const size = Number.isFinite(bytes) ? `is ${bytes} bytes of JSON` : "cannot be written as JSON";
  throw new StatusError(
    `The result ${size}: Temporal takes at most 2 MB, here ${mostBytes} bytes (maxResultBytes).`,
    {
      code: "RESOURCE_EXHAUSTED",
      executed: "yes",
      executedBecause: "success-began",
      codeSource: "client",
      operation,
      notRetried: "not-transient",
      hint: "Ask for fewer documents with top_n, and not for their texts, or use rerankChunk, whose rows do not pass through Temporal.",
    },
  );
}
