import { execFileSync } from "node:child_process";
import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { rankingOf, rowsOf, writeRequests } from "../../support/bulkFiles.js";
import { tunerank } from "../../support/commandLine.js";
import { type Outcome, temporaryFolder } from "../../support/project.js";
import { useRecordingServer } from "../../support/recordingServer.js";

const server = useRecordingServer();
let folder: string;
let remove: () => Promise<void>;
let input: string;
let output: string;
let checkpoint: string;

beforeEach(async () => {
  ({ folder, remove } = await temporaryFolder());
  [input, output, checkpoint] = ["in", "out", "uploads"].map((name) =>
    path.join(folder, `${name}.jsonl`),
  ) as [string, string, string];
  await writeRequests(input, 3);
  server.reply((request) =>
    request.url.includes("datasets") ? { json: { id: "f-1" } } : rankingOf(request),
  );
});
afterEach(() => remove());

const bulk = (file: string = output): Promise<Outcome> =>
  tunerank(["bulk", input, "--output", file], { baseUrl: server.url });
const upload = (file: string = checkpoint): Promise<Outcome> =>
  tunerank(["upload", "reviews", input, "--checkpoint", file], { baseUrl: server.url });

describe.each([
  ["--output", () => output, () => bulk()],
  ["--checkpoint", () => checkpoint, () => upload()],
] as const)("a file of somebody's, named as %s by mistake,", (option, file, command) => {
  test.each([
    ["one line without its end", '{"id":42,"name":"my only copy"}'],
    ["the beginning of a row", '{"id":42,"na'],
    ["text", "a note of mine"],
    ["lines", '{"id":1}\n{"id":2}\n'],
    ["rows without a whole fingerprint", '{"id":"a/b","fingerprint":"ab","response":{},"error":{}}\n'],
    ["numbers for fingerprints", '{"id":"a/b","fingerprint":1,"response":{},"error":{}}\n'],
    ["zeros", "\0\0\0\0"],
  ])("is refused and left byte for byte: %s", async (_, text) => {
    await writeFile(file(), text);
    const { exitCode, stderr } = await command();
    expect(stderr).toMatch(new RegExp(`^tunerank: ${option}, line 1, is not a row of`));
    expect(exitCode).toBe(2);
    expect(await readFile(file(), "utf8")).toBe(text);
    expect((await readdir(folder)).sort()).toEqual([path.basename(file()), "in.jsonl"].sort());
    expect(server.requests).toHaveLength(0);
  });
});

test("a last line that is whole JSON, or no beginning of a row, is never cut", async () => {
  await bulk();
  const whole = await readFile(output, "utf8");
  for (const last of ['{"id":"mine"}', "a note", '"text"']) {
    await writeFile(output, whole + last);
    const { exitCode, stderr } = await bulk();
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining("--output, line 4, is not a row")]);
    expect(await readFile(output, "utf8")).toBe(whole + last);
  }
});

test("an output and a checkpoint of uploads cannot be mistaken for each other", async () => {
  await bulk();
  await upload();
  const before = await Promise.all([output, checkpoint].map((file) => readFile(file, "utf8")));
  expect((await bulk(checkpoint)).stderr).toContain("--output, line 1, is not a row of");
  expect((await upload(output)).stderr).toContain("--checkpoint, line 1, is not a row of");
  expect(await Promise.all([output, checkpoint].map((file) => readFile(file, "utf8")))).toEqual(before);
});

test("an output is rows and nothing else: wc, cat and jq work", async () => {
  await bulk();
  const other = path.join(folder, "other.jsonl");
  await bulk(other);
  const joined = execFileSync("sh", ["-c", `cat ${output} ${other} | wc -l`]);
  expect(Number(`${joined}`)).toBe(6);
  for (const row of await rowsOf(output)) expect(Object.keys(row)).toEqual(["id", "fingerprint", "response"]);
});
