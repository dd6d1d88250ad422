// What a chunk pays for is written, whatever the store does; checks/temporal runs whole activities with Temporal's own
// packages.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { CallAids } from "../../src/adapters/temporalCall.js";
import { type ActivityContext, callWithin } from "../../src/adapters/temporalCall.js";
import { type ChunkTools, rankChunk } from "../../src/adapters/temporalChunk.js";
import type { ChunkRequest, ChunkResult, ChunkSummary } from "../../src/adapters/temporalTypes.js";
import type { Client } from "../../src/index.js";
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

const never = (): Promise<never> => new Promise(() => {});
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
  return callWithin(context, { operation: "rerankDocuments", once: false, call });
}

describe("a part that is not written", () => {
  test("is kept and written again, under its name, and nothing of it is paid for again", async () => {
    const tried: string[] = [];
    const ranking = rank({
      partRows: 2,
      writePart: (_n, part, written) => {
        tried.push(part);
        if (tried.length < 4) return Promise.reject(new Error("The store is away."));
        return void parts.set(part, written);
      },
    });
    for (const waitMs of [250, 500, 1_000]) await clock.passWhenWaiting(waitMs);
    expect(await ranking).toEqual({ ranked: 4, failed: 0 });
    expect(new Set(tried.slice(0, 4)).size).toBe(1);
    expect([...parts.values()].map(({ length }) => length)).toEqual([2, 2]);
    expect(server.requests).toHaveLength(4);
  });

  test("is given up with the error of the store, after eight times", async () => {
    let tried = 0;
    const broken = new Error("There is no such bucket.");
    const failing = failureOf(() =>
      rank({
        writePart: () => {
          tried += 1;
          throw broken;
        },
      }).catch((error) => {
        expect(error).toBe(broken);
        throw Object.assign(new Error(), { isExpected: true });
      }),
    ).catch(() => "given up");
    for (const waitMs of [250, 500, 1_000, 2_000, 4_000, 8_000, 8_000]) await clock.passWhenWaiting(waitMs);
    expect(await failing).toBe("given up");
    expect(tried).toBe(8);
  });

  test.each([
    ["three times after a cancel is written in the time that is left", 3, ["r0", "r1"]],
    ["four times after a cancel is given up", 4, []],
  ])("%s", async (_what, failures, written) => {
    let tried = 0;
    server.reply((request) => {
      if (server.requests.length === 3) cancellation.abort();
      return ranked(request);
    });
    const ranking = failureOf(() =>
      rank({
        writePart: (_n, part, written) => {
          tried += 1;
          if (tried <= failures) return Promise.reject(new Error("The store is away."));
          return void parts.set(part, written);
        },
      }),
    );
    for (const waitMs of [250, 250, 250]) await clock.passWhenWaiting(waitMs);
    expect(await ranking).toMatchObject({ code: "CANCELLED" });
    expect([tried, ids().slice(0, 2)]).toEqual([4, written]);
  });

  test("in the second try before a cancel is tried again at once, and then in the time that is left", async () => {
    let tried = 0;
    const ranking = failureOf(() =>
      rank({
        partRows: 2,
        writePart: (_n, part, written) => {
          tried += 1;
          if (tried <= 4) return Promise.reject(new Error("The store is away."));
          return void parts.set(part, written);
        },
      }),
    );
    await clock.passWhenWaiting(250);
    await until(() => clock.isAwaited(500));
    cancellation.abort();
    for (const waitMs of [250, 250]) await clock.passWhenWaiting(waitMs);
    expect(await ranking).toMatchObject({ code: "CANCELLED" });
    expect([tried, ids().slice(0, 2)]).toEqual([5, ["r0", "r1"]]);
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

describe("what never settles ends with the cancel", () => {
  test.each(["readChunk", "readParts"] as const)("%s, at once", async (name) => {
    const ranking = failureOf(() => rank({ [name]: never }));
    await until(() => clock.waiting > 0);
    cancellation.abort();
    const error = await ranking;
    expect(error).toMatchObject({ code: "CANCELLED", executed: "no" });
    expect(error.message).toContain(`${name} had not ended`);
    expect(server.requests).toHaveLength(0);
  });

  test("writePart, 5 s later: until then what was paid for may still be written", async () => {
    let tried = 0;
    const writePart = (): Promise<never> => {
      tried += 1;
      return never();
    };
    let isOver = false;
    const ranking = failureOf(() => rank({ partRows: 1, writePart }));
    void ranking.finally(() => (isOver = true));
    await until(() => tried === 1);
    cancellation.abort();
    await until(() => clock.waiting > 0);
    clock.pass(4_999);
    await new Promise(setImmediate);
    expect(isOver).toBe(false);
    clock.pass(1);
    expect(await ranking).toMatchObject({ code: "CANCELLED" });
  });

  test("writePart that ends in that time has written what was paid for", async () => {
    let write = (): void => {};
    const ranking = failureOf(() =>
      rank({
        writePart: (_n, part, written) =>
          new Promise<void>((resolve) => {
            write = () => {
              parts.set(part, written);
              resolve();
            };
          }),
        readChunk: () => rows(40),
      }),
    );
    await until(() => server.requests.length === 10);
    cancellation.abort();
    await new Promise(setImmediate);
    await until(() => clock.waiting > 0);
    write();
    expect(await ranking).toMatchObject({ code: "CANCELLED" });
    expect(ids().length).toBeGreaterThanOrEqual(8);
  });

  test("readChunk, when the activity's time is over, which is named", async () => {
    const of = (info: Partial<ActivityContext["info"]>) => failureOf(() => rank({ readChunk: never }, info));
    const first = of({ startToCloseTimeoutMs: 10_000, scheduleToCloseTimeoutMs: 60_000 });
    await until(() => clock.waiting > 0);
    clock.pass(9_000);
    const started = await first;
    expect(started.code).toBe("DEADLINE_EXCEEDED");
    expect(started.message).toContain("within the activity's startToCloseTimeout of 10000 ms.");
    const second = of({
      startToCloseTimeoutMs: 600_000,
      scheduleToCloseTimeoutMs: 30_000,
      currentAttemptScheduledTimestampMs: 21_000,
    });
    await until(() => clock.waiting > 0);
    clock.pass(9_000);
    expect((await second).message).toContain(
      "within the activity's scheduleToCloseTimeout of 30000 ms, of which 20000 ms had gone by before this attempt.",
    );
  });
});

describe("a client of the caller's own", () => {
  const own = (rerank: () => unknown): Pick<Client, "rerank"> => ({ rerank }) as never;

  test.each<[string, () => unknown]>([
    ["throws", () => (undefined as unknown as { a: { b: 1 } }).a.b],
    ["rejects", () => Promise.reject(new TypeError("no"))],
    ["responds {}", () => Promise.resolve({})],
    ["responds {} at once", () => ({})],
    ["responds nothing", () => undefined],
  ])("that %s makes error rows", async (_name, rerank) => {
    expect(await rank({ client: own(rerank) })).toEqual({ ranked: 0, failed: 4 });
    for (const { error } of [...parts.values()].flat()) expect(error?.code).toBe("INTERNAL");
  });

  test("that never responds makes error rows within timeoutMs", async () => {
    const ranking = rank({ client: own(never), timeoutMs: 3_000, concurrency: 4 });
    await clock.passWhenWaiting(3_000);
    expect(await ranking).toEqual({ ranked: 0, failed: 4 });
    for (const { error } of [...parts.values()].flat())
      expect(error).toMatchObject({ code: "DEADLINE_EXCEEDED", executed: "unknown" });
  });
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
