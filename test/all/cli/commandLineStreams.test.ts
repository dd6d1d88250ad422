import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { outcomeOf, start, toFullDisk, tunerank } from "../../support/commandLine.js";
import { temporaryFolder } from "../../support/project.js";
import { sha256, useRecordingServer } from "../../support/recordingServer.js";

const server = useRecordingServer();

describe("the input", () => {
  // Each is a process of its own.
  vi.setConfig({ testTimeout: 60_000 });

  const mebibyte = 1024 * 1024;
  const tooLarge = "tunerank: The input is larger than 150 MiB: name a file, or send it in parts.";

  test.each([["-"], []])("an input without end is left at 150 MiB: %j", async (...file) => {
    const child = start(["rerank", "--query", "q", ...file], { baseUrl: server.url, openInput: true });
    const outcome = outcomeOf(child);
    const lines = Buffer.from(`${"y".repeat(1023)}\n`.repeat(1024));
    let sent = 0;
    const { stdin } = child;
    stdin?.on("error", () => {});
    const more = (error?: Error | null): void => {
      if (error || child.exitCode !== null || stdin?.destroyed) return;
      sent += lines.byteLength;
      stdin?.write(lines, more);
    };
    more();
    const { exitCode, stdout, stderr } = await outcome;
    expect([exitCode, stdout]).toEqual([2, ""]);
    expect(stderr.split("\n")[0]).toBe(tooLarge);
    // What the pipe holds is sent as well.
    expect(sent).toBeLessThan(154 * mebibyte);
    expect(server.connections).toBe(0);
  });

  test.skipIf(process.platform === "win32")("a named pipe without end is left at 150 MiB too", async () => {
    const { folder, remove } = await temporaryFolder();
    const pipe = path.join(folder, "pipe");
    execFileSync("mkfifo", [pipe]);
    const writer = spawn("sh", ["-c", 'exec yes "$(printf %01023d 0)" > "$0"', pipe], { stdio: "ignore" });
    const written = once(writer, "close");
    const { exitCode, stderr } = await tunerank(["rerank", "--query", "q", pipe], { baseUrl: server.url });
    expect([exitCode, stderr.split("\n")[0]]).toEqual([2, tooLarge]);
    expect(server.connections).toBe(0);
    await written;
    await remove();
  });
});

describe("who reads the output", () => {
  let folder: string;
  let remove: () => Promise<void>;

  beforeAll(async () => {
    ({ folder, remove } = await temporaryFolder());
  });
  afterAll(() => remove());

  const failedJob = { state: "JOB_STATE_FAILED", status: { code: "NOT_FOUND", message: "No dataset." } };

  test("an upload goes on to its end when stderr's reader leaves", async () => {
    const bytes = Buffer.alloc(4 * 1024 * 1024, "a line of it\n");
    const file = path.join(folder, "train.jsonl");
    await writeFile(file, bytes);
    server.reply({ json: { id: "file-9", bytes: bytes.length, filename: "train.jsonl" } });
    const child = start(["upload", "reviews", file, "--no-check"], { baseUrl: server.url });
    const ended = once(child, "exit");
    // Before the first line about progress.
    child.stderr?.destroy();
    const stdout = child.stdout && (await text(child.stdout));
    expect([(await ended)[0], stdout]).toEqual([0, "Uploaded train.jsonl: 4194304 bytes, file file-9.\n"]);
    expect(server.only.files[0]).toMatchObject({ filename: "train.jsonl", sha256: sha256(bytes) });
  });

  test.each([[], ["--json"]])(
    "a failure has its exit code when neither stdout nor stderr has a reader: %j",
    async (...options) => {
      server.reply({ status: 404, json: { code: "NOT_FOUND", message: "Gone." } });
      const child = start(["resume", "job-1", ...options], { baseUrl: server.url });
      const ended = once(child, "exit");
      child.stdout?.destroy();
      child.stderr?.destroy();
      expect((await ended)[0]).toBe(4);
    },
  );

  test.each([[], ["--json"]])(
    "a job that failed has its exit code and message when stdout's reader is gone: %j",
    async (...options) => {
      server.reply({ json: failedJob });
      const child = start(["resume", "job-1", ...options], { baseUrl: server.url });
      const ended = once(child, "exit");
      child.stdout?.destroy();
      const stderr = child.stderr && (await text(child.stderr));
      expect((await ended)[0]).toBe(4);
      expect(stderr).toContain("[NOT_FOUND] No dataset.");
    },
  );

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

  test.skipIf(!existsSync("/dev/full"))("a result that cannot be written is a failure", async () => {
    const child = toFullDisk(["scale", "prod", "1"], { baseUrl: server.url });
    const { exitCode, stderr } = await outcomeOf(child);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^tunerank: The result cannot be written: .*ENOSPC.*\n$/);
    expect(server.requests).toHaveLength(1);
  });

  test.skipIf(!existsSync("/dev/full"))(
    "a failed job keeps its exit code, and its error is the only one, when the result cannot be written",
    async () => {
      server.reply({ json: failedJob });
      const child = toFullDisk(["resume", "job-1", "--json"], { baseUrl: server.url });
      const { exitCode, stderr } = await outcomeOf(child);
      expect(exitCode).toBe(4);
      expect(JSON.parse(stderr).error).toMatchObject({ code: "NOT_FOUND" });
    },
  );
});

describe("signals", () => {
  // Each is a process of its own.
  vi.setConfig({ testTimeout: 30_000 });

  const signals = [
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const;

  test.each(signals)("%s ends a call with %i and says whether it may have run", async (signal, expected) => {
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

  test.each(signals)("%s before anything is sent ends with %i and says so", async (signal, expected) => {
    const child = start(["rerank", "--query", "q", "-"], { baseUrl: server.url, openInput: true });
    const outcome = outcomeOf(child);
    // More than a pipe holds: once it is written, the command has begun to read.
    await new Promise((resolve) => child.stdin?.write("a line\n".repeat(100_000), resolve));
    child.kill(signal);
    const { exitCode, stderr } = await outcome;
    expect([exitCode, stderr]).toEqual([expected, "tunerank: Cancelled before anything was sent.\n"]);
    expect(server.connections).toBe(0);
  });

  test("a signal during a wait says what the attempt before it met", async () => {
    server.reply({ status: 503, headers: { "retry-after": "20" }, json: { code: "UNAVAILABLE" } });
    const child = start(["scale", "prod", "1"], { baseUrl: server.url });
    const outcome = outcomeOf(child);
    await once(child.stderr as NodeJS.ReadableStream, "readable");
    child.kill("SIGTERM");
    const { exitCode, stderr } = await outcome;
    expect(exitCode).toBe(143);
    expect(stderr).toContain("[CANCELLED]");
    expect(stderr).toContain("The operation may have run.");
  });

  test.each(signals)("%s ends the mock server as it should end", async (signal) => {
    const child = start(["mock", "--port", "0"]);
    const outcome = outcomeOf(child);
    await once(child.stdout as NodeJS.ReadableStream, "readable");
    child.kill(signal);
    expect((await outcome).exitCode).toBe(0);
  });
});
