import { define, memberOf, WithoutPrototype } from "../values.js";
import {
  executedBecause,
  type OperationName,
  type StatusCode,
  type StatusErrorDetails,
  type StatusErrorFields,
} from "./codes.js";
import { adviceFor, reasonFor, sentences } from "./hints.js";

// The fields that an error has only if their values are known.
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
  "argument",
  "item",
] as const;

// Symbol.for, so that two copies of the package in one program recognise each other's errors.
const brand = Symbol.for("tunerank.StatusError");

/** The only error that a call rejects with. Its message begins with the code in brackets and ends with the hint. */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the constructor sets every field
export class StatusError extends Error {
  /** Always `"StatusError"`, also of a subclass. */
  override get name(): "StatusError" {
    return "StatusError";
  }

  /**
   * Creates an error for your tests and wrappers; calls create their errors themselves.
   * @param message What happened. The code is added before it, and the hint after it.
   * @param details What is known of the failure.
   */
  constructor(message: string, details: StatusErrorDetails) {
    // Own properties only: a polluted Object.prototype must not add details.
    const own: StatusErrorDetails = Object.assign(new WithoutPrototype(), details);
    const { code, executed, cause } = own;
    // A sentence, because the hint follows it.
    const text = /[.!?:]$/.test(message) ? message : `${message}.`;
    const advice = own.hint ?? own.advice ?? adviceFor(own);
    const reason = own.reason ?? (own.hint === undefined ? reasonFor(own) : "");
    const hint = sentences(advice, reason);
    super(sentences(`[${code}]`, text, hint), cause === undefined ? undefined : { cause });
    define(this, { [brand]: true, text, advice, reason });
    withHeaders(this, own.headers);
    const fields: Record<string, unknown> = {
      code,
      inferred: own.inferred ?? true,
      codeSource: own.codeSource,
      executed,
      executedBecause: own.executedBecause ?? executedBecause(executed, own.httpStatus !== undefined),
      hint,
      attempts: own.attempts ?? [],
    };
    for (const name of optionalFields) if (own[name] !== undefined) fields[name] = own[name];
    define(this, fields, true);
  }

  /** @internal Makes `instanceof` accept the errors of another copy of this package, too. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    // `instanceof` a subclass, which inherits this method, accepts only the subclass's own instances.
    // biome-ignore lint/complexity/noThisInStatic: Error's own check, for this class
    const isOwn = super[Symbol.hasInstance](value);
    // Compiled to ES5, a constructor asks whether `this` is an instance before the error has its brand.
    // biome-ignore lint/complexity/noThisInStatic: `this` is the subclass in `error instanceof Subclass`
    return isOwn || (Object.hasOwn(this, Symbol.hasInstance) && isStatusError(value));
  }

  /** A plain object for logs: every field but the stack and the causes. */
  toJSON(): Record<string, unknown> {
    const { cause: _, message, ...fields } = this;
    const attempts = this.attempts.map(({ cause: _, ...attempt }) => attempt);
    return { ...fields, name: this.name, message, attempts };
  }
}

export interface StatusError extends StatusErrorFields {}

// Loggers show the class's name, which bundlers change: this sets it again.
define(StatusError, { name: "StatusError" });

/**
 * Whether a caught value is a {@link StatusError}, also one made by another copy of this package.
 * @param error Anything that was caught.
 * @param code If given, the error must have this code.
 * @example
 * catch (error) { if (isStatusError(error, "NOT_FOUND")) return undefined; throw error; }
 */
export function isStatusError<C extends StatusCode = StatusCode>(
  error: unknown,
  code?: C,
): error is StatusError & { readonly code: C } {
  // The caught value may be a Proxy that throws when a property is read.
  return memberOf(error, brand) === true && (code === undefined || memberOf(error, "code") === code);
}

/** Adds a `headers` getter to an error or an attempt: the headers are made when they are read. */
export function withHeaders<T extends object>(target: T, headers: StatusErrorDetails["headers"]): T {
  if (!headers) return target;
  define(target, { [given]: typeof headers === "function" ? headers : () => headers });
  return Object.defineProperty(target, "headers", getter);
}

const given = Symbol();
// One getter for all errors: if each had its own getter, V8 would give each error a hidden class of its own.
const getter = {
  __proto__: null,
  get(this: { readonly [given]: () => StatusErrorDetails["headers"] }) {
    return this[given]();
  },
} as PropertyDescriptor;

/** A copy of an argument's error that names the operation: the check that threw it does not know the operation. */
export function ofOperation(error: StatusError, operation: OperationName): StatusError {
  const named = new StatusError(error.text, { ...detailsOf(error), operation, notRetried: "refused" });
  // The stack shows which check of an argument failed.
  const stack = memberOf(error, "stack");
  if (typeof stack === "string") named.stack = stack;
  return named;
}

/** The details that an error was created from: own properties only, as a polluted prototype adds others. */
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

/**
 * An error that this client throws before anything is sent: `executed` is `"no"`.
 * @param argument The argument or option that is wrong; undefined if none is
 */
export function refusal(
  code: StatusCode,
  argument: string | undefined,
  message: string,
  details?: Partial<StatusErrorDetails>,
): StatusError {
  // By default a stack has 10 frames: the checks of an argument have about as many, and the caller's line comes after them.
  const { stackTraceLimit } = Error;
  Reflect.set(Error, "stackTraceLimit", stackTraceLimit + 10);
  const own = { code, argument, executed: "no", codeSource: "client" } as const;
  const error = new StatusError(message, { ...own, ...details });
  Reflect.set(Error, "stackTraceLimit", stackTraceLimit);
  return error;
}

/** An error for an invalid argument or option: `INVALID_ARGUMENT`. */
export function invalid(
  argument: string | undefined,
  message: string,
  details?: Partial<StatusErrorDetails>,
): StatusError {
  return refusal("INVALID_ARGUMENT", argument, message, details);
}

/** @internal A number of things, for a message: `1 row`, `2 rows`. */
export function amount(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
