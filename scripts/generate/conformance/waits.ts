// The waits between the requests of a row, as far as a server can measure them.
import { budget } from "../../../src/policy/decisions.js";
import { type Decision, decideRetry, type RetryCause, type RetryState } from "../../../src/policy/retry.js";

/** What a loaded machine may add to a wait before it counts as too long, in milliseconds. */
export const slackMs = 5000;

/** The shortest and the longest wait before a request. */
export interface Wait {
  readonly least: number;
  readonly most: number;
}

/** The two ends of what chance decides. */
export function decideBoth(
  failure: RetryCause,
  state: Omit<RetryState, "random">,
): { first: Decision; wait: Wait } {
  const first = decideRetry(failure, { ...state, random: 0 });
  const last = decideRetry(failure, { ...state, random: 1 });
  return { first, wait: { least: first.waitMs ?? 0, most: last.waitMs ?? first.waitMs ?? 0 } };
}

// Of ten waits that are drawn from 0 up to 250 ms, together less than an eighth of the most, or all within a
// tenth of it: each is drawn less than once in ten million runs.
const leastShare = 0.12;
const spreadShare = 0.1;

/** The bounds of a row's waits. @param together Whether they are judged together, too. */
export function boundsOf(waits: readonly Wait[], together: boolean): Readonly<Record<string, number>> {
  if (waits.length === 0) return {};
  const least = Math.min(...waits.map((wait) => wait.least));
  const most = Math.max(...waits.map((wait) => wait.most));
  const total = waits.reduce((sum, wait) => sum + wait.most, 0);
  return {
    ...(least > 0 && { minWaitMs: least }),
    maxWaitMs: most + slackMs,
    ...(together && {
      minTotalWaitMs: Math.round(total * leastShare),
      minSpreadMs: Math.round(most * spreadShare),
    }),
  };
}

/** A client's tokens at its beginning. */
export const fullBudget: number = budget.full;
