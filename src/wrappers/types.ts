import type { OperationId } from "../generated/contract.js";
import type { CallOptions, CallPromise } from "../options/types.js";
import type { Limiters } from "../policy/limiter.js";
import { memberOf } from "../values.js";

/** How far an upload got. */
export interface UploadProgress {
  /** Bytes of the file handed to the network. */
  readonly sentBytes: number;
  /** The file's size in bytes; undefined for a stream without `size`, until it has ended. */
  readonly totalBytes: number | undefined;
}

/** Options of {@link Datasets.upload}. */
export interface UploadOptions extends CallOptions {
  /** The file's name, of which the base name is sent. Needed if `file` has no name of its own, such as bytes. */
  name?: string | undefined;
  /**
   * The number of bytes of a stream: it is then sent with its length, and the upload fails if it has more or fewer.
   * A stream must have at least one byte; an empty file can be sent as a path, Blob or Uint8Array.
   */
  size?: number | undefined;
  /** The media type of the file. @default the Blob's own type, else application/octet-stream */
  contentType?: string | undefined;
  /**
   * Called as the file is sent; the last time, in a successful upload, with `sentBytes` equal to `totalBytes`. The
   * upload does not wait for this function, and ignores what it throws or rejects with. End an upload with `signal`.
   */
  onProgress?: ((progress: UploadProgress) => void) | undefined;
  /**
   * Compare the response's `bytes` with what was sent, and fail with `DATA_LOSS` and `executed: "yes"` when they
   * differ. The service does not document what `bytes` counts. @default false
   */
  verifyBytes?: boolean | undefined;
}

/** A request for an operation that the contract does not describe: the caller supplies its path and types. */
export interface ServiceRequest {
  /** The HTTP method, in capitals. */
  method: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS";
  /**
   * The path below the base URL, beginning with `/`. Give it unencoded: the client encodes each of its segments, except
   * that `:` stays as it is. Each segment must be valid as an id.
   */
  path: string;
  /** The query: each value is encoded. A list gives one pair for each of its values; undefined is left out. */
  query?: Readonly<Record<string, QueryValue | readonly QueryValue[] | undefined>> | undefined;
  /** A JSON value; or a Uint8Array, Blob or FormData together with `contentType`. Not allowed with GET and HEAD. */
  body?: unknown;
  /** The media type of the body. A FormData's is `multipart/form-data`. @default application/json */
  contentType?: string | undefined;
  /** The media types that the response may have: the `Accept` header. @default application/json */
  accept?: string | undefined;
}

/** A value in the query of a {@link ServiceRequest}. */
export type QueryValue = string | number | boolean;

/** Options of {@link ServiceCall}. */
export interface RequestOptions extends Omit<CallOptions, "accountId"> {
  /**
   * Whether this request is idempotent. If it is, it is retried as an operation of the contract with the retry class
   * `read`, else as one with the retry class `start`.
   * @default true for GET, HEAD, PUT and DELETE, by HTTP's own rule; false for all others
   */
  idempotent?: boolean | undefined;
  /** Milliseconds for the whole call: every attempt, wait and body. Greater than 0. @default 30,000 */
  timeoutMs?: number | undefined;
  /** The maximum size of the response in bytes: at least 1. @default 1,048,576 */
  maxResponseBytes?: number | undefined;
}

/**
 * Calls any operation of the service with this client's key, connections, deadlines, retries and errors. Redirects are
 * not followed. Resolves to the parsed response if its type is JSON, to a string if its type is text, else to a
 * Uint8Array; to undefined for HEAD, 204 and an empty body.
 *
 * @throws StatusError `INVALID_ARGUMENT` or `OUT_OF_RANGE` before anything is sent; any code of the service;
 * `RESOURCE_EXHAUSTED` for a response of more than `maxResponseBytes`. `executed` is the most severe of all
 * attempts: for a DELETE whose retry got a 404 it may be `"unknown"`.
 * @example
 * const dataset = await client.request({ method: "GET", path: "/v1/accounts/acme/datasets/reviews" });
 */
export type ServiceCall = <T = unknown>(request: ServiceRequest, options?: RequestOptions) => CallPromise<T>;

/** The body of a request as it is sent. */
export interface EncodedContent {
  readonly body: string | Uint8Array | undefined;
  readonly contentType: string | undefined;
}

/** A request as it is sent: its URL, headers and body are encoded. */
export interface EncodedRequest {
  readonly method: string;
  /** The URL's part after the base URL: the path, with encoded ids, and the query. */
  readonly target: string;
  readonly accept: string | undefined;
  /** Reads the body, within the call's deadline. */
  content(): Promise<EncodedContent>;
}

/**
 * Makes a call from a request that is already encoded. Resolves to the response's body as bytes.
 * @param onResponse Called with the headers of each response, whatever its status.
 */
export type EncodedCall = (
  request: EncodedRequest,
  options: RequestOptions,
  onResponse: (headers: Readonly<Record<string, string>>) => void,
) => CallPromise<Uint8Array>;

/** The arguments of an operation. */
export interface OperationArguments {
  readonly operation: OperationId;
  /** The ids in the operation's path by their names, without the account. */
  readonly ids: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  /** The body already written as JSON: it is sent unchanged. */
  readonly json?: string | undefined;
  /** Query and header parameters by their names. */
  readonly parameters?: object | undefined;
}

/** @internal A client's members for other modules of this package. */
export interface ClientInside {
  /** What the client's runs of many calls share. */
  readonly limiters: Limiters;
  /** Makes the calls of `tunerank/openapi-fetch`. */
  readonly callEncoded: EncodedCall;
  /** Makes the calls of `tunerank request ID`: any operation of the contract by its id. */
  readonly callOperation: (input: OperationArguments, options?: CallOptions) => CallPromise<unknown>;
}

/** @internal The key of {@link ClientInside} on a client. `Symbol.for`, because the entries are separate bundles. */
export const inside: unique symbol = Symbol.for("tunerank.client") as never;

/** @internal The {@link ClientInside} of a value that may be no client of this package; undefined if it has none. */
export function insideOf(client: unknown): ClientInside | undefined {
  return memberOf(client, inside) as ClientInside | undefined;
}
