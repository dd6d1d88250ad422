// What a script or a person relies on, one command each; `npm run test:all` has the details.
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type BulkRequest, formatOf } from "../../src/cli/bulkLines.js";
import { exitCodeOfError } from "../../src/cli/exitCodes.js";
import { StatusError } from "../../src/index.js";
import { canaryKey } from "../support/canary.js";
import { start, tunerank } from "../support/commandLine.js";
import { temporaryFolder } from "../support/project.js";
import { ranked } from "../support/rankings.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { done, unavailable } from "../support/responses.js";

const server = useRecordingServer();
let folder: string;
let remove: () => Promise<void>;
beforeAll(async () => {
  ({ folder, remove } = await temporaryFolder());
});
afterAll(() => remove());

async function written(name: string, content: string): Promise<string> {
  const file = path.join(folder, name);
  await writeFile(file, content);
  return file;
}
const run = (args: readonly string[], more: object = {}) => tunerank(args, { baseUrl: server.url, ...more });

test("a file that changed while it was sent ends with 1, and with 2 before anything was sent", () => {
  const details = { code: "FAILED_PRECONDITION", executed: "unknown", codeSource: "client" } as const;
  const attempts = [{ number: 1, durationMs: 1 }];
  expect(exitCodeOfError(new StatusError("It changed.", { ...details, attempts }))).toBe(1);
  expect(exitCodeOfError(new StatusError("It changed.", details))).toBe(2);
  expect(exitCodeOfError(new StatusError("No.", { ...details, codeSource: "body", attempts }))).toBe(6);
});

test("a key is no argument: it is refused unread", async () => {
  const { exitCode, stderr } = await run(["resume", "job-1", `--api-key=${canaryKey}`]);
  expect([exitCode, server.requests.length]).toEqual([2, 0]);
  expect(stderr).toContain("A key cannot be an argument");
});

test("an unknown option ends with 2, and a port that is taken says what to do", async () => {
  const unknown = await run(["resume", "job-1", "--tiemout=5"]);
  expect([unknown.exitCode, unknown.stderr]).toEqual([
    2,
    expect.stringContaining("Option '--tiemout' is unknown."),
  ]);
  const { port } = new URL(server.url);
  const taken = await run(["mock", "--port", port]);
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

test("times have units, and --timeout is in seconds", async () => {
  server.reply((_request, response) => {
    setTimeout(() => response.end('{"state":"JOB_STATE_RUNNING"}'), 300);
    return undefined;
  });
  for (const time of ["20", "0.1min", "20000ms"])
    expect((await run(["resume", "job-1", "--timeout", time, "--max-retries", "0"])).exitCode).toBe(0);
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

test("lines that cannot be ranked are skipped, and then the exit code is 5, in a dry run too", async () => {
  const file = await written("docs.jsonl", '{"text":"one"}\r\n{"other":1}\n{"text":"two"}');
  server.reply((request) => ranked(request, { usage: {} }));
  const args = ["rerank", "--query", "q", "--field", "text", file];
  expect((await run([...args, "--dry-run"])).exitCode).toBe(5);
  expect(server.requests).toHaveLength(0);
  const { exitCode, stdout } = await run(args);
  expect([exitCode, stdout]).toEqual([5, "1.000\t1\tone\n0.500\t3\ttwo\n"]);
});

test("lines of Windows are ranked without their carriage return", async () => {
  server.reply((request) => ranked(request, { usage: {} }));
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
  const args = [
    "upload",
    "reviews",
    await written("c.txt", "one\n"),
    "--checkpoint",
    path.join(folder, "log"),
  ];
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
])(
  "a bulk run at --rate %s for three seconds ends with %i after %i requests",
  async (rate, exit, requests) => {
    const lines = [1, 2, 3, 4].map((id) => `${JSON.stringify({ id, query: "q", documents: ["d"] })}\n`);
    const [input, output] = [await written("in.jsonl", lines.join("")), path.join(folder, `out-${requests}`)];
    server.reply((request) => ranked(request, { usage: {} }));
    const { exitCode } = await run([
      "bulk",
      input,
      "--output",
      output,
      "--rate",
      rate,
      "--total-timeout",
      "3",
    ]);
    expect([exitCode, server.requests.length]).toEqual([exit, requests]);
  },
);

test("a request that failed may be changed: the next run sends it as it is now", async () => {
  const input = await written("changed.jsonl", '{"id":1,"query":"q","documents":["d"]}\n');
  const args = ["bulk", input, "--output", path.join(folder, "changed-out")];
  server.reply({ status: 400, json: { code: "INVALID_ARGUMENT", message: "No." } });
  expect((await run(args)).exitCode).toBe(5);
  await writeFile(input, '{"id":1,"query":"another","documents":["d"]}\n');
  server.reply((request) => ranked(request, { usage: {} }));
  expect((await run(args)).exitCode).toBe(0);
  expect(server.requests).toHaveLength(2);
});

test("a line's own model counts, and an id that cannot be read exactly makes its line invalid", async () => {
  const lines = `{"id":1,"query":"q","documents":["d"],"model":"own"}
{"id":9007199254740993,"query":"q","documents":["d"]}\n`;
  server.reply((request) => ranked(request, { usage: {} }));
  const args = ["bulk", await written("ids.jsonl", lines), "--output", path.join(folder, "ids-out")];
  expect((await run([...args, "--model", "other"])).exitCode).toBe(5);
  expect(JSON.parse(`${server.only.body}`).model).toBe("own");
});

test("a request that ran, and whose response cannot be used, is not paid for again", async () => {
  const input = await written("paid.jsonl", '{"id":1,"query":"q","documents":["d"]}\n');
  const args = ["bulk", input, "--output", path.join(folder, "paid-out")];
  server.reply({ json: { data: [{ index: 7, relevance_score: 1 }] } });
  expect((await run(args)).exitCode).toBe(10);
  await run(args);
  expect(server.requests).toHaveLength(1);
});

test("a shard is its number, counted from 0, of so many", () => {
  const [first, last] = ["0/8", "7/8"].map((shard) => formatOf({ shard }).isOfShard);
  const lines = [0, 1, 7].map((part) => ({ hash: part * 2 ** 20 }) as BulkRequest);
  expect(lines.map((line) => [first?.(line), last?.(line)])).toEqual([
    [true, false],
    [false, false],
    [false, true],
  ]);
  expect(() => formatOf({ shard: "8/8" })).toThrow(/counted from 0/);
});
