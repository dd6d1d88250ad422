// The activities with Temporal's own packages; with --server also on a real Temporal server, and BullMQ on a real Redis.
// npm run check:integrations runs the first, npm run check:integrations -- --temporal both.
import { spawnSync } from "node:child_process";
import { cpSync, readdirSync, rmSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { installPacked } from "../installPacked.js";
import { buildServer, startServer } from "./support/temporalServer.js";

const { values: options, positionals } = parseArgs({
  options: { server: { type: "boolean", default: false } },
  allowPositionals: true,
});

const folder = fileURLToPath(new URL(".", import.meta.url));
const installed = path.join(folder, "node_modules/tunerank");
const { user, remove } = installPacked();
rmSync(installed, { recursive: true, force: true });
cpSync(path.join(user, "node_modules/tunerank"), installed, { recursive: true });
remove();

run([path.join(folder, "node_modules/typescript/bin/tsc"), "-p", folder]);
test("");
if (options.server) {
  const built = buildServer();
  if ("missing" in built) {
    console.log(`SKIPPED  temporal: ${built.missing}.`);
  } else {
    const { address, namespace, stop } = await startServer(built.binary);
    test("onServer", { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace });
    stop();
  }
}

/** Runs the tests of a folder, or those that the command names. */
function test(below: string, env: Readonly<Record<string, string>> = {}): void {
  const all = readdirSync(path.join(folder, below)).filter((name) => name.endsWith(".test.ts"));
  const files = all.map((name) => path.join(below, name));
  const named = files.filter((name) => positionals.length === 0 || positionals.includes(name));
  if (named.length > 0) run(["--import", "tsx", "--test", "--test-concurrency=1", ...named], env);
}

function run(args: readonly string[], env: Readonly<Record<string, string>> = {}): void {
  const { status } = spawnSync(process.execPath, args, {
    cwd: folder,
    stdio: "inherit",
    env: { ...process.env, ...env },
  });
  if (status !== 0) process.exitCode = 1;
}
