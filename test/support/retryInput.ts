import { budget } from "../../src/policy/decisions.js";
import type { RetryInput } from "../../src/policy/retry.js";

/** A rerank whose first attempt failed with UNAVAILABLE. */
export const usual: RetryInput = {
  operation: "rerankDocuments",
  repeatable: undefined,
  events: ["unavailable"],
  code: "UNAVAILABLE",
  retries: 0,
  maxRetries: 2,
  retryAfterMs: undefined,
  timeLeftMs: 60_000,
  budget: budget.full,
  replayable: true,
  freshKey: false,
  random: 0.5,
};
