import type { ServerResponse } from "node:http";
import { expect, test, vi } from "vitest";
import type { RerankRequest } from "../../src/index.js";
import { useNoBackoff } from "../support/backoff.js";
import { connect, failureOf } from "../support/clients.js";
import { useTestClock } from "../support/clock.js";
import { type ReceivedRequest, type Reply, useRecordingServer } from "../support/recordingServer.js";
import { turns, until } from "../support/turns.js";

const server = useRecordingServer();
const clock = useTestClock();
useNoBackoff();

const items = Array.from({ length: 12 }, (_, index) => `item ${index}`);
const options = { text: (item: string) => item, batchSize: 1, concurrency: 3 };

function documentOf({ body }: ReceivedRequest): string | undefined {
  return (JSON.parse(`${body}`) as RerankRequest).documents[0];
}

// Nobody says how many retries there are.
const client = () => connect(server.url, { maxRetries: undefined });

const ranked: Reply = { json: { object: "list", model: "m", data: [{ index: 0, relevance_score: 1 }] } };

test("a Retry-After of one batch holds the others: nothing is sent earlier, and then all are ranked", async () => {
  let isRefused = false;
  server.reply((request) => {
    if (documentOf(request) !== "item 1" || isRefused) return ranked;
    isRefused = true;
    return { status: 429, headers: { "retry-after": "30" } };
  });
  const running = client().rerank.items("q", items, options);
  await clock.waitsFor(30_000);
  await turns(60);
  const before = server.requests.length;
  // Those that were sent with it, and what began before it was answered.
  expect(before).toBeLessThan(6);
  clock.pass(29_999);
  await turns(60);
  expect(server.requests).toHaveLength(before);
  clock.pass(1);
  expect(await running).toHaveLength(12);
  expect(server.requests).toHaveLength(13);
});

test("while a refused batch waits, two more places stay empty: who begins at once is refused, too", async () => {
  vi.mocked(Math.random).mockReturnValue(0.5);
  const held: ServerResponse[] = [];
  server.reply((request, response) => {
    const isFirst = server.requests.length <= 4;
    if (isFirst && documentOf(request) === "item 1") return { status: 429 };
    if (isFirst) held.push(response);
    return isFirst ? undefined : ranked;
  });
  const running = client().rerank.items("q", items, { ...options, concurrency: 4 });
  await clock.waitsFor(500);
  await until(() => held.length === 3);
  const answer = (response: ServerResponse) =>
    response.setHeader("content-type", "application/json").end(JSON.stringify(ranked.json));
  for (const response of held.splice(0, 2)) answer(response);
  await turns(60);
  // Two are under way: the one that waits, and one that is not answered.
  expect(server.requests.map(documentOf)).toEqual(["item 0", "item 1", "item 2", "item 3"]);
  clock.pass(500);
  await until(() => server.requests.length === 13);
  expect(server.requests.filter((request) => documentOf(request) === "item 1")).toHaveLength(2);
  for (const response of held) answer(response);
  expect(await running).toHaveLength(12);
});

test("batches that a busy service refuses are tried until it takes them, as those of rerankAll are", async () => {
  const refusals = new Map<string | undefined, number>();
  server.reply((request) => {
    const document = documentOf(request);
    const before = refusals.get(document) ?? 0;
    refusals.set(document, before + 1);
    return before < 4 ? { status: 429 } : ranked;
  });
  expect(await client().rerank.items("q", items, options)).toHaveLength(12);
  expect(server.requests).toHaveLength(60);
});

test("maxRetries of the call still is the most retries of each batch", async () => {
  server.reply({ status: 503 });
  const running = connect(server.url).rerank.items("q", items, { ...options, maxRetries: 0 });
  await expect(running).rejects.toMatchObject({ code: "UNAVAILABLE" });
  await until(() => server.requests.length === 3);
});

test("maxRetries of the client is the most retries of each batch, also where it says the usual number", async () => {
  server.reply((request) => (documentOf(request) === "item 1" ? { status: 503 } : ranked));
  const error = await failureOf(() =>
    connect(server.url, { maxRetries: 2 }).rerank.items("q", items, options),
  );
  expect(error.notRetried).toBe("retries-used-up");
  expect(server.requests.filter((request) => documentOf(request) === "item 1")).toHaveLength(3);
});
