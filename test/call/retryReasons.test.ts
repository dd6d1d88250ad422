// Why there is no other attempt, and what is known of all attempts together: pure, row by row.
import { expect, test } from "vitest";
import { budget, type RetryEvent } from "../../src/policy/decisions.js";
import {
  decideRetry,
  executedAfter,
  nothingSent,
  type Ran,
  type RetryInput,
  ranIn,
  worse,
} from "../../src/policy/retry.js";
import { usual } from "../support/retryInput.js";

const upload: RetryInput = { ...usual, operation: "uploadDatasetFile", timeLeftMs: 600_000, random: 0 };

test.each<[what: string, reason: string | undefined, Partial<RetryInput>]>([
  ["an event that the table retries", undefined, {}],
  ["a refusal", "refused", { events: ["refused"] }],
  ["a refusal beside a transient event", "refused", { events: ["unavailable", "refused"] }],
  ["a connection lost in an upload", "not-safe", { events: ["connectionLost"] }],
  ["two events of an upload, both transient", "not-safe", { events: ["connectionLost", "gateway"] }],
  ["two events, one of them not transient", "not-transient", { events: ["connectionLost", "dataLoss"] }],
  ["data loss", "not-transient", { events: ["dataLoss"] }],
  ["data loss of what is safe", "not-transient", { events: ["dataLoss"], operation: "rerankDocuments" }],
  [
    "a named fault of a scale, which is safe",
    "not-transient",
    { events: ["namedFault"], operation: "scaleDeployment" },
  ],
  [
    "the same of an upload that its caller calls repeatable",
    undefined,
    { events: ["namedFault"], repeatable: true },
  ],
  ["a 401 that no fresh key can answer", "refused", { events: ["unauthenticated"] }],
  ["the same after a retry", "retries-used-up", { events: ["unauthenticated"], retries: 1 }],
  ["a 401 that a fresh key can answer", undefined, { events: ["unauthenticated"], freshKey: true }],
  ["a stream", "single-use-body", { replayable: false }],
  ["as many retries as the caller allows", "retries-used-up", { retries: 1, maxRetries: 1 }],
  ["as many retries as the table allows", "retries-used-up", { retries: 2, maxRetries: 9 }],
  ["an empty budget", "budget", { budget: budget.retryCost - 0.1 }],
  ["a wait of more than 60 s", "asked-to-wait-too-long", { retryAfterMs: 60_001 }],
  ["the same without a retry left", "asked-to-wait-too-long", { retryAfterMs: 60_001, maxRetries: 0 }],
  ["a wait up to the deadline", "deadline-too-close", { retryAfterMs: 5_000, timeLeftMs: 5_000 }],
])("after %s the reason is %s", (_what, reason, changes) => {
  const { notRetried, waitMs } = decideRetry({ ...upload, ...changes });
  expect(notRetried).toBe(reason);
  expect(waitMs === undefined).toBe(reason !== undefined);
});

const refused: Ran = { executed: "no", executedBecause: "refused" };
const lost: Ran = { executed: "unknown", executedBecause: "no-answer" };
const began: Ran = { executed: "yes", executedBecause: "success-began" };

test("before the first attempt nothing was sent", () => {
  expect(nothingSent).toEqual({ executed: "no", executedBecause: "nothing-sent" });
});

test.each<[a: Ran, b: Ran, worst: Ran]>([
  [nothingSent, refused, refused],
  [refused, nothingSent, refused],
  [refused, lost, lost],
  [lost, refused, lost],
  [lost, nothingSent, lost],
  [lost, began, began],
  [began, lost, began],
  [began, nothingSent, began],
  // Of two that may have run, the last one is what the caller can look at.
  [
    lost,
    { executed: "unknown", executedBecause: "unclear-answer" },
    { executed: "unknown", executedBecause: "unclear-answer" },
  ],
])("of %j and %j the worse is %j", (a, b, worst) => {
  expect(worse(a, b)).toEqual(worst);
});

test.each<[what: string, Parameters<typeof ranIn>[0], Ran]>([
  ["that was never sent", { executed: "no" }, nothingSent],
  ["that was refused", { executed: "no", httpStatus: 429 }, refused],
  ["that a proxy refused", { executed: "no", httpStatus: 407, neverSent: true }, nothingSent],
  [
    "whose answer is unclear",
    { executed: "unknown", httpStatus: 500 },
    { executed: "unknown", executedBecause: "unclear-answer" },
  ],
  ["without an answer", { executed: "unknown" }, lost],
  ["that succeeded at first", { executed: "yes", httpStatus: 200 }, began],
])("of an attempt %s", (_what, attempt, ran) => {
  expect(ranIn(attempt)).toEqual(ran);
});

test.each<[RetryEvent[], string]>([
  [["refused"], "no"],
  [["refused", "connectionLost"], "unknown"],
  [["connectionLost", "refused"], "unknown"],
  [["connectionLost", "bodyLost"], "yes"],
  [["bodyLost", "connectionLost"], "yes"],
])("after %j the operation may have run: %s", (events, executed) => {
  expect(executedAfter(events)).toBe(executed);
});
