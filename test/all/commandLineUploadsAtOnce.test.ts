import { readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { outcomeOf, start, tunerank } from "../support/commandLine.js";
import { type Outcome, temporaryFolder } from "../support/project.js";
import { type ReceivedRequest, useRecordingServer } from "../support/recordingServer.js";
import { until } from "../support/turns.js";

const server = useRecordingServer();
let folder: string;
let remove: () => Promise<void>;
let files: string[];
let checkpoint: string;

beforeEach(async () => {
  ({ folder, remove } = await temporaryFolder());
  files = Array.from("abcdefghijkl", (name) => path.join(folder, name));
  checkpoint = path.join(folder, "uploads.jsonl");
  for (const file of files) await writeFile(file, `the content of ${path.basename(file)}`);
  server.reply(stored);
});
afterEach(() => remove());

const nameOf = ({ files: [file] }: ReceivedRequest): string => `${file?.filename}`;
const stored = (request: ReceivedRequest) => ({
  json: { id: `file-${nameOf(request)}`, bytes: request.files[0]?.bytes.length, filename: nameOf(request) },
});
const upload = (...more: string[]): Promise<Outcome> =>
  tunerank(["upload", "reviews", ...files, ...more], { baseUrl: server.url });
const words = ({ stdout }: Outcome): string[] =>
  stdout
    .trimEnd()
    .split("\n")
    .map((line) => line.split(" ")[0] ?? "");

/** Answers once so many are under way. @returns the most that were */
function atOnce(number: number): { most: number } {
  const seen = { most: 0 };
  const held: (() => void)[] = [];
  let left = files.length;
  server.reply((request, response) => {
    held.push(() => response.end(JSON.stringify(stored(request).json)));
    seen.most = Math.max(seen.most, held.length);
    if (held.length === Math.min(number, left)) {
      left -= held.length;
      for (const answer of held.splice(0)) answer();
    }
    return undefined;
  });
  return seen;
}

test("12 files leave nothing but their progress on stderr", async () => {
  const { exitCode, stderr } = await upload("--quiet");
  expect([exitCode, stderr]).toEqual([0, ""]);
});

test("--concurrency 3 sends three files at a time, with their results in the order of the files", async () => {
  const seen = atOnce(3);
  const outcome = await upload("--concurrency", "3");
  expect(outcome.exitCode).toBe(0);
  expect(seen.most).toBe(3);
  expect(outcome.stdout.match(/file-\w/g)).toEqual(files.map((file) => `file-${path.basename(file)}`));
  expect(outcome.stderr.trimEnd().split("\n").at(-1)).toBe("Sent 192 of 192 bytes (100 %).");
});

test("a 429 with Retry-After of one of several holds them all, and it is tried again first", async () => {
  const arrivals: [name: string, at: number][] = [];
  server.reply((request) => {
    arrivals.push([nameOf(request), performance.now()]);
    return arrivals.filter(([name]) => name === "c").length === 1 && nameOf(request) === "c"
      ? { status: 429, headers: { "retry-after": "1" } }
      : stored(request);
  });
  expect((await upload("--concurrency", "3", "--quiet")).exitCode).toBe(0);
  const [first, second] = arrivals.filter(([name]) => name === "c");
  const later = arrivals.filter(([, at]) => at > (first?.[1] ?? 0) + 100);
  expect(later[0]?.[0]).toBe("c");
  expect((second?.[1] ?? 0) - (first?.[1] ?? 0)).toBeGreaterThanOrEqual(1000);
  expect(server.requests).toHaveLength(13);
});

test("a refused key ends what has not begun; what is under way is finished", async () => {
  const held: [ReceivedRequest, ServerResponse][] = [];
  server.reply((request, response) => {
    held.push([request, response]);
    return undefined;
  });
  const running = upload("--concurrency", "3", "--quiet", "--checkpoint", checkpoint);
  await until(() => held.length === 3);
  const [refused, ...others] = held;
  refused?.[1].writeHead(401).end();
  setTimeout(() => {
    for (const [request, response] of others) response.end(JSON.stringify(stored(request).json));
  }, 200);
  const outcome = await running;
  expect(outcome.exitCode).toBe(3);
  expect(words(outcome).sort()).toEqual(["Failed:", ...Array(9).fill("Not"), "Uploaded", "Uploaded"]);
  expect(server.requests).toHaveLength(3);
});

test("a run that is killed with three under way leaves these three unknown", async () => {
  server.reply((request) => (/[bcd]/.test(nameOf(request)) ? undefined : stored(request)));
  const args = ["upload", "reviews", ...files, "--checkpoint", checkpoint, "--concurrency", "3"];
  const child = start(args, { baseUrl: server.url });
  const outcome = outcomeOf(child);
  await server.received(4);
  child.kill("SIGKILL");
  await outcome;
  server.reply(stored);
  const next = await upload("--checkpoint", checkpoint, "--concurrency", "3", "--quiet");
  expect(next.exitCode).toBe(6);
  expect(words(next).slice(0, 5)).toEqual(["Uploaded", "Unknown:", "Unknown:", "Unknown:", "Uploaded"]);
  expect(server.requests).toHaveLength(12);
  const rows = (await readFile(checkpoint, "utf8")).trimEnd().split("\n");
  expect(rows.filter((row) => JSON.parse(row).response)).toHaveLength(9);
});

test.each([0, 1])("Ctrl-C ends it, with %i under way: the rest is not sent", async (underWay) => {
  server.reply((request) => {
    if (nameOf(request) === "a") return { status: 429, headers: { "retry-after": "50" } };
    return underWay === 0 ? stored(request) : undefined;
  });
  if (underWay > 0) files.shift();
  const args = ["upload", "reviews", ...files, "--max-retries", "0", "--checkpoint", checkpoint];
  const child = start(args, { baseUrl: server.url });
  const outcome = outcomeOf(child);
  await server.received(1);
  await until(() => underWay > 0 || /"executed":"no"/.test(readFileSync(checkpoint, "utf8")));
  child.kill("SIGINT");
  const { exitCode, ...said } = await outcome;
  expect(exitCode).toBe(130);
  expect(words({ exitCode, ...said })).toEqual(["Failed:", ...Array(files.length - 1).fill("Not")]);
  expect(server.requests).toHaveLength(1);
});

test.each([
  [["--concurrency", "0"], "--concurrency must be a whole number of at least 1."],
  [["--concurrency", "1.5"], "--concurrency must be a whole number of at least 1."],
])("%j is refused before anything is sent", async (more, message) => {
  const { exitCode, stderr } = await upload(...more);
  expect([exitCode, stderr.split("\n")[0]]).toEqual([2, `tunerank: ${message}`]);
  expect(server.requests).toEqual([]);
});
