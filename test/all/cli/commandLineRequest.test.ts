import { writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { operations } from "../../../src/generated/contract.js";
import { canaryKey } from "../../support/canary.js";
import { tunerank } from "../../support/commandLine.js";
import { temporaryFolder } from "../../support/project.js";
import { useRecordingServer } from "../../support/recordingServer.js";

const server = useRecordingServer();
let folder: string;
let remove: () => Promise<void>;

beforeAll(async () => {
  ({ folder, remove } = await temporaryFolder());
});
afterAll(() => remove());

const run = (...args: string[]) =>
  tunerank(["request", ...args], { baseUrl: server.url, env: { TUNERANK_ACCOUNT_ID: undefined } });

test("GET prints the response's JSON, indented", async () => {
  server.reply({ json: { name: "reviews\u009b31m", files: [] } });
  const args = ["GET", "/v1/my data:list", "--query", "page=2", "--query", "tag=a=b", "--query", "tag=c"];
  const { exitCode, stdout, stderr } = await run(...args);
  expect([exitCode, stderr]).toEqual([0, ""]);
  expect(stdout).toBe('{\n  "name": "reviews\\u009b31m",\n  "files": []\n}\n');
  expect(server.only).toMatchObject({ method: "GET", url: "/v1/my%20data:list?page=2&tag=a%3Db&tag=c" });
  expect(server.only.headers.authorization).toBe(`Bearer ${canaryKey}`);
});

test("JSON goes out as it was written, from the command line or a file", async () => {
  const json = '{"id": 9007199254740993}';
  const file = path.join(folder, "body.json");
  await writeFile(file, json);
  await run("POST", "/v1/x", "--body", json);
  await run("POST", "/v1/x", "--body-file", file);
  expect(server.requests.map(({ body }) => `${body}`)).toEqual([json, json]);
  expect(server.requests.map(({ headers }) => headers["content-type"])).toEqual(
    Array(2).fill("application/json"),
  );
});

test("any other file goes out under its type, also from the standard input", async () => {
  const input = new Uint8Array([0, 255, 10]);
  const args = ["request", "PUT", "/v1/x", "--body-file", "-", "--content-type", "application/octet-stream"];
  await tunerank(args, { baseUrl: server.url, input });
  expect([...server.only.body]).toEqual([...input]);
  expect(server.only.headers["content-type"]).toBe("application/octet-stream");
});

test("text and bytes are written as they are", async () => {
  server.reply({ headers: { "content-type": "text/csv" }, text: "a,b\n1,2" });
  expect((await run("GET", "/v1/x", "--accept", "text/csv")).stdout).toBe("a,b\n1,2");
  server.reply({ headers: { "content-type": "application/octet-stream" }, text: "\u0000raw" });
  expect((await run("GET", "/v1/x")).stdout).toBe("\u0000raw");
  expect(server.requests[0]?.headers.accept).toBe("text/csv");
});

test("a response without a body says so on stderr", async () => {
  server.reply({ status: 204, text: "" });
  const { exitCode, stdout, stderr } = await run("DELETE", "/v1/x");
  expect([exitCode, stdout, stderr]).toEqual([0, "", "HTTP 204, without a body.\n"]);
});

test("for machines there is one JSON value with status, headers and data", async () => {
  server.reply({ status: 201, headers: { "x-request-id": "r-1" }, json: { a: 1 } });
  const { stdout } = await run("POST", "/v1/x", "--json");
  expect(JSON.parse(stdout)).toMatchObject({
    status: 201,
    headers: { "x-request-id": "r-1" },
    data: { a: 1 },
  });
  server.reply({ headers: { "content-type": "image/png" }, text: new Uint8Array([1, 2]) });
  expect(JSON.parse((await run("GET", "/v1/x", "--json")).stdout)).toMatchObject({
    status: 200,
    base64: "AQI=",
  });
});

test("a POST is repeated only with --idempotent", async () => {
  server.reply({ status: 502, headers: { "retry-after-ms": "1" }, text: "" });
  const { exitCode, stderr } = await run("POST", "/v1/x");
  expect(exitCode).toBe(8);
  expect(stderr).toContain("It may have run: check what it changes");
  expect(server.requests).toHaveLength(1);
  await run("POST", "/v1/x", "--idempotent");
  expect(server.requests).toHaveLength(4);
});

const acme = { env: { TUNERANK_ACCOUNT_ID: "acme" } };
const byId = (...args: string[]) => tunerank(["request", ...args], { baseUrl: server.url, ...acme });
const job = ["--param", "reinforcement_fine_tuning_job_id=answer-quality"];
const prod = ["--param", "deployment_id=prod"];

test.each([
  ["resumeReinforcementFineTuningJob", job, "{}"],
  ["scaleDeployment", [...prod, "--body", '{"replicaCount":2}'], '{"replicaCount":2}'],
  ["rerankDocuments", ["--body", '{"query":"q","documents":["d"]}'], '{"query":"q","documents":["d"]}'],
] as const)("%s is called by its id", async (id, args, body) => {
  server.reply({ json: { name: "n" } });
  const { exitCode, stdout, stderr } = await byId(id, ...args);
  expect([exitCode, stdout, stderr]).toEqual([0, '{\n  "name": "n"\n}\n', ""]);
  const { method, path: template } = operations[id];
  const sent = template
    .replace("{account_id}", "acme")
    .replace(/\{deployment_id\}/, "prod")
    .replace(/\{reinforcement.*?\}/, "answer-quality");
  expect(server.only).toMatchObject({ method, url: sent });
  expect(`${server.only.body}`).toBe(body);
});

test("an upload by its id sends the file under its name and type", async () => {
  const file = path.join(folder, "train.jsonl");
  await writeFile(file, "{}\n");
  server.reply({ json: { id: "f-1" } });
  const args = ["--param", "dataset_id=reviews", "--body-file", file, "--content-type", "application/jsonl"];
  expect(await byId("uploadDatasetFile", ...args)).toMatchObject({ exitCode: 0, stderr: "" });
  expect(server.only.url).toBe("/v1/accounts/acme/datasets/reviews:upload");
  const [part] = server.only.files;
  expect(part).toMatchObject({ part: "file", filename: "train.jsonl", mimeType: "application/jsonl" });
  expect(`${part?.bytes}`).toBe("{}\n");
});

test("an upload by its id that may be stored says so in its own words", async () => {
  server.reply({ status: 502, text: "" });
  const { exitCode, stderr } = await byId(
    "uploadDatasetFile",
    "--param",
    "dataset_id=a",
    "--body-file",
    "package.json",
  );
  expect(exitCode).toBe(8);
  expect(stderr).toContain("The file may have been stored: check the dataset");
  expect(server.requests).toHaveLength(1);
});

test("by its id an operation needs the account that its path names, and no other", async () => {
  const { exitCode, stderr } = await run("scaleDeployment", ...prod, "--body", '{"replicaCount":2}');
  expect(exitCode).toBe(2);
  expect(stderr).toContain("Not set: TUNERANK_ACCOUNT_ID (--account ID). Set the variable or the option");
  expect(await run("rerankDocuments", "--body", '{"query":"q","documents":["d"]}')).toMatchObject({
    exitCode: 0,
  });
  expect(server.requests).toHaveLength(1);
});

test("a key that is given as a parameter is not repeated", async () => {
  const { exitCode, stderr } = await byId("scaleDeployment", ...prod, "--param", `${canaryKey}=x`);
  expect([exitCode, server.requests]).toEqual([2, []]);
  expect(stderr).toContain("Unknown option parameters.");
  expect(stderr).not.toContain(canaryKey);
});
