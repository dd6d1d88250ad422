// The activities with Temporal's own packages, and BullMQ on a real Redis; with --server also all of it on a real Temporal
// server, which is killed once under 20,000 rankings. npm run check:integrations runs the first, npm run check:integrations --
// --temporal both.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, readdirSync, rmSync } from "node:fs";
import path from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { saveBlocks } from "../../docs/build/blocks.js";
import { recordRun } from "../../scripts/lastRuns.js";
import { installPacked } from "../installPacked.js";
import { buildServer, hasRedis, startLastingServer, startServer } from "./support/servers.js";

const { values: options, positionals } = parseArgs({
  options: {
    server: { type: "boolean", default: false },
  },
  allowPositionals: true,
});

const folder = fileURLToPath(new URL(".", import.meta.url));
const installed = path.join(folder, "node_modules/tunerank");
const { user, remove } = installPacked();
rmSync(installed, { recursive: true, force: true });
cpSync(path.join(user, "node_modules/tunerank"), installed, { recursive: true });
remove();
copyDocumented();

run([path.join(folder, "node_modules/typescript/bin/tsc"), "-p", folder]);
// Side by side: most of the second is waiting for BullMQ to find a job whose worker died.
test(hasRedis() ? ["", "onRedis"] : [""], 2);
if (!hasRedis()) console.log("SKIPPED  bullmq: there is no redis-server (apt-get install redis-server).");
if (options.server) {
  const built = buildServer();
  if ("missing" in built) {
    console.log(`SKIPPED  temporal: ${built.missing}.`);
  } else {
    const { address, namespace, stop } = await startServer(built.binary);
    test(["onServer"], 1, { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace });
    stop();
    if (positionals.length === 0 || positionals.includes("onServer/bulk.test.ts"))
      await underKilledServer(built.binary);
    if (positionals.length === 0 && hasRedis() && process.exitCode === undefined) recordRun("temporal");
  }
}

// The programs of the guide, where their libraries are.
function copyDocumented(): void {
  const documented = path.join(folder, "documented");
  rmSync(documented, { recursive: true, force: true });
  saveBlocks("guide/beyond-one-machine.md", documented);
}

/** Runs the tests of these folders, or those of them that the command names. */
function test(folders: readonly string[], atOnce: number, env: Readonly<Record<string, string>> = {}): void {
  const files = folders.flatMap((below) =>
    readdirSync(path.join(folder, below))
      .filter((name) => name.endsWith(".test.ts"))
      .map((name) => path.join(below, name)),
  );
  const named = files.filter((name) => positionals.length === 0 || positionals.includes(name));
  const flags = ["--test", `--test-concurrency=${atOnce}`, "--test-timeout=900000"];
  if (named.length > 0) run(["--import", "tsx", ...flags, ...named], env);
}

function run(args: readonly string[], env: Readonly<Record<string, string>> = {}): void {
  const { status } = spawnSync(process.execPath, args, {
    cwd: folder,
    stdio: "inherit",
    env: { ...process.env, ...env },
  });
  if (status !== 0) process.exitCode = 1;
}

/** The test with workers that are killed, with the server killed too. */
async function underKilledServer(binary: string): Promise<void> {
  const server = await startLastingServer(binary);
  const args = ["--import", "tsx", "--test", "--test-name-pattern=^20,000", "onServer/bulk.test.ts"];
  const env = {
    ...process.env,
    TEMPORAL_ADDRESS: server.address,
    TEMPORAL_NAMESPACE: server.namespace,
    SERVER_IS_KILLED: "1",
  };
  const tests = spawn(process.execPath, args, { cwd: folder, stdio: "inherit", env });
  const ended = once(tests, "exit");
  await Promise.race([setTimeout(25_000), ended]);
  console.log("# the server is killed, after 25 s");
  await server.killAndStart();
  const [code] = await ended;
  if (code !== 0) process.exitCode = 1;
  server.stop();
}
