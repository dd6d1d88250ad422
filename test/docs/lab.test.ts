import { readFile } from "node:fs/promises";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { operations } from "../../docs/lab/calls.js";
import { type Course, type Experiment, run, runLoop } from "../../docs/lab/experiment.js";
import { presets } from "../../docs/lab/presets.js";
import { useNoBackoff } from "../support/backoff.js";

useNoBackoff();

const { rows } = JSON.parse(await readFile("contract/conformance/retries.json", "utf8"));
const operationIds = {
  rerank: "rerankDocuments",
  resume: "resumeReinforcementFineTuningJob",
  upload: "uploadDatasetFile",
} as const;

const experiment = { responseMs: 0 };

// All at once: they wait most of the time.
const seen = new Map<string, readonly Course[]>();
beforeAll(async () => {
  const random = vi.spyOn(Math, "random").mockReturnValue(0);
  await Promise.all(
    presets.map(async (preset) => {
      const each = operations.map((operation) => run({ ...experiment, operation, preset }));
      seen.set(preset.id, await Promise.all(each));
    }),
  );
  random.mockRestore();
});

// The first request alone fails: what the table retries ends well.
describe.each(presets)("$label", (preset) => {
  test("does what the decision table says of each operation", () => {
    const courses = seen.get(preset.id) ?? [];
    expect(courses).toHaveLength(operations.length);
    const row = rows.find(({ event }: { event: string }) => event === preset.row);
    expect(row !== undefined).toBe(preset.failure !== undefined);
    for (const { operation, requests, error, state } of courses) {
      const expected = row?.operations[operationIds[operation]];
      if (expected === undefined) expect([operation, state, requests]).toEqual([operation, "done", 1]);
      else if (expected.requests > 1) expect([operation, state, requests]).toEqual([operation, "done", 2]);
      else {
        const { code, executed, executedBecause, notRetried } = error ?? {};
        expect(expected, operation).toMatchObject({ requests, code, executed, executedBecause, notRetried });
        expect(error?.codeSource).toBe(expected.codeSource ?? row.codeSource);
      }
    }
  });
});

const proxy503 = presets.find(({ id }) => id === "proxy-503") as Experiment["preset"];

test("the loop that people write stores the file twice where the client stores it once", async () => {
  const both = [run, runLoop].map((each) => each({ ...experiment, operation: "upload", preset: proxy503 }));
  const [client, loop] = await Promise.all(both);
  expect(client).toMatchObject({
    state: "failed",
    requests: 1,
    times: 1,
    error: { executed: "unknown" },
  });
  expect(loop).toMatchObject({ state: "done", requests: 2, times: 2 });
});

test("the course of a call has its attempts and waits", async () => {
  const { stretches } = await run({ ...experiment, operation: "rerank", preset: proxy503 });
  expect(stretches.map(({ kind }) => kind)).toEqual(["attempt", "wait", "attempt"]);
  expect(stretches[0]).toMatchObject({ code: "UNAVAILABLE" });
});
