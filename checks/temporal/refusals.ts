// Two settings of bench/refusals on real servers: three workers of Temporal, and three of BullMQ, as the guide writes them.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import type { Queue } from "bullmq";
import {
  body,
  cancelled,
  type Given,
  numbers,
  Output,
  runSetting,
  type Written,
} from "../../bench/refusals/program.js";
import { connectEngine, failureOf } from "./support/engine.js";
import { readResults, writeChunks } from "./support/lists.js";
import { startProgram } from "./support/program.js";
import { startRedis } from "./support/redis.js";
import { until } from "./support/waiting.js";

const workers = [1, 2, 3];
// What a worker still did would show in the time of two heartbeats.
const watchedMs = 5_000;

async function onTemporal({ url, rows, perMinute, isCancelled }: Given): Promise<Written> {
  const engine = await connectEngine();
  const list = `refusals-${process.pid}`;
  writeChunks(engine, list, 10, rows / 10);
  await Promise.all(workers.map(() => engine.startWorker(list, url)));
  const rate = perMinute === undefined ? undefined : { requestsPerMinute: perMinute };
  for (let isDone = false; !isDone; ) {
    const handle = await engine.start(list, "rerankMany", { chunks: 10, reference: list, rate });
    if (isCancelled) {
      // Before the first parts are written: the workers hear of it with a heartbeat, up to 2 s later.
      await setTimeout(4_000);
      await handle.cancel();
    }
    isDone = await handle.result().then(
      () => true,
      () => false,
    );
    if (isDone) break;
    const { call } = await failureOf(handle);
    if (isCancelled) {
      cancelled();
      await setTimeout(watchedMs);
      isDone = true;
    } else if (call.code !== "UNAUTHENTICATED") throw new Error(`The workflow failed: ${call.code}`);
    // Somebody mends the key, and starts the workflow again.
    else await setTimeout(1_000);
  }
  const output = new Output();
  for (const { id, error } of readResults(engine, list)) output.add(id, error === undefined);
  await engine.stop();
  return output.written;
}

async function onBullmq({ url, rows, perMinute, isCancelled }: Given): Promise<Written> {
  const redis = await startRedis();
  process.env.REDIS_PORT = `${redis.port}`;
  const recipe = await import(`./documented/${recipeWith(perMinute)}`);
  // The recipe's own queues; its workers are those of other processes.
  await Promise.all(recipe.workers.map((worker: { close(): Promise<void> }) => worker.close()));
  const queue: Queue = recipe.rankings;
  const programs = workers.map(() =>
    startProgram(recipeWith(perMinute), import.meta.dirname, {
      TUNERANK_BASE_URL: url,
      REDIS_PORT: `${redis.port}`,
    }),
  );
  await queue.addBulk(numbers(rows).map((row) => ({ name: "rank", data: body(row) })));
  const count = async (state: "completed" | "failed" | "active") =>
    (await queue.getJobCounts(state))[state] ?? 0;
  if (isCancelled) {
    await until(async () => (await count("completed")) >= rows / 4);
    await queue.pause();
    await until(async () => (await count("active")) === 0);
    cancelled();
    await setTimeout(watchedMs);
  } else
    for (;;) {
      const isDone = async () => (await count("completed")) + (await count("failed")) >= rows;
      await until(async () => (await isDone()) || (await queue.isPaused()));
      if (await isDone()) break;
      // Somebody mends the key, and lets the queue go on.
      await setTimeout(1_000);
      await queue.resume();
    }
  const output = new Output();
  for (const job of await queue.getCompleted()) output.add(job.data.query, true);
  for (const job of await queue.getFailed()) output.add(job.data.query, false);
  for (const program of programs) program.kill("SIGKILL");
  redis.process.kill("SIGKILL");
  return output.written;
}

/** The guide's recipe, with the limit that its user declares. */
function recipeWith(perMinute: number | undefined): string {
  if (perMinute === undefined) return "bullmq.ts";
  const folder = new URL("documented/", import.meta.url);
  const name = `bullmq-${perMinute}.ts`;
  const limit = "limiter: { max: 1_000, duration: 1_000 }";
  const recipe = readFileSync(new URL("bullmq.ts", folder), "utf8");
  if (!recipe.includes(limit)) throw new Error("The recipe's limit is not where it was.");
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    new URL(name, folder),
    recipe.replace(limit, `limiter: { max: 1, duration: ${Math.ceil(60_000 / perMinute)} }`),
  );
  return name;
}

await runSetting({ "Temporal with three workers": onTemporal, "BullMQ with three workers": onBullmq });
