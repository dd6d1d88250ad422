// The responses of the mock server: successful ones, rejections, and the responses and failures that a test scripts.
import type { StatusCode } from "../errors/codes.js";
import { invalid, refusal } from "../errors/statusError.js";
import { httpStatuses, meanings, type OperationId, operations } from "../generated/contract.js";
import { examples } from "../generated/examples.js";
import { checkCount, checkDuration, checkFlag, checkInteger, headerPairs } from "../options/arguments.js";
import { type OptionTable, ownProperties } from "../options/validate.js";
import type { ScriptedFailure } from "./types.js";

export interface MockResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

/** How to respond: with the whole response, by a reset, not at all (`stall`), or with half of the body (`truncate`). */
export type ReplyKind = "response" | "reset" | "stall" | "truncate";

/** Thrown when the mock server rejects a request; `response` is the error response. */
export class Refusal extends Error {
  readonly response: MockResponse;
  constructor(code: StatusCode, message: string, status: number = httpStatuses[code], headers = {}) {
    super(message);
    this.response = jsonResponse({ code, message }, status, headers);
  }
}

function jsonResponse(value: unknown, status: number, headers: MockResponse["headers"]): MockResponse {
  const body = typeof value === "string" ? value : JSON.stringify(value);
  return { status, headers: { "content-type": "application/json", ...headers }, body };
}

/** The successful response of an operation. @param value The body; the contract's example by default. */
export function goodResponse(
  operation: OperationId,
  value: unknown = examples[operation].value,
): MockResponse {
  const { status, contentType } = examples[operation];
  if (contentType === undefined) return { status, headers: {}, body: "" };
  const isJson = operations[operation].value === undefined;
  const body = isJson ? JSON.stringify(value) : (value as string | Uint8Array);
  return { status, headers: { "content-type": contentType }, body };
}

/** A successful response that a test scripts. @throws StatusError for a value that the operation cannot respond with */
export function scriptedResponse(operation: OperationId, value: unknown): MockResponse {
  const isBytes = value instanceof Uint8Array;
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value) && !isBytes;
  const kind = operations[operation].value ?? "JSON";
  if (kind === "none")
    throw invalid("value", `The response of ${operation} has no body: there is no value to script.`);
  const wanted = { JSON: "an object", text: "a string", bytes: "a string or a Uint8Array" }[kind];
  if (kind === "JSON" ? !isObject : typeof value !== "string" && !(kind === "bytes" && isBytes))
    throw invalid("value", `value must be ${wanted}: the response of ${operation} is ${kind}.`);
  return goodResponse(operation, isBytes ? value.slice() : value);
}

export function responseBytes(body: MockResponse["body"]): Uint8Array {
  return typeof body === "string" ? new TextEncoder().encode(body) : body;
}

export interface Script {
  readonly kind: ReplyKind;
  /** The response; undefined for that of the operation. */
  readonly response: MockResponse | undefined;
  readonly delayMs: number;
  readonly executes: boolean;
  /** How many requests are still to fail. */
  times: number;
}

/** Checks a number of requests: at least 1, or Infinity. */
export function checkTimes(value: unknown, what: string): number {
  return value === Number.POSITIVE_INFINITY ? value : checkCount(value, what);
}

const failureTable: OptionTable<ScriptedFailure> = {
  times: checkTimes,
  status: checkStatus,
  code: checkCode,
  message: 1,
  retryAfter: (seconds, what) => checkInteger(seconds, what),
  headers: 1,
  body: 1,
  reset: checkFlag,
  stall: checkFlag,
  truncate: checkFlag,
  delayMs: checkDuration,
  executes: checkFlag,
};

function checkStatus(value: unknown, what: string): number {
  const status = checkInteger(value, what, 200);
  if (status > 599) throw refusal("OUT_OF_RANGE", what, `${what} must be at most 599, not ${status}.`);
  return status;
}

function checkCode(value: unknown, what: string): unknown {
  if (value !== "OK" && Object.hasOwn(httpStatuses, value as string)) return value;
  throw invalid(what, `${what} must be one of the service's 16 failure codes.`);
}

/** @throws StatusError if the options of the failure are invalid or contradict each other. */
export function scriptOf(failure: ScriptedFailure): Script {
  const own = ownProperties(failure, "failure", failureTable);
  const { code, status, message, retryAfter, headers, body, delayMs = 0, times = 1, executes } = own;
  const [kind, another] = (["reset", "stall", "truncate"] as const).filter((each) => own[each]);
  const hasResponse = status !== undefined || code !== undefined;
  if (another || (kind && hasResponse))
    throw invalid("failure", "failure takes one of status (or code), reset, stall and truncate.");
  if (!kind && !hasResponse && delayMs === 0)
    throw invalid("failure", "failure needs status, code, reset, stall, truncate or delayMs.");
  const script = { kind: kind ?? "response", delayMs, times } as const;
  if (!hasResponse)
    return { ...script, response: undefined, executes: !kind || kind === "truncate" || executes === true };
  const text = message ?? (code === undefined ? "A scripted failure." : meanings[code]);
  const response = jsonResponse(
    body ?? { ...(code !== undefined && { code }), message: text },
    status ?? httpStatuses[code as StatusCode],
    { ...(retryAfter !== undefined && { "retry-after": `${retryAfter}` }), ...lowerCased(headers) },
  );
  return { ...script, response, executes: executes === true };
}

function lowerCased(headers: ScriptedFailure["headers"]): Record<string, string> {
  const own = headerPairs(headers) ?? Object.entries(ownProperties(headers, "headers"));
  return Object.fromEntries(own.map(([name, value]) => [String(name).toLowerCase(), String(value)]));
}
