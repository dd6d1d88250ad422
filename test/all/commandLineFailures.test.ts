import { expect, test } from "vitest";
import { exitCodeOf } from "../../src/cli/exitCodes.js";
import { httpStatuses } from "../../src/generated/contract.js";
import { tunerank } from "../support/commandLine.js";
import { useRecordingServer } from "../support/recordingServer.js";

const server = useRecordingServer();

test("each code of the service has its exit code, a line on stderr and a hint", async () => {
  const failures = Object.keys(httpStatuses).filter((code) => code !== "OK");
  const outcomes = failures.map(async (code) => {
    server.reply(({ url }) => {
      const asked = /deployments\/(.*):scale/.exec(url)?.[1] as keyof typeof httpStatuses;
      return {
        status: httpStatuses[asked],
        json: { error: { code: asked, message: `It is ${asked}.` } },
      };
    });
    const args = ["scale", code, "1", "--max-retries", "0"];
    const { exitCode, stdout, stderr } = await tunerank(args, { baseUrl: server.url });
    expect(stdout).toBe("");
    expect(stderr.split("\n")).toEqual([
      `tunerank: [${code}] It is ${code}.`,
      expect.stringMatching(
        /^(The request was refused: we assume that it did not run|The operation may have run)\. .{20}/,
      ),
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

// test/all/commandLineRefusals.test.ts has every other mistake.
test("a mistake is refused before anything is sent", async () => {
  const { exitCode, stdout, stderr } = await tunerank(["scal", "prod", "1"], { baseUrl: server.url });
  expect([exitCode, stdout]).toEqual([2, ""]);
  expect(stderr.split("\n")[0]).toBe("tunerank: There is no such command. (Did you mean scale?)");
  expect(server.connections).toBe(0);
});

test.each(["--api-key", "--key", "--api-key=k", "-key"])(
  "a key is refused as an argument: %s",
  async (option) => {
    const { exitCode, stderr } = await tunerank(["scale", "prod", "1", option, "secret-value"], {
      baseUrl: server.url,
    });
    expect(exitCode).toBe(2);
    expect(stderr).toContain("A key cannot be an argument");
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
