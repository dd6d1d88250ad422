import type { OperationId } from "../generated/contract.js";
import type { CodeSource, Executed, StatusCode } from "./codes.js";
import { hintFor } from "./hints.js";

/** One HTTP request made for a call. */
export interface Attempt {
  /** 1 for the first. */
  readonly number: number;
  /** From asking for the key to the last byte of the answer, in milliseconds. */
  readonly durationMs: number;
  /** The answer's status, when one began. */
  readonly httpStatus?: number;
  /** The code of its failure; absent when it succeeded. */
  readonly code?: StatusCode;
  /** What the network reported, when that is why it failed. */
  readonly cause?: unknown;
}

/** What {@link StatusError} is made of. */
export interface StatusErrorDetails {
  readonly code: StatusCode;
  readonly executed: Executed;
  readonly codeSource: CodeSource;
  /** True unless given. */
  readonly inferred?: boolean | undefined;
  readonly httpStatus?: number | undefined;
  readonly operation?: OperationId | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly body?: unknown;
  readonly hint?: string | undefined;
  readonly attempts?: readonly Attempt[] | undefined;
  readonly cause?: unknown;
}

// Registered, so that two copies of the package in one program recognise each other's errors.
const brand = Symbol.for("tunerank.StatusError");

/**
 * The one error every call rejects with.
 * Its message begins with the code in brackets. (Contract: schema `Code`.)
 */
export class StatusError extends Error {
  override get name(): "StatusError" {
    return "StatusError";
  }
  /** One of the 16 failure codes of the service. */
  readonly code: StatusCode;
  /** The answer's HTTP status; absent when there was no answer. */
  declare readonly httpStatus?: number;
  /** True when the service did not name the code and this client chose it. */
  readonly inferred: boolean;
  /** Who named the code. */
  readonly codeSource: CodeSource;
  /** Whether the operation ran: read this before repeating a call that changes state. */
  readonly executed: Executed;
  /** The operation's id in the contract; absent before a call names one, as when a client is created. */
  declare readonly operation?: OperationId;
  /** The answer's `x-request-id`, else `request-id`, when it had one. */
  declare readonly requestId?: string;
  /** How long the service asked to wait, in milliseconds. */
  declare readonly retryAfterMs?: number;
  /** The error body: parsed when it is JSON, else its text. At most 4 KiB are kept. */
  declare readonly body?: unknown;
  /** One sentence on what to do now. */
  readonly hint: string;
  /** Every HTTP request this call made; empty when it was refused before one. */
  readonly attempts: readonly Attempt[];

  /** @param message What happened, without the code: it is put in front. */
  constructor(message: string, details: StatusErrorDetails) {
    // Its own members only: a polluted prototype says nothing of what happened.
    const own: StatusErrorDetails = Object.assign(Object.create(null), details);
    super(`[${own.code}] ${message}`, own.cause === undefined ? undefined : { cause: own.cause });
    // A descriptor that inherits nothing: Object.prototype may have a `get` or `set`.
    Object.defineProperty(this, brand, { __proto__: null, value: true } as PropertyDescriptor);
    this.code = own.code;
    this.executed = own.executed;
    this.codeSource = own.codeSource;
    this.inferred = own.inferred ?? true;
    if (own.httpStatus !== undefined) this.httpStatus = own.httpStatus;
    if (own.operation !== undefined) this.operation = own.operation;
    if (own.requestId !== undefined) this.requestId = own.requestId;
    if (own.retryAfterMs !== undefined) this.retryAfterMs = own.retryAfterMs;
    if (own.body !== undefined) this.body = own.body;
    this.hint = own.hint ?? hintFor(own.code, own.executed, own.operation);
    this.attempts = own.attempts ?? [];
  }

  static {
    // What an error does not have is undefined, whatever Object.prototype has.
    const absent = { __proto__: null, value: undefined, writable: true, configurable: true };
    for (const name of ["httpStatus", "operation", "requestId", "retryAfterMs", "body", "cause"])
      Object.defineProperty(StatusError.prototype, name, absent as PropertyDescriptor);
  }

  /** A plain object for logs: every field but the stack and the causes. */
  toJSON(): Record<string, unknown> {
    const { cause: _, message, ...fields } = this;
    const attempts = this.attempts.map(({ cause: _, ...attempt }) => attempt);
    return { ...fields, name: this.name, message, attempts };
  }
}

/**
 * Whether a caught value is a {@link StatusError}, also one made by another copy of this package.
 * @param code Ask for this code only.
 * @example
 * catch (error) { if (isStatusError(error, "NOT_FOUND")) return undefined; throw error; }
 */
export function isStatusError<C extends StatusCode = StatusCode>(
  error: unknown,
  code?: C,
): error is StatusError & { readonly code: C } {
  return (
    typeof error === "object" &&
    error !== null &&
    (error as { [brand]?: unknown })[brand] === true &&
    (code === undefined || (error as StatusError).code === code)
  );
}

/** The same refusal, with the operation it refused: a check of an argument does not know which it serves. */
export function ofOperation(error: StatusError, operation: OperationId): StatusError {
  const { code, executed, codeSource, inferred, hint, cause, stack } = error;
  const message = error.message.slice(`[${code}] `.length);
  const named = new StatusError(message, { code, executed, codeSource, inferred, hint, cause, operation });
  // Where the argument was refused.
  if (stack !== undefined) named.stack = stack;
  return named;
}

/** A refusal before anything is sent: `executed` is `"no"`. */
export function refusal(
  code: StatusCode,
  message: string,
  details?: Partial<StatusErrorDetails>,
): StatusError {
  return new StatusError(message, { code, executed: "no", codeSource: "client", ...details });
}

/** The same for an argument or option that cannot be used: `INVALID_ARGUMENT`. */
export function invalid(message: string, details?: Partial<StatusErrorDetails>): StatusError {
  return refusal("INVALID_ARGUMENT", message, details);
}
