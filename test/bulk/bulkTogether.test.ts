import { expect, test, vi } from "vitest";
import { type RerankAllOptions, type RerankAllRequest, rerankAll } from "../../src/bulk/index.js";
import { type Client, createClient } from "../../src/index.js";
import { useNoBackoff } from "../support/backoff.js";
import { queryOf } from "../support/bulkFiles.js";
import { canaryKey } from "../support/canary.js";
import { useTestClock } from "../support/clock.js";
import { type Reply, useRecordingServer } from "../support/recordingServer.js";
import { turns, until } from "../support/turns.js";

const server = useRecordingServer();
const clock = useTestClock();
useNoBackoff();

const good: Reply = { json: { object: "list", data: [] } };
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
  const ranked: string[] = [];
  for await (const { id, error } of rerankAll(client, rows, options)) if (!error) ranked.push(id);
  return ranked;
}

test("ten runs of one client at once begin with four requests, take turns, and rank all rows", async () => {
  const held: (() => void)[] = [];
  server.reply((_, response) => {
    held.push(() => response.end(JSON.stringify(good.json)));
    return undefined;
  });
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
  for (const answer of held.splice(0, 2)) answer();
  await until(() => held.length === 4);
  expect(server.requests.slice(4).map((request) => queryOf(request))).toEqual(["0/4", "1/0"]);
  server.reply(() => good);
  for (const answer of held) answer();
  for (const ranked of await running) expect(ranked).toHaveLength(6);
  expect(server.requests).toHaveLength(60);
});

test("a 429 with Retry-After of one run holds the others of its client, and no run of another client", async () => {
  server.reply((request) => (queryOf(request) === "0/0" && server.requests.length === 1 ? asking(7) : good));
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

test("a run that was asked to wait begins again a random time after it", async () => {
  vi.mocked(Math.random).mockReturnValue(0.5);
  server.reply(() => (server.requests.length === 1 ? asking(30) : good));
  const running = rank(connect(), requests(0, 9), { concurrency: 1, timeoutMs: 120_000 });
  await clock.waitsFor(31_500);
  clock.pass(31_499);
  await turns();
  expect(server.requests).toHaveLength(1);
  clock.pass(1);
  expect(await running).toHaveLength(9);
});

test("that random time ends no request that would have had time", async () => {
  vi.mocked(Math.random).mockReturnValue(0.999);
  const late: (() => void)[] = [];
  server.reply((request, response) => {
    if (server.requests.length > 2) return good;
    // The second is not asked to wait: it has as little time left.
    const headers = queryOf(request) === "0/0" ? { "retry-after": "9" } : {};
    late.push(() => response.writeHead(429, headers).end());
    return undefined;
  });
  const answered: string[] = [];
  const running = rank(connect(), requests(0, 2), {
    concurrency: 2,
    timeoutMs: 9100,
    onAttempt: ({ id, code }) => void (code ?? answered.push(id)),
  });
  await until(() => late.length === 2);
  for (const refuse of late) refuse();
  await clock.passWhenWaiting(9000);
  await until(() => answered.length === 1);
  clock.pass(10);
  await until(() => answered.length === 2);
  // What comes after them is asked for once the random time of the run is over.
  clock.pass(900);
  expect(await running).toEqual(["1", "0"]);
});

test("a run with a fixed concurrency has its own, whatever runs beside it", async () => {
  const held: (() => void)[] = [];
  server.reply((_, response) => {
    held.push(() => response.end(JSON.stringify(good.json)));
    return undefined;
  });
  const client = connect();
  const running = [0, 1].map((run) => rank(client, requests(run, 5), { concurrency: 5 }));
  await until(() => held.length === 10);
  for (const answer of held) answer();
  await Promise.all(running);
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
