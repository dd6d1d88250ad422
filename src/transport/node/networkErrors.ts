// What the errors of the network, of TLS and of proxies mean, and what to do about them.
import { Failure } from "../../errors/failure.js";
import { isQuoted } from "../../redact/redact.js";
import { memberOf, textFor, valueOr } from "../../values.js";
import { networkCode, type SeenDetails, type TransportFailure } from "../exchange.js";

/** An error's message; never throws. If every address of a host failed, the error has only an error for each. */
export function textOf(error: unknown): string {
  const first = memberOf(memberOf(error, "errors"), "0");
  const said = memberOf(error, "message") || memberOf(first, "message") || networkCode(error);
  return textFor(said || "the connection failed");
}

/** The codes of TLS alerts that a server sends after its own part of a TLS 1.3 handshake, without reading a request. */
export const refusedByAlert: RegExp =
  /^ERR_SSL_(TLSV1|TLSV13|SSLV3)_ALERT_(.*CERTIFICATE.*|UNKNOWN_CA|ACCESS_DENIED|HANDSHAKE_FAILURE|DECRYPT_ERROR)$/;

/** The text and details of a failure if a proxy opened no tunnel for a request, with advice. */
export function refusedByProxy(status: number): [text: string, details: SeenDetails] {
  // A proxy that fails (5xx) counts as a network failure. Other statuses are not retried: the proxy would reject again.
  const isDown = status >= 500;
  const isKeyless = status === 407;
  const event = isDown ? "neverConnected" : "refused";
  const code = isDown ? "UNAVAILABLE" : isKeyless ? "UNAUTHENTICATED" : "PERMISSION_DENIED";
  const advice = isDown
    ? "The proxy could not reach the service: look at the proxy, or connect without it."
    : isKeyless
      ? "The proxy asks for credentials: put its user name and password in the proxy's address."
      : "The proxy allows no connection to this host: ask those who run it, or connect without it.";
  const text = `The proxy did not open a tunnel (HTTP ${status}).`;
  return [text, { reason: "proxy", status, advice, event, code }];
}

// An OpenSSL message has a thread, a number and a source before the reason, and a file and a line after the reason.
const openSsl = /(?:write EPROTO )?[0-9A-F]{1,32}:error:[0-9A-F]{1,32}:[^:]*:[^:]*:([^:\n]+).*/s;

/** Rewords a network error's message for people. */
export function wordsFor(message: string, error: unknown): string {
  if (speaksTls(error)) return `The port speaks TLS (${message}).`;
  if (networkCode(error) === "HPE_INVALID_CONSTANT") return `The response is not HTTP (${message}).`;
  if (isUnreadable(error)) return `The response is not valid HTTP (${message}).`;
  return withAddresses(message, error)
    .replace(openSsl, "TLS: $1.")
    .replace("wrong version number.", "wrong version number; this port may speak plain http.");
}

/** How many of a host's addresses were tried, and how the last of them ended. */
export function addressesTried(tried: number, count: number, address: unknown, end: unknown): string {
  return `${tried < count ? `${tried} of ` : ""}${count} addresses were tried, the last ${address}: ${end}.`;
}

// Adds how many addresses of a host were tried; the error has a cause for each.
function withAddresses(message: string, error: unknown): string {
  const errors = memberOf(error, "errors") ?? memberOf(memberOf(error, "cause"), "errors");
  if (!Array.isArray(errors) || !errors.every((each) => memberOf(each, "address"))) return message;
  const last: unknown = errors.at(-1);
  const tried = addressesTried(errors.length, errors.length, memberOf(last, "address"), networkCode(last));
  const first = String(memberOf(errors[0], "message"));
  return message.includes(first) ? message.replace(first, () => tried) : `${message}: ${tried}`;
}

/** What to do if the service rejected the last of these keys; undefined if the key shows no mistake. */
export function keyAdvice(keys: readonly string[]): string | undefined {
  return isQuoted(keys.at(-1) ?? "") ? "The key begins and ends with quotes: leave them out." : undefined;
}

/** The failure of a request to which nock or undici's MockAgent has no response; undefined for any other failure. */
export function mocked({ message, cause, body }: Failure): Failure | undefined {
  // nock 15 responds with an error of its own to a request that no mock matches.
  const isMock = [cause, body].some((each) =>
    /^(ERR_NOCK_NO_MATCH|UND_MOCK_ERR_MOCK_NOT_MATCHED)$/.test(networkCode(each)),
  );
  const isRefused = [cause, memberOf(cause, "cause")].some(
    (each) => memberOf(each, "name") === "NetConnectNotAllowedError",
  );
  if (!isMock && !isRefused) return undefined;
  return new Failure({
    message: `The mock has no response for this request: ${message}`,
    code: "INTERNAL",
    executed: "no",
    requested: false,
    hint: "Prepare one for its method, path and body.",
    cause,
  });
}

// The names of errors that stand for a mistake in a program, not for a failed network.
const programErrors = /^(Type|Reference|Range|Syntax)Error$/;

/** What the cause of a failure tells: how far the request got, whose fault it is, and what to do. */
export function explained(seen: TransportFailure): TransportFailure {
  const { reason, cause } = seen;
  if (reason !== "network") return explainedOfFetch(seen);
  // The cause is code of this process (a library, an agent, a mock), which would fail again.
  if (isRefusedBySender(seen)) return explainedOfFetch(programFailed({ ...seen, phase: "connect" }, cause));
  if (isProgramError(seen)) return explainedOfFetch(programFailed(seen, cause));
  const failure = explainedOfFetch(seen);
  const { message, phase } = failure;
  const worded = () => (phase === "body" ? message : wordsFor(message, cause));
  return Object.assign(failure, { message: valueOr(worded, message) });
}

/** The same for the `fetch` of Bun and Deno, which throws a TypeError for a lost network and for a program's mistake. */
export function explainedOfFetch(seen: TransportFailure): TransportFailure {
  const { cause, advice } = seen;
  const phase = seen.isGuessed && isBeforeConnection(cause) ? "connect" : seen.phase;
  const found = seen.reason === "network" ? networkCode(cause) : "";
  let { event, code } = seen;
  let hint = phase === "connect" ? advice : undefined;
  if (seen.reason === "network" && phase === "connect") {
    const known = hints.find(([codes]) => codes.test(found))?.[1];
    hint = known && advice ? `${known} ${advice}` : (known ?? advice);
    const other = lasting.test(found) ? "tlsFailure" : "neverConnected";
    event = found === "ENOTFOUND" ? "nameNotFound" : other;
  } else if (/^UND_ERR_(HEADERS|BODY)_TIMEOUT$/.test(found)) {
    // Node's fetch waits 300 s for headers, and for each chunk.
    event = phase === "body" ? "bodyLost" : "attemptTimeout";
    code = "DEADLINE_EXCEEDED";
    hint =
      "Node's fetch gives up after 300 s, whatever timeoutMs is: leave out the option fetch, or pass a dispatcher.";
  }
  // What is not HTTP once would most likely not be HTTP again: a fault of the service, not of the network.
  else if (seen.reason === "network" && phase !== "body" && isUnreadable(cause)) event = "unnamedFault";
  return Object.assign(Object.create(null), seen, { phase, event, code, hint: hint ?? schemeAdvice(cause) });
}

function programFailed(failure: TransportFailure, cause: unknown): TransportFailure {
  const message = `This program or one of its libraries failed: ${textOf(cause)}`;
  return Object.assign(Object.create(null), failure, { message, reason: "foreign", advice: undefined });
}

// Whether `fetch` refused the request itself: nothing was sent, and every retry would be refused.
function isRefusedBySender({ cause, isGuessed }: TransportFailure): boolean {
  const inner = memberOf(cause, "cause");
  return (
    isGuessed === true &&
    (/^(UND_ERR_INVALID_ARG|UND_ERR_NOT_SUPPORTED|ERR_INVALID_.*)$/.test(networkCode(cause)) ||
      memberOf(inner, "message") === "bad port" ||
      (inner === undefined && /^(RequestInit|Request constructor|fetch): /.test(textOf(cause))))
  );
}

// Codes of responses that are not valid HTTP. Those of Node's parser for a connection that ended too early are others.
const notHttp =
  /^(HPE_(?!INVALID_EOF_STATE|CLOSED_CONNECTION)\w+|UND_ERR_(HEADERS_OVERFLOW|RES_CONTENT_LENGTH_MISMATCH))$/;

const parserErrors = /^(HTTPParser|HeadersOverflow|ResponseContentLengthMismatch)Error$/;

// Whether a response is not valid HTTP.
function isUnreadable(cause: unknown): boolean {
  // Some versions of undici leave the parser's code out, and an error that is frozen has none: its class has a name.
  const named = [cause, memberOf(cause, "cause")].map((each) => memberOf(each, "constructor"));
  const isParsers = (made: unknown): boolean => typeof made === "function" && parserErrors.test(made.name);
  return named.some(isParsers) || notHttp.test(networkCode(cause));
}

// What to do if the response is not HTTP.
function schemeAdvice(cause: unknown): string | undefined {
  if (networkCode(cause) !== "HPE_INVALID_CONSTANT") return undefined;
  return speaksTls(cause) ? "Try https in baseUrl." : "Try another scheme or port in baseUrl.";
}

// Whether Node's parser found a TLS alert, whose first byte is 21: a TLS server responds so to plain http.
function speaksTls(error: unknown): boolean {
  return memberOf(memberOf(error, "rawPacket"), "0") === 21;
}

// Network errors have a cause or a code that is not Node's own; those of some `fetch` functions and of MSW do not.
function isProgramError({ cause, phase, isGuessed }: TransportFailure): boolean {
  const name = textFor(memberOf(cause, "name"));
  return (
    (phase === "connect" || phase === "send" || isGuessed === true) &&
    programErrors.test(name) &&
    !(isGuessed && name === "TypeError") &&
    memberOf(cause, "cause") === undefined &&
    /^(ERR_.*)?$/.test(networkCode(cause)) &&
    memberOf(cause, "message") !== "Network error"
  );
}

// Codes of connections that were never established, and what to do about them.
const hints: readonly (readonly [codes: RegExp, what: string])[] = [
  [/REFUSED/i, "Nothing listens there: check baseUrl, and that the server runs."],
  [/^ENOTFOUND$/, "No host has this name: check baseUrl."],
  [/^CERT_HAS_EXPIRED$/, "The server's certificate has expired, or this machine's clock is wrong."],
  [/^CERT_NOT_YET_VALID$/, "The server's certificate is not valid yet: check this machine's clock."],
  [/ALTNAME_INVALID$/, "The server's certificate is for other names: check the host in baseUrl."],
  [
    /CERT|UNABLE_TO_/,
    "The server's certificate is not trusted: check baseUrl, or name its authority in NODE_EXTRA_CA_CERTS.",
  ],
  [/^EPROTO$|_SSL_/, "No TLS connection: check scheme and port of baseUrl, and the server's TLS versions."],
];

// Node's codes for certificates that it does not trust.
const certificate = "CERT_.*|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_.*";

// Codes of failures that a retry cannot change: an invalid certificate, another protocol, a missing permission.
const lasting = new RegExp(
  `^(${certificate}|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED|ERR_TLS_.*|ERR_SSL_.*|ERR_INVALID_.*|EPROTO|EACCES|EPERM)$`,
);

// Error codes of Node's and Bun's fetch for connections that were never established, TLS failures included.
const neverConnected = new RegExp(
  `^(${certificate}|ConnectionRefused|ECONNREFUSED|ENOTFOUND|EAI_.*|UND_ERR_CONNECT_TIMEOUT|ERR_TLS_CERT_ALTNAME_INVALID|ERR_SSL_(WRONG_VERSION_NUMBER|UNSUPPORTED_PROTOCOL|.*ALERT_PROTOCOL_VERSION))$`,
);

// The system calls that open a connection. Errors of an open connection name `read` or `write`.
const connecting: ReadonlySet<unknown> = new Set(["connect", "getaddrinfo"]);

/** Whether an error by itself proves that no connection was established. */
export function isBeforeConnection(error: unknown): boolean {
  const code = networkCode(error);
  const cause = memberOf(error, "cause");
  // If every address of a host failed, the cause holds one error for each.
  const first = memberOf(memberOf(cause, "errors"), "0") ?? cause ?? error;
  const syscall = memberOf(first, "syscall");
  return (
    (syscall === undefined ? neverConnected.test(code) : connecting.has(syscall)) ||
    refusedByAlert.test(code) ||
    /^Client network socket disconnected before secure TLS/.test(textFor(memberOf(cause, "message")))
  );
}
