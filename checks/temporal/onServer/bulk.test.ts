// rerankMany over three worker processes: every id once in the output, and the rate of the fleet.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import type { ChunkRequest, ChunkResult } from "tunerank/temporal";
import type { RerankManyInput, RerankManyResult } from "tunerank/temporal/workflows";
import { connectEngine, type Engine } from "../support/engine.js";
import { type Service, startService } from "../support/service.js";

let engine: Engine;
let service: Service;
before(async () => {
  [engine, service] = await Promise.all([connectEngine(), startService()]);
});
after(async () => {
  await engine.stop();
  await service.close();
});

/** Writes chunks with ids that are all different, for the workers to read. @returns the ids */
function writeChunks(list: string, chunks: number, size: number): string[] {
  const folder = path.join(engine.folder, list);
  mkdirSync(folder);
  return Array.from({ length: chunks }, (_, n) => {
    const requests = Array.from(
      { length: size },
      (_, row): ChunkRequest => ({ id: `${list}-${n}-${row}`, query: `q ${row}`, documents: ["a q", "b"] }),
    );
    writeFileSync(path.join(folder, `in-${n}.json`), JSON.stringify(requests));
    return requests.map(({ id }) => id);
  }).flat();
}

function readResults(list: string, chunks: number): ChunkResult[] {
  return Array.from({ length: chunks }, (_, n) => {
    const file = path.join(engine.folder, list, `out-${n}.json`);
    return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as ChunkResult[]) : [];
  }).flat();
}

function startRanking(list: string, input: RerankManyInput) {
  return engine.start(list, "rerankMany", { reference: list, heartbeatTimeoutMs: 3_000, ...input });
}

test("10,000 reranks over three workers, one of them killed every 5 seconds: every id once", async () => {
  const [chunks, size, rate] = [500, 20, 12];
  const ids = writeChunks("killed", chunks, size);
  const workers = await Promise.all([1, 2, 3].map(() => engine.startWorker("killed", service.url, rate)));
  // So that there is always something under way to be killed.
  service.fail("rerank", { delayMs: 200, times: Number.POSITIVE_INFINITY });
  const handle = await startRanking("killed", { chunks, concurrency: 40, chunksPerRun: 200 });
  let kills = 0;
  const killing = setInterval(async () => {
    workers.shift()?.kill("SIGKILL");
    kills += 1;
    workers.push(await engine.startWorker("killed", service.url, rate));
  }, 5_000);
  const result: RerankManyResult = await handle.result();
  clearInterval(killing);
  assert.deepEqual(result, { chunks, ranked: chunks * size, failed: 0 });
  const results = readResults("killed", chunks);
  assert.deepEqual(results.map(({ id }) => id).sort(), [...ids].sort());
  assert.ok(results.every(({ response }) => response?.data.length === 2));
  const more = service.requests.length - ids.length;
  console.log(`# ${kills} workers killed; ${more} of ${ids.length} rankings were made twice`);
  assert.ok(kills >= 6, `${kills}`);
  // The history was cut: the first run was continued as new.
  const { raw } = await engine.client.workflow
    .getHandle(handle.workflowId, handle.firstExecutionRunId)
    .describe();
  assert.equal(raw.workflowExecutionInfo?.status, 6);
  for (const worker of workers) worker.kill("SIGKILL");
  rmSync(path.join(engine.folder, "killed"), { recursive: true });
});

test("three workers together keep the rate of their task queue within 10 %", async () => {
  const [chunks, size, rate] = [400, 5, 10];
  writeChunks("rate", chunks, size);
  await Promise.all([1, 2, 3].map(() => engine.startWorker("rate", service.url, rate)));
  service.reset();
  service.ended.length = 0;
  const handle = await startRanking("rate", { chunks, concurrency: 60 });
  await handle.result();
  assert.equal(service.ended.length, chunks * size);
  // What comes at once in the beginning and at the end is left out.
  const times = service.ended.map(({ at }) => at).slice(chunks, -chunks);
  const seconds = ((times.at(-1) ?? 0) - (times[0] ?? 0)) / 1000;
  const perSecond = (times.length - 1) / seconds;
  console.log(
    `# ${perSecond.toFixed(1)} rankings a second over ${seconds.toFixed(0)} s; ${rate * size} allowed`,
  );
  assert.ok(Math.abs(perSecond - rate * size) <= rate * size * 0.1);
});
