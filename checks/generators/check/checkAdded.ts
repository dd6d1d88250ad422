import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stringify } from "yaml";
import { writeContract } from "../../../scripts/build/contract.js";
import { contractWithAdded } from "../../../test/support/addedOperations.js";
import { checkPython, clientVenv, openapiPythonClient, runPython } from "../tools/python.js";
import { startRecordingMock } from "./recordingMock.js";
import type { Result } from "./results.js";
import { generateClient } from "./tool.js";
import { callers, emptyFolder, missing } from "./toolchains.js";

// What the seven calls of added.py send; httpx writes a space of a query as a plus, which forms do too.
const expected = [
  ["GET", "/v1/accounts/acme/datasets/reviews", ""],
  ["GET", "/v1/accounts/acme/datasets/reviews:download", ""],
  [
    "GET",
    "/v1/accounts/acme/evaluators?page_size=10&label=a+b&label=c%26d&state=EVALUATOR_STATE_READY&archived=true",
    "",
  ],
  ["POST", "/v1/accounts/acme/evaluators", { displayName: "Grader", threshold: 3 }],
  ["PUT", "/v1/accounts/acme/evaluators/grader", { displayName: "Grader", threshold: 4 }],
  ["DELETE", "/v1/accounts/acme/evaluators/grader", ""],
  ["POST", "/v1/accounts/acme/evaluators/grader:start", ""],
] as const;

/** Makes a Python client of the contract with seven operations added, calls each, and returns what is wrong. */
export async function checkAdded(key: string): Promise<Omit<Result, "row">> {
  const skippedFor = await missing(openapiPythonClient.needs);
  if (skippedFor.length > 0) return { skippedFor, problems: [] };
  const folder = await emptyFolder("operations-added");
  const documents = join(folder, "documents");
  await mkdir(documents);
  const contract = join(folder, "openapi.yaml");
  await writeFile(
    contract,
    stringify(await contractWithAdded(), { version: "1.1", aliasDuplicateObjects: false }),
  );
  await writeContract(contract, documents);
  const workplace = { folder, document: "openapi-client.json" };
  await generateClient(openapiPythonClient, workplace, join(documents, workplace.document));
  const caller = join(callers("openapi-python-client"), "added.py");
  await checkPython(clientVenv, join(folder, "client"), caller);
  const mock = await startRecordingMock(join(documents, "openapi.json"), { jobs: {}, errors: [] });
  try {
    const env = { TUNERANK_BASE_URL: mock.url, TUNERANK_API_KEY: key };
    const printed = await runPython(clientVenv, join(folder, "client"), caller, env);
    const sent = mock.take().map(({ method, url, body }) => {
      const text = body.toString();
      return [method, url, text === "" ? "" : JSON.parse(text)];
    });
    const problems = printed === "seven calls\n" ? [] : [`it printed ${printed}`];
    return JSON.stringify(sent) === JSON.stringify(expected)
      ? { skippedFor, problems }
      : { skippedFor, problems: [...problems, `it sent ${JSON.stringify(sent)}`] };
  } finally {
    await mock.stop();
  }
}
