import { executedBecause, type ResponseHeaders } from "../errors/codes.js";
import { Failure } from "../errors/failure.js";
import type { RerankResponse } from "../generated/types.js";
import type { CallResponse } from "../options/types.js";
import { codeOfHttpStatus } from "../policy/decisions.js";
import { eventsOfResponse, executedAfter, header, retryAfterMs } from "../policy/retry.js";
import { type Redact, redactorOf, redactValues } from "../redact/redact.js";
import { isSuccess, type TransportResponse } from "../transport/exchange.js";
import { memberOf, parseJson } from "../values.js";
import { isErrorAlone, isPage, readErrorBody } from "./errorBody.js";
import type { ResponseReader } from "./types.js";

const notPromised = "The response is not the JSON object that the OpenAPI document describes";

/** The failure of a 2xx response that cannot be used. `failureIn` adds the response's status and headers. */
export function unusableResponse(message: string, more?: Partial<Failure>): Failure {
  return new Failure({ message, code: "INTERNAL", executed: "yes", ...more });
}

/** The failure of a JSON object that lacks a required field. */
export function incomplete(field: string): Failure {
  return unusableResponse(`${notPromised}: ${field} is missing or not valid.`, { events: ["incomplete"] });
}

/** Makes a reader of 2xx responses that hold a JSON object; every other response is a Failure. */
export function readObject<T>(read: (value: object) => T | Failure): ResponseReader<T> {
  return (response, secrets) => {
    const value = response.ok ? parseJson(response.text) : undefined;
    if (typeof value !== "object" || value === null || Array.isArray(value))
      return failureIn(response, secrets);
    const data = isErrorAlone(value) ? errorIn(response, secrets) : read(value);
    return data instanceof Failure ? failureIn(response, secrets, data) : data;
  };
}

// The failure of a 2xx response whose object is an error: nobody knows whether the operation ran.
function errorIn({ status, text }: TransportResponse, secrets: readonly string[]): Failure {
  const { message = "" } = readErrorBody(text, status, redactorOf(secrets));
  const said = `The response has HTTP ${status}, but is an error${message && `: ${message}`}`;
  return unusableResponse(said, { executed: "unknown", events: ["otherFault"] });
}

/** Makes a reader of 2xx responses with any content; every other response is a Failure. */
export function readWhole<T>(read: (response: TransportResponse) => T | Failure): ResponseReader<T> {
  return (response, secrets) => {
    if (!isSuccess(response.status) || memberOf(response, "unread")) return failureIn(response, secrets);
    const data = read(response);
    return data instanceof Failure ? failureIn(response, secrets, data) : data;
  };
}

// The failure of a response without a value; `found` says what is wrong with the value of a 2xx response.
function failureIn(response: TransportResponse, secrets: readonly string[], found?: Failure): Failure {
  const redact = redactorOf(secrets);
  const { status, text } = response;
  if (!isSuccess(status)) return errorResponse(response, redact);
  const failure = found
    ? Object.assign(found, { body: readErrorBody(text, status, redact).body })
    : notAnObject(response, redact);
  const because = executedBecause(failure.executed, true);
  return Object.assign(failure, { executedBecause: because }, toldBy(response, redact));
}

function notAnObject(response: TransportResponse, redact: Redact): Failure {
  const { status, text } = response;
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
  const unread =
    encoding && response.text.slice(0, 4).includes("\ufffd")
      ? `The response was not decoded from ${encoding}.`
      : memberOf(response, "unread");
  return unread ? redact(unread as string) : undefined;
}

function errorResponse(response: TransportResponse, redact: Redact): Failure {
  const { status, headers, text } = response;
  const said = readErrorBody(text, status, redact);
  const redirected = isRedirect(status);
  const named = redirected ? undefined : said.code;
  const read = codeOfHttpStatus(status);
  const code = named ?? read.code;
  const waitMs = retryAfterMs(headers, said.retryAfterMs, Date.now());
  const happened = eventsOfResponse(named, status, waitMs !== undefined);
  return new Failure({
    message:
      notTheService(status) ??
      unreadIn(response, redact) ??
      said.message ??
      `HTTP ${status} without a message.`,
    code,
    executed: executedAfter(happened),
    codeSource: named ? "body" : "status",
    inferred: !named && read.inferred,
    events: happened,
    ...toldBy(response, redact),
    retryAfterMs: waitMs,
    body: said.body,
    hint: redirected ? "Set baseUrl to the final address." : undefined,
  });
}

// The message for a status that tells what happened, whatever the body contains; else undefined.
function notTheService(status: number): string | undefined {
  if (status === 101) return "The server changed to another protocol (HTTP 101).";
  return isRedirect(status) ? `The server redirects (HTTP ${status}), which is never followed.` : undefined;
}

function isRedirect(status: number): boolean {
  return status >= 300 && status < 400;
}

/** A response's status, request id and headers, without the key. The headers are redacted when they are read. */
export function toldBy(
  { status: httpStatus, headers }: Pick<TransportResponse, "status" | "headers">,
  redact: Redact,
): Pick<Failure, "httpStatus" | "requestId" | "headers"> {
  const id = requestIdOf(headers);
  const requestId = id && redact(id);
  return { httpStatus, requestId, headers: () => redactValues(redact, headers) as ResponseHeaders };
}

/** The response's `x-request-id`, else `request-id`. */
export function requestIdOf(headers: Readonly<Record<string, string>>): string | undefined {
  return header(headers, "x-request-id") ?? header(headers, "request-id");
}

/** The fields of a response that `withResponse()` adds to a call's value. */
export function seenOf({
  status: httpStatus,
  headers,
}: TransportResponse): Omit<CallResponse<unknown>, "data" | "attempts"> {
  const requestId = requestIdOf(headers);
  return { httpStatus, headers, ...(requestId !== undefined && { requestId }) };
}

/**
 * Returns a rerank response unchanged; a {@link Failure} if an entry lacks its index or score. Checks no other field.
 * @param named Returns the caller's name for the document with an index, to append to the message.
 */
export function readRerank(response: object, named?: (index: number) => string): RerankResponse | Failure {
  const data = memberOf(response, "data");
  const lack = Array.isArray(data) ? lackIn(data, named) : "data";
  return lack ? incomplete(lack) : (response as RerankResponse);
}

// The first `index` or `relevance_score` that is missing or invalid; undefined when there is none.
function lackIn(data: readonly unknown[], named = (_: number) => ""): string | undefined {
  for (let position = 0; position < data.length; position++) {
    const entry = data[position];
    const index = memberOf(entry, "index");
    if (!Number.isInteger(index)) return `data[${position}].index`;
    // JSON.parse reads 1e400 as Infinity, which is no score.
    if (!Number.isFinite(memberOf(entry, "relevance_score")))
      return `data[${position}].relevance_score${named(index as number)}`;
  }
  return undefined;
}
