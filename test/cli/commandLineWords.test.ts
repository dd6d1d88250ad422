import { expect, test, vi } from "vitest";
import { inFlags } from "../../src/cli/reportFailure.js";
import type { NotRetried } from "../../src/errors/codes.js";
import { adviceFor, reasonFor, sentences } from "../../src/errors/hints.js";
import { httpStatuses, type OperationId, operations } from "../../src/generated/contract.js";
import type { StatusCode } from "../../src/index.js";
import { codeOfHttpStatus } from "../../src/policy/decisions.js";
import { secondsFor, tunerank } from "../support/commandLine.js";
import { useRecordingServer } from "../support/recordingServer.js";

// Each is a process of its own.
vi.setConfig({ testTimeout: 30_000 });

const server = useRecordingServer();

test("a deadline that runs out names --timeout, and its hint is shown once", async () => {
  const args = ["scale", "prod", "1", "--max-retries", "0"];
  const seconds = await secondsFor(() => tunerank(args, { baseUrl: server.url }));
  server.reply(() => undefined);
  const { exitCode, stderr } = await tunerank([...args, "--timeout", seconds], { baseUrl: server.url });
  expect(exitCode).toBe(9);
  expect(stderr.split("\n")).toEqual([
    `tunerank: [DEADLINE_EXCEEDED] No complete answer within ${Number(seconds) * 1000} ms (--timeout).`,
    "The operation may have run. Allow more time with --timeout, or find out why the service is slow. Repeating this call is safe. No time is left for another attempt.",
    "",
  ]);
});

test("an address that is refused names --base-url and --allow-insecure-http", async () => {
  const args = ["scale", "prod", "1", "--base-url", "http://api.example.com"];
  const { exitCode, stderr } = await tunerank(args);
  expect(exitCode).toBe(2);
  expect(stderr.split("\n")).toEqual([
    "tunerank: [INVALID_ARGUMENT] --base-url is plain http to another machine: the key would go unencrypted.",
    "The request was not sent. Use https, or add --allow-insecure-http in a trusted network.",
    "",
  ]);
});

test("for machines the words are the same", async () => {
  server.reply({ status: 503, json: { code: "UNAVAILABLE", message: "Busy." } });
  const args = ["scale", "prod", "1", "--max-retries", "0", "--json"];
  const { stderr } = await tunerank(args, { baseUrl: server.url });
  const { error } = JSON.parse(stderr);
  expect(error.hint).toContain("It was not retried, because --max-retries is 0.");
  expect(error.hint).not.toContain("used up");
  expect(error.message).toBe(`[UNAVAILABLE] Busy. ${error.hint}`);
  expect(error).toMatchObject({
    notRetried: "retries-used-up",
    executedBecause: "unclear-answer",
    method: "PATCH",
    path: "/v1/accounts/acme/deployments/prod:scale",
    host: new URL(server.url).host,
  });
});

test("what the service says stays as it is", async () => {
  const message = "Raise timeoutMs, or maxRetries.";
  server.reply({ status: 400, json: { code: "INVALID_ARGUMENT", message } });
  const { stderr } = await tunerank(["scale", "prod", "1"], { baseUrl: server.url });
  expect(stderr.split("\n")[0]).toBe(`tunerank: [INVALID_ARGUMENT] ${message}`);
});

test("a file's name stays as it is", async () => {
  const { stderr } = await tunerank(["upload", "reviews", "timeoutMs"], { baseUrl: server.url });
  expect(stderr.split("\n")[0]).toMatch(/^tunerank: \[INVALID_ARGUMENT\] file "timeoutMs" does not exist/);
});

test("an empty standard input says what to do about it", async () => {
  const args = ["upload", "reviews", "-", "--name", "a.jsonl"];
  const { stderr } = await tunerank(args, { baseUrl: server.url, input: "" });
  expect(stderr).toContain("nothing was sent to the standard input");
});

const reasons: readonly NotRetried[] = ["single-use-body", "retries-used-up", "deadline-too-close", "budget"];

test("no hint that a command can give names an option of the library", () => {
  const failures = Object.keys(httpStatuses).filter((code) => code !== "OK") as StatusCode[];
  const advice = new Set<string>();
  for (const operation of Object.keys(operations) as OperationId[]) {
    for (const executed of ["no", "unknown", "yes"] as const) {
      for (const code of failures) advice.add(adviceFor({ code, executed, operation }, ""));
      for (let httpStatus = 100; httpStatus < 600; httpStatus += 1) {
        const { code } = codeOfHttpStatus(httpStatus);
        advice.add(adviceFor({ code, executed, operation, httpStatus }, ""));
      }
    }
  }
  for (const each of advice) {
    for (const notRetried of reasons) {
      expect(inFlags(sentences(each, reasonFor({ notRetried })))).not.toMatch(
        /\b[a-z]+[A-Z]\w*|\{|a Blob|createClient/,
      );
    }
  }
});
