// npm run check:first-hour: programs as each ecosystem's own starter writes them, with the packed package and default
// permissions, against the mock server. `-- NAME` runs those whose name holds it; `--all` also what CI has no time for.
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { recordRun } from "../../scripts/lastRuns.js";
import type { TestService } from "../../src/testing/index.js";
import { installPacked } from "../installPacked.js";
import { here, tool } from "./processes.js";
import { programs } from "./programs.js";
import { work } from "./starters.js";

const { values: options, positionals } = parseArgs({
  options: { all: { type: "boolean", default: false } },
  allowPositionals: true,
});
const [wanted = ""] = positionals;
if (options.all) install();
const { user, tarball, remove } = installPacked();
const installed = tool("tunerank");
rmSync(installed, { recursive: true, force: true });
cpSync(path.join(user, "node_modules/tunerank"), installed, { recursive: true });
const testing = path.join(installed, "dist/testing/index.js");
const { createTestService } = (await import(testing)) as { createTestService(): TestService };
const service = createTestService();
const server = await service.listen();

const rows: object[] = [];
for (const [name, { all, file, of, run }] of Object.entries(programs)) {
  if (all && !options.all) continue;
  if (!name.toLowerCase().includes(wanted.toLowerCase())) continue;
  const started = performance.now();
  service.reset();
  try {
    const found = await run({ service, baseUrl: server.url, tarball });
    if (of !== undefined) rows.push({ name, version: versionOf(of), file, found });
    console.log(`ok       ${name}: ${found} (${Math.round((performance.now() - started) / 1000)} s)`);
  } catch (error) {
    process.exitCode = 1;
    console.log(`FAILED   ${name}\n${(error as Error).message}`);
  }
}
await server.close();
remove();
rmSync(work, { recursive: true, force: true });
// The docs show the whole of it.
if (options.all && wanted === "" && process.exitCode !== 1) {
  const date = new Date().toISOString().slice(0, 10);
  const data = new URL("../../docs/data/firstHour.json", import.meta.url);
  writeFileSync(data, `${JSON.stringify({ date, rows }, undefined, 2)}\n`);
  recordRun("firstHour");
}

function versionOf(name: string): string {
  return JSON.parse(readFileSync(tool(`${name}/package.json`), "utf8")).version;
}

/** Adds what only `--all` needs to what CI has. */
function install(): void {
  if (existsSync(tool("hono"))) return;
  execFileSync("npm", ["ci", "--ignore-scripts", "--prefix", here(".")], { stdio: "inherit" });
}
