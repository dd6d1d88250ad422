import assert from "node:assert/strict";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Client, StatusError } from "../../../src/index.js";
import { transports } from "../../support/clients.js";
import { holdsFor, plainClient, settled, within } from "./support/runs.js";
import { behaviour, isRefusal, type Logged, namesUnavailable, useFaultyService } from "./support/services.js";

const service = useFaultyService();

// The shortest wait the backoff can draw: what counts here is how often, not when.
beforeEach(() => {
  vi.spyOn(Math, "random").mockReturnValue(0);
});
afterEach(() => {
  vi.restoreAllMocks();
});

const cases = fc.record({
  plan: fc.array(behaviour, { minLength: 1, maxLength: 4 }),
  upload: fc.constantFrom(undefined, undefined, 0, 10, 200_000),
  // A call before this one leaves a connection to be used again.
  reused: fc.boolean(),
  maxRetries: fc.constantFrom(2, 2, 5, 1),
  renewed: fc.boolean(),
});

function callOf(client: Client, id: string, bytes: number | undefined): PromiseLike<unknown> {
  const options = { timeoutMs: 5_000, attemptTimeoutMs: 500 };
  if (bytes === undefined) return client.reinforcementFineTuningJobs.resume(id, options);
  return client.datasets.upload(id, new Uint8Array(bytes), { name: "train.jsonl", ...options });
}

/** Whether the service may have done the work for a request, as far as its response tells. */
function mayHaveExecuted({ behaviour: { outcome } }: Logged): boolean {
  return !("status" in outcome) || !isRefusal(outcome.status);
}

function sentOnce(log: readonly Logged[]): void {
  for (const earlier of log.slice(0, -1)) {
    assert.ok(!mayHaveExecuted(earlier) || namesUnavailable(earlier.behaviour), "It was sent twice.");
  }
}

function tellsTheTruth(log: readonly Logged[], error: StatusError | undefined): void {
  const worked = log.some((each) => each.worked);
  const succeeded = log.some(({ began }) => began !== undefined && began >= 200 && began < 300);
  if (error === undefined) assert.ok(log.at(-1)?.worked);
  if (error?.executed === "no") assert.ok(!worked, "It ran, and the error says that it did not.");
  if (error?.executed === "yes") assert.ok(succeeded, "No success began, and the error says that it ran.");
}

describe.each(transports)("over $name", ({ name, options }) => {
  test(
    "resume and upload are never sent twice where both can have executed, and executed is never wrongly no",
    async () => {
      const seen = { calls: 0, repeats: 0, no: 0, unknown: 0, yes: 0, succeeded: 0 };
      await holdsFor(
        cases,
        name === "fetch" ? 2_000 : 8_000,
        async ({ plan, upload, reused, maxRetries, renewed }) => {
          const id = `run-${seen.calls++}`;
          const log = service.plan(id, plan);
          const apiKey = renewed ? () => `key-of-${id}` : `key-of-${id}`;
          const client = plainClient(service.url, { ...options, maxRetries, apiKey });
          if (reused) await client.reinforcementFineTuningJobs.resume("planned-by-nobody");
          const { error } = await settled(() => callOf(client, id, upload));
          sentOnce(log);
          tellsTheTruth(log, error);
          seen.repeats += Math.max(0, log.length - 1);
          seen[error?.executed ?? "succeeded"] += 1;
          service.forget(id);
          await client.close();
        },
      );
      for (const count of Object.values(seen)) expect(count).toBeGreaterThan(0);
    },
    within(300_000),
  );
});
