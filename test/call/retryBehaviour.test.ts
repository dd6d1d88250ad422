import { getEventListeners } from "node:events";
import { setImmediate as turn } from "node:timers/promises";
import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import type { AttemptEvent, Client } from "../../src/index.js";
import { useNoBackoff } from "../support/backoff.js";
import { canaryKey } from "../support/canary.js";
import { connect, failureOf, operationCalls, transports } from "../support/clients.js";
import { type Reply, type Script, useRecordingServer } from "../support/recordingServer.js";
import { done, inTurn, reset, unavailable } from "../support/responses.js";

const server = useRecordingServer();
useNoBackoff();

describe("a call that is repeated", () => {
  const refusedKey: Reply = { status: 401, json: { code: "UNAUTHENTICATED" } };
  const missing: Reply = { status: 404, json: { code: "NOT_FOUND" } };

  const keysSeen = () => server.requests.map(({ headers }) => headers.authorization);
  const keyFunction = (asked = 0) => {
    return () => `key-${++asked}`;
  };

  describe.each(transports)("over $name", ({ options }) => {
    const retrying = (more: object = {}): Client =>
      connect(server.url, { maxRetries: 2, ...options, ...more });

    describe.each(operationCalls)("$operation", ({ operation, method, path, call }) => {
      test("asks the key function afresh for each attempt", async () => {
        server.reply(inTurn(unavailable, unavailable, done));
        await call(retrying({ apiKey: keyFunction() }));
        expect(keysSeen()).toEqual(["Bearer key-1", "Bearer key-2", "Bearer key-3"]);
      });

      test("is sent once more with a fresh key after a 401, without a wait", async () => {
        server.reply(inTurn(refusedKey, done));
        const events: AttemptEvent[] = [];
        await call(retrying({ apiKey: keyFunction() }), { onAttempt: (event) => events.push(event) });
        expect(keysSeen()).toEqual(["Bearer key-1", "Bearer key-2"]);
        expect(events.map(({ waitMs }) => waitMs)).toEqual([0, undefined]);
      });

      test("tells onAttempt of every attempt, never the key or a body", async () => {
        const json = { code: "UNAVAILABLE", message: "the body's own words" };
        const secret = { status: 503, json, headers: { "x-request-id": "r-1" } };
        server.reply(inTurn(secret, secret, { ...done, headers: { "request-id": "r-3" } }));
        const events: AttemptEvent[] = [];
        await call(retrying(), { onAttempt: (event) => events.push(event) });
        const target = { operation, method, path, host: new URL(server.url).host };
        const durationMs = expect.any(Number);
        const details = { code: "UNAVAILABLE", httpStatus: 503, requestId: "r-1" };
        const failed = { ...target, ...details, durationMs, waitMs: expect.any(Number) };
        expect(events).toEqual([
          { ...failed, number: 1 },
          { ...failed, number: 2 },
          { ...target, number: 3, httpStatus: 200, requestId: "r-3", durationMs },
        ]);
        const text = inspect(events, { depth: Number.POSITIVE_INFINITY, showHidden: true });
        for (const hidden of [canaryKey, "the body's own words", "capital of France", "good"]) {
          expect(text).not.toContain(hidden);
        }
      });
    });

    test("lists every attempt on the error", async () => {
      const named: Reply = { ...unavailable, headers: { "x-request-id": "r-2" } };
      server.reply(inTurn(unavailable, named, reset));
      const error = await failureOf(() => retrying().deployments.scale("prod", 1));
      expect(error.attempts).toEqual([
        { number: 1, code: "UNAVAILABLE", httpStatus: 503, durationMs: expect.any(Number) },
        { number: 2, code: "UNAVAILABLE", httpStatus: 503, requestId: "r-2", durationMs: expect.any(Number) },
        { number: 3, code: "UNAVAILABLE", durationMs: expect.any(Number), cause: expect.any(Error) },
      ]);
      // To the microsecond.
      for (const { durationMs } of error.attempts) expect(`${durationMs}`).toMatch(/^\d+(\.\d{1,3})?$/);
    });

    const cutShort: Script = (_request, response) => {
      response.writeHead(200, { "content-length": "100" });
      response.write("{", () => response.destroy());
      return undefined;
    };
    const busy: Reply = { status: 429, headers: { "retry-after-ms": "1" }, json: {} };

    test.each([
      ["unknown, then no", inTurn(reset, missing), "unknown"],
      ["no, then unknown", inTurn(busy, { status: 500, json: { code: "DATA_LOSS" } }), "unknown"],
      ["yes, then no", inTurn(cutShort, missing), "yes"],
      ["yes, then unknown", inTurn(cutShort, { status: 500, json: { code: "DATA_LOSS" } }), "yes"],
      ["no, then no", inTurn(busy, missing), "no"],
    ])("executed is the worst of all attempts: %s", async (_what, script, executed) => {
      server.reply(script);
      const error = await failureOf(() => retrying().rerank({ query: "q", documents: ["d"] }));
      expect(server.requests).toHaveLength(2);
      expect(error.executed).toBe(executed);
      if (executed !== "no") expect(error.hint).toBeTruthy();
    });

    test("a repeated request is the same request", async () => {
      server.reply(inTurn(unavailable, unavailable, done));
      await retrying().rerank({ query: "q", documents: ["d"] }, { headers: { "x-trace": "1" } });
      const sent = server.requests.map(({ method, url, headers, body }) => [method, url, headers, `${body}`]);
      expect(sent).toHaveLength(3);
      for (const one of sent) expect(one).toEqual(sent[0]);
    });
  });
});

describe("the time and the number of repeats", () => {
  const retrying = (): Client => connect(server.url, { maxRetries: 2 });
  const failing = (client: Client, count: number): Promise<unknown>[] =>
    Array.from({ length: count }, () => failureOf(() => client.deployments.scale("prod", 1)));

  test.each<[what: string, clients: (client: Client) => Client[], budgets: number]>([
    ["calls on one client", (client) => [client, client, client, client, client], 1],
    [
      "clients made with withOptions, which share a budget",
      (client) => [client, client.withOptions({ timeoutMs: 20_000 }), client.withOptions({ maxRetries: 1 })],
      1,
    ],
    ["clients created apart, with a budget each", (client) => [client, retrying()], 2],
  ])("in a total outage %s send ten requests more than there are calls", async (_what, make, budgets) => {
    server.reply(unavailable);
    const clients = make(retrying());
    await Promise.all(clients.flatMap((one) => failing(one, 10)));
    expect(server.requests).toHaveLength(10 * clients.length + 10 * budgets);
  });

  test("successes give back what retries need", async () => {
    const client = retrying();
    server.reply(unavailable);
    await Promise.all(failing(client, 20));
    server.reply(done);
    for (let i = 0; i < 10; i += 1) await client.deployments.scale("prod", 1);
    server.reset();
    server.reply(unavailable);
    await Promise.all(failing(client, 5));
    expect(server.requests).toHaveLength(5 + 1);
  });

  test("50 calls at once on one signal put one listener on it, and leave none", async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const client = retrying();
    const listeners: number[] = [];
    const onAttempt = () => void listeners.push(getEventListeners(signal, "abort").length);
    let calls = 0;
    server.reply(() => (++calls % 5 === 0 ? unavailable : done));
    await Promise.allSettled(
      Array.from({ length: 50 }, (_, i) =>
        operationCalls[i % operationCalls.length]?.call(client, { signal, onAttempt }),
      ),
    );
    await turn();
    expect(Math.max(...listeners)).toBe(1);
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });
});
