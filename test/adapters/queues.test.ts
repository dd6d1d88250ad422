import { expect, test } from "vitest";
import { mayRetry, retryVerdict } from "../../src/adapters/queues.js";
import { createClient } from "../../src/index.js";
import { createTestService, type ScriptedFailure, type TestOperation } from "../../src/testing/index.js";
import { canaryKey } from "../support/canary.js";
import { failureOf } from "../support/clients.js";

const failures: readonly [string, TestOperation, ScriptedFailure | "no ranking", object][] = [
  ["a lost resume", "resume", { reset: true }, { retry: false, reason: "not-safe" }],
  [
    "a 429 with a time",
    "resume",
    { status: 429, retryAfter: 7 },
    { retry: true, afterMs: 7000, reason: "transient" },
  ],
  ["UNAVAILABLE, named", "resume", { code: "UNAVAILABLE" }, { retry: true, reason: "transient" }],
  ["a bad argument", "rerank", { code: "INVALID_ARGUMENT" }, { retry: false, reason: "refused" }],
  ["a paid response", "rerank", "no ranking", { retry: true, reason: "transient" }],
  ["a revoked key", "rerank", { status: 401 }, { retry: false, reason: "key" }],
];

test.each(failures)("%s has one verdict", async (_, operation, failure, expected) => {
  const service = createTestService();
  const client = createClient({
    ...{ baseUrl: "https://api.example.com", apiKey: canaryKey, accountId: "acme", maxRetries: 0 },
    fetch: service.fetch,
  });
  if (failure === "no ranking") service.answer("rerank", {} as never);
  else service.fail(operation, failure);
  const error = await failureOf(() =>
    operation === "resume"
      ? client.reinforcementFineTuningJobs.resume("job-1")
      : client.rerank({ query: "q", documents: ["d"] }),
  );
  expect(retryVerdict(error)).toEqual({ afterMs: undefined, ...expected });
  expect(mayRetry(error)).toBe(retryVerdict(error).retry);
  const later = retryVerdict(error, 2);
  // What ran is paid for each time: it is retried once.
  if (error.executed === "yes") expect(later).toEqual({ retry: false, afterMs: undefined, reason: "paid" });
  else expect(later).toEqual(retryVerdict(error));
});

test("an error of somebody else has no retry", () => {
  for (const error of [new Error("x"), undefined, "x", { code: "UNAVAILABLE" }])
    expect(retryVerdict(error)).toEqual({ retry: false, afterMs: undefined, reason: "unknown-error" });
});
