import { define, memberOf } from "../values.js";
import {
  type Attempt,
  type CodeSource,
  type Executed,
  type ExecutedBecause,
  executedBecause,
  type NotRetried,
  type OperationName,
  type StatusCode,
  type StatusErrorDetails,
} from "./codes.js";
import { adviceFor, reasonFor, sentences } from "./hints.js";

// The fields of an error that are absent where nothing is known of them.
const optionalFields = [
  "httpStatus",
  "operation",
  "method",
  "path",
  "host",
  "notRetried",
  "requestId",
  "retryAfterMs",
  "body",
  "item",
] as const;

// Registered, so that two copies of the package in one program recognise each other's errors.
const brand = Symbol.for("tunerank.StatusError");

/**
 * The one error every call rejects with.
 * Its message begins with the code in brackets and ends with the hint.
 */
export class StatusError extends Error {
  /** Always `"StatusError"`, also of a subclass. */
  override get name(): "StatusError" {
    return "StatusError";
  }
  /** One of the 16 failure codes of the service. */
  readonly code: StatusCode;
  /** The response's HTTP status; absent when there was no response. */
  declare readonly httpStatus?: number;
  /** True when the response had no code, and this client had to choose it. */
  readonly inferred: boolean;
  /** Where the code comes from: `"body"` means from the service itself. */
  readonly codeSource: CodeSource;
  /** Whether the operation ran; `"no"`: nothing was sent, or the request was refused: we assume that it did not run. */
  readonly executed: Executed;
  /** Why `executed` has its value: `"nothing-sent"` proves a `"no"`; with `"refused"` we assume it. */
  readonly executedBecause: ExecutedBecause;
  /** Why there was no other attempt; absent when the error is not that of a call. */
  declare readonly notRetried?: NotRetried;
  /** The operation's id in the contract, or `request`; absent before a call names one, as when a client is created. */
  declare readonly operation?: OperationName;
  /** The HTTP method of the request; absent when none was made ready. */
  declare readonly method?: string;
  /** The path of the request, with its ids; absent when none was made ready. */
  declare readonly path?: string;
  /** The host of the request, with its port where the base URL has one; absent when none was made ready. */
  declare readonly host?: string;
  /** The response's `x-request-id`, else `request-id`, when it had one. */
  declare readonly requestId?: string;
  /**
   * The headers of the response that `httpStatus` is of, names in lower case, without the key; absent when there was no
   * response. Not in `toJSON`, and not enumerable: no log lists them.
   */
  declare readonly headers?: Readonly<Record<string, string>>;
  /** How long the service asked to wait, in milliseconds. */
  declare readonly retryAfterMs?: number;
  /** The error body: parsed when it is JSON, else its text. At most 4 KiB are kept, without the key. */
  declare readonly body?: unknown;
  /** Of `rerank.items`: the item that cannot be sent, counted from 0; absent where it is none alone. */
  declare readonly item?: number;
  /** What to do now, and why there was no other attempt where that is not plain; empty where the message says it. */
  readonly hint: string;
  /** What happened: `message` without the code before it and the hint behind. Not in `toJSON`. */
  declare readonly text: string;
  /** The first part of `hint`: what to do now. Not in `toJSON`. */
  declare readonly advice: string;
  /** The second part of `hint`: how long the service asks to wait, and why there was no other attempt. Not in `toJSON`. */
  declare readonly reason: string;
  /** Every HTTP request this call made; empty when it was refused before one. */
  readonly attempts: readonly Attempt[];

  /**
   * An error of your own, for tests and wrappers; calls make theirs themselves.
   *
   * @param message What happened: the code is put in front of it, the hint behind.
   * @param details Its code, whether the operation ran, and what else is known.
   */
  constructor(message: string, details: StatusErrorDetails) {
    // Its own members only: a polluted prototype says nothing of what happened.
    const own: StatusErrorDetails = Object.assign(Object.create(null), details);
    const { code, executed, cause } = own;
    const text = sentence(message);
    const advice = own.hint ?? own.advice ?? adviceFor(own, message);
    const reason = own.reason ?? (own.hint === undefined ? reasonFor(own) : "");
    const hint = sentences(advice, reason);
    super(sentences(`[${code}]`, text, hint), cause === undefined ? undefined : { cause });
    define(this, { [brand]: true, text, advice, reason });
    withHeaders(this, own.headers);
    this.code = code;
    this.executed = executed;
    this.executedBecause = own.executedBecause ?? executedBecause(executed, own.httpStatus !== undefined);
    this.codeSource = own.codeSource;
    this.inferred = own.inferred ?? true;
    for (const name of optionalFields) {
      if (own[name] !== undefined) Object.assign(this, { [name]: own[name] });
    }
    this.hint = hint;
    this.attempts = own.attempts ?? [];
  }

  /** @internal `instanceof` knows the errors of another copy of this package, too. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    // A subclass, which has no such method of its own, has only its own instances. Of a class that names itself within,
    // esbuild would make `_StatusError`.
    // biome-ignore lint/complexity/noThisInStatic: it is a subclass when that is asked
    return Object.hasOwn(this, Symbol.hasInstance) ? isStatusError(value) : super[Symbol.hasInstance](value);
  }

  /** A plain object for logs: every field but the stack and the causes. */
  toJSON(): Record<string, unknown> {
    const { cause: _, message, ...fields } = this;
    const attempts = this.attempts.map(({ cause: _, ...attempt }) => attempt);
    return { ...fields, name: this.name, message, attempts };
  }
}

// Loggers show the constructor's name, which bundlers change.
define(StatusError, { name: "StatusError" });

/**
 * Whether a caught value is a {@link StatusError}, also one made by another copy of this package.
 * @param error Anything that was caught.
 * @param code Ask for this code only.
 * @example
 * catch (error) { if (isStatusError(error, "NOT_FOUND")) return undefined; throw error; }
 */
export function isStatusError<C extends StatusCode = StatusCode>(
  error: unknown,
  code?: C,
): error is StatusError & { readonly code: C } {
  // What was caught may be a Proxy that throws.
  return memberOf(error, brand) === true && (code === undefined || memberOf(error, "code") === code);
}

/** Gives an error or an attempt the headers of its response, made when they are read. */
export function withHeaders<T extends object>(target: T, headers: StatusErrorDetails["headers"]): T {
  if (!headers) return target;
  const get = typeof headers === "function" ? headers : () => headers;
  return Object.defineProperty(target, "headers", { __proto__: null, get } as PropertyDescriptor);
}

// The hint behind it is a sentence of its own.
function sentence(text: string): string {
  return /[.!?:]$/.test(text) ? text : `${text}.`;
}

/** The same refusal of an argument, with the operation it refused: a check does not know which it serves. */
export function ofOperation(error: StatusError, operation: OperationName): StatusError {
  const stack = memberOf(error, "stack");
  const details = { ...detailsOf(error), operation, notRetried: "refused" } as const;
  const named = new StatusError(error.text, details);
  // Where the argument was refused.
  if (typeof stack === "string") named.stack = stack;
  return named;
}

/** What an error was made of: its own members only, as a polluted prototype adds others. */
export function detailsOf(error: StatusError): StatusErrorDetails {
  const { advice, reason } = error;
  return Object.assign(Object.create(null), error, {
    hint: undefined,
    advice,
    reason,
    headers: memberOf(error, "headers"),
    cause: memberOf(error, "cause"),
  });
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
