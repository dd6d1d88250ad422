import type { Executed, StatusCode } from "../errors/codes.js";
import { codes, type OperationId, operations } from "../generated/contract.js";
import { backoff, budget, type Column, columns, eventOfCode, events, type RetryEvent } from "./decisions.js";
import { rowOfStatus } from "./httpStatus.js";

/** The column a call belongs to: its operation's, or the one the caller chose with `repeatable`. */
export function columnOf(operation: OperationId, repeatable: boolean | undefined): Column {
  if (repeatable === undefined) return columns[operation];
  return repeatable ? "rerank" : "resume";
}

/** Whether sending a call of this column twice is safe. */
export function isRepeatable(operation: OperationId, repeatable: boolean | undefined): boolean {
  return repeatable ?? operations[operation].retrySafe;
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
  return codes[named].httpStatus === httpStatus ? [ofCode] : [ofCode, ofStatus];
}

function withTime(event: RetryEvent, timed: boolean): RetryEvent {
  return timed && event === "exhausted" ? "exhaustedTimed" : event;
}

const severity: readonly Executed[] = ["no", "unknown", "yes"];

/** The worst of two: an operation that may have run once may have run. */
export function worse(a: Executed, b: Executed): Executed {
  return severity.indexOf(a) > severity.indexOf(b) ? a : b;
}

/** Whether the operation ran, after all that happened to an attempt. */
export function executedAfter(happened: readonly RetryEvent[]): Executed {
  return happened.map((event) => events[event].executed).reduce(worse);
}

/** All that the decision depends on. */
export interface RetryInput {
  readonly operation: OperationId;
  readonly repeatable: boolean | undefined;
  /** What happened; with several, the one that allows fewest retries counts. */
  readonly events: readonly RetryEvent[];
  readonly code: StatusCode;
  /** Retries made so far. */
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

/** How long to wait before the next attempt, in milliseconds; undefined to give up. Pure. */
export function decideRetry(input: RetryInput): number | undefined {
  const { retries, retryAfterMs = 0, random } = input;
  const column = columnOf(input.operation, input.repeatable);
  if (!input.replayable || input.budget < budget.retryCost) return undefined;
  const renewing = input.events.includes("unauthenticated");
  // A key that expired while earlier retries waited is renewed all the same, once.
  const counted = renewing && input.freshKey ? 0 : retries;
  if (renewing && !input.freshKey) return undefined;
  const most = Math.min(...input.events.map((event) => events[event].retries[column]));
  if (counted >= most || retries >= input.maxRetries) return undefined;
  const base = input.code === "RESOURCE_EXHAUSTED" ? backoff.exhaustedBaseMs : backoff.baseMs;
  const backoffMs = renewing ? 0 : random * Math.min(backoff.capMs, base * 2 ** retries);
  const waitMs = Math.max(retryAfterMs, backoffMs);
  return retryAfterMs > backoff.longestRetryAfterMs || waitMs >= input.timeLeftMs ? undefined : waitMs;
}
