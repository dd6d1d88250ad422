import { once } from "node:events";
import { expect, test } from "vitest";
import { exitCodeOf } from "../src/cli/exitCodes.js";
import { codes } from "../src/generated/contract.js";
import { outcomeOf, start, tunerank } from "./support/commandLine.js";
import { useRecordingServer } from "./support/recordingServer.js";

const server = useRecordingServer();

test("each code of the service has its exit code, a line on stderr and a hint", async () => {
  const failures = Object.keys(codes).filter((code) => code !== "OK");
  const outcomes = failures.map(async (code) => {
    server.reply(({ url }) => {
      const asked = /deployments\/(.*):scale/.exec(url)?.[1] as keyof typeof codes;
      return {
        status: codes[asked].httpStatus,
        json: { error: { code: asked, message: `It is ${asked}.` } },
      };
    });
    const args = ["scale", code, "1", "--max-retries", "0"];
    const { exitCode, stdout, stderr } = await tunerank(args, { baseUrl: server.url });
    expect(stdout).toBe("");
    expect(stderr.split("\n")).toEqual([
      `tunerank: [${code}] It is ${code}.`,
      expect.stringMatching(/^The operation (has not run|may have run)\. .{20}/),
      "",
    ]);
    return [code, exitCode];
  });
  expect(Object.fromEntries(await Promise.all(outcomes))).toEqual(exitCodeOf);
});

test("a failure for machines is one JSON value on stderr", async () => {
  server.reply({
    status: 404,
    headers: { "x-request-id": "r-1" },
    json: { code: "NOT_FOUND", message: "Gone." },
  });
  const { exitCode, stdout, stderr } = await tunerank(["resume", "job-1", "--json"], { baseUrl: server.url });
  expect([exitCode, stdout]).toEqual([4, ""]);
  expect(JSON.parse(stderr).error).toMatchObject({ code: "NOT_FOUND", executed: "no", requestId: "r-1" });
});

test("a failure tells the request id", async () => {
  server.reply({
    status: 404,
    headers: { "x-request-id": "r-1" },
    json: { code: "NOT_FOUND", message: "Gone." },
  });
  const { stderr } = await tunerank(["resume", "job-1"], { baseUrl: server.url });
  expect(stderr).toMatch(/^tunerank: \[NOT_FOUND\] Gone\. \(request id r-1\)\n/);
});

test("a repeat is told of while it is waited for, unless it is to be quiet", async () => {
  const answer = () =>
    server.requests.length % 2 === 1 ? { status: 503, json: { code: "UNAVAILABLE" } } : { json: {} };
  server.reply(answer);
  const told = await tunerank(["scale", "prod", "1"], { baseUrl: server.url });
  expect(told.exitCode).toBe(0);
  expect(told.stderr).toMatch(/^Attempt 1: UNAVAILABLE\. Trying again in \d\.\d s\.\n$/);
  const quiet = await tunerank(["scale", "prod", "1", "--quiet"], { baseUrl: server.url });
  expect([quiet.exitCode, quiet.stderr]).toEqual([0, ""]);
  expect(server.requests).toHaveLength(4);
});

const wrong: readonly (readonly [args: string[], message: string])[] = [
  [["frobnicate"], 'There is no command "frobnicate".'],
  [["scale", "prod"], "REPLICAS is missing."],
  [["scale", "prod", "many"], 'REPLICAS must be a whole number, 0 or more, not "many".'],
  [["scale", "prod", "1", "2"], '"2" is one argument too many.'],
  [["scale", "prod", "1", "--replicas", "2"], "Unknown option '--replicas'"],
  [["scale", "prod", "1", "--timeout", "soon"], '--timeout must be a number, not "soon".'],
  [["upload", "reviews", "-"], "The standard input has no name: give one with --name NAME."],
  [
    ["rerank", "--query", "q", "nowhere.txt"],
    "FILE cannot be read: ENOENT: no such file or directory, open 'nowhere.txt'",
  ],
  [["rerank", "--query", "q", "/dev/null"], "There is no document in the input."],
  [["rerank", "package.json"], "--query TEXT is missing."],
  [
    ["rerank", "--query", "q", "--field", "text", "README.md"],
    "Line 1 is not JSON; without --field each line is a document.",
  ],
  [
    ["rerank", "--query", "q", "--field", "nope", "examples/train.jsonl"],
    'Line 1 has no text in the field "nope".',
  ],
  [
    ["scale", "prod", "1", "--api-key-file", "nowhere"],
    "--api-key-file \"nowhere\" cannot be read: ENOENT: no such file or directory, open 'nowhere'",
  ],
  [["completion", "tcsh"], "SHELL must be one of bash, zsh, fish."],
  [["mock", "--port", "70000"], "--port must be 0 to 65535."],
];

test.each(wrong)("%j is refused before anything is sent", async (args, message) => {
  const { exitCode, stdout, stderr } = await tunerank(args, { baseUrl: server.url });
  expect([exitCode, stdout]).toEqual([2, ""]);
  expect(stderr.split("\n")[0]).toBe(`tunerank: ${message}`);
  expect(stderr.split("\n")[1]).toMatch(/^Run `tunerank .*--help` for how it is used\.$/);
  expect(server.connections).toBe(0);
});

test.each(["--api-key", "--key", "--api-key=k", "-key"])(
  "a key is refused as an argument: %s",
  async (option) => {
    const { exitCode, stderr } = await tunerank(["scale", "prod", "1", option, "secret-value"], {
      baseUrl: server.url,
    });
    expect(exitCode).toBe(2);
    expect(stderr).toContain("A key is never taken from an argument");
    expect(stderr).not.toContain("secret-value");
    expect(server.connections).toBe(0);
  },
);

test.each([
  ["TUNERANK_API_KEY", "--api-key-file FILE"],
  ["TUNERANK_BASE_URL", "--base-url URL"],
  ["TUNERANK_ACCOUNT_ID", "--account ID"],
])("without %s the option is named", async (variable, option) => {
  const surroundings = { baseUrl: server.url, env: { [variable]: undefined } };
  const { exitCode, stderr } = await tunerank(["scale", "prod", "1"], surroundings);
  expect(exitCode).toBe(2);
  expect(stderr).toMatch(`tunerank: ${variable} is not set, and ${option} is not given.\n`);
});

test.each(["SIGINT", "SIGTERM"] as const)(
  "%s ends a call and says whether it may have run",
  async (signal) => {
    server.reply(() => undefined);
    const child = start(["resume", "job-1"], { baseUrl: server.url });
    const outcome = outcomeOf(child);
    await server.received();
    child.kill(signal);
    const { exitCode, stderr } = await outcome;
    expect(exitCode).toBe(130);
    expect(stderr).toMatch(
      /^tunerank: \[CANCELLED\] The caller aborted the call\.\nThe operation may have run\. The job may have been resumed/,
    );
  },
);

test("Ctrl-C before anything is sent says so", async () => {
  const child = start(["rerank", "--query", "q", "-"], { baseUrl: server.url, openInput: true });
  const outcome = outcomeOf(child);
  // More than a pipe holds: once it is written, the command has begun to read.
  await new Promise((resolve) => child.stdin?.write("a line\n".repeat(100_000), resolve));
  child.kill("SIGINT");
  const { exitCode, stderr } = await outcome;
  expect([exitCode, stderr]).toEqual([130, "Cancelled before anything was sent.\n"]);
  expect(server.connections).toBe(0);
});

test("a reader that closes early is no failure", async () => {
  server.reply({
    json: { data: Array.from({ length: 20_000 }, (_, index) => ({ index, relevance_score: 0.5 })) },
  });
  const input = "a line that is long enough to fill a pipe soon\n".repeat(20_000);
  const child = start(["rerank", "--query", "q", "-"], { baseUrl: server.url, input });
  const exit = once(child, "exit");
  child.stdout?.once("data", () => child.stdout?.destroy());
  expect((await exit)[0]).toBe(0);
});
