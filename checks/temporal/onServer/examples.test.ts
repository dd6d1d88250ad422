// The programs of the guide on a real server, each in a process of its own.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, beforeEach, test } from "node:test";
import { Client, Connection } from "@temporalio/client";
import { readResults } from "../support/engine.js";
import { runProgram, startProgram, until } from "../support/servers.js";
import { type Service, startService } from "../support/service.js";

const { TEMPORAL_ADDRESS = "", TEMPORAL_NAMESPACE = "" } = process.env;
const folder = mkdtempSync(path.join(tmpdir(), "tunerank-temporal-"));
let service: Service;
let worker: ReturnType<typeof startProgram>;
const env = () => ({ TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TUNERANK_BASE_URL: service.url });

before(async () => {
  service = await startService();
  worker = startProgram("worker.ts", folder, env());
});
after(async () => {
  worker.kill("SIGKILL");
  await service.close();
  rmSync(folder, { recursive: true });
});
beforeEach(() => service.reset());

test("pipeline.ts uploads a file, then resumes the job", async () => {
  writeFileSync(path.join(folder, "train.jsonl"), "{}\n");
  assert.equal(await runProgram("pipeline.ts", folder, env()), "JOB_STATE_RUNNING\n", worker.printed());
  assert.deepEqual(
    service.requests.map(({ operation }) => operation),
    ["upload", "resume"],
  );
});

test("pipeline.ts tells whether what failed may have run", async () => {
  service.fail("upload", { status: 503, times: 9 });
  assert.match(
    await runProgram("pipeline.ts", folder, env()),
    /^unknown \[UNAVAILABLE\] .*may have been stored/,
  );
  assert.equal(service.requests.length, 1);
});

test("bulk.ts ranks every chunk", async () => {
  mkdirSync(path.join(folder, "requests"));
  for (const n of [0, 1, 2]) {
    const requests = [0, 1].map((row) => ({ id: `${n}-${row}`, query: "q", documents: ["a", "b"] }));
    writeFileSync(path.join(folder, `requests/${n}.json`), JSON.stringify(requests));
  }
  assert.equal(await runProgram("bulk.ts", folder, env()), "6 ranked, 0 failed\n");
  const ids = readResults({ folder }, "requests").map(({ id }) => id);
  assert.deepEqual(ids.sort(), ["0-0", "0-1", "1-0", "1-1", "2-0", "2-1"]);
});

test("schedule.ts scales to zero at night and up in the morning", async () => {
  const printed = await runProgram("schedule.ts", folder, env());
  assert.equal(printed, "at 20:00 prod has 0 replicas\nat 7:00 prod has 2 replicas\n");
  const connection = await Connection.connect({ address: TEMPORAL_ADDRESS });
  const { schedule } = new Client({ connection, namespace: TEMPORAL_NAMESPACE });
  for (const [hour, replicaCount] of [
    [20, 0],
    [7, 2],
  ] as const) {
    service.reset();
    const handle = schedule.getHandle(`prod-at-${hour}`);
    const { info } = await handle.describe();
    const next = info.nextActionTimes[0] ?? new Date(0);
    const local = next.toLocaleString("en-GB", {
      timeZone: "Europe/Berlin",
      hour: "numeric",
      weekday: "short",
    });
    assert.match(local, new RegExp(`^(Mon|Tue|Wed|Thu|Fri).* 0?${hour}$`));
    await handle.trigger();
    await until(() => service.requests.length === 1);
    assert.deepEqual(service.requests[0]?.body, { replicaCount });
    await handle.delete();
  }
  await connection.close();
});
