// The responses of the mock server: successful ones, rejections, and the responses and failures that a test scripts.
import type { StatusCode } from "../errors/codes.js";
import { invalid, refusal } from "../errors/statusError.js";
import { httpStatuses, meanings, type OperationId, operations } from "../generated/contract.js";
import { examples } from "../generated/examples.js";
import type { Code } from "../generated/types.js";
import { checkDuration, checkFlag, checkInteger, headerPairs } from "../options/arguments.js";
import { type OptionTable, ownProperties } from "../options/validate.js";
import type { ScriptedFailure } from "./types.js";

export interface MockResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

/** Thrown when the mock server rejects a request; `response` is the error response. */
export class Refusal extends Error {
  readonly response: MockResponse;
  constructor(code: StatusCode, message: string, status: number = httpStatuses[code]) {
    super(message);
    this.response = jsonResponse({ code, message }, status);
  }
}

export function jsonResponse(value: unknown, status: number): MockResponse {
  return { status, headers: { "content-type": "application/json" }, body: JSON.stringify(value) };
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
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  const isBytes = value instanceof Uint8Array;
  const kind = operations[operation].value ?? "json";
  if (kind === "none")
    throw invalid("value", `The response of ${operation} has no body: there is no value to script.`);
  if (kind === "json" && (!isObject || isBytes))
    throw invalid("value", `value must be an object: the response of ${operation} is JSON.`);
  if (kind !== "json" && typeof value !== "string" && !(kind === "bytes" && isBytes))
    throw invalid(
      "value",
      `value must be a string${kind === "bytes" ? " or a Uint8Array" : ""}: the response of ${operation} is ${kind}.`,
    );
  return goodResponse(operation, isBytes ? value.slice() : value);
}

export function responseBytes(body: MockResponse["body"]): Uint8Array {
  return typeof body === "string" ? new TextEncoder().encode(body) : body;
}

export interface Script {
  readonly kind: "response" | "reset" | "stall" | "truncate" | "late";
  readonly response: MockResponse | undefined;
  readonly delayMs: number;
  readonly executes: boolean;
}

/** The scripted failures of one test service. Those of one operation are used up in the order they were added. */
export class Failures {
  readonly #queues: Map<OperationId, { script: Script; left: number }[]> = new Map();

  /** Adds a scripted failure. @throws StatusError if its options are invalid or contradict each other. */
  add(operation: OperationId, failure: ScriptedFailure): void {
    // Check the names: a misspelt option would otherwise be ignored silently.
    const own = ownProperties(failure, "failure", names);
    const { times = 1 } = own;
    const left = times === Number.POSITIVE_INFINITY ? times : checkInteger(times, "times", 1);
    const queue = this.#queues.get(operation) ?? [];
    this.#queues.set(operation, [...queue, { script: scriptOf(own), left }]);
  }

  take(operation: OperationId): Script | undefined {
    const [first, ...others] = this.#queues.get(operation) ?? [];
    if (first === undefined) return undefined;
    first.left--;
    if (first.left === 0) this.#queues.set(operation, others);
    return first.script;
  }

  clear(): void {
    this.#queues.clear();
  }
}

const names: OptionTable<ScriptedFailure> = {
  times: 1,
  status: 1,
  code: 1,
  message: 1,
  retryAfter: 1,
  headers: 1,
  body: 1,
  reset: 1,
  stall: 1,
  truncate: 1,
  delayMs: 1,
  executes: 1,
};

function scriptOf(failure: ScriptedFailure): Script {
  const kinds = (["reset", "stall", "truncate"] as const).filter((kind) => checkFlag(failure[kind], kind));
  const response =
    failure.status === undefined && failure.code === undefined ? undefined : failureResponse(failure);
  const { delayMs } = failure;
  const wait = delayMs === undefined ? 0 : checkDuration(delayMs, "delayMs");
  if (kinds.length + (response ? 1 : 0) > 1) {
    throw invalid("failure", "failure takes one of status (or code), reset, stall and truncate.");
  }
  const kind = response ? "response" : (kinds[0] ?? (wait > 0 ? "late" : undefined));
  if (kind === undefined) {
    throw invalid("failure", "failure needs status, code, reset, stall, truncate or delayMs.");
  }
  const always = kind === "truncate" || kind === "late";
  return { kind, response, delayMs: wait, executes: always || checkFlag(failure.executes, "executes") };
}

function failureResponse({
  status,
  code,
  message,
  retryAfter,
  headers,
  body,
}: ScriptedFailure): MockResponse {
  if (code !== undefined && ((code as Code) === "OK" || !Object.hasOwn(httpStatuses, code))) {
    throw invalid("code", "code must be one of the service's 16 failure codes.");
  }
  const httpStatus = checkInteger(status ?? httpStatuses[code as Code], "status", 200);
  if (httpStatus > 599)
    throw refusal("OUT_OF_RANGE", "status", `status must be at most 599, not ${httpStatus}.`);
  const text = message ?? (code === undefined ? "A scripted failure." : meanings[code]);
  const response = jsonResponse(body ?? { ...(code !== undefined && { code }), message: text }, httpStatus);
  const wait = retryAfter === undefined ? undefined : checkInteger(retryAfter, "retryAfter", 0);
  return {
    status: httpStatus,
    headers: {
      ...response.headers,
      ...(wait !== undefined && { "retry-after": `${wait}` }),
      ...lowerCased(headers),
    },
    body: typeof body === "string" ? body : response.body,
  };
}

function lowerCased(headers: ScriptedFailure["headers"]): Record<string, string> {
  const own = headerPairs(headers) ?? Object.entries(ownProperties(headers, "headers"));
  return Object.fromEntries(own.map(([name, value]) => [String(name).toLowerCase(), String(value)]));
}
