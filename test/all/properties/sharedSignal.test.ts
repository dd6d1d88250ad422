import { getEventListeners } from "node:events";
import { setImmediate as turn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { beforeAll, expect, test } from "vitest";
import type { Client, FetchLike } from "../../../src/index.js";
import { operationCalls } from "../../support/clients.js";
import { goodText } from "../../support/responses.js";
import { inOneRead, plainClient, runs, within } from "./support/runs.js";

let collect: () => void;

beforeAll(() => {
  setFlagsFromString("--expose-gc");
  collect = runInNewContext("gc");
});

function timers(): number {
  return process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
}

/** So many runs, in whole batches. */
function hundreds(count: number): number {
  return Math.ceil(runs(count) / 100) * 100;
}

/** Makes so many calls, a hundred at once, of every operation; what they reject with is their own. */
async function callsOn(client: Client, count: number, signalOf: () => AbortSignal): Promise<void> {
  for (let made = 0; made < count; made += 100) {
    const batch = Array.from({ length: 100 }, (_, i) =>
      operationCalls[i % operationCalls.length]?.call(client, { signal: signalOf() }),
    );
    await Promise.allSettled(batch);
  }
  await turn();
}

// Of ten one is refused, one is lost, and one cannot be read.
let responded = 0;
const inTurn: FetchLike = async () => {
  const turn = responded++ % 10;
  if (turn === 2) throw Object.assign(new Error("reset"), { code: "ECONNRESET" });
  return {
    status: turn === 1 ? 404 : 200,
    headers: new Map(),
    body: inOneRead(turn === 3 ? "not JSON" : goodText),
  };
};

function heapUsed(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

test(
  "100,000 calls on one signal, three in ten of which fail, leave no listener, no timer and no memory",
  async () => {
    const { signal } = new AbortController();
    const client = plainClient("https://api.example.com", { fetch: inTurn });
    const before = timers();
    const count = hundreds(100_000);
    await callsOn(client, hundreds(20_000), () => signal);
    const heap = heapUsed();
    await callsOn(client, count - hundreds(20_000), () => signal);
    expect(responded).toBe(count);
    expect(getEventListeners(signal, "abort")).toEqual([]);
    expect(timers()).toBeLessThanOrEqual(before);
    // Less than a pointer for each call.
    expect(heapUsed() - heap).toBeLessThan(8 * count);
  },
  within(300_000),
);
