// A sample of services that say no, over sockets, in each way that a program has to rank rows: nothing is lost, twice or sent in
// vain. test/all/searchJudged.test.ts has all of them, in simulated time.
import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { rerankAll } from "../../src/bulk/index.js";
import { type Client, createClient, isStatusError } from "../../src/index.js";
import { canaryKey } from "../support/canary.js";
import { startRefusing } from "../support/refusals/server.js";
import { services } from "../support/refusals/services.js";

interface Run {
  readonly client: Client;
  readonly rows: number;
  readonly perMinute: number | undefined;
  readonly isCancelled: boolean;
  /** Whether each row that was written has a ranking, by its number. */
  readonly written: Map<number, boolean>;
  /** Rows with a ranking that were written again. */
  twice: number;
}

const numbers = (rows: number): number[] => Array.from({ length: rows }, (_, row) => row);
const body = (row: number) => ({ query: `row ${row}`, documents: ["a document"] });

function write(run: Run, row: number, isRanked: boolean): void {
  if (run.written.get(row)) run.twice += 1;
  run.written.set(row, isRanked);
}

/** Runs a program again, as somebody does who mends its rejected key. */
async function untilMended(start: () => Promise<boolean>): Promise<void> {
  while (!(await start())) await setTimeout(1_000);
}

async function inBulk(run: Run): Promise<void> {
  const { client, rows, perMinute, written } = run;
  const rate = perMinute === undefined ? undefined : { requestsPerMinute: perMinute };
  await untilMended(async () => {
    const left = numbers(rows).filter((row) => !written.has(row));
    const requests = left.map((row) => ({ id: row, ...body(row) }));
    try {
      for await (const { id, error } of rerankAll(client, requests, { rate }))
        write(run, id, error === undefined);
      return true;
    } catch (error) {
      if (isStatusError(error, "UNAUTHENTICATED")) return false;
      throw error;
    }
  });
}

// A batch for each row: the query is the same, and the document names the row.
async function inItems(run: Run): Promise<void> {
  const controller = new AbortController();
  let attempts = 0;
  const ranked = run.client.rerank.items("which row", numbers(run.rows), {
    text: (row) => `row ${row}`,
    batchSize: 1,
    signal: controller.signal,
    timeoutMs: 600_000,
    onAttempt() {
      if (run.isCancelled && ++attempts === run.rows / 4) controller.abort();
    },
  });
  const items = await ranked.catch((error) => {
    if (!isStatusError(error, "CANCELLED")) throw error;
    return (
      (error as { partial?: { readonly data: readonly { readonly item: number }[] } }).partial?.data ?? []
    );
  });
  for (const { item } of items) write(run, item, true);
}

const ways = { rerankAll: inBulk, "rerank.items": inItems };

// The most requests beyond one for each row, in percent of the rows.
test.concurrent.each<
  [service: string, way: keyof typeof ways, rows: number, mostBeyond: number, rate?: number]
>([
  ["20 a second, 429 without Retry-After", "rerankAll", 300, 2, 19],
  ["20 a second, 429 with Retry-After: 1", "rerankAll", 300, 2, 19],
  ["10 at once", "rerank.items", 300, 40],
  ["a key revoked for 5 s", "rerankAll", 1000, 40],
  ["the caller cancels", "rerank.items", 400, 0],
])("%s, %s: nothing is lost, and the bounds hold", async (name, way, rows, mostBeyond, perSecond) => {
  const service = services.find((each) => each.name === name) ?? expect.unreachable(name);
  const { poison = 0, isCancelled = false, responseMs } = service;
  const { url, requests, close } = Object.assign(await startRefusing(), {
    says: service.open(),
    delayMs: responseMs,
  });
  const client = createClient({ baseUrl: url, apiKey: canaryKey });
  const perMinute = perSecond && perSecond * 60;
  const run: Run = { client, rows, perMinute, isCancelled, written: new Map(), twice: 0 };
  await ways[way](run);
  // What was written before the end may be read after it. Then nothing comes, also when the responses of 2 s arrive.
  if (isCancelled) await setTimeout(200);
  const atEnd = requests.length;
  if (isCancelled) await setTimeout(2_500);
  expect(requests.length).toBe(atEnd);
  close();
  await client.close();
  const ranked = [...run.written.values()].filter(Boolean).length;
  expect(run.twice).toBe(0);
  if (isCancelled) {
    expect(ranked).toBeLessThan(rows);
    return;
  }
  expect([ranked, run.written.size]).toEqual([rows - poison, rows]);
  expect((100 * (requests.length - rows)) / rows).toBeLessThanOrEqual(mostBeyond);
});
