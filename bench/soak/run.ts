// Keeps up a steady load with 1 % random faults for MINUTES (1); fails when a call is lost or the heap grows.
import http from "node:http";
import { buffer } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { recordRun } from "../../scripts/lastRuns.js";
import { createClient } from "../../src/index.js";
import { callsPerSecond, runRound, Tally } from "./load.js";
import { startService } from "./service.js";
import { problemsOf } from "./verify.js";

// What is left on the heap, and how it grows.
setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

interface HeapSample {
  readonly calls: number;
  readonly bytes: number;
}

function sampleHeap(calls: number): HeapSample {
  collectGarbage();
  collectGarbage();
  return { calls, bytes: process.memoryUsage().heapUsed };
}

/** Bytes per call: the median slope of all pairs of samples; one that stands out does not bend it. */
function slopeOf(samples: readonly HeapSample[]): number {
  const slopes = samples.flatMap((from, index) =>
    samples.slice(index + 1).map((to) => (to.bytes - from.bytes) / (to.calls - from.calls)),
  );
  const sorted = slopes.sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

// The floor: node:http with a keep-alive agent, and nothing around it.
const documents: readonly string[] = ["a", "b", "c", "d"].map((name) => `${name}: ${"text ".repeat(14)}`);

/** A function that makes one rerank call; no fault is put in its way. */
function openBareHttp(baseUrl: string): () => Promise<unknown> {
  const agent = new http.Agent({ keepAlive: true });
  const { hostname, port } = new URL(baseUrl);
  return () =>
    new Promise((resolve, reject) => {
      const bytes = Buffer.from(JSON.stringify({ query: "bare", documents }));
      const headers = { "content-type": "application/json", "content-length": bytes.byteLength };
      const options = { hostname, port, agent, headers, method: "POST", path: "/inference/v1/rerank" };
      const request = http.request(options, (response) => {
        buffer(response).then((body) => resolve(JSON.parse(body.toString())), reject);
      });
      request.on("error", reject).end(bytes);
    });
}

const minutes = Number(process.argv[2] ?? 1);
// In less time the heap says nothing.
if (!(minutes >= 1)) throw new Error("Usage: npm run bench -- soak MINUTES, at least 1");

const roundMs = 5000;
// Code is compiled in the first rounds, and stays.
const warmUpRounds = 6;
// What a heap of this size goes up and down by itself, and a quarter of a pointer of each call.
const noiseBytes = 512 * 1024;
const noiseBytesPerCall = 2;

const service = await startService();
const client = createClient({ baseUrl: service.baseUrl, apiKey: "soak-key", accountId: "soak" });
const bare = openBareHttp(service.baseUrl);
const tally = new Tally();
const heap: HeapSample[] = [];
const problems: string[] = [];
let faulty = 0;

console.log(`${callsPerSecond} calls a second for ${minutes} min, the four operations in turn.`);
const rounds = warmUpRounds + Math.ceil((minutes * 60_000) / roundMs);
for (let round = 1; round <= rounds; round += 1) {
  await checkRound();
  if (round === warmUpRounds) tally.forgetTimes();
  const sample = sampleHeap(tally.calls);
  if (round >= warmUpRounds) heap.push(sample);
  console.log(`${tally.calls} calls, ${problems.length} problems, heap ${mb(sample.bytes)} MB`);
}
await client.close();
await service.close();
report();

async function checkRound(): Promise<void> {
  const records = await runRound(roundMs, client, bare, tally);
  // A request whose call ran out of time may still wait to be read: behind this one nothing does.
  await bare().catch(() => {});
  await setTimeout(200);
  const log = await service.takeLog();
  faulty += log.filter((entry) => entry.faulty).length;
  problems.push(...problemsOf(records, log));
}

function report(): void {
  const failed = [...tally.failures.values()].reduce((sum, count) => sum + count, 0);
  const slope = slopeOf(heap);
  const measured = (heap.at(-1)?.calls ?? 0) - (heap[0]?.calls ?? 0);
  const limit = noiseBytesPerCall + noiseBytes / measured;
  console.log(`
calls               ${tally.calls}, of which ${failed} failed; ${faulty} faults, ${tally.repeats} repeats
failures by code    ${[...tally.failures].map(([code, count]) => `${code} ${count}`).join(", ")}
rerank, p50         ${compare(50)}
rerank, p99         ${compare(99)}
heap                ${slope.toFixed(1)} bytes per call (at most ${limit.toFixed(1)})
lost or wrong       ${problems.length}`);
  for (const problem of problems.slice(0, 20)) console.error(problem);
  if (problems.length > 0 || slope > limit) process.exitCode = 1;
  else if (minutes >= 5) recordRun("soak");
}

function compare(percentile: number): string {
  const [own, floor] = [tally.own, tally.bare].map((each) => each.percentile(percentile) / 1e6) as [
    number,
    number,
  ];
  return `${own.toFixed(2)} ms; bare node:http ${floor.toFixed(2)} ms; ${(own / floor).toFixed(2)} times`;
}

function mb(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(2);
}
