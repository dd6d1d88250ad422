// The recipe of the guide, with a real Redis and by the service's own counts.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { Queue, QueueEvents } from "bullmq";
import { startProgram } from "../support/program.js";
import { startRedis } from "../support/redis.js";
import { type Service, startService } from "../support/service.js";
import { until } from "../support/waiting.js";

const ranking = { query: "q", documents: ["d"] };
let service: Service;
let redis: Awaited<ReturnType<typeof startRedis>>;
let queues: Readonly<Record<"rankings" | "resumptions", { queue: Queue; events: QueueEvents }>>;
let worker: ReturnType<typeof startWorker>;

before(async () => {
  [service, redis] = await Promise.all([startService(), startRedis()]);
  const open = (name: string) => {
    const connection = { port: redis.port };
    // As in the recipe, whose process is another one.
    const defaultJobOptions = { attempts: 10, backoff: { type: "asked" } };
    return {
      queue: new Queue(name, { connection, defaultJobOptions }),
      events: new QueueEvents(name, { connection }),
    };
  };
  queues = { rankings: open("rankings"), resumptions: open("resumptions") };
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
  // The client itself repeats twice.
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

test("a Retry-After that is longer than any call waits is kept by the queue", async () => {
  service.fail("resume", { code: "RESOURCE_EXHAUSTED", retryAfter: 61 });
  const { queue } = queues.resumptions;
  const job = await queue.add("resumptions", { job: "j" });
  await until(() => service.ended.length === 1);
  let delay = 0;
  while (delay === 0) delay = (await queue.getJob(job.id ?? ""))?.delay ?? 0;
  assert.equal(delay, 61_000);
  await job.remove();
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
