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

/** What Vitest's JSON reporter writes. */
interface Report {
  readonly numTotalTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly { readonly status: string; readonly failureMessages: string[] }[];
  }[];
}

// A test of `npm test` that takes longer hangs; one of test/all may start programs. A hang is no kill.
const hangMs = { everyday: 10_000, slow: 60_000 };
const wholeMs = 600_000;
const reportName = "faultReport.json";

/**
 * Makes each fault, and prints what came of it.
 * @param only Texts, one of which a fault or its file must contain; none: all faults
 * @param isWhole Whether `npm test` runs if the tests of a fault do not notice it
 * @returns How many were not killed
 */
export async function runFaults(
  faults: readonly Fault[],
  only: readonly string[],
  isWhole: boolean,
): Promise<number> {
  const { folder, remove } = await temporaryFolder();
  const started = performance.now();
  const counts = new Map<string, number>();
  try {
    await copyRepository(folder);
    const isAsked = ({ fault, file }: Fault) =>
      only.some((text) => fault.includes(text) || file.includes(text));
    for (const fault of faults.filter((each) => only.length === 0 || isAsked(each))) {
      const undo = made(fault, folder);
      let [result, by] = ["LOST", ""];
      if (undo) {
        const { tests, named } = fault;
        const files = tests.map((name) => `test/${name}`);
        const isSlow = tests.some((name) => name.startsWith("all/"));
        const pattern = named?.replace(/[()[\]]/g, "\\$&");
        [result, by] = resultOf(
          folder,
          isSlow,
          ["--config", "test/mutation/faults.config.ts", ...files],
          pattern,
        );
        if (isWhole && /SURVIVED|HANGS/.test(result)) [result, by] = resultOf(folder, false, []);
        undo();
      }
      counts.set(result, (counts.get(result) ?? 0) + 1);
      console.log(`${result.padEnd(8)} ${fault.file}: ${fault.fault}${by && ` (${by})`}`);
    }
  } finally {
    await remove();
  }
  const minutes = ((performance.now() - started) / 60_000).toFixed(1);
  console.log(
    `${[...counts].map(([result, count]) => `${count} ${result}`).join(", ")}, in ${minutes} minutes.`,
  );
  return [...counts].reduce((sum, [result, count]) => sum + (result === "killed" ? 0 : count), 0);
}

/** Makes all faults at once, and prints which are lost and what TypeScript says. @returns How much there is to correct */
export async function checkTypes(faults: readonly Fault[]): Promise<number> {
  const { folder, remove } = await temporaryFolder();
  try {
    await copyRepository(folder);
    const lost = faults.filter((fault) => !made(fault, folder));
    for (const { file, from } of lost) console.log(`${file} does not have this once: ${from}`);
    const { stdout, status } = spawnSync("npx", ["tsc"], { cwd: folder, encoding: "utf8" });
    console.log(
      stdout ||
        `${faults.length - lost.length} faults in ${new Set(faults.map(({ file }) => file)).size} files type-check.`,
    );
    return lost.length + (status ?? 1);
  } finally {
    await remove();
  }
}

// Makes a fault. @returns What undoes it; undefined if its text is not there once
function made({ file, from, to }: Fault, folder: string): (() => void) | undefined {
  const source = path.join(folder, file);
  const text = existsSync(source) ? readFileSync(source, "utf8") : "";
  if (text.split(from).length !== 2) return undefined;
  writeFileSync(
    source,
    text.replace(from, () => to),
  );
  return () => writeFileSync(source, text);
}

// What came of a fault, and the test file that killed it.
function resultOf(
  folder: string,
  isSlow: boolean,
  chosen: readonly string[],
  name?: string,
): [string, string] {
  const report = path.join(folder, reportName);
  rmSync(report, { force: true });
  const ms = `${isSlow ? hangMs.slow : hangMs.everyday}`;
  const limits = ["--bail", "1", "--testTimeout", ms, "--hookTimeout", ms, ...(isSlow ? ["--isolate"] : [])];
  const args = ["vitest", "run", ...chosen, ...limits, "--reporter", "json", "--outputFile", reportName];
  const { status } = spawnSync("npx", name === undefined ? args : [...args, "-t", name], {
    ...{ cwd: folder, encoding: "utf8", timeout: wholeMs, killSignal: "SIGKILL" },
  });
  if (status === null || !existsSync(report)) return ["HANGS", ""];
  const { numTotalTests, testResults }: Report = JSON.parse(readFileSync(report, "utf8"));
  if (numTotalTests === 0 && !testResults.some(({ message }) => message)) return ["LOST", "no test"];
  if (status === 0) return ["SURVIVED", ""];
  const failed = testResults.filter((each) => each.status === "failed");
  const said = failed.flatMap(({ message, assertionResults }) => [
    ...(message ? [message] : []),
    ...assertionResults.flatMap(({ failureMessages }) => failureMessages),
  ]);
  const isHang = said.length > 0 && said.every((text) => /timed out in \d+ms/.test(text));
  return [
    isHang ? "HANGS" : "killed",
    path.relative(path.join(folder, "test"), failed[0]?.name ?? "an error of no test"),
  ];
}
