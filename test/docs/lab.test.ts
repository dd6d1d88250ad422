import { readFile } from "node:fs/promises";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { calls, operations } from "../../docs/lab/calls.js";
import { type Course, type Experiment, run, runLoop } from "../../docs/lab/experiment.js";
import { presets } from "../../docs/lab/presets.js";
import { useNoBackoff } from "../support/backoff.js";

useNoBackoff();

const { rows } = JSON.parse(await readFile("contract/conformance/retries.json", "utf8"));
const operationIds = {
  rerank: "rerankDocuments",
  scale: "scaleDeployment",
  resume: "resumeReinforcementFineTuningJob",
  upload: "uploadDatasetFile",
} as const;

const experiment = { responseMs: 0, times: Number.POSITIVE_INFINITY };

// All at once: they wait most of the time.
const seen = new Map<string, readonly Course[]>();
beforeAll(async () => {
  const random = vi.spyOn(Math, "random").mockReturnValue(0);
  await Promise.all(
    presets.map(async (preset) => {
      const each = operations.map((operation) =>
        run({ ...experiment, operation, preset, code: calls[operation] }),
      );
      seen.set(preset.id, await Promise.all(each));
    }),
  );
  random.mockRestore();
});

describe.each(presets)("$label", (preset) => {
  test("does what the decision table says of all four operations", () => {
    const courses = seen.get(preset.id) ?? [];
    expect(courses).toHaveLength(4);
    const row = rows.find(({ event }: { event: string }) => event === preset.row);
    expect(row !== undefined).toBe(preset.failure !== undefined);
    for (const { operation, requests, error, state } of courses) {
      if (row === undefined) expect([operation, state, requests]).toEqual([operation, "done", 1]);
      else {
        const { code, executed, executedBecause, inferred, notRetried } = error ?? {};
        const expected = row.operations[operationIds[operation]];
        const { codeSource = row.codeSource } = expected;
        expect(expected, operation).toMatchObject({ requests, code, executed, executedBecause, inferred });
        expect([operation, notRetried]).toEqual([operation, expected.notRetried]);
        expect(error?.codeSource).toBe(codeSource);
      }
    }
  });
});

const proxy503 = presets.find(({ id }) => id === "proxy-503") as Experiment["preset"];

test("a failure of the first request alone is repeated where that is safe", async () => {
  const courses = operations.map((operation) =>
    run({ ...experiment, times: 1, operation, preset: proxy503, code: calls[operation] }),
  );
  const states = (await Promise.all(courses)).map(({ operation, state, requests }) => [
    operation,
    state,
    requests,
  ]);
  expect(states).toEqual([
    ["upload", "failed", 1],
    ["resume", "failed", 1],
    ["rerank", "done", 2],
    ["scale", "done", 2],
  ]);
});

test("the loop that people write stores the file twice where the client stores it once", async () => {
  const both = [run, runLoop].map((each) =>
    each({ ...experiment, times: 1, operation: "upload", preset: proxy503, code: calls.upload }),
  );
  const [client, loop] = await Promise.all(both);
  expect(client).toMatchObject({
    state: "failed",
    requests: 1,
    kept: { files: 1 },
    error: { executed: "unknown" },
  });
  expect(loop).toMatchObject({ state: "done", requests: 2, kept: { files: 2 } });
});

test("the course of a call is told as it happens: attempts, waits, and what is printed", async () => {
  const seen: Course[] = [];
  const code = calls.rerank;
  await run({ ...experiment, times: 1, operation: "rerank", preset: proxy503, code }, (course) =>
    seen.push(course),
  );
  expect(seen.map(({ stretches }) => stretches.map(({ kind }) => kind).join(" "))).toEqual([
    "attempt",
    "attempt wait attempt",
    "attempt wait attempt",
    "attempt wait attempt",
    "attempt wait attempt",
  ]);
  const { stretches, printed, state } = seen.at(-1) as Course;
  expect(stretches[0]).toMatchObject({ code: "UNAVAILABLE" });
  expect([printed, state]).toEqual([["best: 1"], "done"]);
  expect(stretches.every(({ to }) => to !== undefined)).toBe(true);
});

test("a mistake in the snippet is told, and is no verdict on the service", async () => {
  const preset = presets.find(({ id }) => id === "nothing") as Experiment["preset"];
  const wrong = await run({ ...experiment, operation: "rerank", preset, code: "client.rank();" });
  expect(wrong).toMatchObject({ state: "failed", requests: 0, mistake: expect.stringContaining("rank") });
  expect(wrong.error).toBeUndefined();
  const torn = await run({ ...experiment, operation: "rerank", preset, code: "const = 1" });
  expect(torn.mistake).toContain("SyntaxError");
});
