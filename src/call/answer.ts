import type { ResponseHeaders, StatusCode } from "../errors/codes.js";
import { Failure, type RetryEvent } from "../errors/failure.js";
import type { DatasetFile, RerankResponse } from "../generated/types.js";
import { codeOfHttpStatus } from "../policy/decisions.js";
import { eventsOfAnswer, executedAfter, header, retryAfterMs } from "../policy/retry.js";
import { type Redact, redactorOf, redactValues } from "../redact/redact.js";
import { isSuccess, type TransportResponse } from "../transport/transport.js";
import { memberOf, parseJson } from "../values.js";
import { isPage, readErrorBody } from "./errorBody.js";

const notPromised = "The answer is not the JSON object the contract promises";

/** What a wrapper says of a 2xx answer that it cannot use. */
export class UnusableAnswer {
  declare readonly code: StatusCode;
  declare readonly message: string;
  declare readonly event: RetryEvent;
  constructor(code: StatusCode, message: string, event: RetryEvent = "ended") {
    this.code = code;
    this.message = message;
    this.event = event;
  }
}

/** A JSON object without what its caller cannot do without. */
export function incomplete(field: string): UnusableAnswer {
  const message = `${notPromised}: ${field} is missing or not valid.`;
  return new UnusableAnswer("INTERNAL", message, "incomplete");
}

/** The value that `read` makes of a 2xx answer's JSON object; a Failure for every other answer. */
export function readAnswer<T>(
  answer: TransportResponse,
  secrets: readonly string[],
  read: (value: object) => T | UnusableAnswer,
): T | Failure {
  if (!isSuccess(answer.status)) return errorAnswer(answer, redactorOf(secrets));
  const value = parseJson(answer.text);
  // Not over readWhole: the function between them costs 2 % of a call's instructions.
  return typeof value !== "object" || value === null || Array.isArray(value)
    ? notAnObject(answer, redactorOf(secrets))
    : usable(answer, secrets, read(value));
}

/** The value that `read` makes of a 2xx answer as it is; a Failure for every other answer. */
export function readWhole<T>(
  answer: TransportResponse,
  secrets: readonly string[],
  read: (answer: TransportResponse) => T | UnusableAnswer,
): T | Failure {
  if (!isSuccess(answer.status)) return errorAnswer(answer, redactorOf(secrets));
  return memberOf(answer, "unread")
    ? notAnObject(answer, redactorOf(secrets))
    : usable(answer, secrets, read(answer));
}

function usable<T>(
  answer: TransportResponse,
  secrets: readonly string[],
  data: T | UnusableAnswer,
): T | Failure {
  if (!(data instanceof UnusableAnswer)) return data;
  const { code, message, event } = data;
  const redact = redactorOf(secrets);
  const { body } = readErrorBody(answer.text, answer.status, redact);
  return unusableAnswer(answer, redact, { message, code, executed: "yes", events: [event], body });
}

function notAnObject(answer: TransportResponse, redact: Redact): Failure {
  const { status, text } = answer;
  // A web page is somebody else's answer: the service may never have seen the request.
  if (isPage(text)) {
    const { message: words = "" } = readErrorBody(text, status, redact);
    return unusableAnswer(answer, redact, {
      message: `A web page came instead of the service's answer (HTTP ${status})${words && `: ${words}`}`,
      code: "INTERNAL",
      executed: "unknown",
      events: ["html"],
      hint: "Check that baseUrl is the service itself, not a website, a proxy or a sign-in page.",
    });
  }
  return unusableAnswer(answer, redact, {
    message: unreadIn(answer, redact) ?? `${notPromised} (HTTP ${status}).`,
    code: "INTERNAL",
    executed: "yes",
    events: [status === 200 ? "notJson" : "otherSuccess"],
  });
}

function unusableAnswer(
  { status, headers }: TransportResponse,
  redact: Redact,
  details: ConstructorParameters<typeof Failure>[0],
): Failure {
  return new Failure({ ...details, httpStatus: status, ...toldBy(headers, redact) });
}

// Why nothing was made of its body. A fetch function does not say what it could not decode: its first bytes are no text.
function unreadIn(answer: TransportResponse, redact: Redact): string | undefined {
  const encoding = header(answer.headers, "content-encoding");
  const unread =
    encoding && answer.text.slice(0, 4).includes("\ufffd")
      ? `The response was not decoded from ${encoding}.`
      : memberOf(answer, "unread");
  return unread ? redact(unread as string) : undefined;
}

function errorAnswer(answer: TransportResponse, redact: Redact): Failure {
  const { status, headers, text } = answer;
  const said = readErrorBody(text, status, redact);
  const redirected = isRedirect(status);
  const named = redirected ? undefined : said.code;
  const read = codeOfHttpStatus(status);
  const code = named ?? read.code;
  const waitMs = retryAfterMs(headers, said.retryAfterMs, Date.now());
  const happened = eventsOfAnswer(named, status, waitMs !== undefined);
  return new Failure({
    message:
      notTheService(status) ??
      unreadIn(answer, redact) ??
      said.message ??
      `HTTP ${status} without a message.`,
    code,
    executed: executedAfter(happened),
    codeSource: named ? "body" : "status",
    inferred: !named && read.inferred,
    events: happened,
    httpStatus: status,
    ...toldBy(headers, redact),
    retryAfterMs: waitMs,
    body: said.body,
    hint: redirected ? "Set baseUrl to the final address." : undefined,
  });
}

// What the status alone says, whatever the body does.
function notTheService(status: number): string | undefined {
  if (status === 101) return "The server changed to another protocol (HTTP 101).";
  return isRedirect(status) ? `The server redirects (HTTP ${status}), which is never followed.` : undefined;
}

function isRedirect(status: number): boolean {
  return status >= 300 && status < 400;
}

/** What an attempt tells of a response's headers, without the key: they are searched for it when somebody reads them. */
export function toldBy(headers: ResponseHeaders, redact: Redact): Pick<Failure, "requestId" | "headers"> {
  return {
    requestId: requestIdOf(headers, redact),
    headers: () => redactValues(redact, headers) as ResponseHeaders,
  };
}

/** The answer's `x-request-id`, else `request-id`; an error's is redacted. */
export function requestIdOf(headers: Readonly<Record<string, string>>, redact?: Redact): string | undefined {
  const id = header(headers, "x-request-id") ?? header(headers, "request-id");
  return id && redact ? redact(id) : id;
}

/**
 * A rerank's answer as it came; {@link UnusableAnswer} without what makes it a ranking. Whatever else it holds passes.
 * @param named Adds the caller's name of the document that an index is of.
 */
export function readRerank(
  answer: object,
  named?: (index: number) => string,
): RerankResponse | UnusableAnswer {
  const data = memberOf(answer, "data");
  const lack = Array.isArray(data) ? lackIn(data, named) : "data";
  return lack ? incomplete(lack) : (answer as RerankResponse);
}

// The first field that an entry lacks; undefined when all have both.
function lackIn(data: readonly unknown[], named = (_: number) => ""): string | undefined {
  for (const [position, entry] of data.entries()) {
    const index = memberOf(entry, "index");
    if (!Number.isInteger(index)) return `data[${position}].index`;
    // 1e400 is read as Infinity.
    if (!Number.isFinite(memberOf(entry, "relevance_score")))
      return `data[${position}].relevance_score${named(index as number)}`;
  }
  return undefined;
}

/** An upload's answer as it came; {@link UnusableAnswer} without the id of the stored file. Whatever else it holds passes. */
export function readDatasetFile(answer: object): DatasetFile | UnusableAnswer {
  return typeof memberOf(answer, "id") === "string" ? (answer as DatasetFile) : incomplete("id");
}
