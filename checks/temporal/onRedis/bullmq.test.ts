// The recipe of the guide, with a real Redis and by the service's own counts.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { type Queue, QueueEvents } from "bullmq";
import { startProgram, startRedis, until } from "../support/servers.js";
import { type Service, startService } from "../support/service.js";

const ranking = { query: "q", documents: ["d"] };
let service: Service;
let redis: Awaited<ReturnType<typeof startRedis>>;
let queues: Readonly<Record<"rankings" | "resumptions", { queue: Queue; events: QueueEvents }>>;
let worker: ReturnType<typeof startWorker>;
let backoffMs: (attempts: number) => number;

before(async () => {
  [service, redis] = await Promise.all([startService(), startRedis()]);
  // The recipe's own queues; its workers are those of another process, which can die.
  process.env.REDIS_PORT = `${redis.port}`;
  const recipe = await import("../documented/bullmq.js");
  await Promise.all(recipe.workers.map((unused) => unused.close()));
  backoffMs = recipe.workers[0]?.opts.settings?.backoffStrategy as typeof backoffMs;
  const open = (queue: Queue) => ({
    queue,
    events: new QueueEvents(queue.name, { connection: { port: redis.port } }),
  });
  queues = { rankings: open(recipe.rankings), resumptions: open(recipe.resumptions) };
  worker = startWorker();
});
after(async () => {
  for (const { queue, events } of Object.values(queues)) await Promise.all([queue.close(), events.close()]);
  worker.kill("SIGKILL");
  redis.process.kill("SIGKILL");
  await service.close();
});
beforeEach(() => {
  service.reset();
  service.ended.length = 0;
});

function startWorker() {
  return startProgram("bullmq.ts", ".", { TUNERANK_BASE_URL: service.url, REDIS_PORT: `${redis.port}` });
}

async function outcome(name: keyof typeof queues, data: object) {
  const { queue, events } = queues[name];
  await events.waitUntilReady();
  return (await queue.add(name, data)).waitUntilFinished(events);
}

test("a ranking is made, and repeated after a proxy's 503", async () => {
  service.fail("rerank", { status: 503, times: 4 });
  assert.equal((await outcome("rankings", ranking)).object, "list");
  assert.equal(service.requests.length, 5);
});

test("what the service refuses is asked once", async () => {
  service.fail("rerank", { code: "PERMISSION_DENIED", times: 9 });
  service.fail("resume", { status: 503, times: 9 });
  await assert.rejects(outcome("rankings", ranking), /PERMISSION_DENIED/);
  await assert.rejects(outcome("resumptions", { job: "j" }), /UNAVAILABLE.*may have been resumed/);
  assert.equal(service.requests.length, 2);
});

test("a 429 pauses the queue for as long as the service asks, and spends no attempt", async () => {
  service.fail("rerank", { code: "RESOURCE_EXHAUSTED", retryAfter: 3 });
  const { queue } = queues.rankings;
  const jobs = await Promise.all([1, 2, 3].map(() => queue.add("rankings", ranking)));
  await until(() => service.ended.length >= 1);
  const [refused] = service.ended;
  let ttl = 0;
  // Of a pause: below `max` the same key counts the jobs of a second.
  while (ttl <= 0) ttl = await queue.getRateLimitTtl(100);
  assert.ok(ttl > 1_000 && ttl <= 3_000, `${ttl}`);
  await until(() => service.ended.length === 4);
  const last = service.ended.at(-1);
  assert.ok(refused && last && last.at - refused.at >= 2_990);
  const made = async ({ id = "" }) => (await queue.getJob(id))?.attemptsMade;
  await until(async () => (await queue.getActiveCount()) === 0);
  assert.deepEqual(await Promise.all(jobs.map(made)), [1, 1, 1]);
});

test("a 429 that asks to wait pauses the workers of other processes too", async () => {
  const other = startWorker();
  const { queue } = queues.rankings;
  const before = await queue.getCompletedCount();
  const pausedFrom = async () => service.ended.find(({ status }) => status === 429)?.at;
  service.fail("rerank", { code: "RESOURCE_EXHAUSTED", retryAfter: 3 });
  await queue.addBulk(Array.from({ length: 600 }, () => ({ name: "rank", data: ranking })));
  await until(async () => (await queue.getCompletedCount()) === before + 600);
  const from = (await pausedFrom()) ?? 0;
  // What was taken before the pause is ranked, 48 by each worker: no worker takes more.
  const during = service.ended.filter(({ at }) => at > from + 200 && at < from + 2_900);
  assert.ok(during.length <= 2 * 48, `${during.length} during the pause`);
  assert.ok((service.ended.at(-1)?.at ?? 0) - from > 2_990);
  other.kill("SIGKILL");
});

test("a 429 without a time is retried, and spends no attempt", async () => {
  service.fail("rerank", { code: "RESOURCE_EXHAUSTED", times: 3 });
  const { queue, events } = queues.rankings;
  const job = await queue.add("rankings", ranking);
  assert.equal((await job.waitUntilFinished(events)).object, "list");
  assert.equal(service.requests.length, 4);
  assert.equal((await queue.getJob(job.id ?? ""))?.attemptsMade, 1);
});

test("a worker ranks many jobs, each once", async () => {
  const { queue } = queues.rankings;
  const before = await queue.getCompletedCount();
  await queue.addBulk(Array.from({ length: 200 }, () => ({ name: "rank", data: ranking })));
  await until(async () => (await queue.getCompletedCount()) === before + 200);
  assert.equal(service.requests.length, 200);
});

// The first attempt takes a minute: only then is it the queue's turn.
test("a job that is tried at the start of an outage outlasts an hour of it", async () => {
  service.fail("rerank", { status: 503, times: Number.POSITIVE_INFINITY });
  const { queue, events } = queues.rankings;
  const { id = "" } = await queue.add("rankings", ranking);
  await until(async () => (await (await queue.getJob(id))?.isDelayed()) === true);
  const job = await queue.getJob(id);
  assert.equal(job?.attemptsMade, 1);
  const waitsMs = Array.from({ length: (job.opts.attempts ?? 0) - 1 }, (_, index) => backoffMs(index + 1));
  assert.ok(waitsMs.reduce((sum, ms) => sum + ms, 0) > 3_600_000);
  assert.ok(Math.max(...waitsMs) <= 60_000, "a minute after the service's mending");
  assert.ok(job.delay <= 60_000);
  service.reset();
  await job.promote();
  assert.equal((await job.waitUntilFinished(events))?.object, "list");
});

test("finished jobs are removed by their count and age", async () => {
  for (const { queue } of Object.values(queues)) {
    const { removeOnComplete, removeOnFail } = queue.defaultJobOptions;
    for (const kept of [removeOnComplete, removeOnFail])
      assert.ok(typeof kept === "object" && "age" in kept && kept.age && kept.count);
  }
});

test("a resume whose worker dies is sent once, and its job fails", async () => {
  service.fail("resume", { stall: true, times: 9 });
  const failed = outcome("resumptions", { job: "j" });
  failed.catch(() => {});
  await until(() => service.requests.length === 1);
  worker.kill("SIGKILL");
  worker = startWorker();
  // BullMQ looks for such jobs every 30 s.
  await assert.rejects(failed, /stalled/);
  assert.equal(service.requests.length, 1);
});
