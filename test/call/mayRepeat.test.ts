import { describe, expect, test } from "vitest";
import { mayRepeat } from "../../src/adapters/queues.js";
import { operations as rows } from "../../src/generated/contract.js";
import { createClient, type OperationId, StatusError, type StatusErrorDetails } from "../../src/index.js";
import { events, type RetryEvent } from "../../src/policy/decisions.js";
import { decideRetry } from "../../src/policy/retry.js";
import { createTestService, type ScriptedFailure } from "../../src/testing/index.js";
import { canaryKey } from "../support/canary.js";
import { failureOf } from "../support/clients.js";

const operations = Object.keys(rows) as OperationId[];
const named = Object.keys(events) as RetryEvent[];
const safe: readonly OperationId[] = ["rerankDocuments", "scaleDeployment"];

// Whatever limit ends a call, the answer is the same: that of the table without limits.
const limits = [
  { retries: 9, maxRetries: 9 },
  { maxRetries: 0 },
  { budget: 0 },
  { timeLeftMs: 0 },
  { retryAfterMs: 61_000 },
  { replayable: false },
];

describe.each(operations)("after the end of %s", (operation) => {
  test.each(named)("%s is repeated as the table says, whatever the limit was", (event) => {
    const { retries, executed } = events[event];
    const refusedKey = event === "unauthenticated";
    const allowed = retries[rows[operation].kind] > 0 || (retries.read > 0 && executed === "no");
    for (const limit of limits) {
      const { notRetried } = decideRetry({
        operation,
        repeatable: undefined,
        events: [event],
        code: "UNAVAILABLE",
        retries: 0,
        maxRetries: 2,
        retryAfterMs: undefined,
        timeLeftMs: 60_000,
        budget: 100,
        replayable: true,
        freshKey: false,
        random: 0.5,
        ...limit,
      });
      const code = refusedKey ? "UNAUTHENTICATED" : "UNAVAILABLE";
      const codeSource = event === "unavailable" ? "body" : "status";
      const error = new StatusError("x", { code, executed, codeSource, operation, notRetried });
      expect(mayRepeat(error), `${event} ${JSON.stringify(limit)}`).toBe(allowed && !refusedKey);
    }
  });
});

// What befalls a call, and for resume, rerank, scale and upload: may a queue run it again?
const failures: readonly (readonly [ScriptedFailure, readonly boolean[]])[] = [
  [{ status: 503 }, [false, true, true, false]],
  [{ code: "UNAVAILABLE" }, [true, true, true, true]],
  // The name and the status disagree: the stricter of the two counts.
  [{ code: "UNAVAILABLE", status: 500 }, [false, true, true, false]],
  [{ code: "RESOURCE_EXHAUSTED" }, [true, true, true, true]],
  [{ code: "RESOURCE_EXHAUSTED", retryAfter: 3600 }, [true, true, true, true]],
  [{ status: 425 }, [true, true, true, true]],
  [{ status: 504 }, [false, true, true, false]],
  [{ code: "INTERNAL" }, [false, true, false, false]],
  [{ code: "DATA_LOSS" }, [false, false, false, false]],
  [{ code: "ABORTED" }, [false, false, false, false]],
  [{ code: "UNAUTHENTICATED" }, [false, false, false, false]],
  [{ code: "INVALID_ARGUMENT" }, [false, false, false, false]],
  [{ reset: true }, [false, true, true, false]],
  [{ truncate: true }, [false, true, true, false]],
];

test.each(failures)(
  "the error of a call that met %j tells what a queue may do",
  async (failure, expected) => {
    const service = createTestService();
    const client = createClient({
      baseUrl: "https://api.example.com",
      apiKey: canaryKey,
      accountId: "acme",
      maxRetries: 0,
      fetch: service.fetch,
    });
    const calls = {
      resume: () => client.reinforcementFineTuningJobs.resume("job-1"),
      rerank: () => client.rerank({ query: "q", documents: ["d"] }),
      scale: () => client.deployments.scale("prod", 1),
      upload: () => client.datasets.upload("reviews", new Uint8Array([1]), { name: "train.jsonl" }),
    };
    const found: boolean[] = [];
    for (const [operation, call] of Object.entries(calls)) {
      service.fail(operation as keyof typeof calls, failure);
      found.push(mayRepeat(await failureOf(call as () => Promise<unknown>)));
    }
    expect(found).toEqual(expected);
  },
);

describe("an error of one's own", () => {
  const error = (details: Partial<StatusErrorDetails>) =>
    new StatusError("x", { code: "UNAVAILABLE", executed: "unknown", codeSource: "client", ...details });

  test.each<[boolean, Partial<StatusErrorDetails>]>([
    [true, { executed: "no" }],
    [true, { operation: "rerankDocuments" }],
    [true, { operation: "uploadDatasetFile", codeSource: "body" }],
    [true, { operation: "request", method: "PUT" }],
    [false, {}],
    [false, { operation: "uploadDatasetFile" }],
    [false, { operation: "request", method: "POST" }],
    [false, { executed: "no", code: "NOT_FOUND" }],
    [false, { executed: "no", code: "UNAUTHENTICATED" }],
  ])("%s for %j", (expected, details) => {
    expect(mayRepeat(error(details))).toBe(expected);
  });

  test("what is no StatusError is not repeated", () => {
    for (const value of [
      undefined,
      null,
      "UNAVAILABLE",
      new Error("x"),
      { code: "UNAVAILABLE", executed: "no" },
    ])
      expect(mayRepeat(value)).toBe(false);
  });
});

test("the operations that are safe to repeat are the contract's", () => {
  const details = { code: "DEADLINE_EXCEEDED", executed: "unknown", codeSource: "client" } as const;
  const repeated = operations.filter((operation) =>
    mayRepeat(new StatusError("x", { ...details, operation, notRetried: "deadline-too-close" })),
  );
  expect(repeated.sort()).toEqual([...safe].sort());
});
