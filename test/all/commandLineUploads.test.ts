import { appendFile, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { outcomeOf, start, tunerank } from "../support/commandLine.js";
import { type Outcome, temporaryFolder } from "../support/project.js";
import { type ReceivedRequest, useRecordingServer } from "../support/recordingServer.js";

const server = useRecordingServer();
let folder: string;
let remove: () => Promise<void>;
let files: string[];
let checkpoint: string;

beforeEach(async () => {
  ({ folder, remove } = await temporaryFolder());
  files = ["a", "b", "c"].map((name) => path.join(folder, name));
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
  tunerank(["upload", "reviews", ...files, ...more, "--quiet"], { baseUrl: server.url });
const outcomes = ({ stdout }: Outcome): string[] =>
  stdout
    .trimEnd()
    .split("\n")
    .map((line) => (line.split(/[:.]/)[0] ?? "").replace(folder, ""));

test("several files are uploaded one after the other, with a result for each", async () => {
  const { exitCode, stdout } = await upload();
  expect(exitCode).toBe(0);
  expect(stdout).toBe(
    files.map((file) => `Uploaded ${file}: 16 bytes, file file-${path.basename(file)}.\n`).join(""),
  );
  expect(server.requests.map(nameOf)).toEqual(["a", "b", "c"]);
});

test("one display shows how far they are together", async () => {
  const { stderr } = await tunerank(["upload", "reviews", ...files], { baseUrl: server.url });
  expect(stderr.trimEnd().split("\n").at(-1)).toBe("Sent 48 of 48 bytes (100 %).");
});

test("what was refused is sent again on the next start, and what was stored is not", async () => {
  server.reply((request) => (nameOf(request) === "b" ? { status: 429 } : stored(request)));
  const first = await upload("--checkpoint", checkpoint);
  expect([first.exitCode, outcomes(first)]).toEqual([7, ["Uploaded /a", "Failed", "Uploaded /c"]]);
  server.requests = [];
  server.reply(stored);
  const second = await upload("--checkpoint", checkpoint, "--json");
  expect(second.exitCode).toBe(0);
  expect(JSON.parse(second.stdout).files).toMatchObject([
    { file: files[0], outcome: "uploaded before", result: { id: "file-a" } },
    { file: files[1], outcome: "uploaded", result: { id: "file-b" } },
    { file: files[2], outcome: "uploaded before" },
  ]);
  expect(server.requests.map(nameOf)).toEqual(["b"]);
});

test("a 429 with Retry-After of one upload holds the next; one that asks for too long ends them", async () => {
  const arrivals: number[] = [];
  let seconds = 1;
  server.reply((request) => {
    arrivals.push(performance.now());
    if (nameOf(request) !== "a") return stored(request);
    return { status: 429, headers: { "retry-after": `${seconds}` } };
  });
  const first = await upload("--max-retries", "0");
  expect(outcomes(first)).toEqual(["Failed", "Uploaded /b", "Uploaded /c"]);
  expect((arrivals[1] as number) - (arrivals[0] as number)).toBeGreaterThanOrEqual(1000);
  seconds = 3600;
  server.requests = [];
  const second = await upload();
  expect([second.exitCode, outcomes(second)]).toEqual([7, ["Failed", "Not sent", "Not sent"]]);
  expect(server.requests.map(nameOf)).toEqual(["a"]);
});

test("a file whose fate is unknown is not sent again, unless it is asked for", async () => {
  server.reply((request, response) => {
    if (nameOf(request) !== "b") return stored(request);
    response.destroy();
    return undefined;
  });
  expect((await upload("--checkpoint", checkpoint)).exitCode).toBe(8);
  server.requests = [];
  server.reply(stored);
  const second = await upload("--checkpoint", checkpoint);
  expect([second.exitCode, outcomes(second)]).toEqual([6, ["Uploaded before", "Unknown", "Uploaded before"]]);
  expect(server.requests).toEqual([]);
  const third = await upload("--checkpoint", checkpoint, "--resend-unknown");
  expect([third.exitCode, outcomes(third)]).toEqual([
    0,
    ["Uploaded before", "Uploaded /b", "Uploaded before"],
  ]);
  expect(server.requests.map(nameOf)).toEqual(["b"]);
});

test.each([{ message: "maintenance" }, {}, { id: null }])(
  "a file that is answered with %j is not counted as stored, and not sent again unless it is asked for",
  async (json) => {
    server.reply((request) => (nameOf(request) === "b" ? { json } : stored(request)));
    const first = await upload("--checkpoint", checkpoint);
    expect([first.exitCode, outcomes(first)]).toEqual([10, ["Uploaded /a", "Failed", "Uploaded /c"]]);
    expect(first.stdout).toContain("The file may have been stored");
    expect(first.stdout).not.toContain("undefined");
    server.requests = [];
    server.reply(stored);
    const second = await upload("--checkpoint", checkpoint);
    expect(outcomes(second)).toEqual(["Uploaded before", "Unknown", "Uploaded before"]);
    expect(server.requests).toEqual([]);
    const third = await upload("--checkpoint", checkpoint, "--resend-unknown");
    expect([third.exitCode, server.requests.map(nameOf)]).toEqual([0, ["b"]]);
  },
);

test("such an answer in the checkpoint of an earlier version does not count as stored either", async () => {
  await upload("--checkpoint", checkpoint);
  const rows = await readFile(checkpoint, "utf8");
  await writeFile(
    checkpoint,
    rows.replace(/"response":\{"id":"file-b"[^}]*\}/, '"response":{"message":"maintenance"}'),
  );
  server.requests = [];
  const next = await upload("--checkpoint", checkpoint);
  expect([next.exitCode, outcomes(next)]).toEqual([6, ["Uploaded before", "Unknown", "Uploaded before"]]);
  expect(server.requests).toEqual([]);
});

test("a run that is killed leaves the file it was sending unknown, also when its last row is torn", async () => {
  server.reply((request) => (nameOf(request) === "b" ? undefined : stored(request)));
  const child = start(["upload", "reviews", ...files, "--checkpoint", checkpoint], { baseUrl: server.url });
  const outcome = outcomeOf(child);
  await server.received(2);
  child.kill("SIGKILL");
  await outcome;
  await appendFile(checkpoint, '{"id":"[\\"rev');
  server.reply(stored);
  const next = await upload("--checkpoint", checkpoint);
  expect([next.exitCode, outcomes(next)]).toEqual([6, ["Uploaded before", "Unknown", "Uploaded /c"]]);
  for (const line of (await readFile(checkpoint, "utf8")).trimEnd().split("\n")) JSON.parse(line);
});

test("a refused key ends it, and the rest is not sent", async () => {
  server.reply({ status: 401 });
  const outcome = await upload();
  expect([outcome.exitCode, outcomes(outcome)]).toEqual([3, ["Failed", "Not sent", "Not sent"]]);
  expect(server.requests).toHaveLength(1);
});

test("a file that has changed since it was uploaded is refused before anything is sent", async () => {
  await upload("--checkpoint", checkpoint);
  server.requests = [];
  await writeFile(files[1] as string, "something else");
  const { exitCode, stderr } = await upload("--checkpoint", checkpoint);
  expect(exitCode).toBe(2);
  expect(stderr).toContain("FILE 2 has changed since it was uploaded");
  expect(server.requests).toEqual([]);
});

test.each([
  [["--name", "x"], "--name is for one file, without --checkpoint."],
  [["-"], "The standard input can be uploaded only alone, without --checkpoint."],
  [["no such file"], "A FILE cannot be found: nothing was sent."],
  [["/"], "A FILE is a folder: name the files in it. Nothing was sent."],
])("%j is refused before anything is sent", async (more, message) => {
  const { exitCode, stderr } = await upload(...more);
  expect([exitCode, stderr.split("\n")[0]]).toEqual([2, `tunerank: ${message}`]);
  expect(server.requests).toEqual([]);
});

test("a file that is named twice is refused, and so is an option that has no effect", async () => {
  expect((await upload(files[0] as string)).stderr).toContain("A FILE may be named only once.");
  const alone = await tunerank(["upload", "reviews", files[0] as string, "--resend-unknown"], {
    baseUrl: server.url,
  });
  expect(alone.stderr).toContain("--resend-unknown has no effect without --checkpoint.");
  expect(server.requests).toEqual([]);
});
