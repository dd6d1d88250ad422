// npm run check:integrations: the packed package with the libraries it is made for, on a Node that all of them take; with
// --temporal on a Temporal server, too.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { saveBlocks } from "../../docs/build/blocks.js";
import { installPacked } from "../installPacked.js";
import { newerNode } from "../machine.js";

const folder = fileURLToPath(new URL(".", import.meta.url));
const temporal = path.join(folder, "../temporal/run.ts");
const given = process.argv.slice(2).filter((each) => each !== "--temporal");
const server = process.argv.includes("--temporal") ? ["--server"] : [];

// Names are those of its tests.
if (server.length > 0 && given.length > 0) {
  run(process.execPath, ["--import", "tsx", temporal, ...server, ...given]);
  process.exit();
}
const installed = path.join(folder, "node_modules/tunerank");
const documented = path.join(folder, "documented");

const node = newerNode("integrations");
if (node === undefined) {
  console.log(
    "SKIPPED  integrations: ai 7, msw 3 and nock 15 need Node 22.20 or newer, and there is none for this machine.",
  );
  // What is left out is not recorded as proved.
  if (server.length > 0) process.exit(1);
} else {
  const { user, remove } = installPacked();
  rmSync(installed, { recursive: true, force: true });
  cpSync(path.join(user, "node_modules/tunerank"), installed, { recursive: true });
  remove();
  copyDocumented();
  const compiler = path.join(folder, "node_modules/typescript/bin/tsc");
  const tests = readdirSync(folder).filter((name) => name.endsWith(".test.ts"));
  run(node, [compiler, "-p", folder, "--exactOptionalPropertyTypes"]);
  // Other clients' types do not all allow that.
  saveBlocks("guide/coming-from.md", path.join(documented, "comingFrom"));
  run(node, [compiler, "-p", folder]);
  run(node, ["--test", ...given, ...tests]);
}
if (given.length === 0) run(process.execPath, ["--import", "tsx", temporal, ...server]);

// From the guides to where their libraries are.
function copyDocumented(): void {
  rmSync(documented, { recursive: true, force: true });
  mkdirSync(path.join(documented, "old"), { recursive: true });
  saveBlocks("guide/adapters.md", documented);
  saveBlocks("recipes/job-engines.md", documented);
  saveBlocks("guide/observing.md", documented, ["callSpans.ts"]);
  saveBlocks("guide/testing.md", documented, ["msw.ts", "nock.ts"]);
  saveBlocks("recipes/several-machines.md", documented, ["kubernetes.yml"]);
}

function run(program: string, args: readonly string[]): void {
  const { status } = spawnSync(program, args, { cwd: folder, stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}
