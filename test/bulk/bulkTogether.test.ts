import { describe, expect, test, vi } from "vitest";
import {
  type RerankAllAttempt,
  type RerankAllError,
  type RerankAllOptions,
  type RerankAllRequest,
  rerankAll,
} from "../../src/bulk/index.js";
import { type Client, createClient } from "../../src/index.js";
import { useNoBackoff } from "../support/backoff.js";
import { queryOf } from "../support/bulkFiles.js";
import { collect, endOf, good, hold, requestsOf } from "../support/bulkRuns.js";
import { canaryKey } from "../support/canary.js";
import { connect } from "../support/clients.js";
import { useTestClock } from "../support/clock.js";
import { type Reply, useRecordingServer } from "../support/recordingServer.js";
import { isPending, turns, until } from "../support/turns.js";

const server = useRecordingServer();
const clock = useTestClock();
useNoBackoff();

describe("runs that go on together", () => {
  const asking = (seconds: number): Reply => ({ status: 429, headers: { "retry-after": `${seconds}` } });
  const body = { documents: ["a"] };

  const requests = (run: number, count: number): RerankAllRequest[] =>
    Array.from({ length: count }, (_, row) => ({ id: `${row}`, query: `${run}/${row}`, ...body }));

  const connect = (): Client => createClient({ baseUrl: server.url, apiKey: canaryKey });

  async function rank(
    client: Parameters<typeof rerankAll>[0],
    rows: RerankAllRequest[],
    options: RerankAllOptions = {},
  ): Promise<string[]> {
    const all = await collect(rerankAll(client, rows, options));
    return all.flatMap(({ id, error }) => (error ? [] : id));
  }

  test("ten runs of one client at once begin with four requests, take turns, and rank all rows", async () => {
    const held = hold(server);
    const client = connect();
    const running = Promise.all(
      Array.from({ length: 10 }, (_, run) =>
        rank(run === 9 ? client.withOptions({}) : client, requests(run, 6)),
      ),
    );
    await until(() => held.length === 4);
    await turns();
    expect(server.requests).toHaveLength(4);
    // Both are the first run's: it has one of their places again, and another run the other.
    for (const respond of held.splice(0, 2)) respond();
    await until(() => held.length === 4);
    expect(server.requests.slice(4).map((request) => queryOf(request))).toEqual(["0/4", "1/0"]);
    server.reply(() => good);
    for (const respond of held) respond();
    for (const ranked of await running) expect(ranked).toHaveLength(6);
    expect(server.requests).toHaveLength(60);
  });

  test("a 429 with Retry-After of one run holds the others of its client, and no run of another client", async () => {
    server.reply((request) =>
      queryOf(request) === "0/0" && server.requests.length === 1 ? asking(7) : good,
    );
    const client = connect();
    const first = rank(client, requests(0, 1));
    await clock.waitsFor(7000);
    const second = rank(client, requests(1, 2));
    expect(await rank(connect(), requests(2, 2))).toHaveLength(2);
    expect(server.requests).toHaveLength(3);
    await clock.pass(6999);
    await turns();
    expect(server.requests).toHaveLength(3);
    await clock.pass(1);
    expect(await first).toHaveLength(1);
    expect(await second).toHaveLength(2);
  });

  test("a Retry-After that is too long ends one run, and leaves a shorter one that holds another as it is", async () => {
    const held: Record<string, (reply: object) => void> = {};
    server.reply((request, response) => {
      if (server.requests.length > 2) return good;
      held[queryOf(request)] = (headers) => response.writeHead(429, { ...headers }).end();
      return undefined;
    });
    const client = connect();
    const first = rank(client, requests(0, 1));
    const second = rank(client, requests(1, 1)).catch((error: unknown) => error);
    await until(() => Object.keys(held).length === 2);
    held["0/0"]?.({ "retry-after": "7" });
    await clock.waitsFor(7000);
    held["1/0"]?.({ "retry-after": "100" });
    expect(await second).toMatchObject({ code: "RESOURCE_EXHAUSTED", retryAfterMs: 100_000 });
    const third = rank(client, requests(2, 1));
    await turns();
    expect(server.requests).toHaveLength(2);
    clock.pass(7000);
    expect([await first, await third]).toEqual([["0"], ["0"]]);
  });

  test("the random time after a pause ends no request that would have had time", async () => {
    vi.mocked(Math.random).mockReturnValue(0.999);
    const late: (() => void)[] = [];
    server.reply((request, response) => {
      if (server.requests.length > 2) return good;
      // The second is not asked to wait: it has as little time left.
      const headers = queryOf(request) === "0/0" ? { "retry-after": "9" } : {};
      late.push(() => response.writeHead(429, headers).end());
      return undefined;
    });
    const responded: string[] = [];
    const running = rank(connect(), requests(0, 2), {
      concurrency: 2,
      timeoutMs: 9100,
      onAttempt: ({ id, code }) => void (code ?? responded.push(id)),
    });
    await until(() => late.length === 2);
    for (const refuse of late) refuse();
    await clock.passWhenWaiting(9000);
    await until(() => responded.length === 1);
    clock.pass(10);
    await until(() => responded.length === 2);
    // What comes after them is asked for once the random time of the run is over.
    clock.pass(900);
    expect(await running).toEqual(["1", "0"]);
  });

  test("a run with a fixed concurrency has its own, whatever runs beside it", async () => {
    const held = hold(server);
    const client = connect();
    const running = [0, 1].map((run) => rank(client, requests(run, 5), { concurrency: 5 }));
    await until(() => held.length === 10);
    for (const respond of held) respond();
    await Promise.all(running);
  });

  test("a run begins with half of what the last run of its client found, and a run of another client with four", async () => {
    const beginsWith = async (client: Client, count: number): Promise<void> => {
      const held = hold(server);
      const running = rank(client, requests(0, 200));
      await until(() => held.length >= count);
      await turns();
      expect(held).toHaveLength(count);
      server.reply(() => good);
      for (const answer of held.splice(0)) answer();
      expect(await running).toHaveLength(200);
    };
    const client = connect();
    await beginsWith(client, 4);
    // The first run's limit came to the client's 128 connections.
    await beginsWith(client, 64);
    await beginsWith(client.withOptions({ accountId: "other" }), 4);
    await beginsWith(connect(), 4);
  });

  test.each([
    ["with other processes, waits a second", true, 1000],
    ["alone, does not", false, 0],
  ])("the place of a rejected request, in a run %s", async (_what, sharesService, waitMs) => {
    const held = hold(server);
    const running = rank(connect(), requests(0, 5), { sharesService });
    await until(() => held.length === 4);
    server.reply(() => ({ status: 429 }));
    // The limit is 4: what comes next is rejected, once.
    held.shift()?.();
    await until(() => server.requests.length === 5);
    server.reply(() => good);
    await turns();
    for (const respond of held) respond();
    if (waitMs > 0) {
      await clock.waitsFor(waitMs);
      expect(server.requests).toHaveLength(5);
      clock.pass(waitMs);
    }
    expect(await running).toHaveLength(5);
    expect(server.requests).toHaveLength(6);
  });

  test("a run that was aborted leaves its places to the others", async () => {
    server.reply((request) => (queryOf(request).startsWith("0/") ? undefined : good));
    const client = connect();
    const controller = new AbortController();
    const first = rank(client, requests(0, 9), { signal: controller.signal });
    await until(() => server.requests.length === 4);
    const second = rank(client, requests(1, 9));
    await turns();
    expect(server.requests).toHaveLength(4);
    controller.abort();
    await expect(first).rejects.toMatchObject({ code: "CANCELLED" });
    expect(await second).toHaveLength(9);
  });
});

describe("the pause that rows share", () => {
  const asking = (seconds: number, status = 429): Reply => ({
    status,
    headers: { "retry-after": `${seconds}`, "x-request-id": "req-7" },
  });

  interface Ended {
    /** The ids of the results, with the code of an error. */
    readonly results: string[];
    readonly error: RerankAllError | undefined;
  }

  async function run(count: number, options: RerankAllOptions): Promise<Ended> {
    const { all, error } = await endOf(rerankAll(connect(server.url), requestsOf(count), options));
    return { results: all.map(({ id, error }) => (error ? `${id} ${error.code}` : id)), error };
  }

  test.each([
    [429, "RESOURCE_EXHAUSTED"],
    [503, "UNAVAILABLE"],
  ])(
    "a %i that asks to wait an hour ends the run once the responses under way are delivered",
    async (status, code) => {
      const late: (() => void)[] = [];
      let refuse = (): void => {};
      server.reply((request, response) => {
        if (queryOf(request) === "0") return good;
        if (queryOf(request) === "1") refuse = () => response.writeHead(status, asking(3600).headers).end();
        else late.push(() => response.end(JSON.stringify(good.json)));
        // What begins in the place of the first is under way when the refusal comes.
        if (late.length === 3) refuse();
        return undefined;
      });
      const events: RerankAllAttempt[] = [];
      const onAttempt = (event: RerankAllAttempt): void => void events.push(event);
      const running = run(100, { concurrency: 4, onAttempt });
      await until(() => late.length === 3 && events.length === 2);
      expect(await isPending(running)).toBe(true);
      for (const respond of late) respond();
      const { results, error } = await running;
      expect(results.sort()).toEqual(["0", "2", "3", "4"]);
      expect(error).toMatchObject({
        code: "RESOURCE_EXHAUSTED",
        codeSource: "client",
        notRetried: "asked-to-wait-too-long",
        executed: "yes",
        retryAfterMs: 3_600_000,
        httpStatus: status,
        requestId: "req-7",
        attempts: [{ number: 1, httpStatus: status }],
        done: 4,
        notDone: ["1"],
        cause: { code },
      });
      expect(error?.message).toBe(
        "[RESOURCE_EXHAUSTED] The service asks to wait 3600 s, and the run waits no longer than 60 s (maxPauseMs). The run ended with 4 results and 1 request without a result. Send the rest after that time, or allow a longer wait with maxPauseMs.",
      );
      expect(events.find(({ id }) => id === "1")).toMatchObject({ pauseMs: 3_600_000, httpStatus: status });
      // There is no other attempt.
      expect(events.find(({ id }) => id === "1")).not.toHaveProperty("waitMs");
      expect(server.requests).toHaveLength(5);
    },
  );

  test("the longest of several waits that are too long is told, and all who were asked are not done", async () => {
    server.reply((request) => asking(Number(queryOf(request)) === 1 ? 86_400 : 3600));
    const { results, error } = await run(100, { concurrency: 3, timeoutMs: 1e9 });
    expect(results).toEqual([]);
    expect(error).toMatchObject({ retryAfterMs: 86_400_000, done: 0, notDone: ["0", "1", "2"] });
    expect(error).toMatchObject({ codeSource: "client", inferred: true, executed: "no" });
  });

  test("what fails while the run ends is a result, if it would fail again", async () => {
    const late: (() => void)[] = [];
    server.reply((request, response) => {
      if (queryOf(request) === "0") return asking(3600);
      const status = queryOf(request) === "1" ? 400 : 503;
      late.push(() => response.writeHead(status).end());
      return undefined;
    });
    const running = run(100, { concurrency: 3 });
    await until(() => late.length === 2);
    for (const respond of late) respond();
    const { results, error } = await running;
    expect(results).toEqual(["1 INVALID_ARGUMENT"]);
    expect(error).toMatchObject({ done: 1, notDone: ["0", "2"] });
    expect(server.requests).toHaveLength(3);
  });

  test("results that nobody asked for yet, and those out of order, come before the error", async () => {
    const late: (() => void)[] = [];
    server.reply((request, response) => {
      if (queryOf(request) === "0") {
        late.push(() => response.writeHead(429, { "retry-after": "61" }).end());
        return undefined;
      }
      return good;
    });
    const running = run(3, { concurrency: 3, ordered: true });
    await until(() => late.length === 1 && server.requests.length === 3);
    late[0]?.();
    const { results, error } = await running;
    expect(results).toEqual(["1", "2"]);
    expect(error).toMatchObject({ done: 2, notDone: ["0"] });
  });

  test.each<[what: string, seconds: number, options: RerankAllOptions]>([
    ["a pause of exactly maxPauseMs", 60, { timeoutMs: 150_000 }],
    [
      "any pause where maxPauseMs is Infinity",
      86_400,
      { maxPauseMs: Number.POSITIVE_INFINITY, timeoutMs: 1e9 },
    ],
  ])("%s is waited for, and told", async (_what, seconds, options) => {
    const seen: unknown[] = [];
    server.reply(() => (server.requests.length === 1 ? asking(seconds) : good));
    const onAttempt = ({ pauseMs, waitMs }: RerankAllAttempt): void => void seen.push([pauseMs, waitMs]);
    const running = run(2, { concurrency: 1, onAttempt, ...options });
    const ms = seconds * 1000;
    await clock.passWhenWaiting(ms);
    expect(await running).toEqual({ results: ["0", "1"], error: undefined });
    expect(seen).toEqual([[ms, ms], ...Array(2).fill([undefined, undefined])]);
  });

  test("maxPauseMs: 0 waits for no Retry-After, but goes on after one of 0 s and after a failure without one", async () => {
    server.reply(() => [{ status: 503 }, asking(0), good, asking(1)][server.requests.length - 1] ?? good);
    const { results, error } = await run(3, { concurrency: 1, maxPauseMs: 0 });
    expect(results).toEqual(["0"]);
    expect(error).toMatchObject({ retryAfterMs: 1000, done: 1, notDone: ["1"] });
    expect(error?.message).toContain(
      "The service asks to wait 1 s, and the run never waits (maxPauseMs is 0).",
    );
  });

  test("a Retry-After of what is not tried again holds nothing", async () => {
    server.reply(() => (server.requests.length === 1 ? asking(3600, 400) : good));
    const seen: unknown[] = [];
    const onAttempt = ({ pauseMs }: RerankAllAttempt): void => void seen.push(pauseMs);
    const { results } = await run(2, { concurrency: 1, onAttempt });
    expect(results).toEqual(["0 INVALID_ARGUMENT", "1"]);
    expect(seen).toEqual([undefined, undefined]);
  });
});
