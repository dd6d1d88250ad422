import { codeOfGrpcNumber, type StatusCode } from "../errors/codes.js";
import type { Failure } from "../errors/failure.js";
import { httpStatuses } from "../generated/contract.js";
import { milliseconds } from "../policy/retry.js";
import { type Redact, redactValues } from "../redact/redact.js";
import { memberOf, parseJson, textFor, valueOr } from "../values.js";

const keptCharacters = 4096;

/**
 * Reads an error body of unknown shape: own properties only, each type-checked. Never throws.
 * @returns What the body says for a {@link Failure}; its `body` is what to keep: parsed when it is JSON of up to 4 KiB,
 * else the first 4 KiB of its text
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
    const kept = redact(
      trimmed.slice(0, Math.max(readable(redact), isPage(trimmed) ? readCharacters : 0)),
      true,
    );
    // Redacts a second time: a tag within the key hid the key from the first redaction, and `pageText` removes tags.
    const message = redact(isPage(kept) ? pageText(kept) : firstWords(kept), true);
    const body = kept.slice(0, keptCharacters) || undefined;
    // Every member is set: a missing one would be read from a polluted Object.prototype.
    return { code: undefined, message: message || undefined, retryAfterMs: undefined, body };
  }
  const root = Array.isArray(parsed) && parsed.length === 1 ? parsed[0] : parsed;
  const code = readCode(root, httpStatus);
  const message = readMessage(root);
  return {
    code,
    message: message && keptOf(message, redact),
    retryAfterMs: readRetryDelay(root),
    body:
      trimmed.length <= keptCharacters
        ? // Deeply nested lists may overflow the stack: the body is then left out.
          valueOr(() => redactValues(redact, parsed), undefined)
        : keptOf(trimmed, redact),
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

// Names of fields that bodies of errors have.
const errorField =
  /^(code|details?|error|errorMessage|errorType|instance|[mM]essage|param|requestId|request_id|stackTrace|status|title|trace|type)$/;

/**
 * Whether the object of a 2xx response is an error: it has no field but those of errors, and one of them names a code
 * or holds the error. A job with `status`, `code` or `error` beside its own fields is none.
 */
export function isErrorAlone(value: object): boolean {
  for (const name of Object.keys(value)) if (!errorField.test(name)) return false;
  const error = memberOf(value, "error");
  const isNumbered = codeOfGrpcNumber(memberOf(value, "code")) && memberOf(value, "message");
  return Boolean(
    readCode(value, 0) ||
      isNumbered ||
      (typeof error === "object" && error) ||
      memberOf(value, "errorMessage"),
  );
}

function readCode(root: unknown, httpStatus: number): StatusCode | undefined {
  const error = memberOf(root, "error");
  const code = memberOf(root, "code");
  return (
    codeNamed(memberOf(error, "status")) ??
    codeNamed(memberOf(error, "code")) ??
    codeNamed(code) ??
    codeNumbered(code, httpStatus) ??
    connectCode(code)
  );
}

function readMessage(root: unknown): string | undefined {
  const error = memberOf(root, "error");
  const detail = memberOf(root, "detail");
  const candidates = [
    memberOf(error, "message"),
    error,
    memberOf(root, "message"),
    memberOf(root, "Message"),
    memberOf(root, "errorMessage"),
    detail,
    messagesOf(detail),
    memberOf(root, "title"),
    root,
  ];
  return candidates
    .find((value): value is string => typeof value === "string" && value.trim() !== "")
    ?.trim();
}

function codeNamed(value: unknown): StatusCode | undefined {
  return typeof value === "string" && value !== "OK" && Object.hasOwn(httpStatuses, value)
    ? (value as StatusCode)
    : undefined;
}

// grpc-gateway sends the gRPC number of a code. The number counts only if its code has the response's HTTP status.
function codeNumbered(value: unknown, httpStatus: number): StatusCode | undefined {
  const code = codeOfGrpcNumber(value);
  return code !== undefined && httpStatuses[code] === httpStatus ? code : undefined;
}

function connectCode(value: unknown): StatusCode | undefined {
  if (typeof value !== "string" || !/^[a-z_]{1,32}$/.test(value)) return undefined;
  return codeNamed(value === "canceled" ? "CANCELLED" : value.toUpperCase());
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

function firstWords(text: string): string {
  return text.slice(0, 500).replace(/\s+/g, " ").trim();
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
