import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { folder, input, output, queryOf, useBulkFiles, writeRequests } from "../../support/bulkFiles.js";
import { canaryKey } from "../../support/canary.js";
import { type Surroundings, tunerank, useCommand } from "../../support/commandLine.js";
import type { Outcome } from "../../support/project.js";
import { useRecordingServer } from "../../support/recordingServer.js";
import { ranked } from "../../support/responses.js";

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

test("a resume is called by its id without a body, and sends an empty object", async () => {
  server.reply({ json: { name: "n" } });
  const job = ["--param", "reinforcement_fine_tuning_job_id=answer-quality"];
  const { exitCode, stdout, stderr } = await run(["resumeReinforcementFineTuningJob", ...job]);
  expect([exitCode, stdout, stderr]).toEqual([0, '{\n  "name": "n"\n}\n', ""]);
  const url = "/v1/accounts/acme/reinforcementFineTuningJobs/answer-quality:resume";
  expect(server.only).toMatchObject({ method: "POST", url });
  expect(`${server.only.body}`).toBe("{}");
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

test("a key that is given as a parameter is not repeated", async () => {
  const { exitCode, stderr } = await run(["scaleDeployment", ...prod, "--param", `${canaryKey}=x`]);
  expect([exitCode, server.requests]).toEqual([2, []]);
  expect(stderr).toContain("Unknown option parameters.");
  expect(stderr).not.toContain(canaryKey);
});

describe("a dry run", () => {
  const bulk = useBulkFiles(server);

  function dry(args: readonly string[], more: Surroundings = {}): Promise<Outcome> {
    return tunerank([...args, "--dry-run"], { baseUrl: server.url, ...more });
  }

  /** Expects that a command says what it then sends. @returns What it says */
  async function compared(args: readonly string[], requests = 1) {
    server.requests = [];
    const { stdout, exitCode, stderr } = await dry([...args, "--json"]);
    expect([exitCode, stderr, server.requests]).toEqual([0, "", []]);
    const told = JSON.parse(stdout);
    await tunerank(args, { baseUrl: server.url });
    expect(server.requests).toHaveLength(requests);
    const [{ method, url } = server.only] = server.requests;
    // The boundary between the parts of an upload is random, and always as long.
    const bytes = server.requests.reduce((sum, { body }) => sum + body.length, 0);
    expect(told.requests).toMatchObject([{ method, url: server.url + url, requests, bytes }]);
    return told;
  }

  const ofAccount = "/v1/accounts/acme/deployments";
  test.each([
    "scale prod 2",
    "resume answer-quality",
    'request scaleDeployment --param deployment_id=prod --body {"replicaCount":2}',
    `request GET ${ofAccount} --query pageSize=5`,
    `request HEAD ${ofAccount}`,
    `request DELETE ${ofAccount}/prod`,
    "request POST /v1/other --body-file package.json",
    "request POST /v1/other --content-type text/csv --body-file README.md",
  ])("what a command would send is what it sends: %s", async (line) => {
    expect((await compared(line.split(" "))).dryRun).toBe(true);
  });

  test("what an upload of a file, and of several, would send is what it sends", async () => {
    const files = ["a.bin", "b.bin"].map((name) => path.join(folder, name));
    for (const file of files) await writeFile(file, "text".repeat(100_000));
    server.reply({ json: { id: "file-1" } });
    await compared(["upload", "reviews", ...files.slice(1)]);
    await compared(["upload", "reviews", ...files], 2);
  });

  test("what a rerank, and one in batches, would send is what it sends, with an estimate of its tokens", async () => {
    await writeFile(input, "one\ntwo\nthree\n");
    server.reply((request) => ranked(request));
    await compared(["rerank", "--query", "q", input]);
    const { requests, estimate } = await compared(["rerank", "--query", "q", "--batch-size", "2", input], 2);
    expect(requests[0]).toMatchObject({ documents: 3, estimatedTokens: Math.ceil(requests[0].bytes / 4) });
    expect(estimate).toContain("a quarter of the bytes");
  });

  test("a dry run speaks in words, prints no result, needs no key and shows none", async () => {
    const args = ["scale", "prod", "2"];
    const { stdout, stderr } = await dry(args, { env: { TUNERANK_API_KEY: "" } });
    expect([stdout, stderr]).toEqual([
      `Would send PATCH ${server.url}${ofAccount}/prod:scale: 1 request, 18 bytes.\nNothing was sent.\n`,
      "",
    ]);
    const shown = await dry(["request", "POST", "/v1/a", "--query", `key=${canaryKey}`, "--body-file", "-"], {
      input: '"née"',
    });
    expect(shown.stdout).toContain("/v1/a?key=[redacted]: 1 request, 6 bytes.\n");
    // What else is missing, or wrong, is still told.
    const missing = await dry(args, { baseUrl: "" });
    expect([missing.exitCode, missing.stderr]).toEqual([2, expect.stringContaining("TUNERANK_BASE_URL")]);
    expect(await dry(["scale", "prod", "-1"])).toMatchObject({ exitCode: 2 });
  });

  test("a dry run of a bulk run makes no file, and is held up by no limit", async () => {
    await writeRequests(input, 4);
    const limits = ["--rate", "1/h", "--tokens-per-minute", "1", "--max-requests", "2", "--max-tokens", "2"];
    const { stdout, exitCode } = await bulk("--dry-run", ...limits);
    const bytes = 4 * '{"query":"q0","documents":["one","two"],"return_documents":false}'.length;
    expect([exitCode, stdout]).toEqual([
      0,
      [
        `Would send POST ${server.url}/inference/v1/rerank: 4 requests, ${bytes} bytes, 8 documents, about ${bytes / 4} tokens.`,
        "Tokens are estimated as a quarter of the bytes; what the service counts as a token is not documented.",
        "4 requests in the input: 0 already done, 4 to do.",
        "Nothing was sent.",
        "",
      ].join("\n"),
    ]);
    expect([await readdir(folder), server.requests]).toEqual([["in.jsonl"], []]);
  });

  test("a dry run of a bulk run tells what a checkpoint leaves, and changes nothing in it", async () => {
    await writeRequests(input, 5);
    server.reply((request) => (queryOf(request) < "q3" ? ranked(request) : { status: 401 }));
    await bulk("--concurrency", "1");
    const files = [await readdir(folder), await readFile(output, "utf8")];
    server.requests = [];
    const { stdout } = await bulk("--dry-run", "--json");
    expect(JSON.parse(stdout)).toMatchObject({
      requests: [{ requests: 2, documents: 4 }],
      bulk: { requests: 5, before: 3, left: 2 },
    });
    expect([await readdir(folder), await readFile(output, "utf8"), server.requests]).toEqual([...files, []]);
  });

  test.each([
    ["--batch-size", "batchSize"],
    ["--max-requests", "maxRequests"],
    ["--max-tokens", "maxTokens"],
  ])("a dry run of a bulk run refuses what the run would: %s 0", async (option, argument) => {
    await writeRequests(input, 1);
    const { exitCode, stderr } = await bulk("--dry-run", option, "0");
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(`${argument} (${option}): `)]);
  });

  test("a dry run of several uploads tells what each file would become, and changes no checkpoint", async () => {
    const files = ["a.jsonl", "b.jsonl", "c.jsonl"].map((name) => path.join(folder, name));
    for (const file of files) await writeFile(file, '{"a":1}\n');
    const checkpoint = path.join(folder, "uploads.log");
    server.reply({ json: { id: "file-1" } });
    const args = ["upload", "reviews", ...files, "--checkpoint", checkpoint];
    await tunerank([...args.slice(0, 3), "--checkpoint", checkpoint], { baseUrl: server.url });
    await writeFile(files[2] ?? "", "no JSON\n");
    server.requests = [];
    const rows = await readFile(checkpoint, "utf8");
    const { stdout, exitCode } = await dry([...args, "--json"]);
    // That of the run, which sends the second file.
    expect(exitCode).toBe(5);
    expect(JSON.parse(stdout).files.map(({ outcome }: { outcome: string }) => outcome)).toEqual([
      "uploaded before",
      "to upload",
      "invalid",
    ]);
    expect([await readFile(checkpoint, "utf8"), server.requests]).toEqual([rows, []]);
  });
});
