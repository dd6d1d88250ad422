import { describe, expect, test, vi } from "vitest";
import type { Client, ClientOptions } from "../../src/index.js";
import { useNoBackoff } from "../support/backoff.js";
import { connect, failureOf, operationCalls, transports } from "../support/clients.js";
import { useTestClock } from "../support/clock.js";
import { type Reply, useRecordingServer } from "../support/recordingServer.js";
import { done, inTurn, silence, unavailable } from "../support/responses.js";
import { isPending, turns } from "../support/turns.js";

const server = useRecordingServer();
useNoBackoff();

// Time stands still unless a test moves it: what ends without that ended at once.
const clock = useTestClock();

const later = (seconds: number): Reply => ({ ...unavailable, headers: { "retry-after": `${seconds}` } });

describe.each(transports)("over $name", ({ options }) => {
  const retrying = (more: ClientOptions = {}): Client =>
    connect(server.url, { maxRetries: 2, ...options, ...more });

  describe.each(operationCalls)("$operation", ({ call }) => {
    test("is repeated a random time after what the service asked for, which leaves it nearly all of its time", async () => {
      vi.mocked(Math.random).mockReturnValue(0.5);
      for (const [timeoutMs, waitMs] of [
        [60_000, 20_000 + 1_000],
        [21_000, 20_000 + 50],
      ] as const) {
        server.reply(inTurn(later(20), done));
        const running = call(retrying(), { timeoutMs });
        await clock.waitsFor(waitMs);
        clock.pass(waitMs - 1);
        await turns();
        expect(server.requests).toHaveLength(1);
        clock.pass(1);
        await running;
        expect(server.requests).toHaveLength(2);
        server.reset();
      }
    });

    test("is not repeated early by a timer that fires early", async () => {
      const asked: Reply = { ...unavailable, headers: { "retry-after-ms": "400" } };
      server.reply(inTurn(asked, done));
      clock.shortenNext(400, 399);
      const running = call(retrying());
      await clock.passWhenWaiting(399);
      await turns();
      expect(server.requests).toHaveLength(1);
      await clock.passWhenWaiting(1);
      await running;
      expect(server.requests).toHaveLength(2);
    });
  });

  const rerank = { query: "q", documents: ["d"] };

  test("where repeating is safe an attempt takes half of the time, and a second one fits", async () => {
    server.reply(inTurn(silence, done));
    const running = retrying({ timeoutMs: 2000 }).rerank(rerank).withResponse();
    await server.received();
    clock.pass(998);
    await turns();
    expect(server.requests).toHaveLength(1);
    clock.pass(2);
    await clock.passWhenWaiting(0);
    const { attempts } = await running;
    expect(attempts.map(({ code }) => code)).toEqual(["DEADLINE_EXCEEDED", undefined]);
    expect(attempts[0]?.durationMs).toBeGreaterThanOrEqual(998);
    expect(attempts[0]?.durationMs).toBeLessThanOrEqual(1000);
  });

  test("with idempotent false an attempt may take all of the time", async () => {
    server.reply(silence);
    const running = failureOf(() => retrying().rerank(rerank, { timeoutMs: 600, idempotent: false }));
    await server.received();
    clock.pass(590);
    expect(await isPending(running)).toBe(true);
    clock.pass(10);
    expect(await running).toMatchObject({ code: "DEADLINE_EXCEEDED", executed: "unknown" });
    expect(server.requests).toHaveLength(1);
  });

  test("the deadline counts the waits and all attempts", async () => {
    server.reply(silence);
    const running = failureOf(() => retrying().rerank(rerank, { timeoutMs: 900, attemptTimeoutMs: 400 }));
    await server.received();
    clock.pass(400);
    await clock.passWhenWaiting(0);
    await server.received(2);
    // A second attempt that may take 400 ms meets the deadline after 500.
    clock.pass(500);
    expect(await running).toMatchObject({ code: "DEADLINE_EXCEEDED", executed: "unknown" });
    expect(server.requests.length).toBeLessThanOrEqual(2);
  });
});

describe.each(operationCalls)("over node:http $operation that waits for a socket", ({ call, operation }) => {
  test("until its deadline was never sent, and attemptTimeoutMs has not begun", async () => {
    server.reply(silence);
    const client = connect(server.url, { maxRetries: 2, maxConnections: 1, connectTimeoutMs: 50 });
    const controller = new AbortController();
    const first = failureOf(() => client.deployments.scale("first", 1, { signal: controller.signal }));
    await server.received();
    const waiting = failureOf(() => call(client, { timeoutMs: 400, attemptTimeoutMs: 100 }));
    await clock.passWhenWaiting(100);
    clock.pass(298);
    expect(await isPending(waiting)).toBe(true);
    clock.pass(2);
    const error = await waiting;
    expect(error).toMatchObject({ code: "DEADLINE_EXCEEDED", executed: "no", operation });
    expect(error.message).toContain("(timeoutMs)");
    controller.abort();
    await first;
    // Nor is it sent when the socket is free again.
    server.reply(done);
    await client.deployments.scale("last", 1);
    expect(server.requests.map(({ url }) => /\w+(?=:scale)/.exec(url)?.[0])).toEqual(["first", "last"]);
  });
});
