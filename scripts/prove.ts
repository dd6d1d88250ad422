// npm run prove: everything that a release needs, from a clean clone, one check after the other. `--from NAME` goes on after an
// interruption; `--list` prints the names. At the end it prints what each took, and fails if one failed.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { slowChecks } from "./lastRuns.js";

interface Proof {
  readonly name: string;
  readonly command: string;
  /** After how many minutes it is ended: twice what it takes on two quiet cores. */
  readonly minutes: number;
}

// CI leaves out two files of the whole suite, which run the suite or the kit many times.
const leftOut = ["recipe", "conformanceMutants"].map((name) => `test/all/${name}.test.ts`).join(" ");
const everyday: readonly Proof[] = [
  { name: "ci", command: "bash .ci/run", minutes: 80 },
  { name: "suite", command: `npm run test:all -- ${leftOut}`, minutes: 40 },
  { name: "integrations", command: "npm run check:integrations", minutes: 30 },
  { name: "checkpoint", command: "npm run mutate -- --checkpoint", minutes: 30 },
  { name: "site", command: "npm run docs && npm run test:docs", minutes: 50 },
];
// Each records its last whole run in lastRuns.json.
const slow = Object.entries(slowChecks).map(([name, { command, minutes }]): Proof => {
  return { name, command, minutes: 2 * minutes };
});
// `runtimes` has installed the newest Node.
const newestNode = "checks/runtimes/node_modules/node-26/bin/node";
const benches: readonly Proof[] = [
  { name: "bench", command: "npm run bench -- --older", minutes: 60 },
  { name: "benchNewest", command: `npm run bench -- --older --node ${newestNode}`, minutes: 60 },
];
const proofs = [...everyday, ...slow, ...benches];

const { values: options } = parseArgs({
  options: { from: { type: "string" }, list: { type: "boolean", default: false } },
});
const start = options.from === undefined ? 0 : proofs.findIndex(({ name }) => name === options.from);
if (start < 0) throw new Error(`There is no check ${options.from}: --list prints their names.`);

if (options.list)
  for (const { name, command, minutes } of proofs)
    console.log(`${name.padEnd(24)}${`${minutes / 2} min`.padStart(7)}  ${command}`);
else prove(proofs.slice(start));

function prove(chosen: readonly Proof[]): void {
  const cwd = fileURLToPath(new URL("../", import.meta.url));
  const lines: string[] = [];
  for (const { name, command, minutes } of chosen) {
    console.log(`== ${name}: ${command}`);
    const begun = performance.now();
    const { status } = spawnSync(command, { cwd, shell: true, stdio: "inherit", timeout: minutes * 60_000 });
    const took = ((performance.now() - begun) / 60_000).toFixed(1);
    const how = status === 0 ? "held" : status === null ? `not ended within ${minutes} minutes` : "FAILED";
    if (status !== 0) process.exitCode = 1;
    lines.push(`${name.padEnd(24)}${took.padStart(6)} min  ${how}`);
    console.log(lines.at(-1));
  }
  console.log(`\n${lines.join("\n")}`);
}
