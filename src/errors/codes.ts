import { httpStatuses, type OperationId, type RetryKind } from "../generated/contract.js";
import type { Code } from "../generated/types.js";

/** A code that means failure: every {@link Code} but `OK`. */
export type StatusCode = Exclude<Code, "OK">;

/**
 * Whether the operation ran. `"no"` is certain if nothing was sent, and assumed if the request was rejected; `"yes"`
 * means that a 2xx response began; otherwise `"unknown"`. {@link ExecutedBecause} tells these cases apart.
 */
export type Executed = "no" | "unknown" | "yes";

/** Why {@link Executed} has its value. A `"no"` is certain with `"nothing-sent"`, and assumed with `"refused"`. */
export type ExecutedBecause =
  /** This client rejected the call, or never connected, such as by ECONNREFUSED. `executed` is `"no"`. */
  | "nothing-sent"
  /** The service, or a proxy, rejected the request; we assume that it did not run. `executed` is `"no"`. */
  | "refused"
  /** The request was sent, and no response came. `executed` is `"unknown"`. */
  | "no-answer"
  /** The response is an error that does not say whether the operation ran. `executed` is `"unknown"`. */
  | "unclear-answer"
  /** A 2xx response began, and was lost or could not be used. `executed` is `"yes"`. */
  | "success-began";

/** The reason for the `executed` of one attempt. @param hasResponse Whether a response began. */
export function executedBecause(executed: Executed, hasResponse: boolean): ExecutedBecause {
  if (executed === "yes") return "success-began";
  if (executed === "no") return hasResponse ? "refused" : "nothing-sent";
  return hasResponse ? "unclear-answer" : "no-answer";
}

/** Why a failed call made no further attempt. */
export type NotRetried =
  /** A retry would most likely end the same way. */
  | "not-transient"
  /** A retry may succeed, but the operation may have run, and running it twice is not safe. */
  | "not-safe"
  /** The service rejected the request, so we assume that nothing ran, and gave no time to wait: call again later. */
  | "no-retry-after"
  /** The file is a stream: it can be read only once. */
  | "single-use-body"
  /** The call made all the retries that `maxRetries`, or this kind of failure, allows. */
  | "retries-used-up"
  /** The client has used up its retry budget for now, so that it does not add to the load in an outage. */
  | "budget"
  /** The wait would end after the call's deadline, or the deadline has passed. */
  | "deadline-too-close"
  /** The service asked to wait for more than 60 s, or more than a bulk run's `maxPauseMs`: see `retryAfterMs`. */
  | "asked-to-wait-too-long"
  /** The service rejected the request, or this client did before sending it. Not ECONNREFUSED. */
  | "refused"
  /** The caller aborted the call. */
  | "aborted";

/**
 * Where the code comes from: the response's body, its HTTP status, the network, or this client. The service itself
 * named the code only with `"body"`.
 */
export type CodeSource = "body" | "status" | "transport" | "client";

/** The kinds of failure of an attempt that the retry decision tells apart. */
export type RetryEvent =
  | "unavailable"
  | "gateway"
  | "exhaustedTimed"
  | "exhausted"
  | "deadline"
  | "unnamedFault"
  | "namedFault"
  | "dataLoss"
  | "otherFault"
  | "refused"
  | "cancelled"
  | "redirect"
  | "unauthenticated"
  | "unprocessed"
  | "neverConnected"
  | "nameNotFound"
  | "tlsFailure"
  | "connectionLost"
  | "attemptTimeout"
  | "bodyLost"
  | "notJson"
  | "incomplete"
  | "html"
  | "otherSuccess"
  | "upgraded"
  | "tooLarge"
  | "ended";

/**
 * The HTTP status of a code in the service's table. A status does not tell its code: several share 400, 409 and 500.
 *
 * @param code One of the contract's `Code` values.
 * @example httpStatusOfCode("NOT_FOUND"); // 404
 */
export function httpStatusOfCode(code: Code): number {
  return httpStatuses[code];
}

// The service's codes in the order of their gRPC numbers, in which UNAUTHENTICATED (16) is last.
const last = "UNAUTHENTICATED";
const grpcCodes = [...Object.keys(httpStatuses).filter((code) => code !== last), last];

/** The failure code with a number in gRPC; undefined for 0, which is OK, and for anything else. */
export function codeOfGrpcNumber(value: unknown): StatusCode | undefined {
  return grpcCodes.find((_, number) => number > 0 && number === value) as StatusCode | undefined;
}

/** Whether HTTP defines a method as idempotent (RFC 9110, section 9.2.2). */
export function isIdempotent(method: string | undefined): boolean {
  return /^(GET|HEAD|PUT|DELETE)$/.test(method ?? "");
}

/** @internal Whether requests of a retry class are idempotent. */
export const isIdempotentKind: Readonly<Record<RetryKind, boolean>> = {
  start: false,
  read: true,
  set: true,
  append: false,
};

/** The operation of a call: its id in the contract, or `request` for any other operation. */
export type OperationName = OperationId | "request";

/** The target of a request. */
export interface Target {
  /** The operation's id in the contract; `request` for `client.request`. */
  readonly operation: OperationName;
  /** The HTTP method. */
  readonly method: string;
  /** The path of the URL, with the ids as they were sent. */
  readonly path: string;
  /** The host, with its port where the base URL has one. */
  readonly host: string;
}

/** A response's headers, names in lower case. */
export type ResponseHeaders = Readonly<Record<string, string>>;

/** One HTTP request made for a call. */
export interface Attempt {
  /** The attempt's number within its call: 1 for the first. */
  readonly number: number;
  /** Milliseconds from asking for the API key to the last byte of the response. */
  readonly durationMs: number;
  /** The response's status, when one began. */
  readonly httpStatus?: number;
  /** The response's `x-request-id`, else `request-id`, when it had one. */
  readonly requestId?: string;
  /**
   * The response's headers, key removed, names in lower case; absent when no response began. Not enumerable: logs do
   * not list them, and a copy made with `...` lacks them.
   */
  readonly headers?: ResponseHeaders;
  /** The code of the failure; absent when the attempt succeeded. */
  readonly code?: StatusCode;
  /** The network's error, if that is why the attempt failed. */
  readonly cause?: unknown;
}

/** The fields of a {@link StatusError}. */
export interface StatusErrorFields {
  /** One of the 16 failure codes of the service. */
  readonly code: StatusCode;
  /** The response's HTTP status; absent when there was no response. */
  readonly httpStatus?: number;
  /** True when the client chose the code. */
  readonly inferred: boolean;
  /** Where the code comes from: `"body"` means from the service itself. */
  readonly codeSource: CodeSource;
  /** Whether the operation ran. A `"no"` is only assumed where the service rejected the request. */
  readonly executed: Executed;
  /** Why `executed` has its value. */
  readonly executedBecause: ExecutedBecause;
  /** Why there was no other attempt; absent in errors of `createClient`, and in those that you create. */
  readonly notRetried?: NotRetried;
  /** The operation's id in the contract, or `request`; absent outside a call, as in `createClient`. */
  readonly operation?: OperationName;
  /** The HTTP method of the request; absent when no request was prepared. */
  readonly method?: string;
  /** The path of the request, with its ids; absent when no request was prepared. */
  readonly path?: string;
  /** The host of the request, with its port if the base URL has one; absent when no request was prepared. */
  readonly host?: string;
  /** The response's `x-request-id`, else `request-id`, when it had one. */
  readonly requestId?: string;
  /**
   * The response's headers, names in lower case, without the key; absent when there was no response. Not in `toJSON`,
   * and not enumerable, so that logs do not list them.
   */
  readonly headers?: Readonly<Record<string, string>>;
  /** How long the service asked to wait, in milliseconds. */
  readonly retryAfterMs?: number;
  /** The error body: parsed when it is JSON, else its text. At most 4 KiB are kept, without the key. */
  readonly body?: unknown;
  /** The argument, option or environment variable that is wrong, with the path inside it: `timeoutMs`, `documents[3]`. */
  readonly argument?: string;
  /** The index, from 0, of the item of `rerank.items`, or the document of `rerankAll`, if a single one is at fault. */
  readonly item?: number;
  /** What to do now, and why there was no other attempt unless that is obvious; empty if nothing is known to help. */
  readonly hint: string;
  /** What happened: `message` without the code at its start and the hint at its end. Not in `toJSON`. */
  readonly text: string;
  /** The first part of `hint`: what to do now. Not in `toJSON`. */
  readonly advice: string;
  /** The second part of `hint`: the wait that the service asks for, and why there was no retry. Not in `toJSON`. */
  readonly reason: string;
  /** Every HTTP request that this call made; empty when the call failed before its first one. */
  readonly attempts: readonly Attempt[];
}

type Optional<T> = { readonly [Name in keyof T]?: T[Name] | undefined };

/** The values that a {@link StatusError} is created from: most have a default, such as a `hint` for the code. */
export interface StatusErrorDetails
  extends Pick<StatusErrorFields, "code" | "executed" | "codeSource">,
    Optional<Omit<StatusErrorFields, "code" | "executed" | "codeSource" | "headers">> {
  /** The response's headers, or a function that returns them when they are read. */
  readonly headers?: ResponseHeaders | (() => ResponseHeaders | undefined) | undefined;
  /** The error that caused this one. */
  readonly cause?: unknown;
}
