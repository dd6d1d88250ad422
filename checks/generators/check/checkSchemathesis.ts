import { cp, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Mock, startMock } from "../../../scripts/mock.js";
import { createTestService } from "../../../src/testing/index.js";
import { programs } from "../tools/python.js";
import { type Result, type SchemathesisRow, today } from "./results.js";
import { emptyFolder, generators, missing, run, versions } from "./toolchains.js";

/** What schemathesis writes about a run. */
interface Report {
  readonly operations: { readonly tested: number; readonly selected: number };
  readonly test_cases: { readonly generated: number; readonly unique_failures: number };
}

/** What serves the operations of a document, and the checks that it is given. */
interface Server {
  readonly name: "Prism" | "the mock server";
  readonly config: string;
  start(document: string): Promise<Mock>;
}

/** Prism with the document, and the mock server of `tunerank mock`, which knows a key here. */
export const servers: readonly Server[] = [
  { name: "Prism", config: "prism.toml", start: (document) => startMock({ document }) },
  { name: "the mock server", config: "mock.toml", start: startMockServer },
];

async function startMockServer(): Promise<Mock> {
  const server = await createTestService({ apiKey: "key-of-acme", keepRequests: 1 }).listen();
  return { url: server.url, stop: () => server.close() };
}

/** Runs schemathesis with a document against what serves it. */
export async function checkSchemathesis(
  document: string,
  documents: string,
  { name: server, config, start }: Server,
): Promise<Result<SchemathesisRow>> {
  const { schemathesis: version } = versions;
  const about = { tool: "schemathesis", version, server, document, date: today() } as const;
  const row = { ...about, operations: 0, requests: 0, failures: 0 };
  const skippedFor = await missing(["Python 3.11 or newer"]);
  if (skippedFor.length > 0) return { row, skippedFor, problems: [] };
  const folder = await emptyFolder(`schemathesis-${config}-${document}`);
  await cp(join(generators, "schemathesis"), folder, { recursive: true });
  const problems: string[] = [];
  const mock = await start(join(documents, document));
  try {
    const bin = await programs({ name: "schemathesis", packages: ["schemathesis", "hypothesis"] });
    const options = ["--url", mock.url, "--no-color", "--report-json-path", "report.json"];
    const args = ["--config-file", config, "run", join(documents, document), ...options];
    await run(join(bin, "st"), args, { cwd: folder, env: { PYTHONPATH: folder } });
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
