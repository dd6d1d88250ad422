// npm run check:generators: makes clients with other projects' tools, calls them, compares them with ours.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { writeContract } from "../../scripts/build/contract.js";
import { recordRun } from "../../scripts/lastRuns.js";
import { checkAdded } from "./check/checkAdded.js";
import { checkSchemathesis, servers } from "./check/checkSchemathesis.js";
import { checkTool, type Expectation } from "./check/checkTool.js";
import { makeOwnCalls } from "./check/compare.js";
import { readResponses, startRecordingMock } from "./check/recordingMock.js";
import { printResult, printTable, type Result, writeResults } from "./check/results.js";
import { emptyFolder, root } from "./check/toolchains.js";
import { checkLinter, linters } from "./linters.js";
import { tools } from "./tools/index.js";
import { openapiPythonClient } from "./tools/python.js";

const { values: options } = parseArgs({
  options: {
    only: { type: "string", multiple: true },
    "require-all": { type: "boolean", default: false },
    conformance: { type: "boolean", default: false },
    all: { type: "boolean", default: false },
    busy: { type: "string" },
  },
});

if (options.conformance && options.busy !== undefined) {
  const { checkBusy } = await import("./conformance/busy.js");
  await checkBusy(Number(options.busy), options.only);
  process.exit();
}
if (options.conformance) {
  const { checkConformance } = await import("./conformance/run.js");
  await checkConformance(options, options.only);
  process.exit();
}

const documents = await emptyFolder("documents");
await writeContract(join(root, "openapi.yaml"), documents);
const responses = await readResponses(join(documents, "openapi.json"));
const mock = await startRecordingMock(join(documents, "openapi.json"), responses);
const env = {
  TUNERANK_BASE_URL: mock.url,
  TUNERANK_API_KEY: "key-of-acme",
  TUNERANK_FILE: join(documents, "every-byte.bin"),
  TUNERANK_JOBS: Object.keys(responses.jobs).join(","),
  TUNERANK_ERRORS: String(responses.errors.length),
};
await writeFile(
  env.TUNERANK_FILE,
  Uint8Array.from({ length: 4096 }, (_, index) => index % 256),
);
const setting = { mock, responses, env, documents, expectation: await expectation() };
const checks = [
  ...tools.flatMap((tool) =>
    tool.documents.map((document) => ({ name: tool.name, check: () => checkTool(tool, document, setting) })),
  ),
  ...linters.flatMap((linter) =>
    linter.documents.map((document) => ({
      name: linter.name,
      check: () => checkLinter(linter, document, documents),
    })),
  ),
  ...servers.flatMap((server) =>
    ["openapi.json", "openapi-3.0.json"].map((document) => ({
      name: "schemathesis",
      check: () => checkSchemathesis(document, documents, server),
    })),
  ),
];
const results: Result[] = [];
for (const { name, check } of checks) {
  if (options.only !== undefined && !options.only.includes(name)) continue;
  const started = performance.now();
  const result = await check();
  printResult(result, (performance.now() - started) / 1000);
  results.push(result);
}
await mock.stop();
if (options.only === undefined || options.only.includes(openapiPythonClient.name)) {
  const { skippedFor, problems } = await checkAdded(env.TUNERANK_API_KEY);
  const outcome = skippedFor.length > 0 ? `skipped for ${skippedFor}` : problems.join("\n") || "ok";
  console.log(`seven operations added to the contract, called by a client in Python: ${outcome}`);
  if (problems.length > 0) process.exitCode = 1;
}
await conclude();

async function expectation(): Promise<Expectation> {
  const readings = await makeOwnCalls(env);
  const [resume, rerank, scale, upload, error, ...others] = mock.take();
  const expected = Object.keys(responses.jobs).length + responses.errors.length;
  if (!resume || !rerank || !scale || !upload || !error || others.length !== expected)
    throw new Error("Not one request for each call.");
  return { readings, requests: { resume, rerank, scale, upload, error } };
}

async function conclude(): Promise<void> {
  if (results.length === 0)
    throw new Error(`--only takes: ${[...new Set(checks.map(({ name }) => name))].join(", ")}`);
  printTable(results);
  const skipped = results.filter(({ skippedFor }) => skippedFor.length > 0).length;
  const failed = results.filter(({ problems }) => problems.length > 0).length;
  console.log(`\n${results.length - failed - skipped} passed, ${failed} failed, ${skipped} skipped`);
  if (failed > 0 || (skipped > 0 && options["require-all"])) process.exitCode = 1;
  if (options.only === undefined && skipped === 0) {
    await writeResults(results);
    if (process.exitCode === undefined) recordRun("generators");
  } else console.log("docs/data/generators.json is left as it is: it holds complete runs only.");
}
