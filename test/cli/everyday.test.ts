import { once } from "node:events";
import { text } from "node:stream/consumers";
import { beforeEach, describe, expect, test } from "vitest";
import { type BulkRequest, shardOf } from "../../src/cli/bulkLines.js";
import { exitCodeOfError } from "../../src/cli/exitCodes.js";
import { hashesOf, IdTable, printOf, Rows, strengths } from "../../src/cli/rows.js";
import { StatusError } from "../../src/index.js";
import { linesOf, rankingOf, requestOf } from "../support/bulkFiles.js";
import { canaryKey } from "../support/canary.js";
import { start, tunerank, useCommand } from "../support/commandLine.js";
import { certifyOwnClient } from "../support/conformance/certifyOwnClient.js";
import { next, post, startRunner } from "../support/conformance/runner.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { done, unavailable } from "../support/responses.js";

// What a script or a person relies on, one command each; `npm run test:all` has the details.

const server = useRecordingServer();
const { run, at, written } = useCommand(server);

beforeEach(() =>
  server.reply((request) =>
    request.url.endsWith("rerank") ? rankingOf(request) : { json: { state: "JOB_STATE_RUNNING" } },
  ),
);

test("a file that changed while it was sent ends with 1, and with 2 before anything was sent", () => {
  const details = { code: "FAILED_PRECONDITION", executed: "unknown", codeSource: "client" } as const;
  const attempts = [{ number: 1, durationMs: 1 }];
  expect(exitCodeOfError(new StatusError("It changed.", { ...details, attempts }))).toBe(1);
  expect(exitCodeOfError(new StatusError("It changed.", details))).toBe(2);
  expect(exitCodeOfError(new StatusError("No.", { ...details, codeSource: "body", attempts }))).toBe(6);
});

test.each([
  ["a key as an argument", ["resume", "job-1", `--api-key=${canaryKey}`], "A key cannot be an argument"],
  ["an unknown option", ["resume", "job-1", "--tiemout=5"], "Option '--tiemout' is unknown."],
  ["a negative number of replicas", ["scale", "web", "-1"], "Option '-1' is unknown."],
])("%s ends with 2 before anything is sent", async (_, args, said) => {
  const { exitCode, stderr } = await run(args);
  expect([exitCode, server.requests, stderr]).toEqual([2, [], expect.stringContaining(said)]);
});

test("a port that is taken says what to do", async () => {
  const taken = await run(["mock", "--port", new URL(server.url).port]);
  expect([taken.exitCode, taken.stderr]).toEqual([2, expect.stringContaining("port 0 is any free one")]);
});

test("an error for machines names the option of the argument; text of the service moves no cursor", async () => {
  const refused = await run(["scale", "a/b", "1", "--json"]);
  expect(JSON.parse(refused.stderr).error).toMatchObject({ argument: "deploymentId", option: "DEPLOYMENT" });
  server.reply({ status: 404, json: { code: "NOT_FOUND", message: "Gone.\u001b[2K\rAll is well." } });
  const { stderr } = await run(["resume", "job-1"]);
  expect(stderr).toContain("Gone.");
  expect(stderr.replaceAll("\n", "")).not.toMatch(/\p{Control}/u);
});

test.each([
  ["0.1min", 0],
  ["20", 0],
  ["200ms", 9],
])("the response after 600 ms to a command with --timeout %s: it ends with %i", async (time, exit) => {
  server.reply((_request, response) => {
    setTimeout(() => response.end('{"state":"JOB_STATE_RUNNING"}'), 600);
    return undefined;
  });
  expect((await run(["resume", "job-1", "--timeout", time, "--max-retries", "0"])).exitCode).toBe(exit);
});

test("--env-file sets what the environment does not", async () => {
  const file = await written("env", "TUNERANK_ACCOUNT_ID=other\nTUNERANK_RERANK_MODEL=from-file\n");
  await run(["scale", "prod", "1", "--env-file", file]);
  expect(server.only.url).toContain("/accounts/acme/");
});

test("request sends JSON as it was written", async () => {
  const body = '{"n": 12345678901234567890}';
  await run(["request", "POST", "/v1/any", "--body", body]);
  expect(`${server.only.body}`).toBe(body);
});

test("lines that cannot be ranked are named, skipped and counted; with --strict nothing is sent", async () => {
  const file = await written("docs.jsonl", '{"text":"one"}\r\nnone\n{"b":1}\n{"text":"two"}');
  const args = ["rerank", "--query", "q", "--field", "text", file];
  expect((await run([...args, "--dry-run"])).exitCode).toBe(5);
  const strict = await run([...args, "--strict"]);
  expect([strict.exitCode, server.requests]).toEqual([2, []]);
  expect(strict.stderr).toContain("tunerank: Nothing was sent: 2 invalid lines.\n");
  const { exitCode, stdout, stderr } = await run(args);
  expect([exitCode, stdout]).toEqual([5, "1.000\t1\tone\n0.500\t4\ttwo\n"]);
  expect(stderr.replaceAll(file, "docs.jsonl").split("\n")).toEqual([
    expect.stringMatching(/^FILE "docs\.jsonl", line 2 \(skipped\): It is not JSON: Unexpected token/),
    'FILE "docs.jsonl", line 3 (skipped): It has no string in the field that --field names. Its fields: b.',
    "Skipped: 2 lines.",
    "",
  ]);
  expect(JSON.parse((await run([...args, "--json"])).stdout)).toMatchObject({ badLines: 2 });
});

test("lines of Windows are ranked without their carriage return", async () => {
  await run(["rerank", "--query", "q", await written("docs.txt", "one\r\ntwo\r\n")]);
  expect(JSON.parse(`${server.only.body}`).documents).toEqual(["one", "two"]);
});

test("a reader that closes early, such as head, is no failure", async () => {
  const child = start(["completion", "bash"]);
  child.stdout?.destroy();
  expect((await once(child, "exit"))[0]).toBe(0);
  const words = start(["completion", "bash"]);
  expect(words.stdout && (await text(words.stdout))).toContain("--timeout");
});

test("a rejected key ends an upload of several files after the first", async () => {
  const files = await Promise.all(["a.txt", "b.txt"].map((name) => written(name, "one\n")));
  server.reply({ status: 401, json: { code: "UNAUTHENTICATED", message: "No." } });
  expect((await run(["upload", "reviews", ...files])).exitCode).toBe(3);
  expect(server.requests).toHaveLength(1);
});

test("with --checkpoint a file that may be stored is not sent again", async () => {
  const args = ["upload", "reviews", await written("c.txt", "one\n"), "--checkpoint", at("log")];
  server.reply(unavailable);
  expect((await run([...args, "--max-retries", "0"])).exitCode).toBe(8);
  server.reply(done);
  const again = await run(args);
  expect([again.exitCode, server.requests.length]).toEqual([6, 1]);
  expect(again.stdout).toContain("may be stored, and was not sent again");
});

test.each([
  ["10/s", 0, 4],
  ["1/h", 9, 1],
])("a bulk run at --rate %s for three seconds ends with %i after %i requests", async (rate, exit, sent) => {
  const input = await written("in.jsonl", linesOf(...[1, 2, 3, 4].map((index) => requestOf(index))));
  const args = ["bulk", input, "--output", at(`out-${sent}`), "--rate", rate, "--total-timeout", "3"];
  const { exitCode } = await run(args);
  expect([exitCode, server.requests.length]).toEqual([exit, sent]);
});

test("a request that failed may be changed: the next run sends it as it is now", async () => {
  const input = await written("changed.jsonl", linesOf(requestOf(1)));
  const args = ["bulk", input, "--output", at("changed-out")];
  server.reply({ status: 400, json: { code: "INVALID_ARGUMENT", message: "No." } });
  expect((await run(args)).exitCode).toBe(5);
  await written("changed.jsonl", linesOf(requestOf(1, { query: "another" })));
  server.reply(rankingOf);
  expect((await run(args)).exitCode).toBe(0);
  expect(server.requests).toHaveLength(2);
});

test("a line's own model counts, and an id that cannot be read exactly makes its line invalid", async () => {
  const large = linesOf(requestOf(2)).replace('"r2"', "9007199254740993");
  const input = await written("ids.jsonl", linesOf(requestOf(1, { model: "own" })) + large);
  expect((await run(["bulk", input, "--output", at("ids-out"), "--model", "other"])).exitCode).toBe(5);
  expect(JSON.parse(`${server.only.body}`).model).toBe("own");
});

test("a shard is its number, counted from 0, of so many", () => {
  const [first, last] = ["0/8", "7/8"].map((shard) => shardOf(shard));
  const lines = [0, 1, 7].map((part) => ({ hash: part * 2 ** 20 }) as BulkRequest);
  expect(lines.map((line) => [first?.(line), last?.(line)])).toEqual([
    [true, false],
    [false, false],
    [false, true],
  ]);
  for (const shard of ["8/8", "1", "a/b", "0/0", "-1/2", "1/2/3", " 1/2"])
    expect(() => shardOf(shard)).toThrow(/^--shard must be I\/N, counted from 0: 0\/8 is the first/);
});

test("check ends with 0 for valid files, and with 2 if one is invalid, and names its line", async () => {
  const good = await written("good.jsonl", '{"a": 1}\r\n{"a": 2}');
  const bad = await written("bad.jsonl", '{"a": 1}\n{"a": 2,}\n');
  const valid = await tunerank(["check", good]);
  expect([valid.exitCode, valid.stdout]).toEqual([0, `${good}: 2 rows.\n`]);
  const invalid = await tunerank(["check", bad, good]);
  expect(invalid.exitCode).toBe(2);
  expect(invalid.stdout).toMatch(/bad\.jsonl: 2 rows\.\n {2}Invalid: line 2: .*\n.*good\.jsonl: 2 rows\.\n$/);
});

test("conformance ends with 0 if every test case passed, and with 1 if one failed", async () => {
  const only = ["--only", "success-at-once/rerank"];
  const good = await startRunner(...only);
  await certifyOwnClient(good.url);
  expect((await good.outcome).exitCode).toBe(0);
  expect(await good.report()).toMatchObject({ passed: 1, failed: 0, revision: expect.stringMatching(/^\d/) });
  const broken = await startRunner(...only, "--only", "success-at-once/scale");
  const { id } = await next(broken.url);
  await post(broken.url, { id, value: {}, attempts: 1 });
  await certifyOwnClient(broken.url);
  expect((await broken.outcome).exitCode).toBe(1);
  expect(await broken.report()).toMatchObject({ passed: 1, failed: 1 });
});

describe("the rows of a checkpoint", () => {
  const printOfText = (text: string): string => text.padEnd(22, "A");

  test("two ids with one hash are told apart by their second hash", async () => {
    const row = { id: "r0", fingerprint: printOfText("first"), response: {} };
    const path = await written("rows.jsonl", linesOf(row));
    const rows = await new Rows({ path, option: "--output", strengthOf: () => strengths.result }).read();
    const asked = { ...hashesOf("r0"), fingerprint: printOfText("second") };
    expect(rows.find(asked)).toBe("changed");
    expect(rows.find({ ...asked, check: hashesOf("another id").check })).toBeUndefined();
  });

  test("a table of ids finds each of many numbers, and no other", () => {
    const table = new IdTable();
    const ids = Array.from({ length: 5000 }, (_, index) => hashesOf(index).hash);
    for (const [index, hash] of ids.entries()) table.add(hash, index);
    for (const [index, hash] of ids.entries()) {
      const found: number[] = [];
      table.some(hash, (number) => found.push(number) < 0);
      expect(found).toEqual([index]);
    }
    expect([table.some(hashesOf("none").hash, () => true), table.size]).toEqual([false, 5000]);
    expect(printOf("AAAAAAAB".padEnd(22, "A"))).toBe(1);
  });
});
