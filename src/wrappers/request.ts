import { loaded, startCall } from "../call/callPromise.js";
import type { LateSettings } from "../call/lateSettings.js";
import type { CallOptions, CallPromise } from "../options/callOptions.js";
import type { EncodedCall } from "./encodedCall.js";

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
  /** The media types to be answered with. @default application/json */
  accept?: string | undefined;
}

/** A value in the query of a {@link ServiceRequest}. */
export type QueryValue = string | number | boolean;

/** Options of {@link ServiceCall}. */
export interface RequestOptions extends Omit<CallOptions, "accountId"> {
  /**
   * Whether sending this request twice does no more than sending it once. It is then retried as a `read` is, else as a
   * `start` is: the kinds of the table of retries.
   * @default true for GET, HEAD, PUT and DELETE, by HTTP's own rule; false for all others
   */
  repeatable?: boolean | undefined;
  /** Milliseconds for the whole call: every attempt, wait and body. Greater than 0. @default 30,000 */
  timeoutMs?: number | undefined;
  /** The most bytes of the answer: at least 1. @default 1,048,576 */
  maxResponseBytes?: number | undefined;
}

/**
 * Calls any operation of the service with this client's key, connections, deadlines, retries and errors. It knows
 * nothing of the operation: its path and its shapes are yours to know. Redirects are not followed. The answer is parsed
 * when its type is JSON, text when that is text, otherwise a Uint8Array; undefined for HEAD, 204 and an empty body.
 *
 * @throws StatusError `INVALID_ARGUMENT` or `OUT_OF_RANGE` before anything is sent; any code of the service;
 * `RESOURCE_EXHAUSTED` for an answer of more than `maxResponseBytes`. `executed` is the worst of all attempts: of a
 * DELETE that was retried and then answered 404 it is `"unknown"`.
 * @example
 * const dataset = await client.request({ method: "GET", path: "/v1/accounts/acme/datasets/reviews" });
 */
export type ServiceCall = <T = unknown>(request: ServiceRequest, options?: RequestOptions) => CallPromise<T>;

/** @internal Makes {@link ServiceCall} with a client's settings. */
export function createRequest(client: LateSettings): ServiceCall {
  return <T>(request: ServiceRequest, options?: RequestOptions) =>
    startCall<T>("request", async () => (await late()).sendAny<T>(client, request, options));
}

/** @internal Makes {@link EncodedCall} with a client's settings. */
export function createEncodedCall(client: LateSettings): EncodedCall {
  return (...given) => startCall("request", async () => (await late()).sendEncoded(client, ...given));
}

// Few programs need it: it is loaded with the first such request.
const late = () => loaded(import("./anyRequest.js"));
