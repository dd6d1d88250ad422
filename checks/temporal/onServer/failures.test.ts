// What becomes of each failure under Temporal's default policy, which repeats for ever, by the service's own counts.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import type { RerankRequest } from "tunerank";
import { attempts, connectEngine, type Engine, failureOf, key, uploaded } from "../support/engine.js";
import { freePort, until } from "../support/servers.js";
import { type Service, startService } from "../support/service.js";

const queue = "failures";
const ranking: RerankRequest = { query: "q", documents: ["d"] };
let engine: Engine;
let service: Service;
before(async () => {
  [engine, service] = await Promise.all([connectEngine(), startService()]);
  await engine.startWorker(queue, service.url);
});
after(async () => {
  await engine.stop();
  await service.close();
});
beforeEach(() => {
  service.reset();
  service.ended.length = 0;
});

test("a 503 of a proxy before a rerank is retried", async () => {
  service.fail("rerank", { status: 503, times: 2 });
  const handle = await engine.start(queue, "rerankOnce", ranking);
  assert.equal((await handle.result()).object, "list");
  assert.equal(service.requests.length, 3);
});

test("a 503 of a proxy before a resume or an upload is not", async () => {
  service.fail("resume", { status: 503, times: 9 });
  service.fail("upload", { status: 503, times: 9 });
  for (const [workflow, ...args] of [
    ["resumeOnce", "j"],
    ["uploadOnce", "d", uploaded],
  ] as const) {
    const { failure, call } = await failureOf(await engine.start(queue, workflow, ...args));
    assert.equal(failure.name, "ApplicationFailure");
    assert.deepEqual([call.code, call.executed, call.requests], ["UNAVAILABLE", "unknown", 1]);
  }
  assert.equal(service.requests.length, 2);
});

const operations = [
  ["rerank", "rerankOnce", [ranking]],
  ["scale", "scaleOnce", ["p", 1]],
  ["resume", "resumeOnce", ["j"]],
  ["upload", "uploadOnce", ["d", uploaded]],
] as const;

for (const code of ["INVALID_ARGUMENT", "PERMISSION_DENIED", "ABORTED"] as const) {
  test(`${code}: one request, and a failure of that type`, async () => {
    for (const [operation, workflow, args] of operations) {
      service.reset();
      service.fail(operation, { code, times: 9 });
      const { failure, call } = await failureOf(await engine.start(queue, workflow, ...args));
      assert.equal("type" in failure && failure.type, code);
      assert.equal("nonRetryable" in failure && failure.nonRetryable, true);
      assert.deepEqual([call.code, call.executed], [code, "no"]);
      assert.equal(service.requests.length, 1);
      assert.ok(!JSON.stringify([failure, call]).includes(key));
    }
  });
}

test("the engine waits as long as the service asks, also before a resume and an upload", async () => {
  for (const [operation, workflow, args] of operations) {
    service.reset();
    service.ended.length = 0;
    service.fail(operation, { code: "RESOURCE_EXHAUSTED", retryAfter: 4, times: 1 });
    const handle = await engine.start(queue, workflow, ...args);
    await handle.result();
    const [refused, responded] = service.ended;
    assert.equal(service.ended.length, 2);
    const waited = (responded?.at ?? 0) - (refused?.at ?? 0);
    // Temporal's own first wait is 1 s.
    assert.ok(waited >= 4_000 && waited < 6_000, `${operation}: ${waited} ms`);
  }
});

test("what the service names UNAVAILABLE is retried, as it asks", async () => {
  for (const [operation, workflow, args] of operations) {
    service.reset();
    service.fail(operation, { code: "UNAVAILABLE", times: 1 });
    await (await engine.start(queue, workflow, ...args)).result();
    assert.equal(service.requests.length, 2, operation);
  }
});

test("a resume and an upload that never connected are made once the service is there", async () => {
  const port = await freePort();
  await engine.startWorker("later", `http://127.0.0.1:${port}`);
  const handles = [
    await engine.start("later", "resumeOnce", "j"),
    await engine.start("later", "uploadOnce", "d", uploaded),
  ];
  // Each has failed at least once: its second attempt waits or runs.
  for (const handle of handles) await attempts(handle, 2);
  const late = await startService(port);
  await Promise.all(handles.map((handle) => handle.result()));
  assert.deepEqual(late.requests.map(({ operation }) => operation).sort(), ["resume", "upload"]);
  await late.close();
});

test("a cancellation reaches the socket", async () => {
  for (const [operation, workflow, args] of operations) {
    service.reset();
    service.ended.length = 0;
    service.fail(operation, { stall: true, times: 9 });
    const handle = await engine.start(queue, workflow, ...args);
    await until(() => service.requests.length === 1);
    const cancelled = Date.now();
    await handle.cancel();
    await until(() => service.ended.length === 1);
    assert.equal(service.ended[0]?.status, undefined);
    const took = (service.ended[0]?.at ?? 0) - cancelled;
    // The next heartbeat tells of it, at most 80 % of two seconds later.
    assert.ok(took < 5_000, `${operation}: ${took} ms`);
    const { failure } = await failureOf(handle);
    assert.equal(failure.name, "CancelledFailure");
    assert.equal(service.requests.length, 1);
  }
});

test("the client's deadline ends before the activity's", async () => {
  service.fail("rerank", { stall: true, times: 1 });
  const handle = await engine.start(queue, "rerankSilently", ranking);
  await until(() => service.ended.length === 1);
  let last: string | null | undefined;
  while (!last) {
    const { raw } = await handle.describe();
    last = raw.pendingActivities?.[0]?.lastFailure?.applicationFailureInfo?.type;
  }
  assert.equal(last, "DEADLINE_EXCEEDED");
  await handle.result();
  assert.equal(service.requests.length, 2);
});
