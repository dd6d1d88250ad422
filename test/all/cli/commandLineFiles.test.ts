import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { link, readdir, readFile, symlink, truncate, writeFile } from "node:fs/promises";
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
let errors: string;
let checkpoint: string;

beforeEach(async () => {
  ({ folder, remove } = await temporaryFolder());
  [input, output, errors, checkpoint] = ["in", "out", "errors", "uploads"].map((name) =>
    path.join(folder, `${name}.jsonl`),
  ) as [string, string, string, string];
  await writeRequests(input, 3);
  server.reply((request) =>
    request.url.includes("datasets") ? { json: { id: "f-1" } } : rankingOf(request),
  );
});
afterEach(() => remove());

const bulk = (...more: string[]): Promise<Outcome> =>
  tunerank(["rerank", "--bulk", input, "--output", output, "--concurrency", "1", ...more], {
    baseUrl: server.url,
  });
const upload = (): Promise<Outcome> =>
  tunerank(["upload", "reviews", input, "--checkpoint", checkpoint], { baseUrl: server.url });
const fingerprintOf = (text: string): string =>
  createHash("sha256").update(text).digest("base64url").slice(0, 22);
const rowOf = (id: string): string =>
  `${JSON.stringify({ id, fingerprint: fingerprintOf(id), response: { data: [] } })}\n`;

/** What a run has for a file of each option, with the command that takes it. */
const options = [
  ["--output", () => output, () => bulk()],
  ["--errors", () => errors, () => bulk("--errors", errors)],
  ["--checkpoint", () => checkpoint, upload],
] as const;

describe.each(options)("a file of somebody's, named as %s by mistake,", (option, file, command) => {
  test.each([
    ["one line without its end", '{"id":42,"name":"my only copy"}'],
    ["the beginning of a row", '{"id":42,"na'],
    ["text", "a note of mine"],
    ["lines", '{"id":1}\n{"id":2}\n'],
    ["rows without a whole fingerprint", '{"id":"a","fingerprint":"ab","response":{},"error":{}}\n'],
    ["numbers for fingerprints", '{"id":"a","fingerprint":1,"response":{},"error":{}}\n'],
    ["a blank line", "\n"],
    ["zeros", "\0\0\0\0"],
    ["UTF-16", `\uFEFF${rowOf("a")}`.split("").join("\0")],
  ])("is refused and left byte for byte: %s", async (_, text) => {
    await writeFile(file(), text);
    const { exitCode, stderr } = await command();
    expect(stderr).toMatch(new RegExp(`^tunerank: ${option}, line 1, is not a row of`));
    expect(exitCode).toBe(2);
    expect(await readFile(file(), "utf8")).toBe(text);
    expect((await readdir(folder)).sort()).toEqual([path.basename(file()), "in.jsonl"].sort());
    expect(server.requests).toHaveLength(0);
  });

  test("is refused where another file of that name is beside it", async () => {
    await writeFile(`${file()}.run`, "a list of runs");
    const { exitCode, stderr } = await command();
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining("is no file of this command")]);
    expect(await readdir(folder)).toHaveLength(2);
    expect(await readFile(`${file()}.run`, "utf8")).toBe("a list of runs");
  });
});

test("a run's own file is known by the file beside it, also when it has one torn row only", async () => {
  await bulk();
  const whole = await readFile(output, "utf8");
  const state = JSON.parse(await readFile(`${output}.run`, "utf8"));
  expect(state).toEqual({ format: 1, kind: "rerank output", run: expect.stringMatching(/^[\w-]{22}$/) });
  const first = whole.split("\n")[0] ?? "";
  await truncate(output, first.length - 5);
  expect((await bulk()).exitCode).toBe(0);
  expect(await readFile(output, "utf8")).toBe(whole);
});

test("what is cut from a run's own file is kept beside it until a run ends well", async () => {
  await bulk();
  const whole = await readFile(output, "utf8");
  const torn = whole.slice(0, -10);
  await truncate(output, torn.length);
  server.reply({ status: 401 });
  expect((await bulk()).exitCode).toBe(3);
  const cut = torn.slice(torn.lastIndexOf("\n") + 1);
  expect(await readFile(`${output}.torn`, "utf8")).toBe(cut);
  server.reply(rankingOf);
  expect((await bulk()).exitCode).toBe(0);
  expect(await readFile(output, "utf8")).toBe(whole);
  expect((await readdir(folder)).sort()).toEqual(["in.jsonl", "out.jsonl", "out.jsonl.run"]);
});

test("a file of somebody's with the name of what is cut is neither written nor removed", async () => {
  await bulk();
  await truncate(output, (await readFile(output)).length - 10);
  const before = await readFile(output);
  await writeFile(`${output}.torn`, "mine");
  const { exitCode, stderr } = await bulk();
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining(".torn")]);
  expect(await readFile(output)).toEqual(before);
  expect(await readFile(`${output}.torn`, "utf8")).toBe("mine");
});

test("an unterminated last line that is whole JSON, or no beginning of a row, is never cut", async () => {
  await bulk();
  const whole = await readFile(output, "utf8");
  for (const last of ['{"id":"mine"}', "a note", '"text"']) {
    await writeFile(output, whole + last);
    const { exitCode, stderr } = await bulk();
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining("--output, line 4, is not a row")]);
    expect(await readFile(output, "utf8")).toBe(whole + last);
  }
});

test("files of earlier versions, without a file beside them, go on", async () => {
  const file = path.join(folder, "train");
  await writeFile(file, "text");
  server.reply((request) => {
    if (request.url.includes("datasets")) return { json: { id: "f-1" } };
    return JSON.parse(`${request.body}`).query === "q1"
      ? { status: 400, json: { code: "INVALID_ARGUMENT", message: "No." } }
      : rankingOf(request);
  });
  const commands = [() => bulk("--errors", errors), upload];
  for (const command of commands) await command();
  const before = await Promise.all([output, errors, checkpoint].map((each) => readFile(each, "utf8")));
  for (const each of [output, errors, checkpoint]) execFileSync("rm", [`${each}.run`]);
  server.requests = [];
  // One request of the bulk run was invalid, and still is.
  for (const [index, command] of commands.entries())
    expect((await command()).exitCode).toBe(index === 0 ? 5 : 0);
  expect(await Promise.all([output, errors, checkpoint].map((each) => readFile(each, "utf8")))).toEqual(
    before,
  );
  expect(server.requests).toHaveLength(0);
});

test.each([
  ["a byte order mark", (text: string) => `\uFEFF${text}`, (text: string) => `\uFEFF${text}`],
  ["CRLF", (text: string) => text.replaceAll("\n", "\r\n"), (text: string) => text.replaceAll("\n", "\r\n")],
  ["blank lines at the end", (text: string) => `${text}\n\r\n  \n`, (text: string) => `${text}\n\r\n  \n`],
  ["a blank end", (text: string) => `${text}  `, (text: string) => `${text}  \n`],
])("an output with %s is read right, and no byte of a row is lost", async (_, edit, expected) => {
  await bulk();
  const whole = await readFile(output, "utf8");
  for (const isKnown of [true, false]) {
    await writeFile(output, edit(whole));
    if (!isKnown) execFileSync("rm", [`${output}.run`]);
    await writeRequests(input, 4);
    expect((await bulk()).exitCode).toBe(0);
    const all = await readFile(output, "utf8");
    expect(all.startsWith(expected(whole))).toBe(true);
    expect(JSON.parse(all.slice(expected(whole).length))).toMatchObject({ id: "r3" });
    // The first row is found, where it begins behind a mark too.
    await writeFile(input, '{"id":"r0","query":"another","documents":["one"]}\n');
    expect((await bulk()).stderr).toContain("Line 1: the id is done in --output");
  }
});

test("a row of an output whose fingerprint is not whole is refused by its number, not in Node's words", async () => {
  await bulk();
  const lines = (await readFile(output, "utf8")).split("\n");
  for (const fingerprint of ["short", "", 7, null, "with a space in its midst"]) {
    const second = JSON.stringify({ ...JSON.parse(lines[1] ?? ""), fingerprint });
    await writeFile(output, [lines[0], second, lines[2], ""].join("\n"));
    const { exitCode, stderr } = await bulk();
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining("--output, line 2, is not a row of")]);
  }
});

test("the files of a run cannot be mistaken for each other", async () => {
  server.reply({ status: 400, json: { code: "INVALID_ARGUMENT", message: "No." } });
  await bulk("--errors", errors);
  await upload();
  const [swapped, other] = await Promise.all([
    tunerank(["rerank", "--bulk", input, "--output", errors, "--errors", output], { baseUrl: server.url }),
    tunerank(["rerank", "--bulk", input, "--output", checkpoint], { baseUrl: server.url }),
  ]);
  for (const { exitCode } of [swapped, other]) expect(exitCode).toBe(2);
  expect(swapped.stderr).toContain("--output is the rerank errors of another run.");
  expect(other.stderr).toContain("--output is the upload checkpoint of another run.");
  // Nor without what says it.
  execFileSync("rm", [`${errors}.run`, `${checkpoint}.run`]);
  const before = await readFile(checkpoint, "utf8");
  expect((await bulk("--errors", checkpoint)).stderr).toContain("--errors, line 1, is not a row of");
  expect(await readFile(checkpoint, "utf8")).toBe(before);
});

test("two names of one file are one file", async () => {
  const [soft, hard] = [path.join(folder, "soft"), path.join(folder, "hard")];
  await symlink("out.jsonl", soft);
  const named = `${folder}/./out.jsonl`;
  for (const other of [soft, named, output]) {
    const { exitCode, stderr } = await bulk("--errors", other);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining("must be different files")]);
  }
  expect((await bulk("--output", soft)).exitCode).toBe(0);
  expect((await readdir(folder)).sort()).toEqual(["in.jsonl", "out.jsonl", "out.jsonl.run", "soft"]);
  await link(output, hard);
  const { exitCode, stderr } = await bulk();
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining("--output has 2 names (hard links)")]);
  expect(await rowsOf(output)).toHaveLength(3);
});

test("an output is rows and nothing else: wc, cat and jq work", async () => {
  await bulk();
  const other = path.join(folder, "other.jsonl");
  await bulk("--output", other);
  const joined = execFileSync("sh", ["-c", `cat ${output} ${other} | tee /dev/stderr | wc -l`], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  expect(Number(`${joined}`)).toBe(6);
  for (const row of await rowsOf(output)) expect(Object.keys(row)).toEqual(["id", "fingerprint", "response"]);
});

test("the lock files of earlier versions are no obstacle", async () => {
  await writeFile(`${output}.lock`, JSON.stringify({ pid: process.pid, host: "elsewhere" }));
  expect((await bulk()).exitCode).toBe(0);
});
