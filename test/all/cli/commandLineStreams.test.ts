import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { outcomeOf, start, toFullDisk } from "../../support/commandLine.js";
import { sha256, useRecordingServer } from "../../support/recordingServer.js";
import { useCommand } from "../../support/useCommand.js";

const server = useRecordingServer();
const { run, at, written } = useCommand(server);

test.skipIf(process.platform === "win32")("a pipe without end is left at 150 MiB", async () => {
  const pipe = at("pipe");
  execFileSync("mkfifo", [pipe]);
  const writer = spawn("sh", ["-c", 'exec yes "$(printf %01023d 0)" > "$0"', pipe], { stdio: "ignore" });
  const ended = once(writer, "close");
  const { exitCode, stderr } = await run(["rerank", "--query", "q", pipe]);
  expect([exitCode, server.connections]).toEqual([2, 0]);
  expect(stderr).toMatch(/^tunerank: The input is larger than 150 MiB: name a file, or send it in parts\.$/m);
  await ended;
});

const failedJob = { state: "JOB_STATE_FAILED", status: { code: "NOT_FOUND", message: "No dataset." } };

test("an upload goes on to its end when stderr's reader leaves", async () => {
  const bytes = Buffer.alloc(4 * 1024 * 1024, "a line of it\n");
  server.reply({ json: { id: "file-9", bytes: bytes.length, filename: "train.jsonl" } });
  const args = ["upload", "reviews", await written("train.jsonl", bytes), "--no-check"];
  const child = start(args, { baseUrl: server.url });
  const ended = once(child, "exit");
  // Before the first line about progress.
  child.stderr?.destroy();
  const stdout = child.stdout && (await text(child.stdout));
  expect([(await ended)[0], stdout]).toEqual([0, "Uploaded train.jsonl: 4194304 bytes, file file-9.\n"]);
  expect(server.only.files[0]).toMatchObject({ filename: "train.jsonl", sha256: sha256(bytes) });
});

test.each([[], ["--json"]])(
  "a failure has its exit code without a reader of stdout: %j",
  async (...options) => {
    server.reply({ json: failedJob });
    const child = start(["resume", "job-1", ...options], { baseUrl: server.url });
    const ended = once(child, "exit");
    child.stdout?.destroy();
    expect(child.stderr && (await text(child.stderr))).toContain("[NOT_FOUND] No dataset.");
    expect((await ended)[0]).toBe(4);
    const unheard = start(["resume", "job-1", ...options], { baseUrl: server.url });
    unheard.stdout?.destroy();
    unheard.stderr?.destroy();
    expect((await once(unheard, "exit"))[0]).toBe(4);
  },
);

test.skipIf(!existsSync("/dev/full"))(
  "a result that cannot be written is a failure, the only one told",
  async () => {
    const child = toFullDisk(["scale", "prod", "1"], { baseUrl: server.url });
    const { exitCode, stderr } = await outcomeOf(child);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^tunerank: The result cannot be written: .*ENOSPC.*\n$/);
    server.reply({ json: failedJob });
    const failed = await outcomeOf(toFullDisk(["resume", "job-1", "--json"], { baseUrl: server.url }));
    expect(failed.exitCode).toBe(4);
    expect(JSON.parse(failed.stderr).error).toMatchObject({ code: "NOT_FOUND" });
  },
);

describe.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 129],
] as const)("%s", (signal, expected) => {
  test("ends a call with its exit code, and says whether the operation may have run", async () => {
    server.reply(() => undefined);
    const child = start(["resume", "job-1"], { baseUrl: server.url });
    const outcome = outcomeOf(child);
    await server.received();
    child.kill(signal);
    const { exitCode, stderr } = await outcome;
    expect(exitCode).toBe(expected);
    expect(stderr).toMatch(
      /^tunerank: \[CANCELLED\] The caller aborted the call\.\nThe operation may have run\. The job may have been resumed/,
    );
  });

  test("before anything is sent says so", async () => {
    const child = start(["rerank", "--query", "q", "-"], { baseUrl: server.url, openInput: true });
    const outcome = outcomeOf(child);
    // More than a pipe holds: once it is written, the command has begun to read.
    await new Promise((resolve) => child.stdin?.write("a line\n".repeat(100_000), resolve));
    child.kill(signal);
    const { exitCode, stderr } = await outcome;
    expect([exitCode, stderr]).toEqual([expected, "tunerank: Cancelled before anything was sent.\n"]);
    expect(server.connections).toBe(0);
  });

  test("ends the mock server as it should end", async () => {
    const child = start(["mock", "--port", "0"]);
    const outcome = outcomeOf(child);
    await once(child.stdout as NodeJS.ReadableStream, "readable");
    child.kill(signal);
    expect((await outcome).exitCode).toBe(0);
  });
});

test("a signal during a wait says what the attempt before it met", async () => {
  server.reply({ status: 503, headers: { "retry-after": "20" }, json: { code: "UNAVAILABLE" } });
  const child = start(["scale", "prod", "1"], { baseUrl: server.url });
  const outcome = outcomeOf(child);
  await once(child.stderr as NodeJS.ReadableStream, "readable");
  child.kill("SIGTERM");
  const { exitCode, stderr } = await outcome;
  expect(exitCode).toBe(143);
  expect(stderr).toMatch(/\[CANCELLED\].*\nThe operation may have run\./);
});
