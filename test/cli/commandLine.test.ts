import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { canaryKey } from "../support/canary.js";
import { tunerank } from "../support/commandLine.js";
import { root, temporaryFolder } from "../support/project.js";
import { sha256, useRecordingServer } from "../support/recordingServer.js";

const server = useRecordingServer();
let folder: string;
let remove: () => Promise<void>;

beforeAll(async () => {
  ({ folder, remove } = await temporaryFolder());
});
afterAll(() => remove());

const ranking = {
  object: "list",
  model: "accounts/acme/models/reranker-small",
  data: [
    { index: 1, relevance_score: 0.75 },
    { index: 0, relevance_score: 0.25 },
  ],
  usage: { prompt_tokens: 7, total_tokens: 7 },
};

test("scale sends the number of replicas, with the key and the account of the environment", async () => {
  const { exitCode, stdout, stderr } = await tunerank(["scale", "prod", "0"], { baseUrl: server.url });
  expect([exitCode, stderr]).toEqual([0, ""]);
  expect(stdout).toBe("Deployment prod: accepted, 0 replicas.\n");
  expect(server.only.method).toBe("PATCH");
  expect(server.only.url).toBe("/v1/accounts/acme/deployments/prod:scale");
  expect(JSON.parse(`${server.only.body}`)).toEqual({ replicaCount: 0 });
  expect(server.only.headers.authorization).toBe(`Bearer ${canaryKey}`);
  expect(server.only.headers["user-agent"]).toMatch(/^tunerank\/.* node\/.* tunerank-cli$/);
});

test("options go before the environment, and the key may come from a file", async () => {
  const file = path.join(folder, "key");
  await writeFile(file, "key-of-the-file\n");
  const args = [
    "scale",
    "prod",
    "2",
    "--base-url",
    server.url,
    "--api-key-file",
    file,
    "--account",
    "other",
    "--json",
  ];
  const env = { TUNERANK_BASE_URL: "http://127.0.0.1:9" };
  const { exitCode, stdout } = await tunerank(args, { env });
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toEqual({ deployment: "prod", replicaCount: 2 });
  expect(server.only.url).toBe("/v1/accounts/other/deployments/prod:scale");
  expect(server.only.headers.authorization).toBe("Bearer key-of-the-file");
});

test("resume prints the job's state, and the job itself for machines", async () => {
  const job = { name: "accounts/acme/reinforcementFineTuningJobs/job-1", state: "JOB_STATE_RUNNING" };
  server.reply({ json: { ...job, jobProgress: { percent: 40 } } });
  const surroundings = { baseUrl: server.url };
  expect((await tunerank(["resume", "job-1"], surroundings)).stdout).toBe(
    "Job accounts/acme/reinforcementFineTuningJobs/job-1: JOB_STATE_RUNNING, 40 % done\n",
  );
  const { stdout } = await tunerank(["resume", "job-1", "--json"], surroundings);
  expect(JSON.parse(stdout)).toMatchObject(job);
  expect(server.requests.map(({ url }) => url)).toEqual(
    Array(2).fill("/v1/accounts/acme/reinforcementFineTuningJobs/job-1:resume"),
  );
});

test("resume of a job that failed prints the job, and fails with the job's code", async () => {
  server.reply({
    json: { state: "JOB_STATE_FAILED", status: { code: "NOT_FOUND", message: "No dataset." } },
  });
  const { exitCode, stdout, stderr } = await tunerank(["resume", "job-1"], { baseUrl: server.url });
  expect([exitCode, stdout]).toEqual([4, "Job job-1: JOB_STATE_FAILED\n"]);
  expect(stderr).toMatch(/^tunerank: \[NOT_FOUND\] No dataset\.\nThe operation has run\. /);
});

test.each([
  ["5, which is NOT_FOUND's", { code: 5, message: "Gone." }, 4, /^tunerank: \[NOT_FOUND\] Gone\.\n/],
  ["0, which is OK's", { code: 0, message: "" }, 0, /^$/],
  ["no code's", { code: 99 }, 10, /^tunerank: \[UNKNOWN\] The job reports the code 99\.\n/],
])("resume reads a status code that is the number %s", async (_what, status, code, said) => {
  server.reply({ json: { state: "JOB_STATE_FAILED", status } });
  const { exitCode, stdout, stderr } = await tunerank(["resume", "job-1"], { baseUrl: server.url });
  expect([exitCode, stdout]).toEqual([code, "Job job-1: JOB_STATE_FAILED\n"]);
  expect(stderr).toMatch(said);
});

test("resume of a job that is not what the contract promises says what it can", async () => {
  const odd = { toString: 1, valueOf: 2 };
  server.reply({ json: { name: odd, state: odd, jobProgress: { percent: odd }, status: { code: odd } } });
  const { exitCode, stdout, stderr } = await tunerank(["resume", "job-1"], { baseUrl: server.url });
  expect([exitCode, stdout]).toEqual([10, "Job job-1: resumed\n"]);
  expect(stderr).toMatch(/^tunerank: \[UNKNOWN\] The job reports the code \{"toString":1,"valueOf":2\}\.\n/);
});

test("upload sends the file, and prints what is stored", async () => {
  const file = path.join(folder, "train.jsonl");
  const bytes = Buffer.alloc(4 * 1024 * 1024, "a line of it\n");
  await writeFile(file, bytes);
  server.reply({ json: { id: "file-9", bytes: bytes.length, filename: "train.jsonl" } });
  const { exitCode, stdout, stderr } = await tunerank(["upload", "reviews", file, "--verify", "--no-check"], {
    baseUrl: server.url,
  });
  expect([exitCode, stdout, stderr]).toEqual([0, "Uploaded train.jsonl: 4194304 bytes, file file-9.\n", ""]);
  expect(server.only.files[0]).toMatchObject({
    part: "file",
    filename: "train.jsonl",
    sha256: sha256(bytes),
  });
});

test.each([{ message: "maintenance" }, {}, { id: null }])(
  "upload whose response is %j fails, and says that the file may be stored",
  async (json) => {
    server.reply({ json });
    const args = ["upload", "reviews", "-", "--name", "a.txt", "--quiet"];
    const { exitCode, stdout, stderr } = await tunerank(args, { baseUrl: server.url, input: "abc" });
    expect([exitCode, stdout]).toEqual([10, ""]);
    expect(stderr).toContain(
      "[INTERNAL] The response is not the JSON object that the OpenAPI document describes: id is missing",
    );
    expect(stderr).toContain("The file may have been stored");
  },
);

test("upload says nothing of a size or a name that the response leaves out", async () => {
  server.reply({ json: { id: "file-9" } });
  const args = ["upload", "reviews", "-", "--name", "a.txt", "--quiet"];
  const { exitCode, stdout } = await tunerank(args, { baseUrl: server.url, input: "abc" });
  expect([exitCode, stdout]).toEqual([0, "Uploaded a.txt: file file-9.\n"]);
});

test("rerank ranks the lines of a file and prints score, line and text", async () => {
  const file = path.join(folder, "articles.txt");
  await writeFile(file, "Invoices\tare under Billing.\r\n\r\nChoose \u001b[31mReset.\n");
  server.reply({ json: ranking });
  const args = ["rerank", "--query", "password", file, "--top-n", "1", "--task", "help"];
  const { exitCode, stdout, stderr } = await tunerank(args, { baseUrl: server.url });
  expect([exitCode, stderr]).toEqual([0, ""]);
  expect(stdout).toBe("0.750\t3\tChoose  [31mReset.\n");
  expect(JSON.parse(`${server.only.body}`)).toEqual({
    query: "password",
    documents: ["Invoices\tare under Billing.", "Choose \u001b[31mReset."],
    return_documents: false,
    task: "help",
  });
});

test("rerank takes a field of JSON Lines from the standard input, and prints the objects for machines", async () => {
  server.reply({ json: ranking });
  const input = '{"id":1,"text":"one"}\n{"id":2,"text":"two"}\n';
  const args = ["rerank", "--query", "q", "--field", "text", "--json", "-"];
  const { exitCode, stdout } = await tunerank(args, { baseUrl: server.url, input });
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toEqual({
    results: [
      { line: 2, score: 0.75, document: { id: 2, text: "two" } },
      { line: 1, score: 0.25, document: { id: 1, text: "one" } },
    ],
    usage: { prompt_tokens: 7, total_tokens: 7 },
  });
  expect(JSON.parse(`${server.only.body}`).documents).toEqual(["one", "two"]);
});

test("a value that starts with a dash is given after an equals sign", async () => {
  server.reply({ json: ranking });
  const surroundings = { baseUrl: server.url, input: "a\nb\n" };
  const { exitCode } = await tunerank(["rerank", "--query=--json", "--task=-"], surroundings);
  expect(exitCode).toBe(0);
  expect(JSON.parse(`${server.only.body}`)).toMatchObject({ query: "--json", task: "-" });
});

test("what follows two dashes is no option, and short options may stand together", async () => {
  const { exitCode, stderr } = await tunerank(["scale", "-q", "--", "-prod", "3"], { baseUrl: server.url });
  expect([exitCode, stderr]).toEqual([0, ""]);
  expect(server.only.url).toBe("/v1/accounts/acme/deployments/-prod:scale");
  expect((await tunerank(["scale", "-qh"])).stdout).toMatch(/^Usage: tunerank scale /);
});

test("rerank of no account needs none", async () => {
  server.reply({ json: ranking });
  const surroundings = { baseUrl: server.url, input: "a\nb\n", env: { TUNERANK_ACCOUNT_ID: undefined } };
  expect((await tunerank(["rerank", "--query", "q"], surroundings)).exitCode).toBe(0);
});

test("the version is the package's", async () => {
  const { version } = JSON.parse(await readFile(path.join(root, "package.json"), "utf8"));
  expect((await tunerank(["--version"])).stdout).toBe(`${version}\n`);
});
