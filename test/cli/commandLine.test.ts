import { readFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { canaryKey } from "../support/canary.js";
import { tunerank, useCommand } from "../support/commandLine.js";
import { root } from "../support/project.js";
import { sha256, useRecordingServer } from "../support/recordingServer.js";

const server = useRecordingServer();
const { run, written } = useCommand(server);

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
  const { exitCode, stdout, stderr } = await run(["scale", "prod", "0"]);
  expect([exitCode, stderr]).toEqual([0, ""]);
  expect(stdout).toBe("Deployment prod: accepted, 0 replicas.\n");
  expect(server.only.method).toBe("PATCH");
  expect(server.only.url).toBe("/v1/accounts/acme/deployments/prod:scale");
  expect(JSON.parse(`${server.only.body}`)).toEqual({ replicaCount: 0 });
  expect(server.only.headers.authorization).toBe(`Bearer ${canaryKey}`);
  expect(server.only.headers["user-agent"]).toMatch(/^tunerank\/.* node\/.* tunerank-cli$/);
});

test("options go before the environment, and the key may come from a file", async () => {
  const file = await written("key", "key-of-the-file\n");
  const args = `scale prod 2 --base-url ${server.url} --api-key-file ${file} --account other --json`;
  const { exitCode, stdout } = await tunerank(args.split(" "), { baseUrl: "http://127.0.0.1:9" });
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toEqual({ deployment: "prod", replicaCount: 2 });
  expect(server.only.url).toBe("/v1/accounts/other/deployments/prod:scale");
  expect(server.only.headers.authorization).toBe("Bearer key-of-the-file");
});

test("resume prints the job's state, and the job itself for machines", async () => {
  const job = { name: "accounts/acme/reinforcementFineTuningJobs/job-1", state: "JOB_STATE_RUNNING" };
  server.reply({ json: { ...job, jobProgress: { percent: 40 } } });
  expect((await run(["resume", "job-1"])).stdout).toBe(
    "Job accounts/acme/reinforcementFineTuningJobs/job-1: JOB_STATE_RUNNING, 40 % done\n",
  );
  expect(JSON.parse((await run(["resume", "job-1", "--json"])).stdout)).toMatchObject(job);
  expect(server.requests.map(({ url }) => url)).toEqual(
    Array(2).fill("/v1/accounts/acme/reinforcementFineTuningJobs/job-1:resume"),
  );
});

const odd = { toString: 1, valueOf: 2 };
test.each([
  [
    "NOT_FOUND",
    { code: "NOT_FOUND", message: "No dataset." },
    4,
    /^tunerank: \[NOT_FOUND\] No dataset\.\nThe op/,
  ],
  ["5, which is NOT_FOUND's", { code: 5, message: "Gone." }, 4, /^tunerank: \[NOT_FOUND\] Gone\.\n/],
  ["0, which is OK's", { code: 0, message: "" }, 0, /^$/],
  ["no code's", { code: 99 }, 10, /^tunerank: \[UNKNOWN\] The job reports the code 99\.\n/],
  [
    "an object",
    { code: odd },
    10,
    /^tunerank: \[UNKNOWN\] The job reports the code \{"toString":1,"valueOf":2\}\./,
  ],
])("resume of a job that failed ends with its code: %s", async (_what, status, code, said) => {
  server.reply({ json: { name: odd, state: "JOB_STATE_FAILED", jobProgress: { percent: odd }, status } });
  const { exitCode, stdout, stderr } = await run(["resume", "job-1"]);
  expect([exitCode, stdout]).toEqual([code, "Job job-1: JOB_STATE_FAILED\n"]);
  expect(stderr).toMatch(said);
});

test("upload sends the file, and prints what is stored", async () => {
  const bytes = Buffer.alloc(4 * 1024 * 1024, "a line of it\n");
  const file = await written("train.jsonl", bytes);
  server.reply({ json: { id: "file-9", bytes: bytes.length, filename: "train.jsonl" } });
  const { exitCode, stdout, stderr } = await run(["upload", "reviews", file, "--verify", "--no-check"]);
  expect([exitCode, stdout, stderr]).toEqual([0, "Uploaded train.jsonl: 4194304 bytes, file file-9.\n", ""]);
  const [part] = server.only.files;
  expect(part).toMatchObject({ part: "file", filename: "train.jsonl", sha256: sha256(bytes) });
});

test.each([{ message: "maintenance" }, { id: null }])(
  "upload whose response is %j fails, and says that the file may be stored",
  async (json) => {
    server.reply({ json });
    const args = ["upload", "reviews", "-", "--name", "a.txt", "--quiet"];
    const { exitCode, stdout, stderr } = await run(args, { input: "abc" });
    expect([exitCode, stdout]).toEqual([10, ""]);
    expect(stderr).toContain("that the OpenAPI document describes: id is missing");
    expect(stderr).toContain("The file may have been stored");
  },
);

test("upload says nothing of a size or a name that the response leaves out", async () => {
  server.reply({ json: { id: "file-9" } });
  const args = ["upload", "reviews", "-", "--name", "a.txt", "--quiet"];
  const { exitCode, stdout } = await run(args, { input: "abc" });
  expect([exitCode, stdout]).toEqual([0, "Uploaded a.txt: file file-9.\n"]);
});

test("rerank ranks the lines of a file and prints score, line and text", async () => {
  const file = await written("articles.txt", "Invoices\tare under Billing.\r\n\r\nChoose \u001b[31mReset.\n");
  server.reply({ json: ranking });
  const args = ["rerank", "--query", "password", file, "--top-n", "1", "--task", "help"];
  const { exitCode, stdout, stderr } = await run(args);
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
  // A rerank needs no account.
  const { exitCode, stdout } = await run(args, { input, env: { TUNERANK_ACCOUNT_ID: undefined } });
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
  expect((await run(["rerank", "--query=--json", "--task=-"], { input: "a\nb\n" })).exitCode).toBe(0);
  expect(JSON.parse(`${server.only.body}`)).toMatchObject({ query: "--json", task: "-" });
});

test("what follows two dashes is no option, and short options may stand together", async () => {
  const { exitCode, stdout, stderr } = await run(["scale", "-q", "--", "-prod", "3"]);
  expect([exitCode, stdout, stderr]).toEqual([0, "", ""]);
  expect(server.only.url).toBe("/v1/accounts/acme/deployments/-prod:scale");
  expect((await run(["scale", "-qh"])).stdout).toMatch(/^Usage: tunerank scale /);
});

test.each(["version", "--version", "-v"])("%s prints the package's version", async (word) => {
  const { version } = JSON.parse(await readFile(path.join(root, "package.json"), "utf8"));
  expect((await run([word])).stdout).toBe(`${version}\n`);
});
