// What a command says: it names what the user typed, fits the command, and says what is wrong and what to do.
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { canaryKey } from "../../support/canary.js";
import { tunerank } from "../../support/commandLine.js";
import { type Outcome, temporaryFolder } from "../../support/project.js";
import { useRecordingServer } from "../../support/recordingServer.js";

const server = useRecordingServer();
let folder: string;
let remove: () => Promise<void>;
let documents: string;

beforeAll(async () => {
  ({ folder, remove } = await temporaryFolder());
  documents = await written("documents.txt", "one\ntwo\n");
});
beforeEach(() => server.reply({ json: {} }));
afterAll(() => remove());

const at = (name: string): string => path.join(folder, name);
const run = (args: readonly string[], more: object = {}): Promise<Outcome> =>
  tunerank(args, { baseUrl: server.url, ...more });

async function written(name: string, text: string): Promise<string> {
  await writeFile(at(name), text);
  return at(name);
}

/** What a command says first that sends nothing and ends with exit code 2. */
async function refusal(args: readonly string[], more: object = {}): Promise<string> {
  const { exitCode, stderr } = await run(args, more);
  expect([exitCode, server.connections]).toEqual([2, 0]);
  return stderr.split("\n")[0]?.replace(/^tunerank: /, "") ?? "";
}

describe("a file is named as it was typed", () => {
  const none = "cannot be read: ENOENT: no such file or directory. Nothing was sent.";

  test("by check, also for programs", async () => {
    const both = await run(["check", "none.jsonl", documents]);
    expect(both.stdout.split("\n").slice(0, 3)).toEqual([
      "none.jsonl: 0 rows.",
      `  Invalid: It ${none}`,
      `${documents}: 2 rows.`,
    ]);
    const { stdout } = await run(["check", "none.jsonl", documents, "--json"]);
    expect(JSON.parse(stdout).files.map(({ file }: { file: string }) => file)).toEqual([
      "none.jsonl",
      documents,
    ]);
  });

  test("unless the key stands in its place", async () => {
    const { stdout } = await run(["check", documents, `${canaryKey}.jsonl`]);
    expect(stdout).toContain("\n[redacted].jsonl: 0 rows.\n");
    const { stdout: json } = await run(["check", canaryKey, "--json"]);
    expect(JSON.parse(json).files[0]).toMatchObject({ file: "[redacted]", problem: `It ${none}` });
  });

  test("by an input in another format", async () => {
    const table = await written("table.csv", "a,b\n1,2\n");
    for (const args of [
      ["rerank", "--query", "q", "--field", "a", table],
      ["bulk", table, "--output", at("out.jsonl")],
    ])
      expect(await refusal(args)).toContain(`FILE "${table}"`);
  });

  test("by a file that is empty or invalid", async () => {
    const empty = await written("empty.jsonl", "");
    expect(await refusal(["upload", "reviews", empty])).toContain(`FILE "${empty}" is `);
    const broken = await written("broken.jsonl", '{"a": 1}\n{\n');
    expect(await refusal(["upload", "reviews", broken])).toMatch(/broken\.jsonl" is invalid: .*line 2/);
  });
});

describe("a hint fits the command", () => {
  test.each([
    [
      "upload",
      ["upload", "reviews", "README.md", "-q"],
      "Send a smaller file: larger ones need another operation of the service, which this client does not have.",
    ],
    [
      "rerank",
      ["rerank", "--query", "q", "README.md"],
      "Send fewer documents at once (rerank.items with batchSize).",
    ],
    ["scale", ["scale", "prod", "1"], "Send a smaller request."],
    ["request", ["request", "POST", "/v1/x", "--body", "{}"], "Send a smaller request."],
  ])("when %s sends too much", async (_, args, advice) => {
    server.reply({ status: 413, json: {} });
    const { stderr } = await run(args);
    expect(stderr.split("\n")[1]).toContain(advice);
    if (!advice.includes("batchSize")) expect(stderr).not.toContain("batch");
  });

  test("when nobody knows whether a file was stored: it says where to look", async () => {
    server.reply({ status: 502 });
    const { stderr } = await run(["upload", "reviews", "README.md", "-q"]);
    expect(stderr.split("\n")[1]).toBe(
      "The operation may have run. The file may have been stored: check the dataset with the service's other operations before you upload it again. The call was not retried, because running it twice is not safe.",
    );
  });

  test("when the service rejects a request: that is no refused connection", async () => {
    server.reply({ status: 404, json: { code: "NOT_FOUND", message: "Gone." } });
    const { stderr } = await run(["scale", "prod", "1"]);
    expect(stderr.split("\n")[1]).toMatch(
      /^The service rejected the request: we assume that it did not run\. /,
    );
  });
});

describe("for programs", () => {
  test.each([
    ["a wrong argument", ["scale", "prod", "two"]],
    ["an unknown option", ["scale", "prod", "2", "--nothing"]],
    ["a file that is missing", ["rerank", "--query", "q", "none.txt"]],
  ])("%s says that nothing ran, as any refusal does", async (_, args) => {
    const { exitCode, stderr } = await run([...args, "--json"]);
    expect([exitCode, JSON.parse(stderr).error]).toEqual([
      2,
      {
        name: "UsageError",
        code: "INVALID_ARGUMENT",
        executed: "no",
        executedBecause: "nothing-sent",
        message: expect.any(String),
      },
    ]);
  });
});

test("lines that are JSON objects are ranked as they are only with a warning, which --field takes away", async () => {
  const file = await written("objects.jsonl", '{"body":{"text":"one"}}\n{"body":{"text":"two"}}\n');
  const data = [0, 1].map((index) => ({ index, relevance_score: 1 - index }));
  server.reply({ json: { data } });
  const raw = await run(["rerank", "--query", "q", file]);
  expect([raw.exitCode, raw.stderr]).toEqual([
    0,
    expect.stringMatching(/^Warning: FILE ".*objects\.jsonl" has JSON objects/),
  ]);
  const field = await run(["rerank", "--query", "q", "--field", "body.text", file]);
  expect([field.exitCode, field.stderr]).toEqual([0, ""]);
  expect(server.requests.map(({ body }) => JSON.parse(`${body}`).documents)).toEqual([
    ['{"body":{"text":"one"}}', '{"body":{"text":"two"}}'],
    ["one", "two"],
  ]);
});

test("lines that cannot be ranked are named, skipped, and counted; with --strict nothing is sent", async () => {
  const file = await written("some.jsonl", '{"a":"one"}\nnone\n{"b":1}\n');
  server.reply({ json: { data: [{ index: 0, relevance_score: 1 }] } });
  const args = ["rerank", "--query", "q", "--field", "a", file];
  const { exitCode, stdout, stderr } = await run(args);
  expect([exitCode, stdout]).toEqual([5, "1.000\t1\tone\n"]);
  const [line2, line3, summary] = stderr.split("\n");
  expect(line2).toMatch(/some\.jsonl", line 2 \(skipped\): It is not JSON: Unexpected token/);
  expect(line3).toMatch(
    /line 3 \(skipped\): It has no string in the field that --field names\. Its fields: b\.$/,
  );
  expect(summary).toBe("Skipped: 2 lines.");
  const json = await run([...args, "--json"]);
  expect(JSON.parse(json.stdout)).toMatchObject({ badLines: 2 });
  const strict = await run([...args, "--strict"]);
  expect([strict.exitCode, server.requests.length]).toEqual([2, 2]);
  expect(strict.stderr).toContain("tunerank: Nothing was sent: 2 invalid lines.\n");
});
