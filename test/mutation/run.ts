// npm run mutate: Stryker's mutants of our decisions. With --clients the broken clients of contract/conformance in every
// language that this machine has, or in those named behind it. With --faults single faults all over the package, with
// --checkpoint the rules of the command's checkpoint: all, or those that contain one of the texts behind it; --whole runs
// `npm test` for what the tests of a fault do not notice, --types compiles all faults.
import { spawnSync } from "node:child_process";
import { recordRun } from "../../scripts/lastRuns.js";
import { languages, rareMutants, scoresOf } from "./clients.js";
import { checkTypes, readFaults, runFaults } from "./faultRun.js";

const [first, ...only] = process.argv.slice(2);
if (first === "--faults" || first === "--checkpoint") {
  const all = readFaults(first.slice(2));
  const texts = only.filter((text) => !text.startsWith("--"));
  const left = only.includes("--types")
    ? await checkTypes(all)
    : await runFaults(all, texts, only.includes("--whole"));
  if (left > 0) process.exitCode = 1;
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
