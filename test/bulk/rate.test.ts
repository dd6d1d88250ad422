import { expect, test } from "vitest";
import { type RerankAllAttempt, type RerankAllOptions, rerankAll } from "../../src/bulk/index.js";
import { connect } from "../support/clients.js";
import { useTestClock } from "../support/clock.js";
import { type Reply, useRecordingServer } from "../support/recordingServer.js";
import { turns } from "../support/turns.js";

const server = useRecordingServer();
const clock = useTestClock();

const good: Reply = { json: { object: "list", data: [], usage: { total_tokens: 500 } } };
const requests = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ id: `${index}`, query: "q", documents: ["a"] }));

async function finish(options: RerankAllOptions, count: number): Promise<void> {
  for await (const { error } of rerankAll(connect(server.url), requests(count), options))
    if (error) throw error;
}

/** How many requests have arrived after each second. */
async function arrivals(seconds: number): Promise<number[]> {
  const counts: number[] = [];
  for (let second = 0; second < seconds; second++) {
    for (let step = 0; step < 20; step++) {
      clock.pass(50);
      await turns(30);
    }
    counts.push(server.requests.length);
  }
  return counts;
}

test("a declared rate is kept from the first request on, evenly, by all lanes together", async () => {
  server.reply(good);
  const run = finish({ rate: { requestsPerMinute: 300 }, concurrency: 64 }, 20);
  const counts = await arrivals(4);
  for (const [second, count] of counts.entries()) {
    expect(count).toBeGreaterThanOrEqual(Math.min(20, 5 * (second + 1) - 1));
    expect(count).toBeLessThanOrEqual(5 * (second + 1) + 1);
  }
  await run;
});

test("tokens are counted as the answers say, once they do", async () => {
  server.reply(good);
  // Each answer says 500: so many are 60 a minute, whatever their bytes seemed to be.
  const run = finish({ rate: { tokensPerMinute: 30_000 }, concurrency: 2 }, 8);
  const counts = await arrivals(8);
  expect(counts.at(-2)).toBeLessThanOrEqual(10);
  expect(counts[3]).toBeLessThanOrEqual(7);
  await run;
});

test("more than the client's connections are never at once, and that is what is told", async () => {
  server.reply(good);
  const told: number[] = [];
  const onAttempt = ({ concurrency }: RerankAllAttempt): void => void told.push(concurrency);
  const client = connect(server.url, { maxConnections: 5 });
  for await (const { error } of rerankAll(client, requests(30), { concurrency: 200, onAttempt }))
    expect(error).toBeUndefined();
  expect(new Set(told)).toEqual(new Set([5]));
});

test.each<[unknown, string]>([
  [{ rate: { requestsPerMinute: 0 } }, "rate.requestsPerMinute must be greater than 0, not 0."],
  [{ rate: { requestPerMinute: 5 } }, "rate has no requestPerMinute: did you mean requestsPerMinute?"],
  [{ rate: { tokensPerMinute: "many" } }, "rate.tokensPerMinute must be a number."],
  [{ rate: 600 }, "rate must be an object"],
  [{ concurrency: { max: 0 } }, "concurrency.max must be at least 1, not 0."],
  [{ concurrency: { most: 5 } }, "concurrency has no most"],
])("%j is refused before anything is sent", (options, message) => {
  expect(() => rerankAll(connect(server.url), [], options as RerankAllOptions)).toThrow(message);
});
