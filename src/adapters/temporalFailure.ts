import type { Executed, ExecutedBecause, NotRetried, StatusCode } from "../errors/codes.js";
import type { OperationName, StatusError } from "../errors/statusError.js";
import { mayRepeat } from "./queues.js";

/** A failed call as it passes through Temporal: a StatusError's fields without its key, its body and its causes. */
export interface CallFailure {
  /** One of the 16 failure codes. */
  readonly code: StatusCode;
  /** What happened, and what to do now. */
  readonly message: string;
  /** Whether the operation ran: read this before repeating a call that changes state. */
  readonly executed: Executed;
  /** What `executed` is read from. */
  readonly executedBecause: ExecutedBecause;
  /** The operation's id in the contract; absent when the call named none. */
  readonly operation?: OperationName;
  /** Why the client made no other attempt. */
  readonly notRetried?: NotRetried;
  /** The answer's HTTP status; absent when there was no answer. */
  readonly httpStatus?: number;
  /** The answer's request id, when it had one. */
  readonly requestId?: string;
  /** How long the service asked to wait, in milliseconds. */
  readonly retryAfterMs?: number;
  /** The path of the request, with its ids. */
  readonly path?: string;
  /** The HTTP requests that were made. */
  readonly requests: number;
}

const optional = ["operation", "notRetried", "httpStatus", "requestId", "retryAfterMs", "path"] as const;

/** What of an error is kept in a workflow's history. Its body may be long, or hold what nobody wants there. */
export function callFailure(error: StatusError): CallFailure {
  const { code, message, executed, executedBecause, attempts } = error;
  const known = optional.filter((name) => error[name] !== undefined).map((name) => [name, error[name]]);
  return {
    code,
    message,
    executed,
    executedBecause,
    ...Object.fromEntries(known),
    requests: attempts.length,
  };
}

/** What an ApplicationFailure is made of. */
export interface FailureOptions {
  readonly message: string;
  readonly type: StatusCode;
  readonly nonRetryable: boolean;
  readonly nextRetryDelay: number | undefined;
  readonly details: [CallFailure];
}

/** A failed call in Temporal's terms: its type is the code, and it is repeated only where that is allowed. */
export function failureOptions(error: StatusError): FailureOptions {
  const { message, code, retryAfterMs } = error;
  const nonRetryable = !mayRepeat(error);
  const nextRetryDelay = nonRetryable ? undefined : retryAfterMs;
  return { message, type: code, nonRetryable, nextRetryDelay, details: [callFailure(error)] };
}
