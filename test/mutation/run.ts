// npm run mutate: Stryker's mutants of our decisions. With --clients the broken clients of contract/conformance in every
// language that this machine has, or in those named behind it. With --faults single faults all over the package, with
// --checkpoint the rules of the command's checkpoint: all, or those that contain one of the texts behind it; --whole runs
// `npm test` for what the tests of a fault do not notice, --types compiles all faults.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { recordRun } from "../../scripts/lastRuns.js";
import { copyRepository, temporaryFolder } from "../support/project.js";
import { languages, rareMutants, survivorsIn } from "./clients.js";

const [first, ...only] = process.argv.slice(2);
if (first === "--faults" || first === "--checkpoint") {
  const all = readFaults(first.slice(2));
  const texts = only.filter((text) => !text.startsWith("--"));
  const left = only.includes("--types")
    ? await checkTypes(all)
    : await runFaults(all, texts, only.includes("--whole"));
  if (left > 0) process.exitCode = 1;
} else if (first === "--clients") {
  const asked = languages.filter(({ name }) => only.length === 0 || only.includes(name));
  const counts = await survivorsIn(asked);
  const rare = rareMutants();
  console.log(`Made in fewer than two languages: ${rare.join("; ") || "none"}.`);
  if (rare.length > 0 || counts.some((count) => count > 0)) process.exitCode = 1;
} else {
  const stryker = ["stryker", "run", "test/mutation/stryker.config.json", ...process.argv.slice(2)];
  const { status } = spawnSync("npx", stryker, { stdio: "inherit" });
  process.exitCode = status ?? 1;
  // Only all of the mutants count as a whole run.
  if (status === 0 && first === undefined) recordRun("mutation");
}

/** A fault: a text of the source, and what stands there instead. */
interface Fault {
  /** What a user of the broken package meets, in a sentence. */
  readonly fault: string;
  /** Relative to the project's folder. */
  readonly file: string;
  /** Is in the file once. */
  readonly from: string;
  readonly to: string;
  /** Files or folders below test. */
  readonly tests: readonly string[];
  /** A text in the names of the tests that run. @default all run */
  readonly named?: string;
}

/** The faults of NAME.jsonl, one a line. */
function readFaults(name: string): readonly Fault[] {
  const text = readFileSync(new URL(`${name}.jsonl`, import.meta.url), "utf8");
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}

/** What Vitest's JSON reporter writes. */
interface Report {
  readonly numTotalTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly { readonly failureMessages: readonly string[] }[];
  }[];
}

/**
 * Makes each fault that has one of the texts in its sentence or file, or each, and prints what came of it.
 * @param isWhole Whether `npm test` runs if the tests of a fault do not notice it
 * @returns How many were not killed
 */
function runFaults(all: readonly Fault[], texts: readonly string[], isWhole: boolean): Promise<number> {
  const isAsked = ({ fault, file }: Fault) =>
    texts.length === 0 || texts.some((text) => fault.includes(text) || file.includes(text));
  return inCopy((folder) => {
    const counts: Record<string, number> = {};
    const started = performance.now();
    for (const each of all.filter(isAsked)) {
      const { fault, file, tests, named } = each;
      const undo = made(each, folder);
      let result = "LOST";
      if (undo) {
        const files = tests.map((name) => `test/${name}`);
        const pattern = named === undefined ? [] : ["-t", named.replace(/[()[\]]/g, "\\$&")];
        const args = ["--config", "test/mutation/faults.config.ts", ...files, ...pattern];
        result = resultOf(folder, args, tests.join().includes("all/"));
        if (isWhole && /^(SURVIVED|HANGS)/.test(result)) result = resultOf(folder, [], false);
        undo();
      }
      const [word = ""] = result.split(" ");
      counts[word] = (counts[word] ?? 0) + 1;
      console.log(`${result} | ${file}: ${fault}`);
    }
    const minutes = ((performance.now() - started) / 60_000).toFixed(1);
    const sums = Object.entries(counts).map(([word, count]) => `${count} ${word}`);
    console.log(`${sums.join(", ")}, in ${minutes} minutes.`);
    return all.filter(isAsked).length - (counts.killed ?? 0);
  });
}

/** Makes all faults at once, and prints which are lost and what TypeScript says. @returns How much there is to correct */
function checkTypes(faults: readonly Fault[]): Promise<number> {
  return inCopy((folder) => {
    const lost = faults.filter((fault) => !made(fault, folder));
    for (const { file, from } of lost) console.log(`${file} does not have this once: ${from}`);
    const { stdout, status } = spawnSync("npx", ["tsc"], { cwd: folder, encoding: "utf8" });
    console.log(stdout || `${faults.length - lost.length} faults type-check.`);
    return lost.length + (status ?? 1);
  });
}

async function inCopy(use: (folder: string) => number): Promise<number> {
  const { folder, remove } = await temporaryFolder();
  try {
    await copyRepository(folder);
    return use(folder);
  } finally {
    await remove();
  }
}

// Makes a fault. @returns What undoes it; undefined if its text is not there once
function made({ file, from, to }: Fault, folder: string): (() => void) | undefined {
  const source = path.join(folder, file);
  const text = existsSync(source) ? readFileSync(source, "utf8") : "";
  if (text.split(from).length !== 2) return undefined;
  writeFileSync(source, text.split(from).join(to));
  return () => writeFileSync(source, text);
}

// What came of a fault; if tests noticed it, with the first file that did.
function resultOf(folder: string, chosen: readonly string[], isSlow: boolean): string {
  const report = path.join(folder, "faultReport.json");
  rmSync(report, { force: true });
  // A test of `npm test` that takes longer hangs; one of test/all may start programs. A hang is no kill.
  const ms = isSlow ? "60000" : "10000";
  const limits = ["--bail", "1", "--testTimeout", ms, "--hookTimeout", ms, ...(isSlow ? ["--isolate"] : [])];
  const args = ["vitest", "run", ...chosen, ...limits, "--reporter", "json", "--outputFile", report];
  const { status } = spawnSync("npx", args, { cwd: folder, stdio: "ignore", timeout: 600_000 });
  if (status === null || !existsSync(report)) return "HANGS";
  const { numTotalTests, testResults }: Report = JSON.parse(readFileSync(report, "utf8"));
  const failed = testResults.filter((each) => each.status === "failed");
  if (numTotalTests + failed.length === 0) return "LOST no test";
  if (status === 0) return "SURVIVED";
  const said = failed.flatMap((each) =>
    each.assertionResults.flatMap(({ failureMessages }) => failureMessages),
  );
  const isHang = said.length > 0 && said.every((text) => /timed out in \d+ms/.test(text));
  return `${isHang ? "HANGS in" : "killed by"} ${path.relative(folder, failed[0]?.name ?? "no test")}`;
}
