import { expect, test } from "vitest";
import { operations } from "../../../src/generated/contract.js";
import { canaryKey } from "../../support/canary.js";
import { type Surroundings, useCommand } from "../../support/commandLine.js";
import { useRecordingServer } from "../../support/recordingServer.js";

const server = useRecordingServer();
const command = useCommand(server);
const noAccount = { env: { TUNERANK_ACCOUNT_ID: undefined } };
const run = (args: readonly string[], more: Surroundings = {}) => command.run(["request", ...args], more);
const prod = ["--param", "deployment_id=prod"];

test("GET prints the response's JSON, indented", async () => {
  server.reply({ json: { name: "reviews\u009b31m", files: [] } });
  const args = ["GET", "/v1/my data:list", "--query", "page=2", "--query", "tag=a=b", "--query", "tag=c"];
  const { exitCode, stdout, stderr } = await run(args, noAccount);
  expect([exitCode, stderr]).toEqual([0, ""]);
  expect(stdout).toBe('{\n  "name": "reviews\\u009b31m",\n  "files": []\n}\n');
  expect(server.only).toMatchObject({ method: "GET", url: "/v1/my%20data:list?page=2&tag=a%3Db&tag=c" });
  expect(server.only.headers.authorization).toBe(`Bearer ${canaryKey}`);
});

test("a body goes out as it was written, from the command line, a file or the standard input", async () => {
  const json = '{"id": 9007199254740993}';
  await run(["POST", "/v1/x", "--body", json]);
  await run(["POST", "/v1/x", "--body-file", await command.written("body.json", json)]);
  const input = new Uint8Array([0, 255, 10]);
  await run(["PUT", "/v1/x", "--body-file", "-", "--content-type", "application/octet-stream"], { input });
  expect(
    server.requests.map(({ body, headers }) => [body.toString("latin1"), headers["content-type"]]),
  ).toEqual([
    [json, "application/json"],
    [json, "application/json"],
    ["\0\u00ff\n", "application/octet-stream"],
  ]);
});

test("text and bytes are written as they are, and a response without a body is told on stderr", async () => {
  server.reply({ headers: { "content-type": "text/csv" }, text: "a,b\n1,2" });
  expect((await run(["GET", "/v1/x", "--accept", "text/csv"])).stdout).toBe("a,b\n1,2");
  expect(server.only.headers.accept).toBe("text/csv");
  server.reply({ headers: { "content-type": "application/octet-stream" }, text: "\u0000raw" });
  expect((await run(["GET", "/v1/x"])).stdout).toBe("\u0000raw");
  server.reply({ status: 204, text: "" });
  const { exitCode, stdout, stderr } = await run(["DELETE", "/v1/x"]);
  expect([exitCode, stdout, stderr]).toEqual([0, "", "HTTP 204, without a body.\n"]);
});

test("for machines there is one JSON value with status, headers and data", async () => {
  const headers = { "x-request-id": "r-1" };
  server.reply({ status: 201, headers, json: { a: 1 } });
  const { stdout } = await run(["POST", "/v1/x", "--json"]);
  expect(JSON.parse(stdout)).toMatchObject({ status: 201, headers, data: { a: 1 } });
  server.reply({ headers: { "content-type": "image/png" }, text: new Uint8Array([1, 2]) });
  const bytes = await run(["GET", "/v1/x", "--json"]);
  expect(JSON.parse(bytes.stdout)).toMatchObject({ status: 200, base64: "AQI=" });
});

test("a POST is repeated only with --idempotent", async () => {
  server.reply({ status: 502, headers: { "retry-after-ms": "1" }, text: "" });
  const { exitCode, stderr } = await run(["POST", "/v1/x"]);
  expect([exitCode, server.requests.length]).toEqual([8, 1]);
  expect(stderr).toContain("It may have run: check what it changes");
  await run(["POST", "/v1/x", "--idempotent"]);
  expect(server.requests).toHaveLength(4);
});

const job = ["--param", "reinforcement_fine_tuning_job_id=answer-quality"];
test.each([
  ["resumeReinforcementFineTuningJob", job, "{}"],
  ["scaleDeployment", [...prod, "--body", '{"replicaCount":2}'], '{"replicaCount":2}'],
  ["rerankDocuments", ["--body", '{"query":"q","documents":["d"]}'], '{"query":"q","documents":["d"]}'],
] as const)("%s is called by its id", async (id, args, body) => {
  server.reply({ json: { name: "n" } });
  const { exitCode, stdout, stderr } = await run([id, ...args]);
  expect([exitCode, stdout, stderr]).toEqual([0, '{\n  "name": "n"\n}\n', ""]);
  const { method, path } = operations[id];
  const url = path.replace("{account_id}", "acme").replace("{deployment_id}", "prod");
  expect(server.only).toMatchObject({ method, url: url.replace(/\{.*?\}/, "answer-quality") });
  expect(`${server.only.body}`).toBe(body);
});

test("an upload by its id sends the file under its name and type, and says if it may be stored", async () => {
  const file = await command.written("train.jsonl", "{}\n");
  server.reply({ json: { id: "f-1" } });
  const args = ["uploadDatasetFile", "--param", "dataset_id=reviews", "--body-file", file];
  expect(await run([...args, "--content-type", "application/jsonl"])).toMatchObject({
    exitCode: 0,
    stderr: "",
  });
  expect(server.only.url).toBe("/v1/accounts/acme/datasets/reviews:upload");
  const [part] = server.only.files;
  expect(part).toMatchObject({ part: "file", filename: "train.jsonl", mimeType: "application/jsonl" });
  expect(`${part?.bytes}`).toBe("{}\n");
  server.reply({ status: 502, text: "" });
  const { exitCode, stderr } = await run(args);
  expect([exitCode, server.requests.length]).toEqual([8, 2]);
  expect(stderr).toContain("The file may have been stored: check the dataset");
});

test("by its id an operation needs the account that its path names, and no other", async () => {
  const scaled = await run(["scaleDeployment", ...prod, "--body", '{"replicaCount":2}'], noAccount);
  expect(scaled.exitCode).toBe(2);
  expect(scaled.stderr).toContain(
    "Not set: TUNERANK_ACCOUNT_ID (--account ID). Set the variable or the option",
  );
  const ranked = await run(["rerankDocuments", "--body", '{"query":"q","documents":["d"]}'], noAccount);
  expect([ranked.exitCode, server.requests.length]).toEqual([0, 1]);
});
