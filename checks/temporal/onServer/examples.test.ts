// The programs of the guide on a real server, each in a process of its own.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, beforeEach, test } from "node:test";
import { readResults } from "../support/engine.js";
import { runProgram, startProgram } from "../support/servers.js";
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
