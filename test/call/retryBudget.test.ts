import { getEventListeners } from "node:events";
import { setImmediate as turn } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Client } from "../../src/index.js";
import { done, unavailable } from "../support/answers.js";
import { useNoBackoff } from "../support/backoff.js";
import { connect, failureOf, operationCalls, transports } from "../support/clients.js";
import { useRecordingServer } from "../support/recordingServer.js";

const server = useRecordingServer();
useNoBackoff();
const warnings: Error[] = [];
const warned = (warning: Error): void => {
  warnings.push(warning);
};

beforeEach(() => {
  warnings.length = 0;
  process.on("warning", warned);
});
afterEach(() => {
  process.off("warning", warned);
});

describe.each(transports)("over $name", ({ options }) => {
  const retrying = (): Client => connect(server.url, { maxRetries: 2, ...options });
  const failing = (client: Client, count: number): Promise<unknown>[] =>
    Array.from({ length: count }, () => failureOf(() => client.deployments.scale("prod", 1)));

  test("in a total outage 50 calls on one client send 50 + 10 requests", async () => {
    server.reply(unavailable);
    await Promise.all(failing(retrying(), 50));
    expect(server.requests).toHaveLength(60);
  });

  test("in a total outage 50 calls one after another send 50 + 10 requests", async () => {
    server.reply({ ...unavailable, headers: { "retry-after-ms": "1" } });
    const client = retrying();
    for (let i = 0; i < 50; i += 1) await Promise.all(failing(client, 1));
    expect(server.requests).toHaveLength(60);
  });

  test("the operations share the budget", async () => {
    server.reply(unavailable);
    const client = retrying();
    await Promise.all(
      operationCalls.flatMap(({ call }) => [1, 2, 3].map(() => failureOf(() => call(client)))),
    );
    expect(server.requests).toHaveLength(12 + 10);
  });

  test("clients made with withOptions share the budget", async () => {
    server.reply(unavailable);
    const client = retrying();
    const clients = [
      client,
      client.withOptions({ timeoutMs: 20_000 }),
      client.withOptions({ maxRetries: 5 }),
    ];
    await Promise.all(clients.flatMap((one) => failing(one, 10)));
    expect(server.requests).toHaveLength(30 + 10);
  });

  test("clients created apart have a budget each", async () => {
    server.reply(unavailable);
    await Promise.all([retrying(), retrying()].flatMap((one) => failing(one, 10)));
    expect(server.requests).toHaveLength(20 + 20);
  });

  test("successes give back what repeats need", async () => {
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

  test("an empty budget changes nothing of the error", async () => {
    server.reply(unavailable);
    const client = retrying();
    await Promise.all(failing(client, 20));
    expect(await failureOf(() => client.deployments.scale("prod", 1))).toMatchObject({
      code: "UNAVAILABLE",
      codeSource: "body",
      httpStatus: 503,
      attempts: [{ number: 1 }],
    });
  });

  test("50 calls at once on one signal put one listener on it, and leave none", async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const client = retrying();
    const listeners: number[] = [];
    const onAttempt = (): void => {
      listeners.push(getEventListeners(signal, "abort").length);
    };
    let calls = 0;
    server.reply(() => (++calls % 5 === 0 ? unavailable : done));
    await Promise.allSettled(
      Array.from({ length: 50 }, (_, i) => operationCalls[i % 4]?.call(client, { signal, onAttempt })),
    );
    await turn();
    expect(Math.max(...listeners)).toBe(1);
    expect(getEventListeners(signal, "abort")).toEqual([]);
    expect(warnings).toEqual([]);
  });

  test("one abort ends 50 calls, in their waits too, and leaves no listener", async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const client = retrying();
    server.reply({ ...unavailable, headers: { "retry-after": "20" } });
    let heard = 0;
    const onAttempt = (): void => {
      // By then they all wait.
      if (++heard === 50) setImmediate(() => controller.abort());
    };
    const errors = await Promise.all(
      Array.from({ length: 50 }, () =>
        failureOf(() => client.deployments.scale("prod", 1, { signal, onAttempt })),
      ),
    );
    await turn();
    expect(errors.filter(({ code }) => code === "CANCELLED")).toHaveLength(10);
    expect(getEventListeners(signal, "abort")).toEqual([]);
    expect(warnings).toEqual([]);
  });
});
