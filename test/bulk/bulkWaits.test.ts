import { describe, expect, test } from "vitest";
import { type RerankAllAttempt, type RerankAllOptions, rerankAll } from "../../src/bulk/index.js";
import type { StatusError } from "../../src/index.js";
import { useNoBackoff } from "../support/backoff.js";
import { queryOf } from "../support/bulkFiles.js";
import { collect, good, requestsOf } from "../support/bulkRuns.js";
import { connect } from "../support/clients.js";
import { useTestClock } from "../support/clock.js";
import { type Reply, useRecordingServer } from "../support/recordingServer.js";
import { isPending, turns, until } from "../support/turns.js";

const server = useRecordingServer();
const clock = useTestClock();

describe("a row that waits", () => {
  useNoBackoff();

  const away: Reply = { status: 503, json: { code: "UNAVAILABLE" } };
  const busy = (seconds: number): Reply => ({ status: 429, headers: { "retry-after": `${seconds}` } });

  // Node waits for no timer of the test's clock, so each response is waited for.
  async function settle(): Promise<void> {
    for (let seen = -1; seen !== server.requests.length; ) {
      seen = server.requests.length;
      await turns();
      if (server.requests.length === seen) await turns(60);
    }
  }

  test("one Retry-After holds back every worker, and nothing is sent earlier", async () => {
    server.reply((request) => (queryOf(request) === "1" && server.requests.length < 4 ? busy(30) : good));
    const run = collect(rerankAll(connect(server.url), requestsOf(20), { concurrency: 2 }));
    await clock.waitsFor(30_000);
    await settle();
    const before = server.requests.length;
    expect(before).toBeLessThan(5);
    clock.pass(29_999);
    await settle();
    expect(server.requests).toHaveLength(before);
    clock.pass(1);
    expect((await run).filter(({ error }) => error)).toEqual([]);
    expect(server.requests).toHaveLength(21);
  });

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

  test("in an outage one attempt at a time finds out when the service is back, and nothing is lost", async () => {
    const count = 60;
    let [open, most] = [0, 0];
    server.reply((request, response) => {
      open += 1;
      response.on("finish", () => {
        open -= 1;
      });
      const { length } = server.requests;
      const isAway = length >= 20 && length < 50;
      // Those that were in flight as it went away have failed by then.
      if (isAway && length >= 40) most = Math.max(most, open);
      return isAway ? away : queryOf(request) ? good : undefined;
    });
    const results = await collect(rerankAll(connect(server.url), requestsOf(count), { concurrency: 8 }));
    expect(results.filter(({ error }) => error)).toEqual([]);
    expect(server.requests).toHaveLength(count + 30);
    expect(most).toBe(1);
  });

  test("concurrency adapts: four at first, doubled until the service refuses, then as many as it took", async () => {
    const waiting: ((status: number) => void)[] = [];
    server.reply((_request, response) => {
      waiting.push((status) => response.writeHead(status).end(JSON.stringify(good.json)));
      return undefined;
    });
    // Responds to all that are under way after 200 ms, all but so many with a refusal, and sees how many are under way then.
    const round = async (count: number, most = Number.POSITIVE_INFINITY): Promise<number> => {
      await until(() => waiting.length >= count);
      await settle();
      const there = waiting.splice(0);
      // A refusal takes no time.
      for (const respond of there.slice(most)) respond(429);
      if (there.length > most) await until(() => refused() === there.length - most);
      const held = waiting.splice(0);
      clock.pass(200);
      for (const respond of [...there.slice(0, most), ...held]) respond(200);
      return there.length;
    };
    const events: RerankAllAttempt[] = [];
    const refused = (): number => events.filter(({ code }) => code).length;
    const onAttempt = (event: RerankAllAttempt): void => void events.push(event);
    const run = collect(rerankAll(connect(server.url), requestsOf(1000), { onAttempt }));
    // What a larger number brings is known once those that began with it get a response.
    expect([await round(4), await round(8), await round(8)]).toEqual([4, 8, 8]);
    expect(await round(16, 10)).toBe(16);
    expect([await round(10), await round(10)]).toEqual([10, 10]);
    expect(events[0]).toMatchObject({ id: "0", number: 1, httpStatus: 200, concurrency: 4 });
    expect(events.filter(({ code }) => code).at(-1)).toMatchObject({
      waitMs: 0,
      concurrency: 10,
      httpStatus: 429,
    });
    server.reply(good);
    await settle();
    for (const respond of waiting.splice(0)) respond(200);
    expect(await run).toHaveLength(1000);
  });
});

describe("a rate", () => {
  const counted: Reply = { json: { ...Object(good.json), usage: { total_tokens: 500 } } };
  async function finish(options: RerankAllOptions, count: number): Promise<void> {
    for await (const { error } of rerankAll(connect(server.url), requestsOf(count), options))
      if (error) throw error;
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

  test.each<[unknown, string]>([
    [{ rate: { requestsPerMinute: 0 } }, "rate.requestsPerMinute must be greater than 0, not 0."],
    [
      { rate: { requestPerMinute: 5 } },
      "Unknown option rate.requestPerMinute: did you mean requestsPerMinute?",
    ],
    [{ rate: { tokensPerMinute: "many" } }, "rate.tokensPerMinute must be a number."],
    [{ rate: 600 }, "rate must be an object"],
    [{ concurrency: { max: 0 } }, "concurrency.max must be at least 1, not 0."],
    // Of several the first is named.
    [{ concurrency: 0, maxPauseMs: -1 }, "concurrency must be at least 1, not 0."],
    [{ maxPauseMs: -1, concurrency: 0 }, "maxPauseMs must be at least 0, not -1."],
    [{ maxPauseMs: Number.NEGATIVE_INFINITY }, "maxPauseMs must be at least 0, not -Infinity."],
    [{ maxPauseMs: Number.NaN }, "maxPauseMs must be a number of milliseconds, or Infinity."],
    [{ maxPauseMs: null }, "maxPauseMs must be a number of milliseconds, or Infinity."],
    [{ concurrency: { most: 5 } }, "Unknown option concurrency.most"],
  ])("%j is refused before anything is sent", (options, message) => {
    expect(() => rerankAll(connect(server.url), [], options as RerankAllOptions)).toThrow(message);
  });
});
