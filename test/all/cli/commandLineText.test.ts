import { describe, expect, test } from "vitest";
import { canaryKey } from "../../support/canary.js";
import { useRecordingServer } from "../../support/recordingServer.js";
import { useCommand } from "../../support/useCommand.js";

const server = useRecordingServer();
const { run, written } = useCommand(server);

describe("a text of the service is shown without invisible and control characters", () => {
  // Of each kind one: controls, format characters, separators, marks of direction, fillers, tags and variation selectors.
  const spoofing = [
    ..."\u001b\u007f\u009b\u0085\u00ad\u061c\u180e\u200b\u200d\u200f\u2028\u202e\u2060\u2067\u3164\ufeff\ufff9",
    ..."\u{e0041}\u{e0100}",
  ];
  const hostile = `be${spoofing.join("")}fore`;
  const readable = "Grüße, 東京, שלום, нет, 🙂";

  function expectNone(shown: string): void {
    expect(spoofing.filter((character) => shown.includes(character))).toEqual([]);
  }

  test.each<[what: string, args: string[], reply: object]>([
    ["a ranking", ["rerank", "--query", "q"], { json: { data: [{ index: 0, relevance_score: 0.5 }] } }],
    [
      "an upload",
      ["upload", "reviews", "-", "--name", "a.txt"],
      { json: { id: hostile, filename: hostile } },
    ],
    ["a job", ["resume", "job-1"], { json: { name: hostile, state: `${hostile}${readable}` } }],
    ["a job's failure", ["resume", "job-1"], { json: { status: { code: "ABORTED", message: hostile } } }],
    ["an error", ["resume", "job-1"], { status: 404, json: { code: "NOT_FOUND", message: hostile } }],
  ])("in %s", async (_, args, reply) => {
    server.reply(reply);
    const { stdout, stderr } = await run(args, { input: `${hostile}\n` });
    expectNone(stdout + stderr);
    expect(stdout + stderr).toMatch(/be *fore/);
  });

  test("in the id of a deployment", async () => {
    const { stdout } = await run(["scale", "be\u202e\u200bfore", "1"]);
    expect(stdout).toBe("Deployment before: accepted, 1 replica.\n");
  });

  test("JSON for machines escapes them, and says the same", async () => {
    const job = { name: hostile, [hostile]: readable, state: "JOB_STATE_RUNNING" };
    server.reply({ json: job });
    const { stdout } = await run(["resume", "job-1", "--json"]);
    expectNone(stdout);
    expect(stdout).toContain(readable);
    expect(JSON.parse(stdout)).toMatchObject(job);
    server.reply({ status: 404, json: { code: "NOT_FOUND", message: hostile, extra: hostile } });
    const { stderr } = await run(["resume", "job-1", "--json"]);
    expectNone(stderr);
    expect(JSON.parse(stderr).error).toMatchObject({
      message: expect.stringContaining(hostile),
      body: { extra: hostile },
    });
  });
});

test.each([
  ["in a job", ["resume", "job-1"]],
  ["in a job, for machines", ["resume", "job-1", "--json"]],
  ["in any JSON", ["request", "GET", "/v1/x"]],
])("a key that the service sends back is not shown %s", async (_, args) => {
  server.reply({ json: { name: `a ${canaryKey} b`, [canaryKey]: 1, state: canaryKey } });
  const { exitCode, stdout } = await run(args);
  expect(exitCode).toBe(0);
  expect(stdout).toContain("[redacted]");
  for (const form of [canaryKey, JSON.stringify(canaryKey).slice(1, -1)]) expect(stdout).not.toContain(form);
  if (args.length > 2) expect(JSON.parse(stdout)).toBeDefined();
});

test("a key that comes from a file is not shown either", async () => {
  server.reply({ json: { name: "key-of-the-file", state: "x" } });
  const file = await written("key", "key-of-the-file\n");
  const { stdout } = await run(["resume", "job-1", "--api-key-file", file]);
  expect(stdout).toBe("Job [redacted]: x\n");
});

test("an address that is refused names --base-url and --allow-insecure-http", async () => {
  const { exitCode, stderr } = await run(["scale", "prod", "1", "--base-url", "http://api.example.com"]);
  expect(exitCode).toBe(2);
  expect(stderr.split("\n")).toEqual([
    "tunerank: baseUrl (--base-url): [INVALID_ARGUMENT] baseUrl is plain http to another machine: the key would go unencrypted.",
    "The request was not sent. Use https, or add --allow-insecure-http in a trusted network.",
    "",
  ]);
});

test("the words of an error are the same for machines, and those of the service stay as they are", async () => {
  const message = "Raise timeoutMs, or maxRetries.";
  server.reply({ status: 503, json: { code: "UNAVAILABLE", message } });
  const args = ["scale", "prod", "1", "--max-retries", "0"];
  expect((await run(args)).stderr.split("\n")[0]).toBe(`tunerank: [UNAVAILABLE] ${message}`);
  const { error } = JSON.parse((await run([...args, "--json"])).stderr);
  expect(error.hint).toContain("maxRetries is 0.");
  expect(error).toMatchObject({
    message: `[UNAVAILABLE] ${message} ${error.hint}`,
    notRetried: "retries-used-up",
    executedBecause: "unclear-answer",
    method: "PATCH",
    path: "/v1/accounts/acme/deployments/prod:scale",
    host: new URL(server.url).host,
  });
});
