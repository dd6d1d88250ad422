import { readdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Wanted } from "../../src/cli/input/formats.js";
import type { Line } from "../../src/cli/input/lines.js";
import { readLines } from "../../src/cli/input/readInput.js";
import { tunerank } from "../support/commandLine.js";
import { inputSamples, textOfRows, wide } from "../support/inputSamples.js";
import { temporaryFolder } from "../support/project.js";
import { useRecordingServer } from "../support/recordingServer.js";

const server = useRecordingServer();
let folder: string;
let remove: () => Promise<void>;
let input: string;

beforeEach(async () => {
  ({ folder, remove } = await temporaryFolder());
  input = path.join(folder, "in");
});
afterEach(() => remove());

const { signal } = new AbortController();

async function linesIn(file: string, wanted: Wanted): Promise<readonly Line[]> {
  const found: Line[] = [];
  for await (const lines of readLines(file, { name: "FILE", wanted, allowEmpty: false }, signal))
    found.push(...lines);
  return found;
}

const cases = inputSamples.flatMap(([what, all, bytes, name, convert]) =>
  (["lines", "JSON lines"] as const).map((wanted) => ({ what, wanted, all, bytes, name, convert })),
);

test.each(cases)("$what, where $wanted are wanted", async ({ wanted, all, bytes, name, convert }) => {
  await writeFile(input, bytes);
  const read = linesIn(input, wanted);
  if (!all.includes(wanted)) return void (await read);
  await expect(read).rejects.toThrow(`FILE is ${name}, not `);
  await expect(read).rejects.toThrow(convert);
});

test.each([
  ["gzip", gzipSync(textOfRows)],
  ["gzip of several members", Buffer.concat([gzipSync("\uFEFF"), gzipSync(textOfRows)])],
  ["a byte order mark", `\uFEFF${textOfRows}`],
])("the lines of %s are those of the text", async (_, bytes) => {
  await writeFile(input, bytes);
  const lines = await linesIn(input, "JSON lines");
  expect(lines.map(({ number }) => number)).toEqual([1, 2]);
  expect(lines.map((line) => `${line.bytes}\n`).join("")).toBe(textOfRows);
});

test("a line with a zero byte is refused, however far down", async () => {
  await writeFile(input, `${"a document\n".repeat(2000)}\0\n`);
  const args = ["rerank", "--query", "q", input];
  const { exitCode, stderr } = await tunerank(args, { baseUrl: server.url });
  expect([exitCode, stderr.split("\n")[0]]).toEqual([
    2,
    "tunerank: Line 2001 cannot be read. It has a NUL byte, so it is not text.",
  ]);
  expect(server.connections).toBe(0);
});

test.each([1, 7, 5000])("%i zero bytes among the first lines are named with their line", async (zeros) => {
  const good = '{"id":1,"query":"née","documents":["a","b"]}\n';
  await writeFile(input, `${good}${"\0".repeat(zeros)}\n${good.repeat(300)}`);
  const { exitCode, stdout } = await tunerank(["check", input]);
  expect([exitCode, stdout]).toEqual([
    2,
    expect.stringContaining("  Invalid: line 2, column 1: a NUL byte\n"),
  ]);
  const { stderr } = await tunerank(["rerank", "--query", "q", input], { baseUrl: server.url });
  expect(stderr).toContain("tunerank: Line 2 cannot be read. It has a NUL byte, so it is not text.\n");
  const args = ["rerank", "--query", "q", "--field", "query", "--strict", input];
  expect((await tunerank(args, { baseUrl: server.url })).stderr).toContain(
    "Line 2 is invalid. It is not JSON (column 1: a NUL byte).\n",
  );
  expect(server.connections).toBe(0);
});

test.each([
  ["before its first line", 12, 2, " Nothing was sent."],
  ["after lines of it were read", -9, 1, ""],
])("gzip in a pipe to --bulk that is cut short %s names the input", async (_, end, code, more) => {
  const args = ["rerank", "--bulk", "-", "--output", path.join(folder, "out.jsonl")];
  const packed = gzipSync(textOfRows).subarray(0, end);
  const { exitCode, stderr } = await tunerank(args, { baseUrl: server.url, input: packed });
  expect([exitCode, stderr]).toEqual([
    code,
    expect.stringContaining(`tunerank: --bulk cannot be read: the gzip data is cut short.${more}\n`),
  ]);
});

test.each([
  ["a folder", ".", undefined, '--bulk "." cannot be read: it is a folder. Nothing was sent.'],
  ["an empty pipe", "-", "", "--bulk is empty: nothing was sent. If it may be empty, add --allow-empty."],
  [
    "UTF-16 in a pipe",
    "-",
    wide(textOfRows),
    "--bulk is UTF-16 text, not JSON lines in UTF-8. Convert it: `iconv -f UTF-16 -t UTF-8 FILE > new.jsonl`.",
  ],
])("%s is refused, and no file is left", async (_, file, piped, message) => {
  const args = ["rerank", "--bulk", file, "--output", path.join(folder, "out.jsonl")];
  const { exitCode, stdout, stderr } = await tunerank(args, {
    baseUrl: server.url,
    ...(piped !== undefined && { input: piped }),
  });
  expect([exitCode, stdout, stderr.split("\n")[0]]).toEqual([2, "", `tunerank: ${message}`]);
  expect(server.connections).toBe(0);
  expect(await readdir(folder)).toEqual([]);
});
