// npx tsx scripts/slow.ts: prints the slow checks that are older than what they cover. `--minutes N` then runs one of those that
// take at most N minutes, another one each day; `--ran NAME` records a whole run of a check that is not a program of ours.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { noRepository, recordRun, type SlowCheckName, staleChecks, turnOf } from "./lastRuns.js";

const { values: options } = parseArgs({
  options: { minutes: { type: "string", default: "0" }, ran: { type: "string", multiple: true } },
});

if (options.ran === undefined) printStale();
else for (const name of options.ran) recordRun(name as SlowCheckName);

function printStale(): void {
  const stale = staleChecks();
  const lines = stale?.map(({ why }) => why) ?? [noRepository];
  console.log(lines.join("\n") || "Every slow check ran whole with what it covers.");
  const next = turnOf(stale ?? [], Number(options.minutes), new Date());
  if (next === undefined) return;
  console.log(`== ${next.name}, whose turn it is today: ${next.command}`);
  const cwd = fileURLToPath(new URL("../", import.meta.url));
  process.exitCode = spawnSync(next.command, { cwd, shell: true, stdio: "inherit" }).status ?? 1;
}
