// Makes one fault at a time in a copy of the project, and runs the tests that should notice it.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { copyRepository, temporaryFolder } from "../support/project.js";

/** A fault: a text of the source, and what stands there instead. */
export interface Fault {
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
export function readFaults(name: string): readonly Fault[] {
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
export function runFaults(
  all: readonly Fault[],
  texts: readonly string[],
  isWhole: boolean,
): Promise<number> {
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
export function checkTypes(faults: readonly Fault[]): Promise<number> {
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
