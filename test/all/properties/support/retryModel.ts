// The decision table's rules in few words, to hold the client against: see contract/conformance/retries.json.
import type { OperationId } from "../../../../src/index.js";
import { type DecisionRow, decisionRows } from "../../../support/decisionRows.js";

/** What becomes of one request: a row of the table, or success when there is none. */
export interface Outcome {
  readonly row: DecisionRow | undefined;
  readonly retryAfterMs: number | undefined;
  /** From the request to this outcome. */
  readonly latencyMs: number;
}

export interface ModelCall {
  readonly operation: OperationId;
  readonly timeoutMs: number;
  readonly attemptTimeoutMs: number;
  readonly maxRetries: number;
  /** Of each request; those after the last are like it. */
  readonly outcomes: readonly Outcome[];
}

/** A client's tokens, in tenths. */
export interface Budget {
  left: number;
}

export const fullBudget = 100;
const repeatCost = 10;
const longestRetryAfterMs = 60_000;
const capMs = 8_000;

/** A row by its name. */
export function rowOf(event: string): DecisionRow {
  const row = decisionRows.find((each) => each.event === event);
  if (row === undefined) throw new Error(`There is no row ${event}.`);
  return row;
}

/** The most repeats a row allows. */
export function mostRepeats(row: DecisionRow, operation: OperationId): number {
  const { requests, attempts = requests } = row.operations[operation];
  return attempts - 1;
}

/** The most that is waited on top of a Retry-After. */
export function mostJitter(askedMs: number): number {
  return Math.min(5_000, Math.max(100, askedMs / 10));
}

/** When a call sends its requests, from its beginning; `random` is what the backoff draws. */
export function requestTimes(call: ModelCall, budget: Budget, random: number): readonly number[] {
  const { operation, timeoutMs, attemptTimeoutMs, maxRetries } = call;
  const times = [0];
  for (;;) {
    const sent = times.at(-1) ?? 0;
    const { row, retryAfterMs = 0, latencyMs } = outcomeOf(call, times.length - 1);
    const limit = Math.min(sent + attemptTimeoutMs, timeoutMs);
    const answered = sent + latencyMs < limit;
    if (answered && row === undefined) {
      budget.left = Math.min(fullBudget, budget.left + 1);
      return times;
    }
    // The deadline's timer may fire a millisecond early.
    if (!answered && limit + 1 >= timeoutMs) return times;
    const failed = answered && row ? row : rowOf("attempt-timeout");
    const asked = answered ? retryAfterMs : 0;
    const repeats = times.length - 1;
    const base = failed.operations[operation].code === "RESOURCE_EXHAUSTED" ? 1000 : 250;
    const backoffMs = random * Math.min(capMs, base * 2 ** repeats);
    const now = answered ? sent + latencyMs : limit;
    const spareMs = (timeoutMs - now - asked) / 10;
    const jitterMs = random * Math.min(spareMs, mostJitter(asked));
    const waitMs = asked === 0 ? backoffMs : asked + Math.min(spareMs, Math.max(jitterMs, backoffMs - asked));
    const most = Math.min(maxRetries, mostRepeats(failed, operation));
    if (repeats >= most || budget.left < repeatCost) return times;
    if (asked > longestRetryAfterMs || now + waitMs >= timeoutMs) return times;
    budget.left -= repeatCost;
    times.push(now + waitMs);
  }
}

/** What becomes of the nth request of a call. */
export function outcomeOf({ outcomes }: ModelCall, nth: number): Outcome {
  const outcome = outcomes[Math.min(nth, outcomes.length - 1)];
  if (outcome === undefined) throw new Error("A call has at least one outcome.");
  return outcome;
}
