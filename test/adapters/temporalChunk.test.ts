import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  type ActivityContext,
  type ActivityInfo,
  type CallAids,
  callWithin,
  timeLeftMs,
} from "../../src/adapters/temporalCall.js";
import { type ChunkTools, rankChunk } from "../../src/adapters/temporalChunk.js";
import { failureOptions, fitting } from "../../src/adapters/temporalFailure.js";
import type { ChunkRequest, ChunkResult, ChunkSummary } from "../../src/adapters/temporalTypes.js";
import { StatusError } from "../../src/index.js";
import { useNoBackoff } from "../support/backoff.js";
import { queryOf } from "../support/bulkFiles.js";
import { connect, failureOf, thrownBy } from "../support/clients.js";
import { useTestClock } from "../support/clock.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { ranked } from "../support/responses.js";
import { until } from "../support/turns.js";

// What a chunk pays for is written, whatever the store does; checks/temporal runs whole activities with Temporal's own
// packages.

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

const usual: ActivityInfo = {
  attempt: 1,
  startToCloseTimeoutMs: 60_000,
  scheduleToCloseTimeoutMs: 0,
  scheduledTimestampMs: 1_000,
  currentAttemptScheduledTimestampMs: 1_000,
  heartbeatTimeoutMs: 4_500,
};
const rows = (count: number): ChunkRequest[] =>
  Array.from({ length: count }, (_, row) => ({ id: `r${row}`, query: `q${row}`, documents: ["a", "b"] }));
const ids = (): string[] => [...parts.values()].flat().map(({ id }) => id);

/** An activity that began at once, and may take a minute. */
function contextOf(
  info: Partial<ActivityInfo>,
  heartbeat: ActivityContext["heartbeat"] = () => {},
): ActivityContext {
  return { info: { ...usual, ...info }, cancellationSignal: cancellation.signal, heartbeat };
}

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
  const context = contextOf({ startToCloseTimeoutMs: 600_000, ...info });
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
  const asked = [{}, { return_documents: true }, { return_documents: false }];
  const chunk = asked.map((more, row) => ({ id: `r${row}`, query: "q", documents: ["a"], ...more }));
  await rank({ readChunk: () => chunk });
  const sent = server.requests.map(({ body }) => JSON.parse(`${body}`).return_documents);
  expect(sent).toEqual([false, true, false]);
});

describe("an activity's times and heartbeats", () => {
  test.each<[number, Partial<ActivityInfo>]>([
    [58_000, {}],
    [18_000, { startToCloseTimeoutMs: 20_000 }],
    [900, { startToCloseTimeoutMs: 1_000 }],
    [28_000, { scheduleToCloseTimeoutMs: 30_000 }],
    // Eleven seconds of it went by before this attempt.
    [17_100, { scheduleToCloseTimeoutMs: 30_000, currentAttemptScheduledTimestampMs: 12_000 }],
    [86_398_000, { startToCloseTimeoutMs: 0 }],
  ])("a call may take %d ms where the activity has %j", (expected, changes) => {
    expect(timeLeftMs({ ...usual, ...changes })).toBe(expected);
  });

  test("heartbeats come three times within their timeout, carry the progress, and end with the call", async () => {
    const heartbeats: unknown[] = [];
    const context = contextOf({}, (details) => void heartbeats.push(details));
    let end = (): void => {};
    const ending = callWithin(context, "uploadDatasetFile", ({ onProgress }) => {
      onProgress({ sentBytes: 3 });
      return new Promise<void>((resolve) => {
        end = resolve;
      });
    });
    expect(heartbeats).toEqual([{ attempt: 1 }]);
    clock.pass(1_499);
    expect(heartbeats).toHaveLength(1);
    clock.pass(1);
    expect(heartbeats).toEqual([{ attempt: 1 }, { sentBytes: 3, attempt: 1 }]);
    end();
    await ending;
    expect(clock.waiting).toBe(0);
  });

  test("without a short timeout a heartbeat comes every 2 s, so that a cancellation arrives soon", async () => {
    const beats: number[] = [];
    const context = contextOf({ heartbeatTimeoutMs: 30_000 }, () => void beats.push(1));
    await callWithin(context, "rerankDocuments", async () => {
      clock.pass(1_999);
      expect(beats).toHaveLength(1);
      clock.pass(1);
      expect(beats).toHaveLength(2);
    });
  });

  test.each<[what: string, details: unknown, sent: number]>([
    ["of the attempt before that says it may", { attempt: 2, mayRetry: true }, 1],
    ["of the attempt before that does not say it", { attempt: 2 }, 0],
    ["of an older attempt, after which one may have sent and died", { attempt: 1, mayRetry: true }, 0],
    ["of none", undefined, 0],
  ])("after the heartbeat %s, what is sent once is sent so often", async (_what, heartbeatDetails, sent) => {
    let calls = 0;
    const context = contextOf({ attempt: 3, heartbeatDetails });
    const call = async () => ++calls;
    const running = () => callWithin(context, "uploadDatasetFile", call);
    if (sent > 0) await running();
    else
      expect(await failureOf(running)).toMatchObject({
        code: "UNKNOWN",
        executed: "unknown",
        notRetried: "not-safe",
      });
    expect(calls).toBe(sent);
  });

  test("Temporal waits as long as the service asks, and retries no result that is too large", () => {
    const details = {
      code: "RESOURCE_EXHAUSTED",
      executed: "no",
      codeSource: "body",
      notRetried: "asked-to-wait-too-long",
    } as const;
    const error = new StatusError("Slower.", { ...details, retryAfterMs: 90_000 });
    expect(failureOptions(error, 1)).toMatchObject({ nonRetryable: false, nextRetryDelay: 90_000 });
    expect(fitting("a".repeat(98), 100, "rerankDocuments")).toHaveLength(98);
    const tooLarge = thrownBy(() => fitting("a".repeat(99), 100, "rerankDocuments"));
    expect(failureOptions(tooLarge, 1)).toMatchObject({ nonRetryable: true, nextRetryDelay: undefined });
  });
});
