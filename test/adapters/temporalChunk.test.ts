// What a chunk pays for is written, whatever the store does; checks/temporal runs whole activities with Temporal's own
// packages.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { CallAids } from "../../src/adapters/temporalCall.js";
import { type ActivityContext, callWithin } from "../../src/adapters/temporalCall.js";
import { type ChunkTools, rankChunk } from "../../src/adapters/temporalChunk.js";
import type { ChunkRequest, ChunkResult, ChunkSummary } from "../../src/adapters/temporalTypes.js";
import { useNoBackoff } from "../support/backoff.js";
import { queryOf } from "../support/bulkFiles.js";
import { connect, failureOf } from "../support/clients.js";
import { useTestClock } from "../support/clock.js";
import { ranked } from "../support/rankings.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { until } from "../support/turns.js";

const server = useRecordingServer();
const clock = useTestClock();
useNoBackoff();
let cancellation: AbortController;
let parts: Map<string, readonly ChunkResult[]>;
beforeEach(() => {
  cancellation = new AbortController();
  parts = new Map();
  server.reply((request) => ranked(request));
});
afterEach(() => cancellation.abort());

const rows = (count: number): ChunkRequest[] =>
  Array.from({ length: count }, (_, row) => ({ id: `r${row}`, query: `q${row}`, documents: ["a", "b"] }));
const ids = (): string[] => [...parts.values()].flat().map(({ id }) => id);

/** Ranks a chunk as the activity does. */
function rank(
  tools: Partial<ChunkTools> = {},
  info: Partial<ActivityContext["info"]> = {},
): Promise<ChunkSummary> {
  const whole: ChunkTools = {
    client: connect(server.url),
    readChunk: () => rows(4),
    writePart: (_n, part, written) => void parts.set(part, written),
    readParts: () => [...parts.values()],
    partRows: 50,
    concurrency: 1,
    timeoutMs: undefined,
    ...tools,
  };
  const context: ActivityContext = {
    info: {
      attempt: 1,
      startToCloseTimeoutMs: 600_000,
      scheduleToCloseTimeoutMs: 0,
      scheduledTimestampMs: 1_000,
      currentAttemptScheduledTimestampMs: 1_000,
      ...info,
    },
    cancellationSignal: cancellation.signal,
    heartbeat() {},
  };
  const chunk = { n: 3, reference: undefined, rate: undefined };
  const call = (aids: CallAids): Promise<ChunkSummary> => rankChunk(whole, chunk, aids);
  return callWithin(context, "rerankDocuments", call);
}

describe("a part that is not written", () => {
  /** A store that fails so often, and what was tried. */
  function failing(failures: number) {
    const tried: string[] = [];
    const writePart: ChunkTools["writePart"] = (_n, part, written) => {
      tried.push(part);
      if (tried.length <= failures) return Promise.reject(new Error("The store is away."));
      return void parts.set(part, written);
    };
    return { tried, writePart };
  }

  test("is kept and written again, under its name, and nothing of it is paid for again", async () => {
    const { tried, writePart } = failing(2);
    const ranking = rank({ partRows: 2, writePart });
    for (const waitMs of [250, 500]) await clock.passWhenWaiting(waitMs);
    expect(await ranking).toEqual({ ranked: 4, failed: 0 });
    expect(new Set(tried.slice(0, 3)).size).toBe(1);
    expect([...parts.values()].map(({ length }) => length)).toEqual([2, 2]);
    expect(server.requests).toHaveLength(4);
  });

  test("is given up with the error of the store, after three tries", async () => {
    const { tried, writePart } = failing(9);
    const ranking = rank({ writePart }).catch(String);
    for (const waitMs of [250, 500]) await clock.passWhenWaiting(waitMs);
    expect(await ranking).toBe("Error: The store is away.");
    expect(tried).toHaveLength(3);
  });

  test.each([
    [2, ["r0", "r1"]],
    [3, []],
  ])("after a cancellation has three tries, too: %i fail", async (failures, written) => {
    const { tried, writePart } = failing(failures);
    server.reply((request) => {
      if (server.requests.length === 3) cancellation.abort();
      return ranked(request);
    });
    const ranking = failureOf(() => rank({ writePart }));
    for (const waitMs of [250, 500]) await clock.passWhenWaiting(waitMs);
    expect(await ranking).toMatchObject({ code: "CANCELLED" });
    expect([tried.length, ids().slice(0, 2)]).toEqual([3, written]);
  });

  test("because the store never answers has three tries of 5 s after a cancellation", async () => {
    let tries = 0;
    const writePart = () => {
      tries += 1;
      return new Promise(() => {});
    };
    const ranking = failureOf(() => rank({ writePart }));
    await until(() => tries === 1);
    clock.pass(60_000);
    expect(tries).toBe(1);
    cancellation.abort();
    for (const waitMs of [5_000, 250, 5_000, 500, 5_000]) await clock.passWhenWaiting(waitMs);
    expect(await ranking).toMatchObject({ code: "CANCELLED", executed: "yes" });
    expect(tries).toBe(3);
  });

  test("because a row cannot be JSON is written with that row's error", async () => {
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
    server.reply((request) =>
      queryOf(request) === "q1"
        ? {
            text: `{"data":[{"index":0,"relevance_score":1},{"index":1,"relevance_score":0,"more":${deep}}]}`,
          }
        : ranked(request),
    );
    const ranking = rank({
      writePart: (_n, part, written) => void parts.set(part, JSON.parse(JSON.stringify(written))),
    });
    await clock.passWhenWaiting(250);
    expect(await ranking).toEqual({ ranked: 3, failed: 1 });
    const row = [...parts.values()].flat().find(({ id }) => id === "r1");
    expect(row?.error).toMatchObject({ code: "INTERNAL", executed: "yes" });
    expect(server.requests).toHaveLength(4);
  });
});

test.each(["readChunk", "readParts"])("%s that never answers is let go at a cancellation", async (name) => {
  let isCalled = false;
  const never = () => {
    isCalled = true;
    return new Promise<never>(() => {});
  };
  const ranking = failureOf(() => rank({ [name]: never }));
  await until(() => isCalled);
  cancellation.abort();
  expect(await ranking).toMatchObject({ code: "CANCELLED", executedBecause: "nothing-sent" });
});

test("a chunk has the activity's time, after which what was ranked is written", async () => {
  server.reply((request) => (server.requests.length < 3 ? ranked(request) : undefined));
  const ranking = failureOf(() => rank({}, { startToCloseTimeoutMs: 10_000 }));
  await until(() => server.requests.length === 3);
  clock.pass(9_000);
  const error = await ranking;
  expect(error).toMatchObject({ code: "DEADLINE_EXCEEDED", notRetried: "deadline-too-close" });
  expect(error.message).toContain("9000 ms (totalTimeoutMs)");
  expect(ids()).toEqual(["r0", "r1"]);
});

test("documents are not returned unless they are asked for", async () => {
  const asked = (more: object): ChunkRequest => ({
    id: JSON.stringify(more),
    query: "q",
    documents: ["a"],
    ...more,
  });
  await rank({
    readChunk: () => [asked({}), asked({ return_documents: true }), asked({ return_documents: false })],
  });
  expect(server.requests.map(({ body }) => JSON.parse(`${body}`).return_documents)).toEqual([
    false,
    true,
    false,
  ]);
});
