// rerankMany over three worker processes that die, lose the service, or lose Temporal: by the service's own counts.
import assert from "node:assert/strict";
import { renameSync, writeFileSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import path from "node:path";
import { after, before, beforeEach, test } from "node:test";
import type { WorkflowHandle } from "@temporalio/client";
import { historyToJSON } from "@temporalio/common/lib/proto-utils.js";
import type { RerankManyInput, RerankManyResult } from "tunerank/temporal/workflows";
import { type No, type RefusingService, startRefusing } from "../../../test/support/refusals/server.js";
import { perSecond } from "../../../test/support/refusals/services.js";
import { connectEngine, type Engine, failureOf, readResults, writeChunks } from "../support/engine.js";
import { until } from "../support/servers.js";

let engine: Engine;
let service: RefusingService;
let workers: Awaited<ReturnType<Engine["startWorker"]>>[] = [];
before(async () => {
  [engine, service] = await Promise.all([connectEngine(), startRefusing()]);
});
after(async () => {
  await engine.stop();
  service.close();
});
beforeEach(() => {
  for (const worker of workers) worker.kill("SIGKILL");
  workers = [];
  service.reset();
});

async function startWorkers(list: string, count = 3): Promise<void> {
  const started = Array.from({ length: count }, () => engine.startWorker(list, service.url));
  workers.push(...(await Promise.all(started)));
}

function start(list: string, input: RerankManyInput) {
  return engine.start(list, "rerankMany", { reference: list, ...input });
}

/** Fails unless every id is written once. @returns how many more requests there were than rows */
function everyIdOnce(list: string, ids: readonly string[]): number {
  const written = readResults(engine, list);
  assert.deepEqual(written.map(({ id }) => id).sort(), [...ids].sort());
  return service.requests.length - ids.length;
}

const unavailable: No = { status: 503, code: "UNAVAILABLE" };

// The run kills the server once meanwhile.
const skip = process.env.SERVER_IS_KILLED === undefined;
test("20,000 rankings, a worker killed every 5 seconds and the service away for 10: every id once", {
  skip,
}, async () => {
  const [chunks, size] = [200, 100];
  const ids = writeChunks(engine, "killed", chunks, size);
  await startWorkers("killed");
  let isAway = false;
  // So that there is always something under way to be killed.
  service.delayMs = 200;
  service.says = () => (isAway ? unavailable : undefined);
  const handle = await start("killed", {
    chunks,
    concurrency: 20,
    chunksPerRun: 80,
    heartbeatTimeoutMs: 3_000,
  });
  let kills = 0;
  let replaced = Promise.resolve();
  const killing = setInterval(() => {
    kills += 1;
    isAway = kills === 3 || kills === 4;
    // Any of them: always the oldest would keep time with the pauses between attempts.
    workers.splice(Math.floor(Math.random() * workers.length), 1)[0]?.kill("SIGKILL");
    replaced = startWorkers("killed", 1);
  }, 5_000);
  const result: RerankManyResult = await handle.result();
  clearInterval(killing);
  await replaced;
  assert.deepEqual(result, { chunks, ranked: chunks * size, failed: 0 });
  everyIdOnce("killed", ids);
  const paid = service.requests.filter(({ status }) => status !== 503).length - ids.length;
  console.log(`# ${kills} workers killed; ${paid} of ${ids.length} rankings were paid for twice`);
  assert.ok(kills >= 6, `${kills}`);
  // The history was cut: the first run was continued as new.
  const { raw } = await engine.client.workflow
    .getHandle(handle.workflowId, handle.firstExecutionRunId)
    .describe();
  assert.equal(raw.workflowExecutionInfo?.status, 6);
});

test("20 requests a second and nothing declared: every one of 1,000 is written", async () => {
  const ids = writeChunks(engine, "twenty", 10, 100);
  service.says = perSecond(20);
  await startWorkers("twenty");
  const result: RerankManyResult = await (await start("twenty", { chunks: 10 })).result();
  assert.deepEqual(result, { chunks: 10, ranked: 1000, failed: 0 });
  console.log(`# ${everyIdOnce("twenty", ids)} requests beyond need`);
});

test("with 19 a second declared of 20, and a worker killed: the fleet keeps its rate, and nothing is refused", async () => {
  const ids = writeChunks(engine, "declared", 10, 100);
  const says = perSecond(20);
  let refused = 0;
  service.says = (asked) => {
    const no = says(asked);
    if (no) refused += 1;
    return no;
  };
  await startWorkers("declared");
  const rate = { requestsPerMinute: 19 * 60 };
  const handle = await start("declared", { chunks: 10, rate, heartbeatTimeoutMs: 3_000 });
  await until(() => service.requests.length >= 400);
  workers.pop()?.kill("SIGKILL");
  const result: RerankManyResult = await handle.result();
  assert.deepEqual(result, { chunks: 10, ranked: 1000, failed: 0 });
  // What the killed worker had got a response to, of which a part of 50 was not written for each of its chunks, is asked again.
  const again = everyIdOnce("declared", ids);
  const times = service.requests.map(({ at }) => at);
  const most = Math.max(
    ...times.map((at) => times.filter((other) => other >= at && other < at + 10_000).length),
  );
  console.log(`# at most ${most} requests in 10 s; ${refused} refused, ${again} asked again`);
  assert.ok(most <= 200 && refused <= 10, `${most} in 10 s, ${refused} refused`);
});

test("a row that always fails is a row with its error, and 30 % random refusals lose nothing", async () => {
  const ids = writeChunks(engine, "poison", 4, 50);
  const [poison = ""] = ids;
  service.says = ({ query }) =>
    query === poison || Math.random() < 0.3 ? { status: 429, code: "RESOURCE_EXHAUSTED" } : undefined;
  await startWorkers("poison");
  const result: RerankManyResult = await (await start("poison", { chunks: 4 })).result();
  assert.deepEqual(result, { chunks: 4, ranked: 199, failed: 1 });
  everyIdOnce("poison", ids);
  const failed = readResults(engine, "poison").filter(({ error }) => error);
  assert.deepEqual(
    failed.map(({ id, error }) => [id, error?.code]),
    [[poison, "RESOURCE_EXHAUSTED"]],
  );
});

test("a killed worker costs its chunk a part and what was under way at most", async () => {
  const ids = writeChunks(engine, "part", 1, 600);
  const partRows = 50;
  service.delayMs = 100;
  await startWorkers("part", 1);
  const handle = await start("part", { chunks: 1, heartbeatTimeoutMs: 3_000 });
  await until(() => service.requests.length >= 300);
  // From here on nothing gets a response. What was is read by then, and written or in the part that is not full: it is
  // waited for, because a response on its way to a worker that is killed is under way there, and over here.
  const silentAt = Date.now();
  service.delayMs = 60_000;
  const withStatus = (status: number) => service.requests.filter((asked) => asked.status === status);
  await until(() => withStatus(0).every(({ at }) => at >= silentAt));
  const responded = withStatus(200).length;
  await until(() => responded - readResults(engine, "part").length < partRows);
  const unwritten = responded - readResults(engine, "part").length;
  workers.pop()?.kill("SIGKILL");
  service.delayMs = 100;
  await startWorkers("part", 1);
  await handle.result();
  const underWay = withStatus(0).length;
  const again = everyIdOnce("part", ids);
  console.log(`# ${again} rankings were asked for again, of which ${underWay} were under way`);
  assert.ok(underWay > 0 && underWay <= 256, `${underWay}`);
  assert.equal(again, unwritten + underWay);
});

test("a rolling deploy asks again for what was under way at most", async () => {
  const ids = writeChunks(engine, "deploy", 6, 300);
  service.delayMs = 100;
  await startWorkers("deploy");
  const handle = await start("deploy", { chunks: 6 });
  await until(() => service.requests.length >= 600);
  for (const worker of workers.splice(0)) worker.kill("SIGTERM");
  await startWorkers("deploy");
  await handle.result();
  const again = everyIdOnce("deploy", ids);
  console.log(`# ${again} of ${ids.length} rankings were asked for again`);
  // The last whose sender went away; what got a response while it ended is not known to have arrived.
  const cutAt = Math.max(...service.requests.filter(({ status }) => status === 0).map(({ at }) => at));
  const first = new Map([...service.requests].reverse().map((asked) => [asked.query, asked]));
  const twice = service.requests.filter((asked) => first.get(asked.query) !== asked);
  for (const { query } of twice) assert.ok(cutAt - (first.get(query)?.at ?? 0) < 500);
});

test("a revoked key or a missing chunk ends the workflow; started again, it skips what is written", async () => {
  const ids = writeChunks(engine, "revoked", 6, 200);
  const missing = path.join(engine.folder, "revoked", "5.json");
  renameSync(missing, `${missing}.away`);
  service.says = () => (service.requests.length > 500 ? { status: 401, code: "UNAUTHENTICATED" } : undefined);
  await startWorkers("revoked");
  const revoked = await failureOf(await start("revoked", { chunks: 5 }));
  assert.deepEqual([revoked.call.code, revoked.call.httpStatus], ["UNAUTHENTICATED", 401]);
  // A rejected key ends a run at once: of the requests before it some are aborted, and of the good responses those that
  // were on their way are lost.
  const good = (): number => service.requests.filter(({ status }) => status === 200).length;
  const lost = good() - readResults(engine, "revoked").length;
  assert.ok(lost >= 0 && lost < 250, `${lost}`);
  service.says = () => undefined;
  const gone = await failureOf(await start("revoked", { chunks: 6 }));
  assert.match(gone.failure.message, /There is no chunk 5 of "revoked" to read/);
  // The others ended first.
  assert.equal(readResults(engine, "revoked").length, 1000);
  renameSync(`${missing}.away`, missing);
  const result: RerankManyResult = await (await start("revoked", { chunks: 6 })).result();
  assert.deepEqual(result, { chunks: 6, ranked: 1200, failed: 0 });
  assert.equal(good(), ids.length + lost);
  everyIdOnce("revoked", ids);
});

// Of ids and times nothing is kept that tells where it ran.
test("RECORD_HISTORY=1 keeps a history of rerankMany, which every run of the checks replays", async () => {
  const ids = writeChunks(engine, "recorded", 5, 2);
  await startWorkers("recorded", 1);
  const handle = await start("recorded", { chunks: 5, concurrency: 2, chunksPerRun: 4 });
  await handle.result();
  everyIdOnce("recorded", ids);
  const { workflowId, firstExecutionRunId } = handle;
  const history = await engine.client.workflow.getHandle(workflowId, firstExecutionRunId).fetchHistory();
  const json = historyToJSON(history).replace(/("(?:identity|buildId)": ?)"[^"]*"/g, '$1"recorded"');
  assert.match(json, /WORKFLOW_EXECUTION_CONTINUED_AS_NEW/);
  if (process.env.RECORD_HISTORY)
    writeFileSync(new URL("../rerankMany.history.json", import.meta.url), `${json}\n`);
});

async function statusOf(handle: WorkflowHandle): Promise<string> {
  return (await handle.describe()).status.name;
}

test("after a workflow is cancelled, no request reaches the service", async () => {
  writeChunks(engine, "cancelled", 6, 500);
  service.delayMs = 400;
  await startWorkers("cancelled");
  const handle = await start("cancelled", { chunks: 6 });
  await until(() => service.requests.length >= 100);
  await handle.cancel();
  await assert.rejects(handle.result());
  const { length } = service.requests;
  assert.equal(await statusOf(handle), "CANCELLED");
  const written = readResults(engine, "cancelled").length;
  const responded = service.requests.filter(({ status }) => status === 200).length;
  assert.ok(responded - written <= 6 * 64, `${responded} responses, ${written} written`);
  // What a worker still did would show in the time of two heartbeats.
  await new Promise((resolve) => setTimeout(resolve, 5_000));
  assert.equal(service.requests.length, length);
  assert.ok(length < 3000, `${length}`);
});

// Temporal's worker does not always notice: a heartbeat that fails restarts its own clock, too.
test("a worker cut off from Temporal may go on: another one does its chunk, and every id is written", async () => {
  const ids = writeChunks(engine, "cut", 1, 2000);
  const [host = "", port] = (process.env.TEMPORAL_ADDRESS ?? "").split(":");
  const sockets = new Set<Socket>();
  const proxy = createServer((socket) => {
    const server = connect(Number(port), host);
    for (const side of [socket, server]) sockets.add(side.on("error", () => {}));
    socket.pipe(server).pipe(socket);
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => proxy.once("listening", resolve));
  const { port: ofProxy } = proxy.address() as { port: number };
  service.delayMs = 1_000;
  workers.push(await engine.startWorker("cut", service.url, `127.0.0.1:${ofProxy}`));
  const handle = await start("cut", { chunks: 1, heartbeatTimeoutMs: 5_000 });
  await until(() => service.requests.length >= 10);
  proxy.close();
  for (const socket of sockets) socket.destroy();
  await startWorkers("cut", 1);
  await handle.result();
  const written = new Set(readResults(engine, "cut").map(({ id }) => id));
  assert.deepEqual([...written].sort(), [...ids].sort());
  console.log(`# ${service.requests.length - ids.length} rankings were asked for again`);
});
