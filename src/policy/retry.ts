import {
  type Executed,
  isIdempotentKind,
  type NotRetried,
  type OperationName,
  type ResponseHeaders,
  type RetryEvent,
} from "../errors/codes.js";
import type { Failure } from "../errors/failure.js";
import { type OperationId, operations, type RetryKind } from "../generated/contract.js";
import { ownValue } from "../values.js";
import { backoff, budget, events } from "./decisions.js";

/** A call's retry class: the one that `idempotent` chooses (it always does for `request`), else its operation's. */
export function kindOf(operation: OperationName, idempotent: boolean | undefined): RetryKind {
  if (idempotent === undefined) return operations[operation as OperationId].kind;
  return idempotent ? "read" : "start";
}

/** What `executed` may be, the least severe first. */
export const severity: readonly Executed[] = ["no", "unknown", "yes"];

/** Whether the operation ran, and the reason for that value. */
export type Ran = Pick<Failure, "executed" | "executedBecause">;

/** Whether a call has run the operation, before its first attempt: nothing was sent. */
export const nothingSent: Ran = { executed: "no", executedBecause: "nothing-sent" };

/** The more severe of two attempts: if either may have run the operation, the call may have run it. */
export function worse(a: Ran, b: Ran): Ran {
  const difference = severity.indexOf(a.executed) - severity.indexOf(b.executed);
  // Of two attempts that did not run the operation, the one with a response tells more.
  return difference > 0 || (difference === 0 && b.executedBecause === "nothing-sent") ? a : b;
}

/** The fields of a failure that the retry decision reads. */
export type RetryCause = Pick<Failure, "events" | "code" | "retryAfterMs">;

/** The state of the call that the retry decision reads. */
export interface RetryState {
  readonly operation: OperationName;
  readonly idempotent: boolean | undefined;
  /** Retries made so far. */
  readonly retries: number;
  readonly maxRetries: number;
  readonly timeLeftMs: number;
  /** The client's remaining retry budget. */
  readonly budget: number;
  /** Whether the body can be sent a second time. */
  readonly replayable: boolean;
  /** Whether a 401 can be retried with a new key: `apiKey` is a function, and no earlier attempt got a 401. */
  readonly freshKey: boolean;
  /** A number from 0 up to 1. */
  readonly random: number;
}

/** A retry after `waitMs` milliseconds, or why there is none. Both fields are set: a polluted prototype adds none. */
export type Decision =
  | { readonly waitMs: number; readonly notRetried: undefined }
  | { readonly waitMs: undefined; readonly notRetried: NotRetried };

/**
 * Decides whether there is a retry, and when. Pure.
 * @param longestWaitMs The longest wait that the service may ask for
 * @param untilDeadline Whether retries that the decision table allows go on until the deadline, past maximum and budget
 */
export function decideRetry(
  failure: RetryCause,
  state: RetryState,
  longestWaitMs: number = backoff.longestRetryAfterMs,
  untilDeadline = false,
): Decision {
  const waitMs = waitBeforeRetry(failure, state);
  const tooLate = waitMs >= state.timeLeftMs ? "deadline-too-close" : undefined;
  const notRetried = forbidden(failure, state, longestWaitMs, untilDeadline) ?? tooLate;
  if (notRetried) return { waitMs: undefined, notRetried };
  // Timers count whole milliseconds. The wait that the service asks for is whole, so truncation never shortens it.
  return { waitMs: Math.trunc(waitMs), notRetried };
}

// Milliseconds before the next attempt: never less than the service asked for.
function waitBeforeRetry(
  { code, events: happened, retryAfterMs = 0 }: RetryCause,
  { retries, timeLeftMs, random }: RetryState,
): number {
  const base = code === "RESOURCE_EXHAUSTED" ? backoff.exhaustedBaseMs : backoff.baseMs;
  const isRenewing = happened.includes("unauthenticated");
  const backoffMs = isRenewing ? 0 : random * Math.min(backoff.capMs, base * 2 ** retries);
  if (!retryAfterMs) return backoffMs;
  // The random part takes at most a tenth of the time from the wait's end to the deadline: the rest is for the attempt.
  const mostMs = (timeLeftMs - retryAfterMs) * backoff.jitterShare;
  const jitterMs = random * Math.min(mostMs, jitterOf(retryAfterMs));
  return retryAfterMs + Math.min(mostMs, Math.max(jitterMs, backoffMs - retryAfterMs));
}

/** The longest random wait added to a Retry-After, in milliseconds, so that a fleet does not return at one instant. */
export function jitterOf(askedMs: number): number {
  return Math.min(backoff.jitterMostMs, Math.max(backoff.jitterLeastMs, askedMs * backoff.jitterShare));
}

// Why there is no retry. A wait that is too long is checked before the maximum of retries: it tells the caller more.
function forbidden(
  { events: happened, retryAfterMs = 0 }: RetryCause,
  state: RetryState,
  longestWaitMs: number,
  untilDeadline: boolean,
): NotRetried | undefined {
  const renewing = happened.includes("unauthenticated");
  const { retries, maxRetries, freshKey } = state;
  const kind = kindOf(state.operation, state.idempotent);
  const most = Math.min(...happened.map((event) => events[event].retries[kind]));
  if (most === 0) return neverRetried(happened, kind);
  if (renewing && !freshKey) return retries === 0 || untilDeadline ? "refused" : "retries-used-up";
  if (!state.replayable) return "single-use-body";
  if (retryAfterMs > longestWaitMs) return "asked-to-wait-too-long";
  if (untilDeadline) return undefined;
  // A key that expired during earlier retries is still renewed, once.
  if ((renewing ? 0 : retries) >= most || retries >= maxRetries) return "retries-used-up";
  return state.budget < budget.retryCost ? "budget" : undefined;
}

function neverRetried(happened: readonly RetryEvent[], kind: RetryKind): NotRetried {
  if (happened.includes("refused")) return "refused";
  // An event for which the retry class `read` is retried is transient.
  const transient = happened.every((event) => events[event].retries.read > 0);
  if (!transient || isIdempotentKind[kind]) return "not-transient";
  // Nothing ran: the only such event is a 429 that gives no time to wait.
  return happened.every((event) => events[event].executed === "no") ? "no-retry-after" : "not-safe";
}

/** The value of a header; undefined if it is missing or empty. */
export function header(headers: ResponseHeaders, name: string): string | undefined {
  return ownValue(headers, name) || undefined;
}

/** When an attempt began and ended, in milliseconds. */
export interface AttemptTimes {
  /** The limiter's epoch, which changes with the concurrency limit, when the attempt began: what `begin` returned. */
  readonly epoch: number;
  readonly began: number;
  readonly ended: number;
  /** How long the response may have waited for this program's event loop. */
  readonly busyMs?: number | undefined;
}

/**
 * The hidden option by which a run passes a call its lane, the object that decides about its retries.
 * `Symbol.for`, because `tunerank` and `tunerank/bulk` are separate bundles.
 */
export const attemptPolicy: unique symbol = Symbol.for("tunerank.policy") as never;
