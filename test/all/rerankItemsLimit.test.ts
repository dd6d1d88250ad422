import type { ServerResponse } from "node:http";
import { describe, expect, test } from "vitest";
import { rerankAll } from "../../src/bulk/index.js";
import { type Client, createClient, type RerankItemsOptions } from "../../src/index.js";
import { useNoBackoff } from "../support/backoff.js";
import { canaryKey } from "../support/canary.js";
import { failureOf } from "../support/clients.js";
import { useTestClock } from "../support/clock.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { ranked } from "../support/responses.js";
import { turns, until } from "../support/turns.js";

const server = useRecordingServer();
const clock = useTestClock();
useNoBackoff();

const connect = (): Client => createClient({ baseUrl: server.url, apiKey: canaryKey });

/** Ranks so many items, each in a batch of its own. */
async function rank(client: Client, count: number, options: Partial<RerankItemsOptions<number>> = {}) {
  const items = Array.from({ length: count }, (_, index) => index);
  return client.rerank.items("q", items, { text: String, batchSize: 1, ...options });
}

/** From now on no request gets a response before its function is called. */
function hold(): (() => void)[] {
  const responses: (() => void)[] = [];
  server.reply((request, response) => {
    responses.push(() => response.end(JSON.stringify(ranked(request).json)));
    return undefined;
  });
  return responses;
}

/** Starts calls, and resolves once exactly so many of their requests are in flight; then lets them end. */
async function inFlight(count: number, start: () => Promise<unknown>): Promise<void> {
  const responses = hold();
  const running = start();
  await until(() => responses.length >= count);
  await turns();
  expect(responses).toHaveLength(count);
  server.reply((request) => ranked(request));
  for (const respond of responses) respond();
  await running;
}

describe("without a number for concurrency, rerank.items searches for the limit", () => {
  test("rerankAll begins with what it found, and the other way round", async () => {
    const requests = Array.from({ length: 200 }, (_, id) => ({ id, query: "q", documents: ["a"] }));
    const inBulk = async (client: Client) => {
      for await (const { error } of rerankAll(client, requests)) expect(error).toBeUndefined();
    };
    const client = connect();
    await rankQuickly(client);
    await inFlight(64, () => inBulk(client));
    const other = connect();
    server.reply((request) => ranked(request));
    await inBulk(other);
    await inFlight(64, () => rank(other, 200));
  });

  test("a maximum holds, and is reached", async () => {
    let running = 0;
    let most = 0;
    server.reply((request, response) => {
      running += 1;
      most = Math.max(most, running);
      setImmediate(() => {
        running -= 1;
        response.end(JSON.stringify(ranked(request).json));
      });
      return undefined;
    });
    await rank(connect(), 100, { concurrency: { max: 6 } });
    expect(most).toBe(6);
  });

  test.each([
    ["four batches", 4, 4, {}],
    ["a number", 60, 3, { concurrency: 3 }],
    // A search finds the limit by 429s, which such a call may not retry.
    ["maxRetries", 60, 4, { maxRetries: 0 }],
  ])("%s need no search, whatever the client knows", async (_what, count, atOnce, options) => {
    const client = connect();
    await rankQuickly(client);
    await inFlight(atOnce, () => rank(client, count, options));
  });

  test("texts of many megabytes are not all in memory at once", async () => {
    const client = connect();
    await rankQuickly(client);
    const text = (item: number) => `${item}`.padEnd(500_000);
    await inFlight(8, () => rank(client, 24, { text }));
  });

  test("a maximum of one has the time of one batch after the other", async () => {
    const responses = hold();
    const failed = failureOf(() => rank(connect(), 4, { concurrency: { max: 1 }, maxRetries: 0 }));
    await until(() => responses.length === 1);
    clock.pass(50_000);
    responses[0]?.();
    await until(() => responses.length === 2);
    // With four at once, all of them had 60 s.
    await clock.passWhenWaiting(60_000);
    expect((await failed).text).toContain("within 60000 ms (timeoutMs). This was batch 1, items[1].");
  });

  test("a wait that is too long for one call pauses no other call", async () => {
    const client = connect();
    const held: ServerResponse[] = [];
    server.reply((_, response) => void held.push(response));
    const failed = failureOf(() => rank(client, 5));
    await until(() => held.length === 4);
    const other = rank(client, 5);
    server.reply((request) => ranked(request));
    held[0]?.writeHead(429, { "retry-after": "3600" }).end();
    expect(await failed).toMatchObject({ notRetried: "asked-to-wait-too-long" });
    expect(await other).toHaveLength(5);
  });

  describe("while another call of the client uses the whole limit", () => {
    // Its first batch gets no response.
    async function waiting(client: Client, options: Partial<RerankItemsOptions<number>>) {
      const controller = new AbortController();
      server.reply(() => undefined);
      const other = failureOf(() => rank(client, 5, { signal: controller.signal }));
      await until(() => server.requests.length === 4);
      const failed = failureOf(() => rank(client, 5, options));
      await turns();
      const end = (): typeof other => {
        controller.abort();
        return other;
      };
      return { failed, end };
    }

    test.each([
      ["can be aborted", "CANCELLED", "The caller aborted the call"],
      ["ends with its deadline", "DEADLINE_EXCEEDED", "within 5000 ms (timeoutMs)"],
    ])("a call %s", async (_how, code, text) => {
      const controller = new AbortController();
      const isAborted = code === "CANCELLED";
      const options = isAborted ? { signal: controller.signal } : { timeoutMs: 5000 };
      const { failed, end } = await waiting(connect(), options);
      if (isAborted) controller.abort("enough");
      else await clock.passWhenWaiting(5000);
      const error = await failed;
      expect(error).toMatchObject({
        code,
        executed: "no",
        attempts: [],
        ...(isAborted && { cause: "enough" }),
      });
      expect(error.text).toContain(text);
      await end();
      expect(server.requests).toHaveLength(4);
    });

    test("calls end with their client, all of them", async () => {
      const client = connect();
      const { failed, end } = await waiting(client, {});
      const others = [1, 2, 3].map(() => failureOf(() => rank(client, 5)));
      const plain = failureOf(() => client.rerank({ query: "q", documents: ["a"] }));
      await until(() => server.requests.length === 5);
      await client.close();
      for (const error of [await failed, ...(await Promise.all(others))])
        expect(error).toMatchObject({ code: "CANCELLED", executed: "no" });
      expect(await plain).toMatchObject({ code: "CANCELLED" });
      await end();
      expect(server.requests).toHaveLength(5);
    });
  });
});

async function rankQuickly(client: Client): Promise<void> {
  server.reply((request) => ranked(request));
  await rank(client, 200);
}
