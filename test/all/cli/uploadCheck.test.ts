import { appendFileSync, writeFileSync } from "node:fs";
import { readFile, truncate, writeFile } from "node:fs/promises";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, expect, test } from "vitest";
import { whyInvalid } from "../../../src/cli/check/beforeUpload.js";
import { createTerminal } from "../../../src/cli/terminal.js";
import { tunerank } from "../../support/commandLine.js";
import type { Outcome } from "../../support/project.js";
import { temporaryFolder } from "../../support/project.js";
import { useRecordingServer } from "../../support/recordingServer.js";

const server = useRecordingServer();
let folder: string;
let remove: () => Promise<void>;

beforeEach(async () => {
  ({ folder, remove } = await temporaryFolder());
  server.reply(({ files: [file] }) => ({ json: { id: "f-1", bytes: file?.bytes.length, filename: "f" } }));
});
afterEach(() => remove());

const good = '{"a":1}\n';
const torn = '{"a":1}\n{"a":';
const at = (name: string): string => path.join(folder, name);
const upload = (...args: readonly string[]): Promise<Outcome> =>
  tunerank(["upload", "reviews", ...args], { baseUrl: server.url });

test.each([
  ["train.jsonl", torn, "line 2, column 6: the object does not end: } is missing."],
  ["train.NDJSON", torn, "line 2, column 6: the object does not end: } is missing."],
  ["train.jsonl.gz", gzipSync(good).subarray(0, -9), "it cannot be read: the gzip data is cut short."],
  [
    "train.jsonl",
    '{"a"\n'.repeat(3),
    "line 1, column 5: the object does not end: } is missing, and 2 lines more.",
  ],
  ["train.jsonl", "", "it is empty."],
  ["train.jsonl", "<!doctype html>\n", "it is a web page (HTML), not JSON lines in UTF-8."],
])("upload of %s with %j sends nothing, and --no-check sends it", async (name, bytes, said) => {
  await writeFile(at(name), bytes);
  const { exitCode, stdout, stderr } = await upload(at(name));
  expect([exitCode, stdout]).toEqual([2, ""]);
  expect(stderr).toContain(`tunerank: FILE "${at(name)}" is invalid: ${said}`);
  expect(stderr).toContain("Nothing was sent; --no-check sends it as it is.");
  expect(server.connections).toBe(0);
  expect((await upload(at(name), "--no-check")).exitCode).toBe(0);
  expect(server.only.files[0]?.bytes).toEqual(await readFile(at(name)));
});

test.each([[], ["--dry-run"], ["--no-check"]])(
  "an empty standard input is refused before anything is sent (%s)",
  async (...more) => {
    const args = ["upload", "reviews", "-", "--name", "x.jsonl", ...more];
    for (const given of [{ input: "" }, {}]) {
      const { exitCode, stdout, stderr } = await tunerank(args, { baseUrl: server.url, ...given });
      expect([exitCode, stdout]).toEqual([2, ""]);
      expect(stderr).toMatch(/^tunerank: The standard input is empty: nothing was sent\.\nRun `/);
    }
    expect(server.connections).toBe(0);
    const { exitCode } = await tunerank(args, { baseUrl: server.url, input: good });
    expect(exitCode).toBe(0);
    if (more[0] !== "--dry-run") expect(server.only.files[0]?.bytes.toString()).toBe(good);
  },
);

test("the name that is sent says whether a file is checked", async () => {
  for (const name of ["train.txt", "train.jsonl"]) await writeFile(at(name), torn);
  expect((await upload(at("train.txt"))).exitCode).toBe(0);
  expect((await upload(at("train.jsonl"), "--name", "train.txt")).exitCode).toBe(0);
  expect((await upload(at("train.txt"), "--name", "train.jsonl")).exitCode).toBe(2);
  expect(server.requests).toHaveLength(2);
});

test("of several files only the one that is invalid is held back", async () => {
  const files = ["a.jsonl", "b.jsonl", "c.jsonl"].map(at);
  for (const file of files) await writeFile(file, good);
  await writeFile(at("b.jsonl"), torn);
  const checkpoint = ["--checkpoint", at("uploads")];
  const { exitCode, stdout } = await upload(...files, ...checkpoint, "--json");
  // 2 means that nothing was sent.
  expect(exitCode).toBe(5);
  const message = "line 2, column 6: the object does not end: } is missing.";
  expect(JSON.parse(stdout)).toMatchObject({
    files: [
      { outcome: "uploaded" },
      { file: at("b.jsonl"), outcome: "invalid", error: { message } },
      { outcome: "uploaded" },
    ],
  });
  expect(server.requests.map(({ files: [file] }) => file?.filename)).toEqual(["a.jsonl", "c.jsonl"]);
  const again = await upload(...files, ...checkpoint);
  // Of the whole run some files are stored, whichever start sent them.
  expect([again.exitCode, again.stdout]).toEqual([
    5,
    expect.stringContaining(
      `Invalid: ${at("b.jsonl")} was not sent: ${message} --no-check sends it as it is.\n`,
    ),
  ]);
  await writeFile(at("b.jsonl"), good);
  expect((await upload(...files, ...checkpoint)).exitCode).toBe(0);
  expect(server.requests).toHaveLength(3);
});

test("a file that is too large is invalid too, and the others are sent", async () => {
  const [large, small] = [at("large.bin"), at("b.jsonl")];
  await writeFile(large, "");
  await truncate(large, 157_286_401);
  await writeFile(small, good);
  expect((await upload(large)).exitCode).toBe(2);
  const { exitCode, stdout } = await upload(large, small);
  expect([exitCode, stdout.split("\n").map((line) => line.slice(0, 8))]).toEqual([
    5,
    ["Failed: ", "Uploaded", ""],
  ]);
  expect(server.only.files[0]?.filename).toBe("b.jsonl");
  const checkpoint = ["--checkpoint", at("uploads")];
  for (let starts = 0; starts < 2; starts += 1)
    expect((await upload(large, small, ...checkpoint)).exitCode).toBe(5);
  expect(server.requests).toHaveLength(2);
});

test("a warning is told, and the file is sent", async () => {
  await writeFile(at("train.jsonl"), '{"a":NaN}\n');
  const { exitCode, stderr } = await upload(at("train.jsonl"));
  expect(exitCode).toBe(0);
  expect(stderr).toContain(
    `Warning: ${at("train.jsonl")}: line 1, column 6: NaN is no JSON value: write null.\n`,
  );
  expect(server.only.files[0]?.bytes.toString()).toBe('{"a":NaN}\n');
  expect((await upload(at("train.jsonl"), "--quiet")).stderr).toBe("");
});

test("with --json a warning is JSON on stderr, as `check --json` names it", async () => {
  for (const name of ["a.jsonl", "b.jsonl"]) await writeFile(at(name), '{"a":1}\n{"a":1}\n');
  const files = [at("a.jsonl"), at("b.jsonl")];
  const first = [{ line: 2, column: 1, reason: "it is the same as line 1" }];
  for (const args of [files.slice(0, 1), files])
    for (const more of [["--dry-run"], []]) {
      const { exitCode, stdout, stderr } = await upload(...args, "--json", ...more);
      expect(exitCode).toBe(0);
      JSON.parse(stdout);
      const told = stderr
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line));
      expect(told).toEqual(args.map((file) => ({ warning: { file, kind: "duplicate", lines: 1, first } })));
    }
});

test.each(["train.jsonl", "train.bin"])("a size that the service may refuse is told of %s", async (name) => {
  await writeFile(at(name), good.repeat(2000));
  await truncate(at(name), 150_000_001);
  const { exitCode, stderr } = await upload(at(name), "--dry-run");
  expect(exitCode).toBe(0);
  expect(stderr.match(/^Warning: .*: the file has 150,000,001 bytes: the service may refuse/gm)).toHaveLength(
    1,
  );
  expect((await upload(at(name), "--dry-run", "--no-check")).stderr).toBe("");
});

test.each([false, true])(
  "a file that changes after its check is not sent, with a checkpoint: %s",
  async (isKept) => {
    const more = isKept ? ["--checkpoint", at("uploads")] : [];
    const files = ["a.jsonl", "b.jsonl", "c.jsonl"].map(at);
    for (const each of files) await writeFile(each, good);
    server.reply(() => {
      if (server.requests.length === 1) writeFileSync(at("b.jsonl"), "not json\n");
      return { json: { id: "f-1" } };
    });
    const { exitCode, stdout } = await upload(...files, ...more);
    expect(server.requests.map(({ files: [sent] }) => sent?.filename)).toEqual(["a.jsonl", "c.jsonl"]);
    expect([exitCode, stdout.split("\n")[1]]).toEqual([
      1,
      `Failed: ${at("b.jsonl")}: [FAILED_PRECONDITION] The file changed after the command began, and was not sent. Upload it again once no other program writes to it.`,
    ]);
    if (isKept) {
      await writeFile(at("b.jsonl"), '{"a":2}\n');
      expect((await upload(...files, ...more)).exitCode).toBe(0);
      expect(server.requests.map(({ files: [sent] }) => sent?.filename).at(-1)).toBe("b.jsonl");
      expect(server.requests).toHaveLength(3);
    }
  },
);

test("a file that changes while it is checked is invalid", async () => {
  await writeFile(at("train.jsonl"), good);
  const terminal = createTerminal({ json: false, quiet: true, color: false });
  const why = whyInvalid(at("train.jsonl"), "train.jsonl", {
    options: {},
    terminal,
    signal: new AbortController().signal,
  });
  appendFileSync(at("train.jsonl"), good);
  expect(await why).toBe("it changed while it was checked.");
});
