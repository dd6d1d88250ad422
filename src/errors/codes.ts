import { httpStatuses, type OperationId } from "../generated/contract.js";
import type { Code } from "../generated/types.js";

/** A code that means failure: every {@link Code} but `OK`. */
export type StatusCode = Exclude<Code, "OK">;

/**
 * Whether the operation ran. `"no"` is proved when nothing was sent, and assumed when the request was refused; `"yes"`
 * means a 2xx response began; otherwise `"unknown"`. {@link ExecutedBecause} says which.
 */
export type Executed = "no" | "unknown" | "yes";

/** Why {@link Executed} has its value. With `"nothing-sent"`, `"no"` is proved; with `"refused"`, we assume it. */
export type ExecutedBecause =
  /** Nothing reached the service: refused before sending, or never connected. `executed` is `"no"`. */
  | "nothing-sent"
  /** The service, or a proxy, refused the request; we assume that nothing ran. `executed` is `"no"`. */
  | "refused"
  /** The request was sent, and no response came. `executed` is `"unknown"`. */
  | "no-answer"
  /** The response is an error that does not say whether the operation ran. `executed` is `"unknown"`. */
  | "unclear-answer"
  /** A 2xx response began, and was lost or could not be used. `executed` is `"yes"`. */
  | "success-began";

/** What `executed` is read from, after one attempt. @param answered Whether a response began. */
export function executedBecause(executed: Executed, answered: boolean): ExecutedBecause {
  if (executed === "yes") return "success-began";
  if (executed === "no") return answered ? "refused" : "nothing-sent";
  return answered ? "unclear-answer" : "no-answer";
}

/** Why a failed call made no further attempt. */
export type NotRetried =
  /** A retry would most likely end the same way. */
  | "not-transient"
  /** A retry may succeed, but the operation may have run, and running it twice is not safe. */
  | "not-safe"
  /** The file is a stream: it can be read only once. */
  | "single-use-body"
  /** `maxRetries`, or the most retries that this event allows, were made. */
  | "retries-used-up"
  /** The client has spent its retries for now: in an outage it does not add to the load. */
  | "budget"
  /** The wait would end after the call's deadline, or the deadline has passed. */
  | "deadline-too-close"
  /** The service asked to wait for more than 60 s, or than `maxPauseMs` of a bulk run: see `retryAfterMs`. */
  | "asked-to-wait-too-long"
  /** The service refused the request, or this client did before sending it. */
  | "refused"
  /** The caller aborted the call. */
  | "aborted";

/**
 * Where the code comes from: the response's body, its HTTP status, the network, or this client. Only with `"body"` did
 * the service name it.
 */
export type CodeSource = "body" | "status" | "transport" | "client";

/** What can happen to an attempt, as far as a retry is concerned. */
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
 * The HTTP status the service's table gives a code. Not an inverse: several codes share 400, 409 and 500.
 *
 * @param code One of the contract's `Code` values.
 * @example httpStatusOfCode("NOT_FOUND"); // 404
 */
export function httpStatusOfCode(code: Code): number {
  return httpStatuses[code];
}

// The service's codes in gRPC's order: it has this one last.
const last = "UNAUTHENTICATED";
const grpcCodes = [...Object.keys(httpStatuses).filter((code) => code !== last), last];

/** The failure code that has a number in gRPC, where 0 is OK. */
export function codeOfGrpcNumber(value: unknown): StatusCode | undefined {
  return grpcCodes.find((_, number) => number > 0 && number === value) as StatusCode | undefined;
}

/** Whether HTTP itself says that sending a request twice does no more than sending it once (RFC 9110, section 9.2.2). */
export function isIdempotent(method: string | undefined): boolean {
  return /^(GET|HEAD|PUT|DELETE)$/.test(method ?? "");
}

/** What a call asks for: an operation of the contract, or `request` for any other one. */
export type OperationName = OperationId | "request";

/** What a request was for: where it went, with the ids in its path. */
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
  /** 1 for the first. */
  readonly number: number;
  /** From asking for the key to the last byte of the response, in milliseconds. */
  readonly durationMs: number;
  /** The response's status, when one began. */
  readonly httpStatus?: number;
  /** The response's `x-request-id`, else `request-id`, when it had one. */
  readonly requestId?: string;
  /**
   * The response's headers without the key, names in lower case, when one began. Not enumerable: no log lists them, and
   * a copy made with `...` has none.
   */
  readonly headers?: ResponseHeaders;
  /** The code of its failure; absent when it succeeded. */
  readonly code?: StatusCode;
  /** What the network reported, when that is why it failed. */
  readonly cause?: unknown;
}

/** What {@link StatusError} is made of. */
export interface StatusErrorDetails {
  /** One of the 16 failure codes. */
  readonly code: StatusCode;
  /** Whether the operation ran; `"no"`: nothing was sent, or the request was refused. */
  readonly executed: Executed;
  /** Who named the code. */
  readonly codeSource: CodeSource;
  /** True unless given. */
  readonly inferred?: boolean | undefined;
  /** The response's HTTP status, when there was one. */
  readonly httpStatus?: number | undefined;
  /** The id of the operation in the contract. */
  readonly operation?: OperationName | undefined;
  /** The HTTP method of the request. */
  readonly method?: string | undefined;
  /** The path of the request, with its ids. */
  readonly path?: string | undefined;
  /** The host of the request, with its port. */
  readonly host?: string | undefined;
  /** Read from `executed` and `httpStatus` unless given. */
  readonly executedBecause?: ExecutedBecause | undefined;
  /** Why there was no other attempt. */
  readonly notRetried?: NotRetried | undefined;
  /** The response's `x-request-id`, else `request-id`. */
  readonly requestId?: string | undefined;
  /** The response's headers, names in lower case, or what makes them when they are read. */
  readonly headers?: ResponseHeaders | (() => ResponseHeaders | undefined) | undefined;
  /** How long the service asked to wait, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
  /** The error body: parsed when it is JSON, else its text. */
  readonly body?: unknown;
  /** The item that cannot be sent, counted from 0. */
  readonly item?: number | undefined;
  /** What to do now. @default a sentence for the code */
  readonly hint?: string | undefined;
  /** @internal The same without why there was no other attempt, which is then added. */
  readonly advice?: string | undefined;
  /** @internal Why there was no other attempt, in words. @default written from `notRetried` and `retryAfterMs` */
  readonly reason?: string | undefined;
  /** Every HTTP request of the call. @default none */
  readonly attempts?: readonly Attempt[] | undefined;
  /** What the network or the caller reported, when that is why. */
  readonly cause?: unknown;
}
