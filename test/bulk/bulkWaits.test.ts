import type { ServerResponse } from "node:http";
import { describe, expect, test } from "vitest";
import {
  type RerankAllAttempt,
  type RerankAllOptions,
  type RerankAllRequest,
  rerankAll,
} from "../../src/bulk/index.js";
import { attemptPolicy, runBatches, stopSending } from "../../src/engine.js";
import { type AttemptEvent, isStatusError, type StatusError } from "../../src/index.js";
import { useNoBackoff } from "../support/backoff.js";
import { queryOf } from "../support/bulkFiles.js";
import { collect, endOf, good, hold, requestsOf } from "../support/bulkRuns.js";
import { connect } from "../support/clients.js";
import { useTestClock } from "../support/clock.js";
import { type Reply, useRecordingServer } from "../support/recordingServer.js";
import { isPending, soon, turns, until } from "../support/turns.js";

const server = useRecordingServer();
const clock = useTestClock();

describe("a row that waits", () => {
  useNoBackoff();

  const away: Reply = { status: 503, json: { code: "UNAVAILABLE" } };
  const busy = (seconds: number): Reply => ({ status: 429, headers: { "retry-after": `${seconds}` } });

  test("a transient failure is tried again until the request's time is over, however often that is", async () => {
    let attempts = 0;
    server.reply(() => {
      attempts += 1;
      return attempts < 7 ? away : good;
    });
    const [result] = await collect(rerankAll(connect(server.url), requestsOf(1)));
    expect(result?.error).toBeUndefined();
    expect(attempts).toBe(7);
  });

  test("a wait that ends after the request's deadline is not begun, and its error says all that was tried", async () => {
    server.reply(() => (server.requests.length < 3 ? away : busy(50)));
    const [result] = await collect(rerankAll(connect(server.url), requestsOf(1), { timeoutMs: 40_000 }));
    expect(result?.error).toMatchObject({
      code: "RESOURCE_EXHAUSTED",
      notRetried: "deadline-too-close",
      executed: "unknown",
      retryAfterMs: 50_000,
      attempts: [{ number: 1 }, { number: 2 }, { number: 3, httpStatus: 429 }],
    });
    expect(result?.error?.message).toMatch(/No time is left for another attempt\.$/);
    expect(result?.error?.message).not.toContain("maxRetries");
  });

  test("a key from a function is asked for once more after a 401, and the run ends with the second", async () => {
    let keys = 0;
    const client = connect(server.url, { apiKey: () => `key-number-${++keys}` });
    server.reply((request) =>
      request.headers.authorization === "Bearer key-number-1" ? { status: 401 } : good,
    );
    expect(await collect(rerankAll(client, requestsOf(1)))).toHaveLength(1);
    server.reset();
    server.reply({ status: 401 });
    const error: StatusError = await collect(rerankAll(client, requestsOf(9), { concurrency: 1 })).catch(
      (e) => e,
    );
    expect(error).toMatchObject({ code: "UNAUTHENTICATED", attempts: [{ number: 1 }, { number: 2 }] });
    expect(server.requests).toHaveLength(2);
  });

  test("silence ends with the request's deadline, after two attempts of half of it", async () => {
    server.reply(() => undefined);
    const run = collect(rerankAll(connect(server.url), requestsOf(1), { timeoutMs: 10_000 }));
    await server.received(1);
    await clock.passWhenWaiting(5_000);
    await server.received(2);
    await clock.passWhenWaiting(5_000);
    const [result] = await run;
    expect(result?.error).toMatchObject({ code: "DEADLINE_EXCEEDED", executed: "unknown" });
    expect(result?.error?.attempts).toHaveLength(2);
  });

  test("totalTimeoutMs ends the run with what is not done", async () => {
    server.reply((request) => (queryOf(request) === "0" ? good : undefined));
    const options = { totalTimeoutMs: 5_000, concurrency: 2 };
    const run = rerankAll(connect(server.url), requestsOf(9), options);
    await run.next();
    const rest = run.next();
    await server.received(3);
    clock.pass(4_999);
    expect(await isPending(rest)).toBe(true);
    clock.pass(1);
    const error = await rest.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "DEADLINE_EXCEEDED", executed: "yes", done: 1, notDone: ["1", "2"] });
    expect((error as StatusError).message).toContain("The run was not over within 5000 ms (totalTimeoutMs).");
  });
});

describe("a rate", () => {
  const counted: Reply = { json: { ...Object(good.json), usage: { total_tokens: 500 } } };
  async function finish(options: RerankAllOptions, count: number): Promise<void> {
    const all = await collect(rerankAll(connect(server.url), requestsOf(count), options));
    expect(all.flatMap(({ error }) => error ?? [])).toEqual([]);
  }

  /** How many requests have arrived after each second. */
  async function arrivals(seconds: number): Promise<number[]> {
    const counts: number[] = [];
    for (let second = 0; second < seconds; second++) {
      for (let step = 0; step < 20; step++) {
        clock.pass(50);
        await turns(30);
      }
      counts.push(server.requests.length);
    }
    return counts;
  }

  test("a declared rate is kept from the first request on, evenly, by all lanes together", async () => {
    server.reply(counted);
    const run = finish({ rate: { requestsPerMinute: 300 }, concurrency: 64 }, 20);
    const counts = await arrivals(4);
    for (const [second, count] of counts.entries()) {
      expect(count).toBeGreaterThanOrEqual(Math.min(20, 5 * (second + 1) - 1));
      expect(count).toBeLessThanOrEqual(5 * (second + 1) + 1);
    }
    await run;
  });

  test("tokens are counted as the responses say, once they do", async () => {
    server.reply(counted);
    // Each response says 500: so many are 60 a minute, whatever their bytes seemed to be.
    const run = finish({ rate: { tokensPerMinute: 30_000 }, concurrency: 2 }, 8);
    const counts = await arrivals(8);
    expect(counts.at(-2)).toBeLessThanOrEqual(10);
    expect(counts[3]).toBeLessThanOrEqual(7);
    await run;
  });

  test("more than the client's connections are never at once, and that is what is told", async () => {
    server.reply(counted);
    const told: number[] = [];
    const onAttempt = ({ concurrency }: RerankAllAttempt): void => void told.push(concurrency);
    const client = connect(server.url, { maxConnections: 5 });
    for await (const { error } of rerankAll(client, requestsOf(30), { concurrency: 200, onAttempt }))
      expect(error).toBeUndefined();
    expect(new Set(told)).toEqual(new Set([5]));
  });
});

describe("a run that is stopped", () => {
  function* endless(): Generator<RerankAllRequest> {
    for (let id = 0; ; id++) yield { id: `${id}`, query: `${id}`, documents: ["a"] };
  }

  describe("stopSending", () => {
    useNoBackoff();

    test("ends a run with CANCELLED after the results of the requests in flight, and sends nothing more", async () => {
      const held = hold(server);
      const results = rerankAll(connect(server.url), endless(), { concurrency: 3 });
      const run = endOf(results);
      await until(() => held.length === 3);
      stopSending(results);
      await turns();
      expect(await isPending(run)).toBe(true);
      for (const respond of held) respond();
      const { all, error } = await run;
      expect(all.map(({ id }) => id).sort()).toEqual(["0", "1", "2"]);
      expect(all.every(({ response }) => response)).toBe(true);
      expect(error).toMatchObject({ code: "CANCELLED", notDone: [], done: 3 });
      expect(server.requests).toHaveLength(3);
    });

    test.each([
      [503, "UNAVAILABLE"],
      [401, "UNAUTHENTICATED"],
    ])("retries nothing, and a %i meanwhile does not change why the run ended", async (status, code) => {
      const held = hold(server, { status, json: { code } });
      const results = rerankAll(connect(server.url), endless(), { concurrency: 2 });
      const run = endOf(results);
      await until(() => held.length === 2);
      stopSending(results);
      for (const respond of held) respond();
      expect(await run).toMatchObject({ all: [], error: { code: "CANCELLED", notDone: ["0", "1"] } });
      expect(server.requests).toHaveLength(2);
    });

    test("waits for no pause that the service asked for", async () => {
      server.reply((request) =>
        queryOf(request) === "0" ? { status: 429, headers: { "retry-after": "30" } } : good,
      );
      const results = rerankAll(connect(server.url), endless(), { concurrency: 1 });
      const run = endOf(results);
      await clock.waitsFor(30_000);
      stopSending(results);
      const { all, error } = await run;
      expect([all, error?.notDone]).toEqual([[], ["0"]]);
      expect(error).toMatchObject({
        code: "CANCELLED",
        codeSource: "client",
        inferred: true,
        executed: "no",
      });
      expect(error).not.toHaveProperty("httpStatus");
      expect(server.requests).toHaveLength(1);
    });

    test("before the first `next` sends nothing; after the last request it changes nothing", async () => {
      server.reply(good);
      const early = rerankAll(connect(server.url), endless());
      stopSending(early);
      expect(await endOf(early)).toMatchObject({ all: [], error: { code: "CANCELLED" } });
      expect(server.requests).toEqual([]);
      const late = rerankAll(connect(server.url), [{ id: "a", query: "0", documents: ["a"] }]);
      await late.next();
      stopSending(late);
      expect(await late.next()).toEqual({ done: true, value: undefined });
    });
  });

  describe("runBatches with `stop`", () => {
    useNoBackoff();

    test("begins nothing more, retries nothing, and lets what is in flight finish", async () => {
      const held: ServerResponse[] = [];
      const away: Reply = { status: 429, headers: { "retry-after": "20" } };
      server.reply((request, response) => {
        if (queryOf(request) === "0") return away;
        held.push(response);
        return undefined;
      });
      const client = connect(server.url);
      const stop = new AbortController();
      const results: unknown[] = [];
      const waits: unknown[] = [];
      const ended = runBatches({
        ...{ batches: 9, concurrency: 2, untilDeadline: false, signal: undefined, stop: stop.signal },
        ...{ timeoutMs: Number.POSITIVE_INFINITY, calls: [] },
        async run(batch, lane) {
          const onAttempt = ({ waitMs }: AttemptEvent) => waits.push(waitMs);
          const options = { timeoutMs: 60_000, maxRetries: 2, onAttempt, [attemptPolicy]: lane };
          const call = client.rerank({ query: `${batch}`, documents: ["a"] }, options);
          results[batch] = await call.catch((error: unknown) => error);
        },
      });
      await until(() => held.length === 1 && waits.length === 1);
      stop.abort();
      await until(() => results[0] !== undefined);
      expect(results[0]).toMatchObject({ code: "CANCELLED", attempts: [{ httpStatus: 429 }] });
      expect(await isPending(ended)).toBe(true);
      held[0]?.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(good.json));
      const failed = await soon(ended, "the end of the batches");
      expect(isStatusError(failed?.error, "CANCELLED")).toBe(true);
      expect(results[1]).toEqual(good.json);
      expect(server.requests).toHaveLength(2);
    });
  });
});
