import type { StatusCode } from "../errors/codes.js";
import { httpStatuses } from "../generated/contract.js";

/** What is sent back. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Thrown by an operation that the service would refuse. */
export class Refusal extends Error {
  readonly answer: Answer;
  constructor(code: StatusCode, message: string, status: number = httpStatuses[code]) {
    super(message);
    this.answer = jsonAnswer({ code, message }, status);
  }
}

/** An answer in JSON. */
export function jsonAnswer(value: unknown, status: number = httpStatuses.OK): Answer {
  return { status, headers: { "content-type": "application/json" }, body: JSON.stringify(value) };
}
