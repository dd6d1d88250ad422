// A worker that dies while it sends, under Temporal's default policy, which repeats for ever.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { attempts, connectEngine, type Engine, failureOf } from "../support/engine.js";
import { freePort, until } from "../support/servers.js";
import { startService } from "../support/service.js";

let engine: Engine;
before(async () => {
  engine = await connectEngine();
});
after(() => engine.stop());

const deaths = [
  ["upload", "uploadOnce", "uploadDatasetFile"],
  ["resume", "resumeOnce", "resumeReinforcementFineTuningJob"],
  ["resume", "resumeSilently", "resumeReinforcementFineTuningJob"],
] as const;

for (const [operation, workflow, operationId] of deaths) {
  test(`${workflow}: one request, and a failure that says that it may have run`, async () => {
    const service = await startService();
    service.fail(operation, { stall: true, times: 1 });
    const file = path.join(engine.folder, "train.jsonl");
    writeFileSync(file, "{}\n");
    const first = await engine.startWorker(workflow, service.url);
    const handle = await engine.start(workflow, workflow, ...(operation === "upload" ? ["d", file] : ["j"]));
    await until(() => service.requests.length === 1);
    first.kill("SIGKILL");
    const second = await engine.startWorker(workflow, service.url);
    const { failure, call } = await failureOf(handle);
    assert.equal(failure.name, "ApplicationFailure");
    assert.equal("nonRetryable" in failure && failure.nonRetryable, true);
    assert.equal(call.executed, "unknown");
    assert.equal(call.operation, operationId);
    assert.match(call.message, /Attempt 2 of this activity sends nothing.*may have been/);
    assert.equal(service.requests.length, 1);
    second.kill("SIGKILL");
    await service.close();
  });
}

test("what an attempt recorded lets the next one start, and no other", async () => {
  const port = await freePort();
  const first = await engine.startWorker("recorded", `http://127.0.0.1:${port}`);
  const handle = await engine.start("recorded", "resumeOnce", "j");
  // The first attempt never connected.
  await attempts(handle, 2);
  const service = await startService(port);
  service.fail("resume", { stall: true, times: 9 });
  await until(() => service.requests.length === 1);
  first.kill("SIGKILL");
  const second = await engine.startWorker("recorded", service.url);
  const { call } = await failureOf(handle);
  assert.equal(call.executed, "unknown");
  assert.equal(service.requests.length, 1);
  second.kill("SIGKILL");
  await service.close();
});

test("a rerank of a worker that dies is made by another", async () => {
  const service = await startService();
  service.fail("rerank", { stall: true, times: 1 });
  const first = await engine.startWorker("rerank", service.url);
  const handle = await engine.start("rerank", "rerankOnce", { query: "q", documents: ["d"] });
  await until(() => service.requests.length === 1);
  first.kill("SIGKILL");
  const second = await engine.startWorker("rerank", service.url);
  assert.equal((await handle.result()).object, "list");
  assert.equal(service.requests.length, 2);
  second.kill("SIGKILL");
  await service.close();
});
