import { writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test, vi } from "vitest";
import { added, useAddedOperations } from "../support/addedOperations.js";
import { canaryKey } from "../support/canary.js";
import { type Outcome, run } from "../support/project.js";
import { useRecordingServer } from "../support/recordingServer.js";

// Each is a process of its own, compiled from source.
vi.setConfig({ testTimeout: 120_000 });

const server = useRecordingServer();
const copy = useAddedOperations();
const node = ["--conditions=tunerank-source", "--import", "tsx"];

const tunerank = (...args: string[]): Promise<Outcome> =>
  run(process.execPath, [...node, "src/cli/main.ts", ...args], {
    cwd: copy.folder,
    env: { TUNERANK_BASE_URL: server.url, TUNERANK_API_KEY: canaryKey, TUNERANK_ACCOUNT_ID: "acme" },
  });
const request = (...args: string[]): Promise<Outcome> => tunerank("request", ...args);

const reviews = ["--param", "dataset_id=my reviews"];
const grader = ["--param", "evaluator_id=grader"];
const definition = '{"threshold": 3, "displayName": "Grader", "size": 9007199254740993}';

test("an operation is called by its id, and its response printed", async () => {
  server.reply({ json: { name: "accounts/acme/datasets/reviews", fileCount: 2 } });
  const { exitCode, stdout, stderr } = await request("getDataset", ...reviews);
  expect([exitCode, stderr]).toEqual([0, ""]);
  expect(stdout).toBe('{\n  "name": "accounts/acme/datasets/reviews",\n  "fileCount": 2\n}\n');
  expect(server.only).toMatchObject({ method: "GET", url: "/v1/accounts/acme/datasets/my%20reviews" });
  expect(server.only.headers).toMatchObject({ authorization: `Bearer ${canaryKey}` });
  expect(server.only.headers).not.toHaveProperty("content-type");
  expect(server.only.body).toHaveLength(0);
});

test("parameters go where the contract has them: lists by repeating, numbers and booleans as such", async () => {
  const given = ["page_size=10", "label=a b", "label=c&d=e", "state=EVALUATOR_STATE_READY", "archived=false"];
  const args = [...given, "x-view=basic"].flatMap((pair) => ["--param", pair]);
  expect(await request("listEvaluators", ...args)).toMatchObject({ exitCode: 0, stderr: "" });
  const { url, headers } = server.only;
  expect(url).toBe(
    "/v1/accounts/acme/evaluators?page_size=10&label=a%20b&label=c%26d%3De&state=EVALUATOR_STATE_READY&archived=false",
  );
  expect(headers["x-view"]).toBe("basic");
});

test("JSON is checked, and sent as it was written, from the command line or a file", async () => {
  await writeFile(path.join(copy.folder, "definition.json"), definition);
  await request("createEvaluator", "--body", definition);
  await request("replaceEvaluator", ...grader, "--body-file", "definition.json");
  expect(server.requests.map(({ method, url, body }) => [method, url, `${body}`])).toEqual([
    ["POST", "/v1/accounts/acme/evaluators", definition],
    ["PUT", "/v1/accounts/acme/evaluators/grader", definition],
  ]);
  expect(server.requests.map(({ headers }) => headers["content-type"])).toEqual(
    Array(2).fill("application/json"),
  );
});

test("an operation without a body sends none, and one without a response says so", async () => {
  server.reply({ json: {} });
  expect(await request("startEvaluator", ...grader)).toMatchObject({ exitCode: 0, stdout: "{}\n" });
  server.reply({ status: 204, text: "" });
  const deleted = { exitCode: 0, stdout: "", stderr: "HTTP 204, without a body.\n" };
  expect(await request("deleteEvaluator", ...grader)).toEqual(deleted);
  expect(server.requests.map(({ method, url, body }) => [method, url, body.length])).toEqual([
    ["POST", "/v1/accounts/acme/evaluators/grader:start", 0],
    ["DELETE", "/v1/accounts/acme/evaluators/grader", 0],
  ]);
});

test("bytes are written as they are, and are one JSON value with --json", async () => {
  server.reply({ headers: { "content-type": "application/octet-stream" }, text: "\u0000raw\n" });
  expect((await request("downloadDataset", ...reviews)).stdout).toBe("\u0000raw\n");
  expect(server.only.headers.accept).toBe("application/octet-stream");
  const { stdout } = await request("downloadDataset", ...reviews, "--json");
  expect(JSON.parse(stdout)).toMatchObject({ status: 200, base64: "AHJhdwo=" });
});

test.each([
  ["an id that is none", ["getDatset"], "There is no operation with this ID: did you mean getDataset?"],
  ["a parameter that is none", ["listEvaluators", "--param", "lable=a"], "did you mean label?"],
  ["a missing id", ["getDataset"], "datasetId (--param dataset_id): [INVALID_ARGUMENT] datasetId must be"],
  ["text for a number", ["listEvaluators", "--param", "page_size=ten"], "page_size must be a whole number"],
  ["text for a boolean", ["listEvaluators", "--param", "archived=no"], "archived must be true or false"],
  [
    "two values for one",
    ["getDataset", ...reviews, ...reviews],
    "datasetId (--param dataset_id): [INVALID_ARGUMENT] datasetId must be a string",
  ],
  ["no value", ["getDataset", "--param", "dataset_id"], "--param must be NAME=VALUE."],
  ["a body for none", ["getDataset", ...reviews, "--body", "{}"], "getDataset takes no body."],
  ["a missing body", ["createEvaluator"], "body (--body): [INVALID_ARGUMENT] body must be an object."],
  ["a body that is not JSON", ["createEvaluator", "--body", "{nope"], "--body is not JSON"],
  ["a path", ["getDataset", "/v1/x"], "An ID takes no PATH: the operation has its own."],
  [
    "a query",
    ["getDataset", ...reviews, "--query", "a=b"],
    "--query is for a METHOD and a PATH; parameters of an ID are given with --param.",
  ],
  ["a type", ["getDataset", ...reviews, "--accept", "text/csv"], "--accept is for a METHOD and a PATH"],
])("%s is refused before anything is sent", async (_what, args, words) => {
  const { exitCode, stdout, stderr } = await request(...args);
  expect([exitCode, stdout]).toEqual([2, ""]);
  expect(stderr).toContain(words);
  expect(server.requests).toEqual([]);
});

test("--list has every operation with its method, path, summary and parameters", async () => {
  const { exitCode, stdout } = await request("--list");
  expect(exitCode).toBe(0);
  for (const id of [...added, "rerankDocuments", "uploadDatasetFile"]) expect(stdout).toContain(id);
  const { stdout: one } = await request("listEvaluators", "--list");
  expect(one).toBe(
    [
      "listEvaluators  GET /v1/accounts/{account_id}/evaluators",
      "  List evaluators",
      "  --param page_size=N                                         How many at most.",
      "  --param label=TEXT                                          Only those with all of these labels. May be given more than once.",
      "  --param state=EVALUATOR_STATE_READY|EVALUATOR_STATE_BROKEN  Only those in one of these states. May be given more than once.",
      "  --param archived=true|false                                 Whether archived ones count.",
      "  --param x-view=TEXT                                         How much of each.",
      "",
    ].join("\n"),
  );
  const { stdout: json } = await request("--list", "--json");
  expect(JSON.parse(json)).toContainEqual({
    operation: "getDataset",
    method: "GET",
    path: "/v1/accounts/{account_id}/datasets/{dataset_id}",
    summary: "Get a dataset",
    parameters: [
      {
        name: "dataset_id",
        in: "path",
        required: true,
        schema: { type: "string" },
        description: "The dataset.",
      },
    ],
    answer: "json",
  });
});

test("the help of an id begins with what the contract says of it", async () => {
  const { exitCode, stdout } = await request("replaceEvaluator", "--help");
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(
    /^replaceEvaluator {2}PUT \/v1\/accounts\/\{account_id\}\/evaluators\/\{evaluator_id\}\n/,
  );
  expect(stdout).toMatch(/--param evaluator_id=TEXT +Required\. The evaluator's id\./);
  expect(stdout).toMatch(
    /--body JSON, --body-file FILE +Required\. Fields: displayName, threshold \(optional\)/,
  );
  expect(stdout).toContain("Usage: tunerank request");
});
