import { describe, expect, test } from "vitest";
import type { Client, ClientOptions } from "../src/index.js";
import { done, inTurn, silence, unavailable } from "./support/answers.js";
import { connect, failureOf, operationCalls, transports } from "./support/clients.js";
import { type Reply, useRecordingServer } from "./support/recordingServer.js";

const server = useRecordingServer();
// Far from any wait that a test expects, however busy the machine.
const atOnceMs = 1000;
const later = (seconds: number): Reply => ({ ...unavailable, headers: { "retry-after": `${seconds}` } });

async function timed<T>(run: () => Promise<T>): Promise<{ result: T; elapsedMs: number }> {
  const started = performance.now();
  const result = await run();
  return { result, elapsedMs: performance.now() - started };
}

describe.each(transports)("over $name", ({ options }) => {
  const retrying = (more: ClientOptions = {}): Client =>
    connect(server.url, { maxRetries: 2, ...options, ...more });

  describe.each(operationCalls)("$operation", ({ operation, call }) => {
    test("aborted during a wait rejects at once with CANCELLED", async () => {
      server.reply(later(20));
      const controller = new AbortController();
      const reason = new Error("the user went away");
      const waits: (number | undefined)[] = [];
      const { result: error, elapsedMs } = await timed(() =>
        failureOf(() =>
          call(retrying(), {
            signal: controller.signal,
            onAttempt: (event) => {
              waits.push(event.waitMs);
              setTimeout(() => controller.abort(reason), 20);
            },
          }),
        ),
      );
      expect(error).toMatchObject({
        code: "CANCELLED",
        executed: "unknown",
        codeSource: "client",
        operation,
      });
      expect(error.cause).toBe(reason);
      expect(waits).toEqual([20_000]);
      expect(error.attempts.map(({ code }) => code)).toEqual(["UNAVAILABLE"]);
      expect(elapsedMs).toBeLessThan(atOnceMs);
      expect(server.requests).toHaveLength(1);
    });

    test("aborted by its own onAttempt waits for nothing", async () => {
      server.reply(later(20));
      const controller = new AbortController();
      const { result: error, elapsedMs } = await timed(() =>
        failureOf(() => call(retrying(), { signal: controller.signal, onAttempt: () => controller.abort() })),
      );
      expect(error).toMatchObject({ code: "CANCELLED", executed: "unknown" });
      expect(elapsedMs).toBeLessThan(atOnceMs);
    });

    test("rejects at once with the last error when the wait would outlast the deadline", async () => {
      server.reply(later(5));
      const { result: error, elapsedMs } = await timed(() =>
        failureOf(() => call(retrying(), { timeoutMs: 4500 })),
      );
      expect(error).toMatchObject({ code: "UNAVAILABLE", retryAfterMs: 5000, httpStatus: 503 });
      expect(elapsedMs).toBeLessThan(atOnceMs);
      expect(server.requests).toHaveLength(1);
    });

    test("is never repeated earlier than the server asked", async () => {
      const times: number[] = [];
      const asked: Reply = { ...unavailable, headers: { "retry-after-ms": "400" } };
      server.reply(() => {
        times.push(performance.now());
        return times.length === 1 ? asked : done;
      });
      await call(retrying());
      expect(times).toHaveLength(2);
      expect(Number(times[1]) - Number(times[0])).toBeGreaterThanOrEqual(399);
    });

    test("ends an attempt after attemptTimeoutMs, and repeats it where that is safe", async () => {
      server.reply(inTurn(silence, done));
      const running = call(retrying(), { attemptTimeoutMs: 300 });
      if (operation === "rerankDocuments" || operation === "scaleDeployment") {
        const { attempts } = await running.withResponse();
        expect(attempts.map(({ code }) => code)).toEqual(["DEADLINE_EXCEEDED", undefined]);
        expect(server.requests).toHaveLength(2);
      } else {
        const error = await failureOf(() => running);
        expect(error).toMatchObject({ code: "DEADLINE_EXCEEDED", executed: "unknown", inferred: true });
        expect(error.message).toContain("attemptTimeoutMs");
        expect(server.requests).toHaveLength(1);
      }
    });
  });

  test("where repeating is safe an attempt takes half of the time, and a second one fits", async () => {
    server.reply(inTurn(silence, done));
    const { attempts } = await retrying({ timeoutMs: 2000 })
      .rerank({ query: "q", documents: ["d"] })
      .withResponse();
    expect(attempts.map(({ code }) => code)).toEqual(["DEADLINE_EXCEEDED", undefined]);
    expect(attempts[0]?.durationMs).toBeGreaterThanOrEqual(998);
    expect(attempts[0]?.durationMs).toBeLessThan(1250);
  });

  test("with repeatable false an attempt may take all of the time", async () => {
    server.reply(silence);
    const error = await failureOf(() =>
      retrying().rerank({ query: "q", documents: ["d"] }, { timeoutMs: 600, repeatable: false }),
    );
    expect(error).toMatchObject({ code: "DEADLINE_EXCEEDED", executed: "unknown" });
    expect(error.attempts[0]?.durationMs).toBeGreaterThanOrEqual(595);
    expect(server.requests).toHaveLength(1);
  });

  test("the deadline counts the waits and all attempts", async () => {
    server.reply(silence);
    const { result: error, elapsedMs } = await timed(() =>
      failureOf(() =>
        retrying().rerank({ query: "q", documents: ["d"] }, { timeoutMs: 900, attemptTimeoutMs: 400 }),
      ),
    );
    expect(error).toMatchObject({ code: "DEADLINE_EXCEEDED", executed: "unknown" });
    expect(elapsedMs).toBeLessThan(900 + 250);
    expect(server.requests.length).toBeLessThanOrEqual(2);
  });
});

describe.each(operationCalls)("over node:http $operation that waits for a socket", ({ call }) => {
  test("until its deadline was never sent, and attemptTimeoutMs has not begun", async () => {
    server.reply(silence);
    const client = connect(server.url, { maxRetries: 2, maxConnections: 1 });
    const controller = new AbortController();
    const first = failureOf(() => client.deployments.scale("prod", 1, { signal: controller.signal }));
    await server.received();
    const { result: error, elapsedMs } = await timed(() =>
      failureOf(() => call(client, { timeoutMs: 400, attemptTimeoutMs: 100 })),
    );
    expect(error).toMatchObject({ code: "DEADLINE_EXCEEDED", executed: "no" });
    expect(error.message).toContain("(timeoutMs)");
    expect(elapsedMs).toBeGreaterThanOrEqual(398);
    expect(server.requests).toHaveLength(1);
    controller.abort();
    await first;
  });
});
