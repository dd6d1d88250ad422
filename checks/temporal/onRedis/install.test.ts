// The recipe of the guide, taken literally: its commands in a new folder, with no package but those that they name.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Queue } from "bullmq";
import { startRedis, until } from "../support/servers.js";
import { type Service, startService } from "../support/service.js";

const here = fileURLToPath(new URL("..", import.meta.url));
const documented = path.join(here, "documented");
const { dependencies } = JSON.parse(readFileSync(path.join(here, "package.json"), "utf8"));
const folder = mkdtempSync(path.join(tmpdir(), "tunerank-guide-"));
let service: Service;
let redis: Awaited<ReturnType<typeof startRedis>>;

before(async () => {
  [service, redis] = await Promise.all([startService(), startRedis()]);
});
after(async () => {
  redis.process.kill("SIGKILL");
  await service.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The guide's commands, with the versions that this folder pins, and the package as it is here. */
function pinnedCommands(): string[] {
  const packed = ["pack", "--json", "--ignore-scripts", "--pack-destination", folder];
  const cwd = path.join(here, "node_modules/tunerank");
  const [{ filename }] = JSON.parse(execFileSync("npm", packed, { cwd, encoding: "utf8" }));
  return readFileSync(path.join(documented, "bullmq.sh"), "utf8")
    .replace(/(?<= )tunerank(?= )/, path.join(folder, filename))
    .replace(/(?<= )(bullmq|ioredis)(?=\s)/g, (name) => `${name}@${dependencies[name]}`)
    .split("\n")
    .filter((line) => line !== "");
}

test("the recipe starts where its own commands installed it, and ranks", async () => {
  const env = {
    ...process.env,
    REDIS_PORT: `${redis.port}`,
    TUNERANK_BASE_URL: service.url,
    TUNERANK_API_KEY: "test-key",
    TUNERANK_ACCOUNT_ID: "acme",
  };
  const lines = pinnedCommands();
  const last = lines.pop() ?? "";
  for (const line of lines) execFileSync("sh", ["-c", line], { cwd: folder, env, stdio: "pipe" });
  cpSync(path.join(documented, "bullmq.ts"), path.join(folder, "bullmq.ts"));
  const worker = spawn("sh", ["-c", `exec ${last}`], { cwd: folder, env, detached: true });
  let printed = "";
  for (const stream of [worker.stdout, worker.stderr])
    stream.on("data", (data) => {
      printed += data;
    });
  const queue = new Queue("rankings", { connection: { port: redis.port } });
  try {
    await queue.add("rankings", { query: "q", documents: ["d"] });
    await until(() => worker.exitCode !== null || service.requests.length > 0 || printed !== "");
    assert.deepEqual([worker.exitCode, printed], [null, ""]);
    assert.equal(service.requests[0]?.operation, "rerank");
  } finally {
    await queue.close();
    if (worker.exitCode === null) process.kill(-(worker.pid ?? 0), "SIGKILL");
  }
});
