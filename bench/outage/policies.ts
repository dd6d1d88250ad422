// The retry policies that are compared. A policy is asked after each failed request.
import { budget as budgetRule } from "../../src/policy/decisions.js";
import { decideRetry, type RetryCause } from "../../src/policy/retry.js";

/** What one client of a policy remembers. */
export interface PolicyClient {
  succeeded(): void;
  /** How long to wait before the next request of a call, in milliseconds; undefined to give up. */
  waitAfter(retries: number, timeLeftMs: number, random: number): number | undefined;
}

export interface Policy {
  readonly name: string;
  /** Among how many clients, each with a budget of its own, the calls are divided. */
  readonly clients: number;
  open(): PolicyClient;
}

const maxRetries = 2;

function budgeted(): PolicyClient {
  let budget = budgetRule.full;
  return {
    succeeded() {
      budget = Math.min(budgetRule.full, budget + 1);
    },
    waitAfter(retries, timeLeftMs, random) {
      const waitMs = decide(retries, timeLeftMs, random, budget);
      if (waitMs !== undefined) budget -= budgetRule.retryCost;
      return waitMs;
    },
  };
}

// The same decision, of a budget that is never spent.
function unbudgeted(): PolicyClient {
  return {
    succeeded() {},
    waitAfter: (retries, timeLeftMs, random) => decide(retries, timeLeftMs, random, budgetRule.full),
  };
}

const unavailable: RetryCause = { events: ["unavailable"], code: "UNAVAILABLE", retryAfterMs: undefined };

function decide(retries: number, timeLeftMs: number, random: number, budget: number): number | undefined {
  return decideRetry(unavailable, {
    operation: "rerankDocuments",
    idempotent: undefined,
    retries,
    maxRetries,
    timeLeftMs,
    budget,
    replayable: true,
    freshKey: false,
    random,
  }).waitMs;
}

// openai 6.49.0: two retries of each call, 0.5 s doubling up to 8 s, less a random part of up to a quarter.
function openai(): PolicyClient {
  return {
    succeeded() {},
    waitAfter(retries, _timeLeftMs, random) {
      if (retries >= maxRetries) return undefined;
      return Math.min(500 * 2 ** retries, 8000) * (1 - random * 0.25);
    },
  };
}

export const policies: readonly Policy[] = [
  { name: "tunerank", clients: 1, open: budgeted },
  { name: "tunerank, 100 clients", clients: 100, open: budgeted },
  { name: "tunerank without its budget", clients: 1, open: unbudgeted },
  { name: "openai", clients: 1, open: openai },
];
