// Steady load: calls begin at a fixed rate whatever becomes of them, and between every two the floor makes one.
import { createHistogram, type RecordableHistogram } from "node:perf_hooks";
import { setInterval, setTimeout } from "node:timers/promises";
import { type CallOptions, type Client, isStatusError } from "../../src/index.js";
import { type Task, taskOf } from "./tasks.js";
import type { CallRecord } from "./verify.js";

export const callsPerSecond = 200;
const timeoutMs = 2000;
// A machine that stalls delays timers; what has not settled this long after its deadline never will.
const graceMs = 30_000;

/** What is counted over a whole run. */
export class Tally {
  calls = 0;
  repeats = 0;
  readonly failures: Map<string, number> = new Map();
  /** Nanoseconds of rerank calls that got a response at the first attempt. */
  readonly own: RecordableHistogram = createHistogram();
  readonly bare: RecordableHistogram = createHistogram();

  forgetTimes(): void {
    this.own.reset();
    this.bare.reset();
  }
}

/** Begins calls for so long, and returns all of them once they have settled, or had their time to. */
export async function runRound(
  durationMs: number,
  client: Client,
  bare: () => Promise<unknown>,
  tally: Tally,
): Promise<CallRecord[]> {
  const records: CallRecord[] = [];
  const running: Promise<void>[] = [];
  const started = performance.now();
  let begun = 0;
  for await (const _ of setInterval(5)) {
    const elapsed = Math.min(durationMs, performance.now() - started);
    const due = Math.floor((elapsed / 1000) * callsPerSecond * 2);
    for (; begun < due; begun += 1) {
      running.push(begun % 2 === 0 ? ownCall(client, tally, records) : timed(tally.bare, bare));
    }
    if (elapsed === durationMs) break;
  }
  const given = new AbortController();
  const patience = setTimeout(timeoutMs + graceMs, undefined, { signal: given.signal }).catch(() => {});
  await Promise.race([Promise.all(running), patience]);
  given.abort();
  return records;
}

async function ownCall(client: Client, tally: Tally, records: CallRecord[]): Promise<void> {
  const call = tally.calls++;
  const task = taskOf(call);
  const record: CallRecord = { call, operation: task.operation, payload: task.payload };
  records.push(record);
  const started = performance.now();
  await settle(client, task, record);
  const attempts = record.attempts?.length ?? 0;
  tally.repeats += Math.max(0, attempts - 1);
  if (record.outcome === "right" && attempts === 1 && task.operation === "rerank") note(tally.own, started);
  if (record.code) tally.failures.set(record.code, (tally.failures.get(record.code) ?? 0) + 1);
}

async function settle(client: Client, task: Task, record: CallRecord): Promise<void> {
  const options: CallOptions = { timeoutMs };
  try {
    const response = await task.call(client, options).withResponse();
    record.attempts = response.attempts;
    record.outcome = task.isRight(response) ? "right" : "wrong";
  } catch (error) {
    // Anything else is no response to a call, and ends the run.
    if (!isStatusError(error)) throw error;
    const { code, executed, attempts } = error;
    Object.assign(record, { outcome: "failed", code, executed, attempts });
  }
}

async function timed(histogram: RecordableHistogram, call: () => Promise<unknown>): Promise<void> {
  const started = performance.now();
  // It has no second attempt when the server ends an idle socket.
  await call().then(
    () => note(histogram, started),
    () => {},
  );
}

function note(histogram: RecordableHistogram, started: number): void {
  histogram.record(Math.max(1, Math.round((performance.now() - started) * 1e6)));
}
