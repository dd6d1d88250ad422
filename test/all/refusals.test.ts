// A sample of services that say no, over sockets: nothing is lost, twice or sent in vain. test/all/searchJudged.test.ts has all of
// them, in simulated time.
import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { rerankAll } from "../../src/bulk/index.js";
import { createClient, isStatusError } from "../../src/index.js";
import { canaryKey } from "../support/canary.js";
import { startRefusing } from "../support/refusals/server.js";
import { services } from "../support/refusals/services.js";

// The most requests beyond one for each row, in percent of the rows.
test.concurrent.each<
  [service: string, way: "rerankAll" | "rerank.items", rows: number, mostBeyond: number, rate?: number]
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
  // Whether each row that was written has a ranking; and the rows that were written after their ranking.
  const written = new Map<number, boolean>();
  const twice: number[] = [];
  const write = (row: number, isRanked: boolean): void => {
    if (written.get(row)) twice.push(row);
    written.set(row, isRanked);
  };
  const numbers = Array.from({ length: rows }, (_, row) => row);

  /** One program. @returns Whether it went to its end: somebody mends a rejected key, and starts it again */
  async function inBulk(): Promise<boolean> {
    const left = numbers.filter((row) => !written.has(row));
    const bodies = left.map((id) => ({ id, query: `row ${id}`, documents: ["a document"] }));
    const rate = perSecond === undefined ? {} : { rate: { requestsPerMinute: perSecond * 60 } };
    try {
      for await (const { id, error } of rerankAll(client, bodies, rate)) write(id, error === undefined);
      return true;
    } catch (error) {
      if (isStatusError(error, "UNAUTHENTICATED")) return false;
      throw error;
    }
  }

  // A batch for each row: the query is the same, and the document names the row.
  async function inItems(): Promise<void> {
    const controller = new AbortController();
    const { signal } = controller;
    let attempts = 0;
    const onAttempt = (): void => {
      if (isCancelled && ++attempts === rows / 4) controller.abort();
    };
    const own = { text: (row: number) => `row ${row}`, batchSize: 1, signal, timeoutMs: 600_000, onAttempt };
    const items = await client.rerank.items("which row", numbers, own).catch((error) => {
      if (!isStatusError(error, "CANCELLED")) throw error;
      const { partial } = error as { partial?: { readonly data: readonly { readonly item: number }[] } };
      return partial?.data ?? [];
    });
    for (const { item } of items) write(item, true);
  }

  if (way === "rerank.items") await inItems();
  else while (!(await inBulk())) await setTimeout(1_000);
  // What was written before the end may be read after it. Then nothing comes, also when the responses of 2 s arrive.
  if (isCancelled) await setTimeout(200);
  const atEnd = requests.length;
  if (isCancelled) await setTimeout(2_500);
  expect(requests.length).toBe(atEnd);
  close();
  await client.close();
  const ranked = [...written.values()].filter(Boolean).length;
  expect(twice).toEqual([]);
  if (isCancelled) {
    expect(ranked).toBeLessThan(rows);
    return;
  }
  expect([ranked, written.size]).toEqual([rows - poison, rows]);
  expect((100 * (requests.length - rows)) / rows).toBeLessThanOrEqual(mostBeyond);
});
