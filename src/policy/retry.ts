import type {
  Executed,
  ExecutedBecause,
  NotRetried,
  OperationName,
  ResponseHeaders,
  RetryEvent,
  StatusCode,
} from "../errors/codes.js";
import type { Failure } from "../errors/failure.js";
import { httpStatuses, type OperationId, operations, type RetryKind } from "../generated/contract.js";
import { backoff, budget, eventOfCode, events, rowOfStatus } from "./decisions.js";

/** The kind of a call: its operation's, or the one that `idempotent` chose, as it always does for `request`. */
export function kindOf(operation: OperationName, idempotent: boolean | undefined): RetryKind {
  if (idempotent === undefined) return operations[operation as OperationId].kind;
  return idempotent ? "read" : "start";
}

/** Whether sending a request of this kind twice is safe. */
export function isSafe(kind: RetryKind): boolean {
  return kind === "read" || kind === "set";
}

/** Whether sending a call twice is safe. */
export function isRetrySafe(operation: OperationName, idempotent: boolean | undefined): boolean {
  return isSafe(kindOf(operation, idempotent));
}

/** The events of an error answer: of the code it names, of its status when it names none or the two disagree. */
export function eventsOfAnswer(
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

/** Whether the operation ran, and what that is read from. */
export interface Ran {
  readonly executed: Executed;
  readonly executedBecause: ExecutedBecause;
}

/** What is known before the first attempt. */
export const nothingSent: Ran = { executed: "no", executedBecause: "nothing-sent" };

/** The worse of two attempts: an operation that may have run once may have run. */
export function worse(a: Ran, b: Ran): Ran {
  const difference = severity.indexOf(a.executed) - severity.indexOf(b.executed);
  // Of two that did not run, one that the service answered says more.
  return difference > 0 || (difference === 0 && b.executedBecause === "nothing-sent") ? a : b;
}

/** Whether the operation ran, after all that happened to an attempt. */
export function executedAfter(happened: readonly RetryEvent[]): Executed {
  return happened
    .map((event) => events[event].executed)
    .reduce((a, b) => (severity.indexOf(a) > severity.indexOf(b) ? a : b));
}

/** What of a failure decides whether there is another attempt. */
export type RetryCause = Pick<Failure, "events" | "code" | "retryAfterMs">;

/** What else the decision depends on. */
export interface RetryState {
  readonly operation: OperationName;
  readonly idempotent: boolean | undefined;
  /** Retries made so far. */
  readonly retries: number;
  readonly maxRetries: number;
  readonly timeLeftMs: number;
  /** What is left of the client's budget. */
  readonly budget: number;
  /** Whether the body can be sent again. */
  readonly replayable: boolean;
  /** Whether a 401 can be answered with a fresh key: the key is a function, and this has not been tried. */
  readonly freshKey: boolean;
  /** A number from 0 up to 1. */
  readonly random: number;
}

/** Another attempt after `waitMs` milliseconds, or why there is none. Both are there: a polluted prototype decides nothing. */
export type Decision =
  | { readonly waitMs: number; readonly notRetried: undefined }
  | { readonly waitMs: undefined; readonly notRetried: NotRetried };

/**
 * Whether there is another attempt, and when. Pure.
 * @param longestWaitMs The longest that the service may ask it to wait
 * @param untilDeadline Whether only the deadline ends the retries that the table allows: no number, and no budget
 */
export function decideRetry(
  failure: RetryCause,
  state: RetryState,
  longestWaitMs: number = backoff.longestRetryAfterMs,
  untilDeadline = false,
): Decision {
  const notRetried = forbidden(failure, state, longestWaitMs, untilDeadline);
  if (notRetried) return noRetry(notRetried);
  const waitMs = waitBeforeRetry(failure, state);
  return waitMs >= state.timeLeftMs ? noRetry("deadline-too-close") : { waitMs, notRetried: undefined };
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
  // Chance leaves the next attempt nearly all of its time.
  const mostMs = (timeLeftMs - retryAfterMs) * backoff.jitterShare;
  const jitterMs = random * Math.min(mostMs, jitterOf(retryAfterMs));
  return retryAfterMs + Math.min(mostMs, Math.max(jitterMs, backoffMs - retryAfterMs));
}

/** The most milliseconds of the random part on top of a Retry-After, so that a fleet does not come back in one instant. */
export function jitterOf(askedMs: number): number {
  return Math.min(backoff.jitterMostMs, Math.max(backoff.jitterLeastMs, askedMs * backoff.jitterShare));
}

function noRetry(notRetried: NotRetried): Decision {
  return { waitMs: undefined, notRetried };
}

// What ends the call whatever comes first; then a wait that is too long, which tells the caller more than a number that is used up.
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
  // A key that expired while earlier retries waited is renewed all the same, once.
  if ((renewing ? 0 : retries) >= most || retries >= maxRetries) return "retries-used-up";
  return state.budget < budget.retryCost ? "budget" : undefined;
}

function neverRetried(happened: readonly RetryEvent[], kind: RetryKind): NotRetried {
  if (happened.includes("refused")) return "refused";
  // What is retried for a read is transient.
  const transient = happened.every((event) => events[event].retries.read > 0);
  return transient && !isSafe(kind) ? "not-safe" : "not-transient";
}

/**
 * The shortest wait that an answer asks for, in milliseconds: the longest of `retry-after-ms`, `retry-after` in
 * seconds or as a date of RFC 9110, and what its body says.
 */
export function retryAfterMs(
  headers: ResponseHeaders,
  bodyMs: number | undefined,
  now: number,
): number | undefined {
  const asked = [
    milliseconds(shortHeader(headers, "retry-after-ms"), 1),
    milliseconds(shortHeader(headers, "retry-after"), 1000),
    untilDate(headers, now),
    bodyMs,
  ].filter((ms) => ms !== undefined);
  return asked.length === 0 ? undefined : Math.max(...asked);
}

// Against the answer's own clock, which may differ from this machine's.
function untilDate(headers: ResponseHeaders, now: number): number | undefined {
  const date = parseDate(shortHeader(headers, "retry-after"), now);
  if (date === undefined) return undefined;
  return Math.max(0, date - (parseDate(shortHeader(headers, "date"), now) ?? now));
}

const day = "(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)";
const month = "(?<month>[A-Z][a-z]{2})";
const time = "(?<time>\\d{2}:\\d{2}:\\d{2})";
// The three forms of RFC 9110, section 5.6.7.
const forms = [
  `${day}, (?<date>\\d{2}) ${month} (?<year>\\d{4}) ${time} GMT`,
  `${day}[a-z]{3,6}, (?<date>\\d{2})-${month}-(?<year>\\d{2}) ${time} GMT`,
  `${day} ${month} (?<date>[ \\d]\\d) ${time} (?<year>\\d{4})`,
].map((form) => new RegExp(`^${form}$`));

function parseDate(text = "", now: number): number | undefined {
  const found = forms.map((form) => form.exec(text)?.groups).find(Boolean);
  if (found === undefined) return undefined;
  const { date, month, year = "", time } = found;
  const ms = Date.parse(
    `${date} ${month} ${year.length === 2 ? yearNear(now, Number(year)) : year} ${time} GMT`,
  );
  return Number.isNaN(ms) ? undefined : ms;
}

// Two digits more than 50 years ahead mean the century before.
function yearNear(now: number, digits: number): number {
  const thisYear = new Date(now).getUTCFullYear();
  const year = thisYear - (thisYear % 100) + digits;
  return year > thisYear + 50 ? year - 100 : year;
}

// Node's fetch leaves the tabs around a value. No time is long.
function shortHeader(headers: ResponseHeaders, name: string): string | undefined {
  const value = header(headers, name);
  return value && value.length < 100 ? value.replace(/^[\t ]+|[\t ]+$/g, "") : undefined;
}

/** A header that is there and not empty. */
export function header(headers: ResponseHeaders, name: string): string | undefined {
  const value = Object.hasOwn(headers, name) ? headers[name] : undefined;
  return value === "" ? undefined : value;
}

/** A decimal number of units as milliseconds, rounded up: waiting that long is never too short. Undefined for any other text. */
export function milliseconds(text: unknown, unitMs: number): number | undefined {
  const [, whole, part = "0"] = (typeof text === "string" && /^(\d+)(?:\.(\d+))?$/.exec(text)) || [];
  if (whole === undefined) return undefined;
  // Without the error of binary fractions: 16.1 s are not 16,101 ms.
  const rest = Math.ceil(Number((Number(`0.${part}`) * unitMs).toFixed(9)));
  return Math.min(Number(whole) * unitMs + rest, Number.MAX_SAFE_INTEGER);
}

/** When an attempt began and ended, in milliseconds. */
export interface AttemptTimes {
  /** What the limiter's `begin` returned. */
  readonly epoch: number;
  readonly began: number;
  readonly ended: number;
}

/**
 * Names the option under which a run puts the lane of a call among the call's options; among a run's own options, `true`
 * says that other processes send to the same service, such as the workers that have the other chunks. Registered:
 * `tunerank` and `tunerank/bulk` are files of their own.
 */
export const attemptPolicy: unique symbol = Symbol.for("tunerank.policy") as never;
