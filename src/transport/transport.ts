// What a transport is asked for, and what it says of a request that brought no whole response.
import type { Multipart } from "../files/multipart.js";
import { memberOf, textFor, valueOr } from "../values.js";

/** How far a request got. */
export type Phase = "connect" | "send" | "headers" | "body";

/** A request's body: a form is one with a file. */
export type Body = string | Uint8Array | Multipart | undefined;

/** Whether a body is a form. Asked of its members: the class is loaded with the first upload. */
export function isForm(body: Body): body is Multipart {
  return typeof body === "object" && Object.hasOwn(body, "part");
}

export interface TransportRequest {
  readonly method: string;
  readonly url: URL;
  /** Names in lower case; `content-type` included, `content-length` not. The transport may add to them. */
  readonly headers: Record<string, string>;
  readonly body: Body;
  /** The most decoded bytes to take of a 2xx response. */
  readonly maxResponseBytes: number;
  /** Whether it needs a new connection: the server may just be closing one that was used before. */
  readonly freshSocket: boolean;
  /** Milliseconds to connect: name lookup, TCP, the tunnel through a proxy, TLS. */
  readonly connectTimeoutMs: number;
  /** Milliseconds of the whole call. */
  readonly timeoutMs: number;
  /** Notified once the request no longer waits for others to end. */
  readonly lifetime: { started(): void };
}

/** Whether a status says that the request succeeded. */
export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

/** Why a request brought no whole response; "foreign" is a fault of other code: a mock, an interceptor, a fetch function. */
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

/** A request that brought no whole response: what a transport rejects with. */
export interface TransportFailure {
  readonly message: string;
  readonly phase: Phase;
  /** Whether nobody saw the phase: the cause may prove that no connection came about. */
  readonly isGuessed?: boolean;
  readonly reason: FailureReason;
  /** The response's status when its headers came; a proxy's, when it opened no tunnel. */
  readonly status?: number | undefined;
  /** Whether it was sent on a connection that had been idle: its server may have closed it. */
  readonly reusedSocket?: boolean | undefined;
  /** What to do, or what else may be behind a connection that never came to be. */
  readonly advice?: string | undefined;
  readonly cause?: unknown;
}

/** Whether something that was thrown is a transport's failure; of another's object nothing but that is asked. */
export function isTransportFailure(thrown: unknown): thrown is TransportFailure {
  return valueOr(() => Object.hasOwn(thrown as object, "phase"), false);
}

/** The message when reading the file failed, not the network. */
export const sourceFailed = "Reading the file failed.";

/** The network's code of an error, or "". Node's fetch says only "fetch failed": what happened is in its cause. */
export function networkCode(error: unknown): string {
  return textFor(memberOf(error, "code") ?? memberOf(memberOf(error, "cause"), "code") ?? "");
}

/** What is known of a connection that never came to be. */
export interface Unconnected {
  /** Named as the decision table does. */
  readonly event: "neverConnected" | "nameNotFound" | "tlsFailure" | "refused" | undefined;
  readonly code: "UNAVAILABLE" | "UNAUTHENTICATED" | "PERMISSION_DENIED" | undefined;
  readonly hint: string | undefined;
}
