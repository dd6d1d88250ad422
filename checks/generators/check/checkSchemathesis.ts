import { cp, readFile } from "node:fs/promises";
import { join } from "node:path";
import { startMock } from "../../../scripts/mock/startMock.js";
import { programs } from "../tools/python.js";
import { run } from "./command.js";
import { emptyFolder, generators } from "./folders.js";
import { type Result, type SchemathesisRow, today } from "./results.js";
import { missing } from "./toolchains.js";
import { versions } from "./versions.js";

/** What schemathesis writes about a run. */
interface Report {
  readonly operations: { readonly tested: number; readonly selected: number };
  readonly test_cases: { readonly generated: number; readonly unique_failures: number };
}

/** Runs the checks of schemathesis.toml against Prism serving a document. */
export async function checkSchemathesis(
  document: string,
  documents: string,
): Promise<Result<SchemathesisRow>> {
  const about = { tool: "schemathesis", version: versions.schemathesis, document, date: today() } as const;
  const row = { ...about, operations: 0, requests: 0, failures: 0 };
  const skippedFor = await missing(["Python 3.11 or newer"]);
  if (skippedFor.length > 0) return { row, skippedFor, problems: [] };
  const folder = await emptyFolder(`schemathesis-${document}`);
  await cp(join(generators, "schemathesis"), folder, { recursive: true });
  const problems: string[] = [];
  const mock = await startMock({ document: join(documents, document) });
  try {
    const bin = await programs({ name: "schemathesis", packages: ["schemathesis"] });
    const options = ["--url", mock.url, "--no-color", "--report-json-path", "report.json"];
    const args = ["--config-file", "schemathesis.toml", "run", join(documents, document), ...options];
    await run(join(bin, "st"), args, { cwd: folder });
  } catch (error) {
    problems.push(String(error));
  } finally {
    await mock.stop();
  }
  const report: Report = JSON.parse(await readFile(join(folder, "report.json"), "utf8"));
  const { operations, test_cases: cases } = report;
  if (operations.tested < operations.selected) problems.push("Not every operation was tested.");
  const counts = {
    operations: operations.tested,
    requests: cases.generated,
    failures: cases.unique_failures,
  };
  return { row: { ...row, ...counts }, skippedFor, problems };
}
