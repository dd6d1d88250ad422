import { codeOfHttpStatus, isUnprocessed, type StatusCode } from "../errors/httpStatus.js";
import type { StatusError } from "../errors/statusError.js";
import { codes, type OperationId, operations } from "../generated/contract.js";
import type { FailureReason, Phase } from "../transport/transport.js";

/** What can happen to an attempt, as far as repeating it is concerned. */
export type RetryEvent =
  | "unavailable"
  | "gateway"
  | "exhaustedTimed"
  | "exhausted"
  | "deadline"
  | "unnamedFault"
  | "namedFault"
  | "final"
  | "unauthenticated"
  | "misdirected"
  | "unconnected"
  | "nameNotFound"
  | "lost"
  | "attemptTimeout"
  | "bodyLost"
  | "notJson";

type Column = "resume" | "rerank" | "scale" | "upload";

/** The most repeats after each event. Silence of the service's documentation means "not safe to repeat". */
const mostRetries: Readonly<Record<RetryEvent, Readonly<Record<Column, number>>>> = {
  // The service's own words: transient; retry with backoff.
  unavailable: { resume: 2, rerank: 2, scale: 2, upload: 2 },
  // 503 without a name, 502, 52x: a proxy is speaking.
  gateway: { resume: 0, rerank: 2, scale: 2, upload: 0 },
  exhaustedTimed: { resume: 2, rerank: 2, scale: 2, upload: 1 },
  exhausted: { resume: 0, rerank: 1, scale: 1, upload: 0 },
  // The operation may still have completed.
  deadline: { resume: 0, rerank: 1, scale: 1, upload: 0 },
  unnamedFault: { resume: 0, rerank: 1, scale: 1, upload: 0 },
  namedFault: { resume: 0, rerank: 1, scale: 0, upload: 0 },
  final: { resume: 0, rerank: 0, scale: 0, upload: 0 },
  // Only with a fresh key.
  unauthenticated: { resume: 1, rerank: 1, scale: 1, upload: 1 },
  // 421, 425: refused unprocessed.
  misdirected: { resume: 1, rerank: 1, scale: 1, upload: 1 },
  unconnected: { resume: 2, rerank: 2, scale: 2, upload: 2 },
  nameNotFound: { resume: 1, rerank: 1, scale: 1, upload: 1 },
  // After connecting, before headers.
  lost: { resume: 0, rerank: 2, scale: 2, upload: 0 },
  attemptTimeout: { resume: 0, rerank: 1, scale: 1, upload: 0 },
  // Inside the body of a 2xx: the operation ran.
  bodyLost: { resume: 0, rerank: 2, scale: 1, upload: 0 },
  notJson: { resume: 0, rerank: 1, scale: 0, upload: 0 },
};

const columns: Readonly<Record<OperationId, Column>> = {
  resumeReinforcementFineTuningJob: "resume",
  rerankDocuments: "rerank",
  scaleDeployment: "scale",
  uploadDatasetFile: "upload",
};

/** The column a call belongs to: its operation's, or the one the caller chose with `repeatable`. */
export function columnOf(operation: OperationId, repeatable: boolean | undefined): Column {
  if (repeatable === undefined) return columns[operation];
  return repeatable ? "rerank" : "resume";
}

/** Whether sending a call of this column twice is safe. */
export function isRepeatable(operation: OperationId, repeatable: boolean | undefined): boolean {
  return repeatable ?? operations[operation].retrySafe;
}

/** The events of an error answer: of its code and of its HTTP status when the two disagree. */
export function eventsOfAnswer(
  code: StatusCode,
  named: boolean,
  httpStatus: number,
  timed: boolean,
): readonly RetryEvent[] {
  if (!named) return [eventOfStatus(httpStatus, timed)];
  const agreed = codes[code].httpStatus === httpStatus;
  return agreed ? [eventOfCode(code, timed)] : [eventOfCode(code, timed), eventOfStatus(httpStatus, timed)];
}

function eventOfCode(code: StatusCode, timed: boolean): RetryEvent {
  if (code === "UNAVAILABLE") return "unavailable";
  if (code === "RESOURCE_EXHAUSTED") return timed ? "exhaustedTimed" : "exhausted";
  if (code === "DEADLINE_EXCEEDED") return "deadline";
  if (code === "INTERNAL" || code === "UNKNOWN") return "namedFault";
  return code === "UNAUTHENTICATED" ? "unauthenticated" : "final";
}

function eventOfStatus(httpStatus: number, timed: boolean): RetryEvent {
  if (httpStatus === 500) return "unnamedFault";
  if (isUnprocessed(httpStatus)) return "misdirected";
  const { code } = codeOfHttpStatus(httpStatus);
  if (code === "UNAVAILABLE") return "gateway";
  return code === "UNKNOWN" ? "final" : eventOfCode(code, timed);
}

// Refused, unreachable, or a name server that asks for another try; a TLS failure would only repeat itself.
const passing =
  /^(ECONNREFUSED|ConnectionRefused|EHOSTUNREACH|ENETUNREACH|EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT|ETIMEDOUT)$/;

/** The event of a request that brought no whole answer. @param networkCode What the network called it. */
export function eventOfFailure(phase: Phase, reason: FailureReason, networkCode: string): RetryEvent {
  if (reason === "connect-timeout") return "unconnected";
  if (reason === "attempt-timeout") return phase === "body" ? "bodyLost" : "attemptTimeout";
  if (reason !== "network") return "final";
  if (phase === "body") return "bodyLost";
  if (phase !== "connect") return "lost";
  if (networkCode === "ENOTFOUND") return "nameNotFound";
  return passing.test(networkCode) ? "unconnected" : "final";
}

/** A failed attempt: its error, and what happened as far as repeating is concerned. */
export class AttemptFailure extends Error {
  readonly error: StatusError;
  readonly events: readonly RetryEvent[];
  /** Whether a request was made at all. */
  readonly sent: boolean;

  constructor(error: StatusError, events: readonly RetryEvent[], sent = true) {
    super(error.message);
    this.error = error;
    this.events = events;
    this.sent = sent;
  }
}

/** All that the decision depends on. */
export interface RetryInput {
  readonly operation: OperationId;
  readonly repeatable: boolean | undefined;
  /** What happened; with several, the one that allows fewest repeats counts. */
  readonly events: readonly RetryEvent[];
  readonly code: StatusCode;
  /** Repeats made so far. */
  readonly retries: number;
  readonly maxRetries: number;
  readonly retryAfterMs: number | undefined;
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

/** A client's budget, in tenths so that they add up: what it begins with and can have at most; a repeat's cost. */
export const fullBudget = 100;
export const repeatCost = 10;

const baseMs = 250;
const exhaustedBaseMs = 1000;
const capMs = 8000;
const longestRetryAfterMs = 60_000;

/** How long to wait before the next attempt, in milliseconds; undefined to give up. Pure. */
export function decideRetry(input: RetryInput): number | undefined {
  const { events, retries, retryAfterMs = 0, random } = input;
  const column = columnOf(input.operation, input.repeatable);
  if (!input.replayable || input.budget < repeatCost) return undefined;
  const renewing = events.includes("unauthenticated");
  // A key that ran out while earlier repeats waited is renewed all the same, once.
  const counted = renewing && input.freshKey ? 0 : retries;
  if (renewing && !input.freshKey) return undefined;
  const most = Math.min(...events.map((event) => mostRetries[event][column]));
  if (counted >= most || retries >= input.maxRetries) return undefined;
  const base = input.code === "RESOURCE_EXHAUSTED" ? exhaustedBaseMs : baseMs;
  const backoffMs = renewing ? 0 : random * Math.min(capMs, base * 2 ** retries);
  const waitMs = Math.max(retryAfterMs, backoffMs);
  return retryAfterMs > longestRetryAfterMs || waitMs >= input.timeLeftMs ? undefined : waitMs;
}
