// What the methods of a client take, where more than one file needs it.
import type { OperationId } from "../generated/contract.js";
import type { CallOptions, CallPromise } from "../options/types.js";
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
  /** The file's name; its base name is sent. Needed for what has no name of its own, such as bytes. */
  name?: string | undefined;
  /**
   * The number of bytes a stream has: it is then sent with its length, and an error if it has more or fewer.
   * A stream must have at least one byte; an empty file is an empty path, Blob or Uint8Array.
   */
  size?: number | undefined;
  /**
   * The media type of the part. A Blob's own type that no header can carry is refused unless this is given.
   * @default the Blob's own type, else application/octet-stream
   */
  contentType?: string | undefined;
  /**
   * Called as the file is sent; the last call of a successful upload has `sentBytes` equal to `totalBytes`. It is not
   * waited for: what it throws is ignored, and so is the rejection of an async function. End an upload with `signal`.
   */
  onProgress?: ((progress: UploadProgress) => void) | undefined;
  /**
   * Compare the response's `bytes` with what was sent, and fail with `DATA_LOSS` and `executed: "yes"` when they
   * differ. What `bytes` counts is not documented.
   * @default false
   */
  verifyBytes?: boolean | undefined;
}

/** A request for an operation that the contract does not describe: its path and its shapes are the caller's. */
export interface ServiceRequest {
  /** The HTTP method, in capitals. */
  method: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS";
  /**
   * The path below the base URL: it begins with `/`. It is not encoded: the client encodes each of its segments, except
   * that `:` stays as it is. A segment has to be one that an id could be.
   */
  path: string;
  /** The query: each value is encoded, those of a list one by one; what is undefined is left out. */
  query?: Readonly<Record<string, QueryValue | readonly QueryValue[] | undefined>> | undefined;
  /** A JSON value; or a Uint8Array, Blob or FormData together with `contentType`. None with GET and HEAD. */
  body?: unknown;
  /** The media type of the body. A FormData's is `multipart/form-data`. @default application/json */
  contentType?: string | undefined;
  /** The media types to be responded with. @default application/json */
  accept?: string | undefined;
}

/** A value in the query of a {@link ServiceRequest}. */
export type QueryValue = string | number | boolean;

/** Options of {@link ServiceCall}. */
export interface RequestOptions extends Omit<CallOptions, "accountId"> {
  /**
   * Whether sending this request twice does no more than sending it once. It is then retried as a `read` of the
   * contract is, else as a `start` is.
   * @default true for GET, HEAD, PUT and DELETE, by HTTP's own rule; false for all others
   */
  idempotent?: boolean | undefined;
  /** Milliseconds for the whole call: every attempt, wait and body. Greater than 0. @default 30,000 */
  timeoutMs?: number | undefined;
  /** The most bytes of the response: at least 1. @default 1,048,576 */
  maxResponseBytes?: number | undefined;
}

/**
 * Calls any operation of the service with this client's key, connections, deadlines, retries and errors. It knows
 * nothing of the operation: its path and its shapes are yours to know. Redirects are not followed. The response is parsed
 * when its type is JSON, text when that is text, otherwise a Uint8Array; undefined for HEAD, 204 and an empty body.
 *
 * @throws StatusError `INVALID_ARGUMENT` or `OUT_OF_RANGE` before anything is sent; any code of the service;
 * `RESOURCE_EXHAUSTED` for a response of more than `maxResponseBytes`. `executed` is the worst of all attempts: of a
 * DELETE that was retried and then answered 404 it is `"unknown"`.
 * @example
 * const dataset = await client.request({ method: "GET", path: "/v1/accounts/acme/datasets/reviews" });
 */
export type ServiceCall = <T = unknown>(request: ServiceRequest, options?: RequestOptions) => CallPromise<T>;

/** A request whose parts are encoded. */
export interface EncodedRequest {
  readonly method: string;
  /** Below the base URL: the path, its ids encoded, and the query. */
  readonly target: string;
  readonly body: string | Uint8Array | undefined;
  readonly contentType: string | undefined;
  readonly accept: string | undefined;
}

/**
 * A call of any operation whose parts are encoded already; its response's body is handed back as bytes.
 * @param onResponse Hears of each response that came, whatever its status.
 */
export type EncodedCall = (
  request: EncodedRequest,
  options: RequestOptions,
  onResponse: (headers: Readonly<Record<string, string>>) => void,
) => CallPromise<Uint8Array>;

/** A method that follows from a row of the contract. */
export interface OperationMethod {
  readonly operation: OperationId;
  /** The ids of its path, but for the account, in their order. */
  readonly path: readonly string[];
  /** Whether it takes a body, or a file. */
  readonly body: boolean;
  /** Whether it takes an object of query and header parameters. */
  readonly parameters: boolean;
}

/** What an operation takes. */
export interface OperationArguments {
  readonly operation: OperationId;
  /** The ids of its path by their names, but for the account. */
  readonly ids: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  /** That body as JSON that is written already: it is sent as it is. */
  readonly json?: string | undefined;
  /** Query and header parameters by their names. */
  readonly parameters?: object | undefined;
}

/** @internal What a client has for the other parts of this package. */
export interface ClientInside {
  /** What clients of one service have in common, by which runs of them know each other. */
  readonly shared: object;
  /** What `tunerank/openapi-fetch` sends through. */
  readonly callEncoded: EncodedCall;
  /** What `tunerank request ID` sends through: any operation of the contract by its id. */
  readonly callOperation: (input: OperationArguments, options?: CallOptions) => CallPromise<unknown>;
}

/** @internal The name of {@link ClientInside} on a client. Registered: the entries are files of their own. */
export const inside: unique symbol = Symbol.for("tunerank.client") as never;

/** @internal The same of something that may be another client. */
export function insideOf(client: unknown): ClientInside | undefined {
  return memberOf(client, inside) as ClientInside | undefined;
}
