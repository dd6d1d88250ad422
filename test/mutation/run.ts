// npm run mutate: Stryker's mutants of our decisions. With --clients the broken clients of contract/conformance in every
// language that this machine has, or in those named behind it. With --checkpoint the rules of the command's checkpoint.
import { spawnSync } from "node:child_process";
import { recordRun } from "../../scripts/lastRuns.js";
import { mutateCheckpoint } from "./checkpoint/run.js";
import { languages, rareMutants, scoresOf } from "./clients.js";

const [first, ...only] = process.argv.slice(2);
if (first === "--checkpoint") {
  if ((await mutateCheckpoint(only)) > 0) process.exitCode = 1;
} else if (first === "--clients") {
  const scores = await scoresOf(languages.filter(({ name }) => only.length === 0 || only.includes(name)));
  const rare = rareMutants();
  console.log(`Made in fewer than two languages: ${rare.join("; ") || "none"}.`);
  if (rare.length > 0 || scores.some(({ survivors }) => survivors.length > 0)) process.exitCode = 1;
} else {
  const stryker = ["stryker", "run", "test/mutation/stryker.config.json", ...process.argv.slice(2)];
  const { status } = spawnSync("npx", stryker, { stdio: "inherit" });
  process.exitCode = status ?? 1;
  // Only all of the mutants count as a whole run.
  if (status === 0 && first === undefined) recordRun("mutation");
}
