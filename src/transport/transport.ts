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

// Of a JSON body in characters: its answer fits a packet or two, and compressing costs more than it saves.
const shortBody = 2_000;

/** Says in a request's headers what its answer may be encoded with; of a short one nothing, unless a caller did. */
export function acceptEncodings(headers: Record<string, string>, body: Body): void {
  const isShort = typeof body === "string" && body.length <= shortBody;
  if (isShort && headers["accept-encoding"] === undefined) return;
  headers["accept-encoding"] = "gzip, deflate, br";
}

export interface TransportRequest {
  readonly method: string;
  readonly url: URL;
  /** Names in lower case; `content-type` included, `content-length` not. The transport may add to them. */
  readonly headers: Record<string, string>;
  readonly body: Body;
  /** The most decoded bytes to take of a 2xx answer. */
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

/** Why a request brought no whole answer; "foreign" is a fault of other code: a mock, an interceptor, a fetch function. */
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

/** What became of a request that brought no whole answer: what a transport rejects with. */
export interface TransportFailure {
  readonly message: string;
  readonly phase: Phase;
  /** Whether nobody saw the phase: the cause may prove that no connection came about. */
  readonly isGuessed?: boolean;
  readonly reason: FailureReason;
  /** The answer's status when its headers came; a proxy's, when it refused to open a tunnel. */
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

/** What the network calls an error, or "". Node's fetch says only "fetch failed": what happened is in its cause. */
export function networkCode(error: unknown): string {
  return textFor(memberOf(error, "code") ?? memberOf(memberOf(error, "cause"), "code") ?? "");
}

/** A request that ended because a proxy opened no tunnel for it, and what to do about that. */
export function refusedByProxy(
  status: number,
): [text: string, details: { reason: "proxy"; status: number; advice: string }] {
  let advice = "The proxy allows no connection to this host: ask those who run it, or connect without it.";
  if (status === 407)
    advice = "The proxy asks for credentials: put its user name and password in the proxy's address.";
  if (status >= 500)
    advice = "The proxy could not reach the service: look at the proxy, or connect without it.";
  return [`The proxy did not open a tunnel (HTTP ${status}).`, { reason: "proxy", status, advice }];
}

/** What went wrong, as text; never throws. Trying every address of a name leaves one error for each and no message of its own. */
export function textOf(error: unknown): string {
  const first = memberOf(memberOf(error, "errors"), "0");
  const said = memberOf(error, "message") || memberOf(first, "message") || networkCode(error);
  return textFor(said || "the connection failed");
}

/** How a server says, after its part of a TLS 1.3 handshake, that it takes no request: it read none. */
export const refusedByAlert: RegExp =
  /^ERR_SSL_(TLSV1|TLSV13|SSLV3)_ALERT_(.*CERTIFICATE.*|UNKNOWN_CA|ACCESS_DENIED|HANDSHAKE_FAILURE|DECRYPT_ERROR)$/;

/** What is known of a connection that never came to be. */
export interface Unconnected {
  /** Named as the decision table does. */
  readonly event: "neverConnected" | "nameNotFound" | "tlsFailure" | "refused" | undefined;
  readonly code: "UNAVAILABLE" | "UNAUTHENTICATED" | "PERMISSION_DENIED" | undefined;
  readonly hint: string | undefined;
}
