import { codes } from "../generated/contract.js";
import type { StatusCode } from "./codes.js";
import { codeOfGrpcNumber } from "./grpcCodes.js";
import { parseJson } from "./json.js";

/** What an error answer says of itself, whatever its shape. */
export interface ErrorBody {
  /** The code it names, when it names one of the service's. */
  readonly code: StatusCode | undefined;
  /** Its message for people, when it has one. */
  readonly message: string | undefined;
  /** The body to keep: parsed when it is JSON of up to 4 KiB, else the first 4 KiB of its text. */
  readonly body: unknown;
}

const keptCharacters = 4096;
const redacted = "[redacted]";

/**
 * Reads an error body of unknown shape: own properties only, each type-checked. Never throws.
 * @param key Removed from what is kept, should the server have sent it back.
 */
export function readErrorBody(text: string, httpStatus: number, key: string): ErrorBody {
  const trimmed = text.trim();
  if (trimmed === "") return { code: undefined, message: undefined, body: undefined };
  const parsed = parseJson(trimmed);
  if (parsed === undefined) {
    const kept = redact(key, trimmed);
    return { code: undefined, message: plainText(kept), body: kept.slice(0, keptCharacters) };
  }
  const root = Array.isArray(parsed) && parsed.length === 1 ? parsed[0] : parsed;
  const code = readCode(root, httpStatus);
  const message = readMessage(root);
  return {
    code,
    message: message && redact(key, message).slice(0, keptCharacters),
    body:
      trimmed.length <= keptCharacters
        ? redactAll(key, parsed)
        : redact(key, trimmed).slice(0, keptCharacters),
  };
}

/** The text without the API key, written plainly or as JSON writes it. */
export function redact(key: string, text: string): string {
  if (key === "") return text;
  return text.replaceAll(key, redacted).replaceAll(JSON.stringify(key).slice(1, -1), redacted);
}

// A body of at most 4 KiB: it cannot be deep enough to matter.
function redactAll(key: string, value: unknown): unknown {
  if (typeof value === "string") return redact(key, value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => redactAll(key, item));
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [redact(key, name), redactAll(key, item)]),
  );
}

function readCode(root: unknown, httpStatus: number): StatusCode | undefined {
  const error = own(root, "error");
  const code = own(root, "code");
  return (
    codeNamed(own(error, "status")) ??
    codeNamed(own(error, "code")) ??
    codeNamed(code) ??
    codeNumbered(code, httpStatus) ??
    connectCode(code)
  );
}

function readMessage(root: unknown): string | undefined {
  const error = own(root, "error");
  const detail = own(root, "detail");
  const candidates = [
    own(error, "message"),
    error,
    own(root, "message"),
    own(root, "Message"),
    detail,
    messagesOf(detail),
    own(root, "title"),
    root,
  ];
  return candidates
    .find((value): value is string => typeof value === "string" && value.trim() !== "")
    ?.trim();
}

function codeNamed(value: unknown): StatusCode | undefined {
  return typeof value === "string" && value !== "OK" && Object.hasOwn(codes, value)
    ? (value as StatusCode)
    : undefined;
}

// grpc-gateway: the number counts only when the HTTP status says the same.
function codeNumbered(value: unknown, httpStatus: number): StatusCode | undefined {
  const code = codeOfGrpcNumber(value);
  return code !== undefined && codes[code].httpStatus === httpStatus ? code : undefined;
}

function connectCode(value: unknown): StatusCode | undefined {
  if (typeof value !== "string" || !/^[a-z_]{1,32}$/.test(value)) return undefined;
  return codeNamed(value === "canceled" ? "CANCELLED" : value.toUpperCase());
}

// FastAPI lists one item per refused field.
function messagesOf(detail: unknown): string | undefined {
  if (!Array.isArray(detail)) return undefined;
  const messages = detail.slice(0, 10).map((item) => own(item, "msg"));
  return messages.filter((value) => typeof value === "string").join("; ");
}

// A proxy's HTML page says little: its title is the message.
function plainText(text: string): string {
  const title = /^\s*</.test(text)
    ? /<title[^>]{0,99}>([^<]{1,500})</i.exec(text.slice(0, keptCharacters))
    : null;
  return (title?.[1] ?? text.slice(0, 500)).replace(/\s+/g, " ").trim();
}

function own(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, key)
    ? (value as Record<string, unknown>)[key]
    : undefined;
}
