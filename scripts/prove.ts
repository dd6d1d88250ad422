// npm run prove: everything that a release needs, from a clean clone, one check after the other. `--from NAME` goes on after an
// interruption at the same commit; `--list` prints the names, `--stale` the slow checks that are older than what they cover.
// At the end it prints a table, and records the slow checks that ran whole: all for one commit. It fails if a check failed.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { noRepository, recordRun, type SlowCheckName, slowChecks, staleChecks } from "./lastRuns.js";

interface Proof {
  readonly name: string;
  readonly command: string;
  /** How long it may take on two quiet cores. After twice that time and a quarter of an hour, which a first download has, it is ended. */
  readonly minutes: number;
}

// CI leaves out what a later check runs whole (the package's own check, the clients in four languages, the broken ones) and what
// changes seldom. The recipe runs `npm test` once, in a copy with an operation more.
const seldom = ["recipe", "searchJudged", "slowChecks"].map((name) => `test/all/${name}.test.ts`).join(" ");
const brokenListed = `npm run test:all -- test/all/conformanceMutants.test.ts -t "ways and more"`;
const everyday: readonly Proof[] = [
  { name: "ci", command: "bash .ci/run", minutes: 10 },
  { name: "suite", command: `npm run test:all -- ${seldom} && ${brokenListed}`, minutes: 2 },
  { name: "checkpoint", command: "npm run mutate -- --checkpoint", minutes: 2 },
  { name: "site", command: "npm run docs && npm run test:docs", minutes: 6 },
];
const slow = Object.entries(slowChecks).map(([name, { command, minutes }]) => ({ name, command, minutes }));
// `runtimes` has installed the newest Node.
const newestNode = "checks/runtimes/node_modules/node-26/bin/node";
const benches: readonly Proof[] = [
  { name: "bench", command: "npm run bench -- --older", minutes: 23 },
  { name: "benchNewest", command: `npm run bench -- --older --node ${newestNode}`, minutes: 23 },
];
const proofs = [...everyday, ...slow, ...benches];

const cwd = fileURLToPath(new URL("../", import.meta.url));
const folder = fileURLToPath(new URL("../reports/", import.meta.url));
// What an interrupted run leaves: its commit and lines, and the slow checks that ran whole.
const [state, proved] = [`${folder}prove.txt`, `${folder}proved.txt`];

const { values: options } = parseArgs({
  options: {
    from: { type: "string" },
    list: { type: "boolean", default: false },
    stale: { type: "boolean", default: false },
  },
});
const start = options.from === undefined ? 0 : proofs.findIndex(({ name }) => name === options.from);
if (start < 0) throw new Error(`There is no check ${options.from}: --list prints their names.`);

if (options.list) list();
else if (options.stale)
  console.log(
    (staleChecks()?.map(({ why }) => why) ?? [noRepository]).join("\n") ||
      "Every slow check ran whole with what it covers.",
  );
else prove();

function list(): void {
  for (const { name, command, minutes } of proofs)
    console.log(`${name.padEnd(24)}${`${minutes} min`.padStart(7)}  ${command}`);
  console.log(
    `${"all".padEnd(24)}${`${proofs.reduce((sum, { minutes }) => sum + minutes, 0)} min`.padStart(7)}`,
  );
}

function prove(): void {
  const commit = git("rev-parse", "HEAD");
  const [last, ...earlier] = existsSync(state) ? readFileSync(state, "utf8").trim().split("\n") : [];
  const written = ["docs/data", "docs/public", "bench/results.json", "scripts/lastRuns.json"];
  const changed = git("status", "--porcelain", "--", ...written.map((each) => `:!${each}`));
  if (changed !== "") throw new Error(`Commit first: one commit is proved.\n${changed}`);
  if (start > 0 && last !== commit)
    throw new Error(`The last run proved ${last ?? "nothing"}: run it without --from.`);
  mkdirSync(folder, { recursive: true });
  if (start === 0) rmSync(proved, { force: true });
  const names = proofs.slice(0, start).map(({ name }) => name);
  const lines = start === 0 ? [] : earlier.filter((line) => names.includes(line.split(" ")[0] ?? ""));
  for (const { name, command, minutes } of proofs.slice(start)) {
    console.log(`== ${name}: ${command}`);
    const begun = performance.now();
    const env = { ...process.env, TUNERANK_PROVED: proved };
    const { status } = spawnSync(command, {
      ...{ cwd, env, shell: true, stdio: "inherit" },
      timeout: (2 * minutes + 15) * 60_000,
    });
    const took = (performance.now() - begun) / 60_000;
    const how = status === 0 ? "held" : status === null ? "FAILED: not ended" : "FAILED";
    const late = took > minutes ? `, ${(took - minutes).toFixed(1)} min more than it may` : "";
    lines.push(
      `${name.padEnd(24)}${took.toFixed(1).padStart(6)} min of ${`${minutes}`.padStart(2)}  ${how}${late}`,
    );
    console.log(lines.at(-1));
    writeFileSync(state, `${[commit, ...lines].join("\n")}\n`);
  }
  console.log(`\n${lines.join("\n")}`);
  if (lines.some((line) => line.includes("FAILED"))) process.exitCode = 1;
  if (!existsSync(proved)) return;
  const whole = new Set(readFileSync(proved, "utf8").trim().split("\n")) as Set<SlowCheckName>;
  recordRun(...whole);
}

function git(...args: readonly string[]): string {
  return spawnSync("git", args, { cwd, encoding: "utf8" }).stdout.trim();
}
