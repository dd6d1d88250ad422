import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { folder, input, output, queryOf, useBulkFiles, writeRequests } from "../../support/bulkFiles.js";
import { canaryKey } from "../../support/canary.js";
import { tunerank } from "../../support/commandLine.js";
import type { Outcome } from "../../support/project.js";
import { ranked } from "../../support/rankings.js";
import { useRecordingServer } from "../../support/recordingServer.js";

const server = useRecordingServer();
const bulk = useBulkFiles(server);

function dry(...args: string[]): Promise<Outcome> {
  return tunerank([...args, "--dry-run"], { baseUrl: server.url });
}

/** What a command says it would send, and what it then sends. */
async function compared(...args: string[]) {
  const { stdout, exitCode, stderr } = await dry(...args, "--json");
  expect([exitCode, stderr, server.requests]).toEqual([0, "", []]);
  const told = JSON.parse(stdout);
  await tunerank(args, { baseUrl: server.url });
  const sent = server.requests.map(({ method, url, body }) => ({
    method,
    url: `${server.url}${url}`,
    bytes: body.length,
  }));
  return { told, sent };
}

const body = JSON.stringify({ replicaCount: 2 });

describe("what a command would send is what it sends", () => {
  test.each([
    ["scale", "prod", "2"],
    ["resume", "answer-quality"],
    ["request", "scaleDeployment", "--param", "deployment_id=prod", "--body", body],
    ["request", "GET", "/v1/accounts/acme/deployments", "--query", "pageSize=5"],
    ["request", "HEAD", "/v1/accounts/acme/deployments"],
    ["request", "DELETE", "/v1/accounts/acme/deployments/prod"],
  ])("%s %s %s", async (...args) => {
    const { told, sent } = await compared(...args.filter((each) => each !== undefined));
    expect(told).toMatchObject({ dryRun: true, requests: [{ ...sent[0], requests: 1 }] });
    expect(sent).toHaveLength(1);
  });

  test.each([
    ["a body of another kind", ["--content-type", "text/csv"]],
    ["a body of JSON", []],
  ])("a METHOD and a PATH with %s, from a file and from a pipe", async (_, more) => {
    await writeFile(input, '"née"');
    const args = ["request", "POST", "/v1/other", ...more];
    const { told, sent } = await compared(...args, "--body-file", input);
    expect(told.requests).toEqual([{ ...sent[0], requests: 1 }]);
    const { stdout } = await tunerank([...args, "--body-file", "-", "--dry-run"], {
      baseUrl: server.url,
      input: '"née"',
    });
    expect(stdout).toContain("/v1/other: 1 request, 6 bytes.\n");
  });

  test("upload of a file, and of several", async () => {
    const files = ["a.bin", "b.bin"].map((name) => path.join(folder, name));
    for (const file of files) await writeFile(file, "text".repeat(100_000));
    const [one = ""] = files;
    for (const named of [[one], files]) {
      server.requests = [];
      server.reply({ json: { id: "file-1" } });
      const { told, sent } = await compared("upload", "reviews", ...named);
      const bytes = sent.reduce((sum, each) => sum + each.bytes, 0);
      // The boundary between the parts is random, and always as long.
      expect(told.requests).toEqual([{ ...sent[0], requests: named.length, bytes }]);
    }
  });

  test("rerank in one request, and in batches", async () => {
    await writeFile(input, "one\ntwo\nthree\n");
    server.reply((request) => ranked(request));
    for (const more of [[], ["--batch-size", "2"]]) {
      server.requests = [];
      const { told, sent } = await compared("rerank", "--query", "q", ...more, input);
      const bytes = sent.reduce((sum, each) => sum + each.bytes, 0);
      expect(told.requests).toEqual([
        expect.objectContaining({ ...sent[0], requests: sent.length, bytes, documents: 3 }),
      ]);
      expect(told.requests[0].estimatedTokens).toBe(Math.ceil(bytes / 4));
      expect(told.estimate).toContain("a quarter of the bytes");
    }
  });
});

test("in words, and no result is printed", async () => {
  const { stdout, stderr } = await dry("scale", "prod", "2");
  expect([stdout, stderr]).toEqual([
    `Would send PATCH ${server.url}/v1/accounts/acme/deployments/prod:scale: 1 request, 18 bytes.\nNothing was sent.\n`,
    "",
  ]);
});

test("no key is needed, and none is shown", async () => {
  const env = { TUNERANK_API_KEY: "" };
  const args = ["scale", "prod", "2", "--dry-run"];
  expect(await tunerank(args, { baseUrl: server.url, env })).toMatchObject({ exitCode: 0 });
  const shown = await dry("request", "GET", "/v1/things", "--query", `key=${canaryKey}`);
  expect(shown.stdout).toContain("/v1/things?key=[redacted]");
  // What else is missing, or wrong, is still told.
  const missing = await tunerank(args, { env: { ...env, TUNERANK_BASE_URL: "" } });
  expect([missing.exitCode, missing.stderr]).toEqual([2, expect.stringContaining("TUNERANK_BASE_URL")]);
  expect(await dry("scale", "prod", "-1")).toMatchObject({ exitCode: 2 });
});

describe("a bulk run", () => {
  test("tells requests, documents and tokens, makes no file, and is held up by no limit", async () => {
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

  test("tells what a checkpoint leaves, and changes nothing in it", async () => {
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
    expect([await readdir(folder), await readFile(output, "utf8")]).toEqual(files);
    expect(server.requests).toEqual([]);
  });

  test("refuses what the run would refuse", async () => {
    await writeRequests(input, 1);
    const limits = {
      "--batch-size": "batchSize",
      "--max-requests": "maxRequests",
      "--max-tokens": "maxTokens",
    };
    for (const [option, argument] of Object.entries(limits)) {
      const { exitCode, stderr } = await bulk("--dry-run", option, "0");
      expect([exitCode, stderr]).toEqual([2, expect.stringContaining(`${argument} (${option}): `)]);
    }
    await writeFile(output, "mine\n");
    const { stderr, exitCode } = await bulk("--dry-run");
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining("--output")]);
  });
});

test("several uploads tell what each file would become, and change no checkpoint", async () => {
  const names = ["a.jsonl", "b.jsonl", "c.jsonl"];
  const files = names.map((name) => path.join(folder, name));
  for (const file of files) await writeFile(file, '{"a":1}\n');
  const checkpoint = path.join(folder, "uploads.log");
  const [first = "", , third = ""] = files;
  server.reply({ json: { id: "file-1" } });
  await tunerank(["upload", "reviews", first, "--checkpoint", checkpoint], { baseUrl: server.url });
  await writeFile(third, "no JSON\n");
  server.requests = [];
  const rows = await readFile(checkpoint, "utf8");
  const args = ["upload", "reviews", ...files, "--checkpoint", checkpoint];
  const { stdout, exitCode } = await dry(...args, "--json");
  // That of the run, which sends the second file.
  expect(exitCode).toBe(5);
  expect(JSON.parse(stdout).files.map(({ outcome }: { outcome: string }) => outcome)).toEqual([
    "uploaded before",
    "to upload",
    "invalid",
  ]);
  expect([await readFile(checkpoint, "utf8"), server.requests]).toEqual([rows, []]);
});
