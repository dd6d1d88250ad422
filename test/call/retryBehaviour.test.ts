import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import type { AttemptEvent, Client } from "../../src/index.js";
import { done, inTurn, reset, unavailable } from "../support/answers.js";
import { useNoBackoff } from "../support/backoff.js";
import { canaryKey } from "../support/canary.js";
import { connect, failureOf, operationCalls, transports } from "../support/clients.js";
import { type Reply, type Script, useRecordingServer } from "../support/recordingServer.js";

const server = useRecordingServer();
useNoBackoff();
const refusedKey: Reply = { status: 401, json: { code: "UNAUTHENTICATED" } };
const missing: Reply = { status: 404, json: { code: "NOT_FOUND" } };

function keysSeen(): (string | undefined)[] {
  return server.requests.map(({ headers }) => headers.authorization);
}

function keyFunction(): () => string {
  let asked = 0;
  return () => `key-${++asked}`;
}

describe.each(transports)("over $name", ({ options }) => {
  const retrying = (more: object = {}): Client => connect(server.url, { maxRetries: 2, ...options, ...more });

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
      const headers = { "x-request-id": "r-1" };
      const secret = { status: 503, json: { code: "UNAVAILABLE", message: "the body's own words" }, headers };
      server.reply(inTurn(secret, secret, { ...done, headers: { "request-id": "r-3" } }));
      const events: AttemptEvent[] = [];
      await call(retrying(), { onAttempt: (event) => events.push(event) });
      const target = { operation, method, path, host: new URL(server.url).host };
      const failed = {
        ...target,
        code: "UNAVAILABLE",
        httpStatus: 503,
        requestId: "r-1",
        durationMs: expect.any(Number),
        waitMs: expect.any(Number),
      };
      expect(events).toEqual([
        { ...failed, number: 1 },
        { ...failed, number: 2 },
        { ...target, number: 3, httpStatus: 200, requestId: "r-3", durationMs: expect.any(Number) },
      ]);
      const text = inspect(events, { depth: Number.POSITIVE_INFINITY, showHidden: true });
      for (const hidden of [canaryKey, "the body's own words", "capital of France", "good"]) {
        expect(text).not.toContain(hidden);
      }
    });
  });

  test("ignores what onAttempt throws", async () => {
    server.reply(inTurn(unavailable, done));
    const onAttempt = () => {
      throw new Error("the log is full");
    };
    const { attempts } = await retrying().deployments.scale("prod", 1, { onAttempt }).withResponse();
    expect(attempts.map(({ httpStatus }) => httpStatus)).toEqual([503, 200]);
  });

  test("lists every attempt on the error", async () => {
    server.reply(inTurn(unavailable, unavailable, reset));
    const error = await failureOf(() => retrying().deployments.scale("prod", 1));
    expect(error.attempts).toEqual([
      { number: 1, code: "UNAVAILABLE", httpStatus: 503, durationMs: expect.any(Number) },
      { number: 2, code: "UNAVAILABLE", httpStatus: 503, durationMs: expect.any(Number) },
      { number: 3, code: "UNAVAILABLE", durationMs: expect.any(Number), cause: expect.any(Error) },
    ]);
    // To the microsecond.
    for (const { durationMs } of error.attempts) expect(`${durationMs}`).toMatch(/^\d+(\.\d{1,3})?$/);
  });

  test("onAttempt of the client hears of calls that bring none of their own", async () => {
    const heard: number[] = [];
    server.reply(inTurn(unavailable, done));
    await retrying({ onAttempt: ({ number }: AttemptEvent) => heard.push(number) }).deployments.scale("p", 1);
    expect(heard).toEqual([1, 2]);
  });

  test("a second 401 ends the call", async () => {
    server.reply(refusedKey);
    const error = await failureOf(() => retrying({ apiKey: keyFunction() }).deployments.scale("prod", 1));
    expect(error).toMatchObject({ code: "UNAUTHENTICATED", executed: "no" });
    expect(keysSeen()).toEqual(["Bearer key-1", "Bearer key-2"]);
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
