import type { StatusCode } from "../errors/codes.js";
import { invalid } from "../errors/statusError.js";
import { httpStatuses, type OperationId, operations } from "../generated/contract.js";
import { examples } from "../generated/examples.js";

/** What is sent back. */
export interface StandInAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

/** Thrown by an operation that the service would refuse. */
export class Refusal extends Error {
  readonly answer: StandInAnswer;
  constructor(code: StatusCode, message: string, status: number = httpStatuses[code]) {
    super(message);
    this.answer = jsonAnswer({ code, message }, status);
  }
}

/** An answer in JSON. */
export function jsonAnswer(value: unknown, status: number): StandInAnswer {
  return { status, headers: { "content-type": "application/json" }, body: JSON.stringify(value) };
}

/** The good answer of an operation, with the contract's example unless there is a value. */
export function goodAnswer(
  operation: OperationId,
  value: unknown = examples[operation].value,
): StandInAnswer {
  const { status, contentType } = examples[operation];
  if (contentType === undefined) return { status, headers: {}, body: "" };
  const isJson = operations[operation].answer === undefined;
  const body = isJson ? JSON.stringify(value) : (value as string | Uint8Array);
  return { status, headers: { "content-type": contentType }, body };
}

/** The good answer that a test scripts. @throws StatusError for a value that the operation never answers with */
export function scriptedAnswer(operation: OperationId, value: unknown): StandInAnswer {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  const isBytes = value instanceof Uint8Array;
  const kind = operations[operation].answer ?? "json";
  if (kind === "none") throw invalid(`${operation} answers with nothing: there is no value to script.`);
  if (kind === "json" && (!isObject || isBytes))
    throw invalid(`value must be an object: ${operation} answers with JSON.`);
  if (kind !== "json" && typeof value !== "string" && !(kind === "bytes" && isBytes))
    throw invalid(
      `value must be a string${kind === "bytes" ? " or a Uint8Array" : ""}: ${operation} answers with ${kind}.`,
    );
  return goodAnswer(operation, isBytes ? value.slice() : value);
}

/** The bytes of a body. */
export function answerBytes(body: StandInAnswer["body"]): Uint8Array {
  return typeof body === "string" ? new TextEncoder().encode(body) : body;
}
