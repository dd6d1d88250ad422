import { once } from "node:events";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { outcomeOf, start, toFullDisk } from "../support/commandLine.js";
import { temporaryFolder } from "../support/project.js";
import { sha256, useRecordingServer } from "../support/recordingServer.js";

const server = useRecordingServer();
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
  const child = start(["upload", "reviews", file], { baseUrl: server.url });
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
