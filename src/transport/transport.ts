// What a transport receives, and how it reports a request without a complete response.
import type { Multipart } from "../files/multipart.js";
import { memberOf, textFor, valueOr } from "../values.js";

/** How far a request got. */
export type Phase = "connect" | "send" | "headers" | "body";

/** A request's body. A `Multipart` is a form with a file. */
export type Body = string | Uint8Array | Multipart | undefined;

/** Whether a body is a form. Checks for a member, not the class, because the class is loaded with the first upload. */
export function isForm(body: Body): body is Multipart {
  return typeof body === "object" && Object.hasOwn(body, "part");
}

export interface TransportRequest {
  readonly method: string;
  readonly url: URL;
  /** Header names in lower case; with `content-type`, without `content-length`. The transport may add headers. */
  readonly headers: Record<string, string>;
  readonly body: Body;
  /** The most decoded bytes to accept of a 2xx response. */
  readonly maxResponseBytes: number;
  /** Whether the request needs a new connection, because the server may just be closing one that was used before. */
  readonly freshSocket: boolean;
  /** Milliseconds to connect: name lookup, TCP, the tunnel through a proxy, TLS. */
  readonly connectTimeoutMs: number;
  /** The deadline of the whole call, in milliseconds. */
  readonly timeoutMs: number;
  /** `started` is called once the request no longer waits for other requests to end. */
  readonly lifetime: { started(): void };
}

/** Whether a status says that the request succeeded. */
export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

/**
 * Why a request has no complete response. "foreign": a fault of other code (a mock, an interceptor, a fetch function).
 */
export type FailureReason =
  | "network"
  | "connect-timeout"
  | "attempt-timeout"
  | "too-large"
  | "aborted"
  | "agent"
  | "foreign"
  | "proxy"
  | "source";

/** A request without a complete response: the value that a transport rejects with. */
export interface TransportFailure {
  readonly message: string;
  readonly phase: Phase;
  /** Whether the phase is a guess: the cause may still prove that no connection was made. */
  readonly isGuessed?: boolean;
  readonly reason: FailureReason;
  /** The status of the response, if its headers arrived; or of the proxy, if it opened no tunnel. */
  readonly status?: number | undefined;
  /** Whether the request was sent on a connection that had been idle, which the server may have closed. */
  readonly reusedSocket?: boolean | undefined;
  /** What to do, or another possible cause of a failed connection. */
  readonly advice?: string | undefined;
  readonly cause?: unknown;
}

/** Whether a thrown value is a transport's failure. Reads only that one property, since the value may be any object. */
export function isTransportFailure(thrown: unknown): thrown is TransportFailure {
  return valueOr(() => Object.hasOwn(thrown as object, "phase"), false);
}

/** The message for a request that failed because its file could not be read. */
export const sourceFailed = "Reading the file failed.";

/** The network's code of an error, or "". Node's fetch throws "fetch failed", and the code is in that error's cause. */
export function networkCode(error: unknown): string {
  return textFor(memberOf(error, "code") ?? memberOf(memberOf(error, "cause"), "code") ?? "");
}

/** What is known about a connection that was never established. */
export interface Unconnected {
  /** The event's name in the decision table (policy/decisions.ts). */
  readonly event: "neverConnected" | "nameNotFound" | "tlsFailure" | "refused" | undefined;
  readonly code: "UNAVAILABLE" | "UNAUTHENTICATED" | "PERMISSION_DENIED" | undefined;
  readonly hint: string | undefined;
}
