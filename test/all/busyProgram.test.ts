import { once } from "node:events";
import { Pool } from "undici";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { rerankAll } from "../../src/bulk/index.js";
import type { CallOptions, Client, ClientOptions } from "../../src/index.js";
import { connect, operationCalls } from "../support/clients.js";
import { ThreadServer } from "../support/threadServer.js";
import { turns, until } from "../support/turns.js";

// A program that computes for longer than a call may take: what came meanwhile is read before any timer ends a call.
const timeoutMs = 2_000;
let server: ThreadServer;
const before = process.env.NODE_TLS_REJECT_UNAUTHORIZED;
beforeAll(() => {
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
});
afterEach(() => server.close());
afterAll(() => {
  if (before === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
  else process.env.NODE_TLS_REJECT_UNAUTHORIZED = before;
});

const bodies: Readonly<Record<string, string>> = {
  "a short body": `const body = '{"id":"file-1","data":[{"index":0,"relevance_score":1}]}'; const headers = {};`,
  "a body in gzip": `const text = '{"data":[],"pad":"' + Buffer.alloc(300_000, 7).map((_, i) => 65 + (i * i) % 23).toString() + '"}';
    const body = require("node:zlib").gzipSync(text); const headers = { "content-encoding": "gzip" };`,
  "a body of 3 MB": `const body = '{"data":[],"pad":"' + "x".repeat(3_000_000) + '"}'; const headers = {};`,
};

const serving = (body: string, delayMs = 20): string => `${bodies[body]}
  request.resume().on("end", () => setTimeout(() => {
    response.writeHead(200, { "content-type": "application/json", ...headers }).end(body);
  }, ${delayMs}));`;

/**
 * Blocks this thread until so many responses have left the server, and the time is there. It sleeps, which leaves the
 * processor to the server and to other tests, but for the last two milliseconds, so that it ends in time.
 */
function block(responses: number, endsAt: number): void {
  const cell = new Int32Array(new SharedArrayBuffer(4));
  const mayComeLater = (): boolean => (server.progress[1] ?? 0) < responses;
  while (mayComeLater() || performance.now() < endsAt - 2) Atomics.wait(cell, 0, 0, 1);
  while (performance.now() < endsAt);
}

type Call = (client: Client, options: CallOptions) => PromiseLike<unknown>;

// Where requests had not arrived in time, or a busy machine read for longer than the 250 ms that a late timer waits, the run
// says nothing of the client: then the program is busy once more, and the time twice as long.
async function callAll(
  calls: readonly Call[],
  clients: readonly Client[],
  optionsOf: (ms: number) => CallOptions,
  ms = timeoutMs / 4,
): Promise<void> {
  await server.counts();
  server.progress.fill(0);
  const startedAt = performance.now();
  const running = clients.flatMap((client) => calls.map((call) => call(client, optionsOf(ms))));
  const settled = Promise.allSettled(running);
  await until(() => (server.progress[0] ?? 0) >= running.length || performance.now() > startedAt + ms);
  const arrived = server.progress[0] ?? 0;
  block(Math.min(running.length, arrived), startedAt + ms + 30);
  const freeAt = performance.now();
  const failures = (await settled).flatMap((each) =>
    each.status === "rejected" ? [String(each.reason)] : [],
  );
  const isTelling = arrived >= running.length && performance.now() - freeAt < 250;
  if (failures.length > 0 && !isTelling && ms < 4 * timeoutMs)
    return callAll(calls, clients, optionsOf, 2 * ms);
  expect(failures).toEqual([]);
  expect((await server.counts()).requests).toBe(running.length);
}

describe.each([false, true])("TLS: %s", (secure) => {
  const ways = (): readonly ClientOptions[] => [
    {},
    { dispatcher: new Pool(server.url, { connect: { rejectUnauthorized: false } }) },
    { fetch: globalThis.fetch },
  ];
  const clients = (): Client[] => ways().map((way) => connect(server.url, { maxRetries: 2, ...way }));

  test.each([
    ["deadline", (ms: number) => ({ timeoutMs: ms })],
    ["attempt", (ms: number) => ({ attemptTimeoutMs: ms, timeoutMs: 60_000 })],
  ])("no %s of any operation ends while its response lies in the socket", async (_what, optionsOf) => {
    server = await ThreadServer.start({ secure, onRequest: serving("a short body") });
    await callAll(
      operationCalls.map(({ call }) => call),
      clients(),
      optionsOf,
    );
  });

  // Its timer is not late then: only the loop was busy until just before.
  test("nor where the program becomes free in the very moment in which the time ends", async () => {
    server = await ThreadServer.start({ secure, onRequest: serving("a short body", 5) });
    const failures: string[] = [];
    for (const client of clients()) {
      await client.rerank({ query: "q", documents: ["d"] });
      for (let lateMs = -1; lateMs < 3; lateMs += 0.25) {
        server.progress.fill(0);
        const startedAt = performance.now();
        const running = client.rerank(
          { query: "q", documents: ["d"] },
          { timeoutMs: 150, attemptTimeoutMs: 150 },
        );
        let arrived = 0;
        // On a busy machine the request may not have left, and no response comes while this thread is blocked.
        const settled = running.catch((error) => arrived && failures.push(`${lateMs} ms late: ${error}`));
        await until(() => server.progress[0] === 1 || performance.now() > startedAt + 100);
        arrived = server.progress[0] ?? 0;
        block(arrived, startedAt + 150 + lateMs);
        await settled;
      }
    }
    expect(failures).toEqual([]);
  });

  test.each(Object.keys(bodies).slice(1))("nor of a response with %s", async (body) => {
    server = await ThreadServer.start({ secure, onRequest: serving(body) });
    const [, rerank] = operationCalls;
    for (const client of clients()) {
      await callAll([(rerank as (typeof operationCalls)[number]).call], [client], (ms) => ({
        timeoutMs: ms,
      }));
    }
  });
});

test("a call whose response has not come ends after the busy time at once", async () => {
  server = await ThreadServer.start({ onRequest: "request.resume();" });
  const client = connect(server.url);
  const startedAt = performance.now();
  const running = client.deployments.scale("prod", 1, { timeoutMs }).then(
    () => "done",
    (error) => error,
  );
  await until(() => server.progress[0] === 1);
  block(0, startedAt + timeoutMs + 30);
  expect(await running).toMatchObject({ code: "DEADLINE_EXCEEDED", executed: "unknown" });
});

test("a run of many keeps the responses that came while the program was busy, and sends no more", async () => {
  server = await ThreadServer.start({ onRequest: serving("a short body", 400) });
  const client = connect(server.url);
  const requests = Array.from({ length: 40 }, (_, id) => ({ id: `${id}`, query: "q", documents: ["d"] }));
  const startedAt = performance.now();
  const ids: string[] = [];
  const running = (async () => {
    for await (const { id } of rerankAll(client, requests, { totalTimeoutMs: timeoutMs })) ids.push(id);
  })().catch((error) => error);
  await until(() => server.progress[0] === 4);
  block(4, startedAt + timeoutMs + 30);
  expect(await running).toMatchObject({ code: "DEADLINE_EXCEEDED" });
  expect(ids).toHaveLength(4);
  expect((await server.counts()).requests).toBe(4);
});

test("a connection that came about while the program was busy is used", async () => {
  server = await ThreadServer.start({ secure: true, onRequest: serving("a short body") });
  const client = connect(server.url, { connectTimeoutMs: timeoutMs });
  const startedAt = performance.now();
  const running = client.rerank({ query: "q", documents: ["d"] });
  await once(process, "never", { signal: AbortSignal.timeout(1) }).catch(() => {});
  block(0, startedAt + timeoutMs + 30);
  expect(await running).toEqual({ id: "file-1", data: [{ index: 0, relevance_score: 1 }] });
  expect((await server.counts()).accepted).toBe(1);
});

test("also where the program becomes free in the very moment in which the time to connect ends", async () => {
  server = await ThreadServer.start({ secure: true, onRequest: serving("a short body", 0) });
  const failures: string[] = [];
  for (let lateMs = -1; lateMs < 3; lateMs += 0.25) {
    const client = connect(server.url, { connectTimeoutMs: 150, maxRetries: 0 });
    const startedAt = performance.now();
    const running = client.rerank({ query: "q", documents: ["d"] });
    const settled = running.catch((error) => failures.push(`${lateMs} ms late: ${error}`));
    await turns(1);
    block(0, startedAt + 150 + lateMs);
    await settled;
    await client.close();
  }
  expect(failures).toEqual([]);
});
