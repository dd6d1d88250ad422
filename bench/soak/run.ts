// npm run bench -- soak MINUTES: a steady load with faults. Fails when a call is lost or wrong, or the heap grows.
import { fork } from "node:child_process";
import { once } from "node:events";
import http from "node:http";
import { createHistogram, type RecordableHistogram } from "node:perf_hooks";
import { buffer } from "node:stream/consumers";
import { setInterval, setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { recordRun } from "../../scripts/lastRuns.js";
import { createClient, isStatusError } from "../../src/index.js";
import { type CallRecord, type LogEntry, problemsOf, taskOf } from "./tasks.js";

const minutes = Number(process.argv[2] ?? 1);
// In less time the heap says nothing.
if (!(minutes >= 1)) throw new Error("Usage: npm run bench -- soak MINUTES, at least 1");

const callsPerSecond = 200;
const timeoutMs = 2000;
// A machine that stalls delays timers; what has not settled this long after its deadline never will.
const graceMs = 30_000;
const roundMs = 5000;
// Code is compiled in the first rounds, and stays.
const warmUpRounds = 6;
// What a heap of this size goes up and down by itself, and a quarter of a pointer of each call.
const noiseBytes = 512 * 1024;
const noiseBytesPerCall = 2;

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

const service = fork(fileURLToPath(new URL("server.ts", import.meta.url)));
const [port] = await once(service, "message");
const client = createClient({ baseUrl: `http://127.0.0.1:${port}`, apiKey: "soak-key", accountId: "soak" });
const agent = new http.Agent({ keepAlive: true });
const failures = new Map<string, number>();
// Nanoseconds of rerank calls that got a response at the first attempt, and of the floor's.
const times = { own: createHistogram(), bare: createHistogram() };
const heap: { readonly calls: number; readonly bytes: number }[] = [];
const problems: string[] = [];
let [calls, repeats, faulty] = [0, 0, 0];

console.log(`${callsPerSecond} calls a second for ${minutes} min, the four operations in turn.`);
const rounds = warmUpRounds + Math.ceil((minutes * 60_000) / roundMs);
for (let round = 1; round <= rounds; round += 1) {
  const records = await runRound();
  // A request whose call ran out of time may still wait to be read: behind this one nothing does.
  await bareCall().catch(() => {});
  await setTimeout(200);
  const responded = once(service, "message");
  service.send("log");
  const [log] = (await responded) as [readonly LogEntry[]];
  faulty += log.filter((entry) => entry.faulty).length;
  problems.push(...problemsOf(records, log));
  if (round === warmUpRounds) for (const histogram of Object.values(times)) histogram.reset();
  collectGarbage();
  collectGarbage();
  const bytes = process.memoryUsage().heapUsed;
  if (round >= warmUpRounds) heap.push({ calls, bytes });
  console.log(`${calls} calls, ${problems.length} problems, heap ${(bytes / 2 ** 20).toFixed(2)} MB`);
}
await client.close();
service.disconnect();
report();

/** Calls begin at a fixed rate whatever becomes of them, and between every two the floor makes one. */
async function runRound(): Promise<CallRecord[]> {
  const records: CallRecord[] = [];
  const running: Promise<void>[] = [];
  const started = performance.now();
  let begun = 0;
  for await (const _ of setInterval(5)) {
    const elapsed = Math.min(roundMs, performance.now() - started);
    for (; begun < Math.floor((elapsed / 1000) * callsPerSecond * 2); begun += 1)
      running.push(begun % 2 === 0 ? ownCall(records) : timedBareCall());
    if (elapsed === roundMs) break;
  }
  const given = new AbortController();
  const patience = setTimeout(timeoutMs + graceMs, undefined, { signal: given.signal }).catch(() => {});
  await Promise.race([Promise.all(running), patience]);
  given.abort();
  return records;
}

async function ownCall(records: CallRecord[]): Promise<void> {
  const call = calls++;
  const task = taskOf(call);
  const record: CallRecord = { call, task };
  records.push(record);
  const started = performance.now();
  try {
    const { data, attempts } = await task.call(client, { timeoutMs }).withResponse();
    Object.assign(record, { attempts, outcome: task.isRight(data as never) ? "right" : "wrong" });
    if (attempts.length === 1 && task.operation === "rerank") note(times.own, started);
  } catch (error) {
    // Anything else is no response to a call, and ends the run.
    if (!isStatusError(error)) throw error;
    const { code, executed, attempts } = error;
    Object.assign(record, { outcome: "failed", code, executed, attempts });
    failures.set(code, (failures.get(code) ?? 0) + 1);
  }
  repeats += Math.max(0, (record.attempts?.length ?? 0) - 1);
}

// The floor has no second attempt when the server ends an idle socket.
async function timedBareCall(): Promise<void> {
  const started = performance.now();
  await bareCall().then(
    () => note(times.bare, started),
    () => {},
  );
}

/** One rerank with node:http and a keep-alive agent; no fault is put in its way. */
function bareCall(): Promise<unknown> {
  const documents = ["a", "b", "c", "d"].map((name) => `${name}: ${"text ".repeat(14)}`);
  const bytes = Buffer.from(JSON.stringify({ query: "bare", documents }));
  const headers = { "content-type": "application/json", "content-length": bytes.byteLength };
  return new Promise((resolve, reject) => {
    const about = { host: "127.0.0.1", port, agent, headers, method: "POST", path: "/inference/v1/rerank" };
    const request = http.request(about, (response) => {
      buffer(response).then((body) => resolve(JSON.parse(body.toString())), reject);
    });
    request.on("error", reject).end(bytes);
  });
}

function note(histogram: RecordableHistogram, started: number): void {
  histogram.record(Math.max(1, Math.round((performance.now() - started) * 1e6)));
}

function report(): void {
  const failed = [...failures.values()].reduce((sum, count) => sum + count, 0);
  // The median slope of all pairs of samples: one that stands out does not bend it.
  const slopes = heap
    .flatMap((from, index) =>
      heap.slice(index + 1).map((to) => (to.bytes - from.bytes) / (to.calls - from.calls)),
    )
    .sort((a, b) => a - b);
  const slope = slopes[Math.floor(slopes.length / 2)] ?? 0;
  const measured = (heap.at(-1)?.calls ?? 0) - (heap[0]?.calls ?? 0);
  const limit = noiseBytesPerCall + noiseBytes / measured;
  const compare = (percentile: number): string => {
    const [own, floor] = [times.own, times.bare].map((each) => each.percentile(percentile) / 1e6) as [
      number,
      number,
    ];
    return `${own.toFixed(2)} ms; bare node:http ${floor.toFixed(2)} ms; ${(own / floor).toFixed(2)} times`;
  };
  console.log(`
calls               ${calls}, of which ${failed} failed; ${faulty} faults, ${repeats} repeats
failures by code    ${[...failures].map(([code, count]) => `${code} ${count}`).join(", ")}
rerank, p50         ${compare(50)}
rerank, p99         ${compare(99)}
heap                ${slope.toFixed(1)} bytes per call (at most ${limit.toFixed(1)})
lost or wrong       ${problems.length}`);
  for (const problem of problems.slice(0, 20)) console.error(problem);
  if (problems.length > 0 || slope > limit) process.exitCode = 1;
  else if (minutes >= 5) recordRun("soak");
}
