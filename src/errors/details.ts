import type { OperationId } from "../generated/contract.js";
import type { CodeSource, Executed, ExecutedBecause, NotRetried, StatusCode } from "./codes.js";

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

/** @internal A response's headers, names in lower case. */
export type ResponseHeaders = Readonly<Record<string, string>>;

/** One HTTP request made for a call. */
export interface Attempt {
  /** 1 for the first. */
  readonly number: number;
  /** From asking for the key to the last byte of the answer, in milliseconds. */
  readonly durationMs: number;
  /** The answer's status, when one began. */
  readonly httpStatus?: number;
  /** The answer's `x-request-id`, else `request-id`, when it had one. */
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
  /** The answer's HTTP status, when there was one. */
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
  /** The answer's `x-request-id`, else `request-id`. */
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
