// One rule: 2 is refused before anything is sent, 1 is a fault of this machine during the run, 5 is what the service
// refused. commandLineFailures.test.ts has the exit code of each code of the service.
import { rmSync } from "node:fs";
import { mkdir, readFile, truncate, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { tunerank } from "../support/commandLine.js";
import { useCountingServer } from "../support/countingServer.js";
import { root, temporaryFolder } from "../support/project.js";
import { useRecordingServer } from "../support/recordingServer.js";

const server = useRecordingServer();
const counting = useCountingServer();
let folder: string;
let remove: () => Promise<void>;
const at = (name: string): string => path.join(folder, name);

beforeAll(async () => {
  ({ folder, remove } = await temporaryFolder());
  await mkdir(at("folder"));
  await writeFile(at("a.jsonl"), '{"text":"a"}\n');
  await writeFile(at("b.jsonl"), '{"text":"b"}\n');
});
afterAll(() => remove());

test.each<[what: string, args: (at: (name: string) => string) => string[], words: string]>([
  ["a file that is missing", (at) => ["upload", "reviews", at("none")], "does not exist"],
  ["a folder", (at) => ["upload", "reviews", `${at("folder")}/`], "is a folder: name one file."],
  ["a folder without a slash", (at) => ["upload", "reviews", at("folder")], "is a folder: name one file."],
  [
    "a folder among files",
    (at) => ["upload", "reviews", at("a.jsonl"), `${at("folder")}/`],
    "A FILE is a folder: name the files in it. Nothing was sent.",
  ],
  ["an id with slashes", () => ["scale", "accounts/a/deployments/b", "1"], "DEPLOYMENT"],
  [
    "an id with slashes, for several files",
    (at) => ["upload", "a/b", at("a.jsonl"), at("b.jsonl")],
    "DATASET",
  ],
  ["a field that is missing", (at) => ["rerank", "--query", "q", "--field", "none", at("a.jsonl")], "Line 1"],
  [
    "a number that is too small",
    (at) => ["rerank", "--query", "q", "--top-n", "0", at("a.jsonl")],
    "--top-n",
  ],
  ["a wrong address", () => ["scale", "prod", "1", "--base-url", "nowhere"], "--base-url"],
])("%s is refused before anything is sent: 2", async (_what, args, words) => {
  const { exitCode, stdout, stderr } = await tunerank(args(at), { baseUrl: server.url });
  expect(`${stdout}${stderr}`).toContain(words);
  expect([exitCode, server.connections]).toEqual([2, 0]);
});

test("an argument that the service refuses: 5, for one file as for several", async () => {
  server.reply({ status: 400, json: { code: "INVALID_ARGUMENT", message: "No." } });
  const files = [at("a.jsonl"), at("b.jsonl")];
  const runs = [
    ["scale", "prod", "1"],
    ["upload", "reviews", ...files.slice(1)],
    ["upload", "reviews", ...files],
  ];
  for (const args of runs) expect((await tunerank(args, { baseUrl: server.url })).exitCode).toBe(5);
});

test("a bulk run that ended with invalid lines: 5", async () => {
  const input = at("bulk.jsonl");
  await writeFile(input, '{"id":1,"query":"q","documents":["d"]}\nno JSON\n');
  server.reply({ json: { object: "list", model: "m", data: [{ index: 0, relevance_score: 1 }], usage: {} } });
  const args = ["rerank", "--bulk", input, "--output", at("out.jsonl")];
  expect((await tunerank(args, { baseUrl: server.url })).exitCode).toBe(5);
});

test("a file that changes while it is sent is a fault of this machine: 1", async () => {
  const file = at("large");
  await writeFile(file, "");
  await truncate(file, 24 * 1024 * 1024);
  counting.listen((request, response) => {
    request.once("data", () => void truncate(file, 1));
    request
      .on("error", () => {})
      .on("end", () => response.end("{}"))
      .resume();
  });
  const { exitCode, stderr } = await tunerank(["upload", "reviews", file, "--quiet"], {
    baseUrl: counting.url,
  });
  expect(stderr).toContain("[FAILED_PRECONDITION] The file changed");
  expect(exitCode).toBe(1);
});

test("a file that goes missing after another was sent is a fault of this machine: 1", async () => {
  const files = ["first", "second"].map(at);
  for (const file of files) await writeFile(file, "a");
  server.reply(() => {
    rmSync(files[1] as string, { force: true });
    return { json: { id: "file-1", bytes: 1, filename: "first" } };
  });
  const { exitCode, stdout } = await tunerank(["upload", "reviews", ...files, "--quiet"], {
    baseUrl: server.url,
  });
  expect(stdout).toContain("does not exist");
  expect(exitCode).toBe(1);
});

test("the help and the guide of the command line give one rule", async () => {
  const { stdout } = await tunerank(["--help"]);
  const help = stdout.replace(/\s+/g, " ");
  const guide = await readFile(path.join(root, "docs/guide/cli.md"), "utf8");
  for (const meaning of [
    "a fault of this machine during the run, such as a full disk",
    "refused before anything was sent: a wrong argument, a missing file, another program's file",
    "refused by the service, or a bulk run ended with invalid lines",
  ]) {
    expect(help).toContain(meaning);
    expect(guide).toContain(meaning);
  }
});
