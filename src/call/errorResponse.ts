// Why a response has no value. Loaded with the first such response.
import { hiding } from "#platform";
import { codeOfGrpcNumber, executedBecause, type OperationName, type StatusCode } from "../errors/codes.js";
import { Failure } from "../errors/failure.js";
import { httpStatuses } from "../generated/contract.js";
import { codeOfHttpStatus } from "../policy/decisions.js";
import { eventsOfResponse, executedAfter, milliseconds, retryAfterMs } from "../policy/ofResponse.js";
import { header } from "../policy/retry.js";
import type { Redact } from "../redact/redact.js";
import { isSuccess, type TransportResponse } from "../transport/exchange.js";
import { memberOf, parseJson, textFor, valueOr } from "../values.js";
import { codeNamed, codeWritten, notPromised, noValue, objectIn, unusableResponse } from "./response.js";

/** The failure of a response without a value. @param found What is wrong with a 2xx's value; `noValue` if it has none */
export function failureIn(
  response: TransportResponse,
  redact: Redact,
  found: Failure | typeof noValue,
  operation: OperationName,
): Failure {
  const { status, text } = response;
  if (!isSuccess(status)) return errorResponse(response, redact, operation);
  const { body } = readErrorBody(text, status, redact);
  const failure = found === noValue ? withoutValue(response, redact) : Object.assign(found, { body });
  return Object.assign(failure, { executedBecause: executedBecause(failure.executed, true) });
}

function withoutValue(response: TransportResponse, redact: Redact): Failure {
  const { status, text } = response;
  // An object without a value is an error: nobody knows whether the operation ran.
  if (objectIn(response)) {
    const { message = "", body } = readErrorBody(text, status, redact);
    const said = `The response has HTTP ${status}, but is an error${message && `: ${message}`}`;
    return unusableResponse(said, { executed: "unknown", events: ["otherFault"], body });
  }
  // A web page does not come from the service, which may never have seen the request.
  if (isPage(text)) {
    const { message: words = "" } = readErrorBody(text, status, redact);
    const message = `A web page came instead of the service's response (HTTP ${status})${words && `: "${words}"`}`;
    return unusableResponse(message, {
      executed: "unknown",
      events: ["html"],
      hint: "Check that baseUrl is the service itself, not a website, a proxy or a sign-in page.",
    });
  }
  const message = unreadIn(response, redact) ?? `${notPromised} (HTTP ${status}).`;
  return unusableResponse(message, { events: [status === 200 ? "notJson" : "otherSuccess"] });
}

// Why the body was not decompressed. `fetch` does not report it, but a body that begins with invalid text shows it.
function unreadIn(response: TransportResponse, redact: Redact): string | undefined {
  const encoding = header(response.headers, "content-encoding");
  const isBinary = encoding && response.text.slice(0, 4).includes("\ufffd");
  const unread = isBinary ? `The response was not decoded from ${encoding}.` : response.unread;
  return unread && redact(unread);
}

function errorResponse(response: TransportResponse, redact: Redact, operation: OperationName): Failure {
  const { status, headers, text } = response;
  const said = readErrorBody(text, status, redact);
  const redirected = status >= 300 && status < 400;
  const named = redirected ? undefined : said.code;
  const read = codeOfHttpStatus(status);
  const code = named ?? read.code;
  const waitMs = retryAfterMs(headers, said.retryAfterMs, Date.now());
  const happened = eventsOfResponse(named, status, waitMs !== undefined);
  const executed = executedAfter(happened);
  let message = unreadIn(response, redact) ?? said.message ?? `HTTP ${status} without a message.`;
  if (redirected) message = `The server redirects (HTTP ${status}), which is never followed.`;
  if (status === 101) message = "The server changed to another protocol (HTTP 101).";
  const ofStatus = adviceOfStatus[`${status} ${operation}`] ?? adviceOfStatus[status];
  // What an operation that may have run leaves to do comes before the status.
  const hint = executed === "no" ? ofStatus : undefined;
  return new Failure({
    message,
    code,
    executed,
    codeSource: named ? "body" : "status",
    inferred: !named && read.inferred,
    events: happened,
    httpStatus: status,
    retryAfterMs: waitMs,
    body: said.body,
    hint: redirected ? "Set baseUrl to the final address." : hint,
  });
}

// Advice for HTTP statuses that tell more than the code they map to. A key is a status, or a status and an operation.
const adviceOfStatus: Readonly<Record<string, string | undefined>> = {
  402: "Check the account's billing.",
  406: "Check that baseUrl is the service itself.",
  407: "The proxy needs its own user name and password, in its URL or agent, not the API key.",
  410: "It is gone: use another id.",
  411: "The size is needed first: pass size, or a path, a Blob or bytes.",
  413: "Send a smaller request.",
  "413 rerankDocuments": "Send fewer documents at once (rerank.items with batchSize).",
  "413 uploadDatasetFile":
    "Send a smaller file: larger ones need another operation of the service, which this client does not have.",
  414: "Use a shorter id or base URL.",
  415: "Check baseUrl, and the media type of the file.",
  417: "A proxy cannot do what the request expects: leave out your own headers.",
  421: "This server does not serve this host: check baseUrl and the proxies.",
  424: "Another operation that this one depends on failed: fix that first.",
  426: "Wrong protocol: check scheme and port of baseUrl.",
  428: "The server needs a condition, such as an If-Match header.",
  431: "Send fewer or shorter headers, or a shorter key.",
  451: "Rejected for legal reasons: ask the operator.",
};

const keptCharacters = 4096;

/**
 * Reads an error body of unknown shape: own properties only, each type-checked. Never throws. The `body` to keep is parsed
 * if it is JSON of up to 4 KiB, else the first 4 KiB of its text.
 */
export function readErrorBody(
  text: string,
  httpStatus: number,
  redact: Redact,
): { code: StatusCode | undefined; message: string | undefined } & Pick<Failure, "retryAfterMs" | "body"> {
  const trimmed = text.trim();
  const parsed = parseJson(trimmed);
  if (parsed === undefined) {
    // The text is not JSON, or it is JSON whose end is missing.
    const most = Math.max(readable(redact), isPage(trimmed) ? readCharacters : 0);
    const kept = redact(trimmed.slice(0, most), true);
    const shown = isPage(kept) ? pageText(kept) : kept.slice(0, 500).replace(/\s+/g, " ").trim();
    // Redacts a second time: a tag within the key hid the key from the first redaction, and `pageText` removes tags.
    const message = redact(shown, true);
    const body = kept.slice(0, keptCharacters) || undefined;
    // Every member is set: a missing one would be read from a polluted Object.prototype.
    return { code: undefined, message: message || undefined, retryAfterMs: undefined, body };
  }
  const root = Array.isArray(parsed) && parsed.length === 1 ? parsed[0] : parsed;
  const message = readMessage(root);
  // Deeply nested lists may overflow the stack: the body is then left out.
  const whole = () => valueOr(() => hiding?.redactValues(redact, parsed));
  return {
    code: readCode(root, httpStatus),
    message: message && keptOf(message, redact),
    retryAfterMs: readRetryDelay(root),
    body: trimmed.length <= keptCharacters ? whole() : keptOf(trimmed, redact),
  };
}

// How much of a text is redacted: what is kept, and a key that begins in it. Redaction costs in proportion to the text.
function readable({ reach = 0 }: Redact): number {
  return keptCharacters + reach;
}

function keptOf(text: string, redact: Redact): string {
  const most = readable(redact);
  return redact(text.slice(0, most), text.length > most).slice(0, keptCharacters);
}

function readCode(root: unknown, httpStatus: number): StatusCode | undefined {
  const error = memberOf(root, "error");
  const code = memberOf(root, "code");
  const numbered = codeOfGrpcNumber(code);
  return (
    codeNamed(memberOf(error, "status")) ??
    codeNamed(memberOf(error, "code")) ??
    codeWritten(code) ??
    // grpc-gateway sends the gRPC number of a code. The number counts only if its code has the response's HTTP status.
    (numbered && httpStatuses[numbered] === httpStatus ? numbered : undefined)
  );
}

function readMessage(root: unknown): string | undefined {
  const error = memberOf(root, "error");
  const detail = memberOf(root, "detail");
  const flat = ["message", "Message", "errorMessage"].map((name) => memberOf(root, name));
  return [
    memberOf(error, "message"),
    error,
    ...flat,
    detail,
    messagesOf(detail),
    memberOf(root, "title"),
    root,
  ]
    .find((value): value is string => typeof value === "string" && value.trim() !== "")
    ?.trim();
}

// FastAPI's `detail` is a list with one item per invalid field.
function messagesOf(detail: unknown): string | undefined {
  if (!Array.isArray(detail)) return undefined;
  const messages = detail.slice(0, 10).map((item) => memberOf(item, "msg"));
  return messages.filter((value) => typeof value === "string").join("; ");
}

// Reads google.rpc.RetryInfo in Google's or grpc-gateway's shape: a duration such as "3.5s".
function readRetryDelay(root: unknown): number | undefined {
  const details = memberOf(memberOf(root, "error"), "details") ?? memberOf(root, "details");
  if (!Array.isArray(details)) return undefined;
  const info = details.find((item) => /(^|\/)google\.rpc\.RetryInfo$/.test(textFor(memberOf(item, "@type"))));
  const delay = memberOf(info, "retryDelay");
  return typeof delay === "string" && delay.endsWith("s")
    ? milliseconds(delay.slice(0, -1), 1000)
    : undefined;
}

// How much of a web page is read, and how much of its text is kept: enough to tell who sent the page.
const readCharacters = 16_384;
const titleCharacters = 200;

/** Whether a text is a web page, or another document with tags. */
export function isPage(text: string): boolean {
  return /^\s*</.test(text);
}

// A page's title, else its first words, without tags. Every pattern takes linear time.
function pageText(page: string): string {
  const text = page.slice(0, readCharacters);
  const title = /<title[^>]{0,99}>([^<]+)</i.exec(text)?.[1]?.trim();
  const words = text
    .replace(/<!--.*?(?:-->|$)|<(script|style)\b.*?(?:<\/\1[^<>]*>?|$)/gis, " ")
    .replace(/<[^<>]*>?/g, " ");
  return (title || words).replace(/\s+/g, " ").trim().slice(0, titleCharacters).trimEnd();
}
