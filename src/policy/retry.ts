import {
  type Executed,
  type ExecutedBecause,
  isIdempotentKind,
  type NotRetried,
  type OperationName,
  type ResponseHeaders,
  type RetryEvent,
  type StatusCode,
} from "../errors/codes.js";
import type { Failure } from "../errors/failure.js";
import { httpStatuses, type OperationId, operations, type RetryKind } from "../generated/contract.js";
import { ownValue } from "../values.js";
import { backoff, budget, eventOfCode, events, rowOfStatus } from "./decisions.js";

/** A call's retry class: the one that `idempotent` chooses (it always does for `request`), else its operation's. */
export function kindOf(operation: OperationName, idempotent: boolean | undefined): RetryKind {
  if (idempotent === undefined) return operations[operation as OperationId].kind;
  return idempotent ? "read" : "start";
}

/** The events of an error response: of the code it names, and of its status if it names none or the two disagree. */
export function eventsOfResponse(
  named: StatusCode | undefined,
  httpStatus: number,
  timed: boolean,
): readonly RetryEvent[] {
  const ofStatus = withTime(rowOfStatus(httpStatus).event, timed);
  if (named === undefined) return [ofStatus];
  const ofCode = withTime(eventOfCode[named], timed);
  return httpStatuses[named] === httpStatus ? [ofCode] : [ofCode, ofStatus];
}

function withTime(event: RetryEvent, timed: boolean): RetryEvent {
  return timed && event === "exhausted" ? "exhaustedTimed" : event;
}

const severity: readonly Executed[] = ["no", "unknown", "yes"];

/** Whether the operation ran, and the reason for that value. */
export interface Ran {
  readonly executed: Executed;
  readonly executedBecause: ExecutedBecause;
}

/** Whether a call has run the operation, before its first attempt: nothing was sent. */
export const nothingSent: Ran = { executed: "no", executedBecause: "nothing-sent" };

/** The more severe of two attempts: if either may have run the operation, the call may have run it. */
export function worse(a: Ran, b: Ran): Ran {
  const difference = severity.indexOf(a.executed) - severity.indexOf(b.executed);
  // Of two attempts that did not run the operation, the one with a response tells more.
  return difference > 0 || (difference === 0 && b.executedBecause === "nothing-sent") ? a : b;
}

/** Whether the operation ran: the most severe `executed` of an attempt's events. */
export function executedAfter(happened: readonly RetryEvent[]): Executed {
  return happened
    .map((event) => events[event].executed)
    .reduce((a, b) => (severity.indexOf(a) > severity.indexOf(b) ? a : b));
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

/** Milliseconds before the next attempt: never less than the service asked for. */
function waitBeforeRetry(
  { code, events: happened, retryAfterMs = 0 }: RetryCause,
  { retries, timeLeftMs, random }: RetryState,
): number {
  const base = code === "RESOURCE_EXHAUSTED" ? backoff.exhaustedBaseMs : backoff.baseMs;
  const backoffMs = happened.includes("unauthenticated")
    ? 0
    : random * Math.min(backoff.capMs, base * 2 ** retries);
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
  return executedAfter(happened) === "no" ? "no-retry-after" : "not-safe";
}

/**
 * The wait that a response asks for, in milliseconds: the longest of all lines of `retry-after-ms`, of `retry-after` in
 * seconds or as a date of RFC 9110, and of the wait in its body.
 */
export function retryAfterMs(
  headers: ResponseHeaders,
  bodyMs: number | undefined,
  now: number,
): number | undefined {
  // A date counts from the response's Date header, as the server's clock may differ from this machine's.
  const sent = (): number => parseDate(headerLines(headers, "date")[0], now) ?? now;
  const asked = [
    bodyMs,
    ...headerLines(headers, "retry-after-ms").map((line) => milliseconds(line, 1)),
    ...headerLines(headers, "retry-after").map(
      (line) => milliseconds(line, 1000) ?? parseDate(line, now, sent()),
    ),
  ].filter((ms) => ms !== undefined);
  return asked.length > 0 ? Math.max(...asked) : undefined;
}

const day = "[A-Z][a-z]{2}";
const month = `(?<month>${day})`;
const time = "(?<time>\\d{2}:\\d{2}:\\d{2})";
// The three forms of a date in RFC 9110, section 5.6.7.
const forms = [
  `${day}, (?<date>\\d{2}) ${month} (?<year>\\d{4}) ${time} GMT`,
  `${day}[a-z]{3,6}, (?<date>\\d{2})-${month}-(?<year>\\d{2}) ${time} GMT`,
  `${day} ${month} (?<date>[ \\d]\\d) ${time} (?<year>\\d{4})`,
].map((form) => new RegExp(`^${form}$`));

// Parses a date to the milliseconds from `since`, or 0 for a date before it; by default since 1970.
function parseDate(text = "", now: number, since = 0): number | undefined {
  const found = forms.map((form) => form.exec(text)?.groups).find(Boolean);
  if (found === undefined) return undefined;
  const { date, month, year = "", time } = found;
  const ms = Date.parse(
    `${date} ${month} ${year.length === 2 ? yearNear(now, Number(year)) : year} ${time} GMT`,
  );
  return Number.isNaN(ms) ? undefined : Math.max(0, ms - since);
}

// A two-digit year that would be more than 50 years ahead belongs to the previous century.
function yearNear(now: number, digits: number): number {
  const thisYear = new Date(now).getUTCFullYear();
  const year = thisYear - (thisYear % 100) + digits;
  return year > thisYear + 50 ? year - 100 : year;
}

// The lines of a repeated header, which platforms join with commas; a date is not split at its own comma. A value of
// 100 or more characters is no time, and is ignored.
function headerLines(headers: ResponseHeaders, name: string): readonly string[] {
  const value = header(headers, name) ?? "";
  return value && value.length < 100 ? value.split(/,(?! \d\d[ -])/).map((line) => line.trim()) : [];
}

/** The value of a header; undefined if it is missing or empty. */
export function header(headers: ResponseHeaders, name: string): string | undefined {
  return ownValue(headers, name) || undefined;
}

/** Converts a decimal number of units to milliseconds, rounded up: no wait is too short. Undefined for other texts. */
export function milliseconds(text: unknown, unitMs: number): number | undefined {
  const [, whole, part = "0"] = (typeof text === "string" && /^(\d+)(?:\.(\d+))?$/.exec(text)) || [];
  if (whole === undefined) return undefined;
  // toFixed removes the error of binary fractions: 16.1 s are not 16,101 ms.
  const rest = Math.ceil(Number((Number(`0.${part}`) * unitMs).toFixed(9)));
  return Math.min(Number(whole) * unitMs + rest, Number.MAX_SAFE_INTEGER);
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
