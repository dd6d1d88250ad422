import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { text } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { outcomeOf, start, toFullDisk, useCommand } from "../../support/commandLine.js";
import { sha256, useRecordingServer } from "../../support/recordingServer.js";

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

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 129],
] as const)(
  "%s ends a call with its exit code, and says whether the operation may have run",
  async (signal, expected) => {
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
  },
);

test("a signal before anything is sent says so", async () => {
  const child = start(["rerank", "--query", "q", "-"], { baseUrl: server.url, openInput: true });
  const outcome = outcomeOf(child);
  // More than a pipe holds: once it is written, the command has begun to read.
  await new Promise((resolve) => child.stdin?.write("a line\n".repeat(100_000), resolve));
  child.kill("SIGTERM");
  const { exitCode, stderr } = await outcome;
  expect([exitCode, stderr]).toEqual([143, "tunerank: Cancelled before anything was sent.\n"]);
  expect(server.connections).toBe(0);
});

test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
  "%s ends the mock server as it should end",
  async (signal) => {
    const child = start(["mock", "--port", "0"]);
    const outcome = outcomeOf(child);
    await once(child.stdout as NodeJS.ReadableStream, "readable");
    child.kill(signal);
    expect((await outcome).exitCode).toBe(0);
  },
);

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

describe("tunerank check", () => {
  const rows = '{"a": 1}\n{"a": 2}\n';

  test.each<[what: string, bytes: string | Uint8Array, said: RegExp]>([
    ["a line that is not JSON", '{"a": 1}\n{"a": 1,}\n', /^line 2: .*JSON/],
    ["a line that is cut", '{"a": 1}\n{"a": "b', /^line 2: Unterminated string/],
    ["a second byte order mark", `\uFEFF{"a": 1}\n\uFEFF{"a": 2}\n`, /^line 2: Unexpected token/],
    ["Latin-1", Buffer.from('{"a": 1}\n{"a": "né"}\n', "latin1"), /^line 2: .*UTF-8/],
    ["gzip that is cut short", gzipSync(rows.repeat(9)).subarray(0, -12), /cannot be read: .*gzip/],
    ["one JSON array", '[\n{"a": 1},\n{"a": 2}]\n', /^It is one JSON array/],
    ["blank lines alone", "\n \r\n", / is empty\.$/],
  ])("check refuses %s", async (_, bytes, said) => {
    const { exitCode, stdout } = await run(["check", await written("bad.jsonl", bytes)]);
    expect(exitCode).toBe(2);
    expect(/^ {2}Invalid: (.*)$/m.exec(stdout)?.[1]).toMatch(said);
  });

  test.each<[what: string, bytes: string | Uint8Array, count: string]>([
    ["blank lines and a missing last newline", '\n{"a": 1}\r\n\n{"a": 2}', "2 rows"],
    ["a byte order mark", `\uFEFF${rows}`, "2 rows"],
    ["gzip of several members", Buffer.concat([gzipSync(rows), gzipSync(rows)]), "4 rows"],
    ["values that are not objects", "1\n[2]\nnull\n", "3 rows"],
  ])("check takes %s, in a file and from the standard input", async (_, input, count) => {
    const file = await written("good.jsonl", input);
    const [named, piped] = [await run(["check", file]), await run(["check", "-"], { input })];
    expect([named.exitCode, named.stdout, piped.stdout]).toEqual([
      0,
      `${file}: ${count}.\n`,
      `-: ${count}.\n`,
    ]);
    expect(named.stderr).toMatch(/^The format of a dataset is not documented/);
  });

  test("the first five invalid lines of each file are named, the others counted, also for programs", async () => {
    const good = await written("good.jsonl", rows);
    const bad = await written("bad.jsonl", `${rows}${"no\n".repeat(7)}`);
    const { exitCode, stdout } = await run(["check", good, bad]);
    const [first, second, ...lines] = stdout.trimEnd().split("\n");
    expect([exitCode, first, second]).toEqual([2, `${good}: 2 rows.`, `${bad}: 9 rows.`]);
    expect(lines.map((line) => line.split(": ").slice(0, 2).join())).toEqual([
      ...[3, 4, 5, 6, 7].map((line) => `  Invalid,line ${line}`),
      "  And 2 lines more.",
    ]);
    const json = await run(["check", good, bad, "--json"]);
    expect(JSON.parse(json.stdout).files).toMatchObject([
      { file: good, ok: true, rows: 2, invalid: { lines: 0, first: [] } },
      { file: bad, ok: false, rows: 9, invalid: { lines: 7, first: [{ line: 3 }, {}, {}, {}, { line: 7 }] } },
    ]);
  });

  test("a signal ends a check with how many files were checked", async () => {
    const child = start(["check", await written("good.jsonl", rows), "-"], { openInput: true });
    const outcome = outcomeOf(child);
    await new Promise((resolve) => child.stdin?.write('{"a": 1}\n'.repeat(100_000), resolve));
    child.kill("SIGINT");
    const { exitCode, stderr } = await outcome;
    expect([exitCode, stderr]).toEqual([130, "tunerank: Interrupted: 1 of 2 files checked.\n"]);
  });
});
