import { truncate, writeFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, expect, test } from "vitest";
import { outcomeOf, start, tunerank } from "../../support/commandLine.js";
import { inputSamples, textOfRows } from "../../support/inputSamples.js";
import { type Outcome, root, temporaryFolder } from "../../support/project.js";

let folder: string;
let remove: () => Promise<void>;

beforeEach(async () => {
  ({ folder, remove } = await temporaryFolder());
});
afterEach(() => remove());

async function written(bytes: string | Uint8Array, name = "train.jsonl"): Promise<string> {
  const file = path.join(folder, name);
  await writeFile(file, bytes);
  return file;
}

async function check(bytes: string | Uint8Array, ...options: readonly string[]): Promise<Outcome> {
  return tunerank(["check", await written(bytes), ...options]);
}

const refusals: readonly (readonly [what: string, bytes: string | Uint8Array, said: string])[] = [
  ["a line that is not JSON", '{"a": 1}\n{"a": 1,}\n', "line 2, column 9: a trailing comma before }"],
  [
    "a line that is cut",
    '{"a": 1}\n{"a": "b',
    "line 2, column 7: this string does not end: a double quote is missing",
  ],
  ["two values in a line", '{"a": 1} {"a": 2}\n', "line 1, column 10: a second value begins here"],
  [
    "Latin-1",
    Buffer.from('{"a": 1}\n{"a": "né"}\n', "latin1"),
    "line 2, column 9: it is not UTF-8. If it is Latin-1:",
  ],
  ["NaN beside another fault", '{"a": NaN, b: 1}\n', "line 1, column 12: a name in double quotes is missing"],
  [
    "gzip that is cut short",
    gzipSync(textOfRows.repeat(9)).subarray(0, -12),
    "It cannot be read: the gzip data is cut short.",
  ],
  ["an empty file", "", "It is empty."],
  ["blank lines alone", "\n \r\n", "It is empty."],
];

test.each(refusals)("check refuses %s", async (_, bytes, said) => {
  const { exitCode, stdout } = await check(bytes);
  expect([exitCode, stdout]).toEqual([2, expect.stringContaining(`  Invalid: ${said}`)]);
});

// Each is known by its first bytes: the reader's own test has them all.
test.each(inputSamples.filter(([what]) => ["HTML", "UTF-16 with its mark", "zstd", "CSV"].includes(what)))(
  "check refuses %s by its first bytes",
  async (_what, _wanted, bytes, name, convert) => {
    const file = await written(bytes);
    const { exitCode, stdout } = await tunerank(["check", file]);
    expect([exitCode, stdout]).toEqual([
      2,
      expect.stringContaining(`  Invalid: It is ${name}, not JSON lines`),
    ]);
    expect(stdout).toContain(convert.replace("FILE", file));
  },
);

test.each([
  ["blank lines and a missing last newline", '\n{"a": 1}\r\n\n{"a": 2}', 2],
  ["gzip", gzipSync(textOfRows), 2],
])("check takes %s", async (what, bytes, rows) => {
  const file = await written(bytes, what === "gzip" ? "train.jsonl.gz" : "train.ndjson");
  const { exitCode, stdout, stderr } = await tunerank(["check", file]);
  expect([exitCode, stdout.split("\n")[0]]).toEqual([
    0,
    `${file}: ${rows} rows, ${Buffer.byteLength(bytes)} bytes.`,
  ]);
  expect(stdout).not.toMatch(/Invalid|Warning/);
  expect(stderr).toBe(
    "The format of a dataset is not documented: only whether each file is valid JSON Lines was checked.\n",
  );
});

const many = Array.from({ length: 20 }, (_, row) => `{"q": ${row}, "a": 1}\n`).join("");
const warnings: readonly (readonly [what: string, bytes: string | Uint8Array, said: string])[] = [
  ["NaN and Infinity", '{"a": [NaN, -Infinity]}\n', "line 1, column 8: NaN is no JSON value: write null"],
  ["a byte order mark", '\uFEFF{"a": 1}\n', "line 1, column 1: a byte order mark"],
  ["a line that is no object", '{"a": 1}\n[1]\n', "line 2, column 1: it is no object"],
  [
    "a line that is there twice",
    '{"a": 1}\n{"a": 2}\n{"a": 1}\r\n',
    "line 3, column 1: it is the same as line 1",
  ],
  [
    "a key that few rows lack",
    `${many}{"q": 21}\n`,
    'line 21, column 1: "a" is missing, which 20 of 21 rows have',
  ],
  [
    "a key that a row before lacks",
    `{"q": 21}\n${many}`,
    'line 1, column 1: "a" is missing, which 20 of 21 rows have',
  ],
  [
    "gzip whose name does not say so",
    gzipSync('{"a": 1}\n'),
    "the file is gzip, and its name does not end in .gz",
  ],
  [
    "a line too long to be read",
    `{"a": "${"b".repeat(8 * 1024 * 1024)}"}\n`,
    "line 1, column 1: it is longer than 8 MiB, and was not checked",
  ],
];

test.each(warnings)("check warns of %s, and --strict refuses it", async (_, bytes, said) => {
  const { exitCode, stdout } = await check(bytes);
  expect([exitCode, stdout]).toEqual([0, expect.stringContaining(`  Warning: ${said}`)]);
  expect(stdout).not.toContain("Invalid");
  const strict = await check(bytes, "--strict");
  expect([strict.exitCode, strict.stdout]).toEqual([2, stdout]);
});

test("check shows the keys, and the first of many lines", async () => {
  const rows = '{"q": 1, "a": 1}\n{"q": 2}\n';
  const { exitCode, stdout } = await check(rows + "{\n".repeat(7));
  const reason = "column 2: the object does not end: } is missing";
  expect([exitCode, stdout.split("\n").slice(1)]).toEqual([
    2,
    [
      "  Keys: q (2 rows), a (1 row).",
      ...[3, 4, 5, 6, 7].map((line) => `  Invalid: line ${line}, ${reason}`),
      "  Invalid: and 2 lines more.",
      "",
    ],
  ]);
});

test("a line of more than 1 MiB is read as any other", async () => {
  const long = `{"q": 1, "text": "${"b".repeat(2 * 1024 * 1024)}", "q": {"deep": [NaN]}}`;
  const { exitCode, stdout } = await check(`${long}\n${long.replace("]}}", "}}")}\n`);
  expect(exitCode).toBe(2);
  expect(stdout).toContain("  Keys: q (1 row), text (1 row).");
  expect(stdout).toMatch(/Warning: line 1, column 2097189: NaN is no JSON value/);
  expect(stdout).toMatch(/Invalid: line 2, column 2097192: a comma or \] is missing/);
});

test("--json has the same for programs, of each file", async () => {
  const good = await written('{"a": 1}\n');
  const bad = await written('{"a": 1}\n{\n{"a": 1}\n', "bad.jsonl");
  const missing = path.join(folder, "missing.jsonl");
  const { exitCode, stdout, stderr } = await tunerank(["check", good, bad, missing, "--json"]);
  const first = [{ line: 2, column: 2, reason: "the object does not end: } is missing" }];
  const same = [{ line: 3, column: 1, reason: "it is the same as line 1" }];
  expect([exitCode, stderr]).toEqual([2, ""]);
  expect(JSON.parse(stdout)).toEqual({
    files: [
      { file: good, ok: true, rows: 1, bytes: 9, keys: [{ name: "a", rows: 1 }], warnings: [] },
      {
        file: bad,
        ok: false,
        rows: 3,
        bytes: 20,
        keys: [{ name: "a", rows: 2 }],
        invalid: { lines: 1, first },
        warnings: [{ kind: "duplicate", lines: 1, first: same }],
      },
      {
        file: missing,
        ok: false,
        rows: 0,
        bytes: 0,
        keys: [],
        problem: `FILE "${missing}" cannot be read: ENOENT: no such file or directory.`,
        warnings: [],
      },
    ],
    note: expect.stringContaining("is not documented"),
  });
});

test.each([
  [150_000_000, undefined],
  [
    150_000_001,
    "the file has 150,000,001 bytes: the service may refuse more than 150,000,000, as it does not say which 150 MB it means",
  ],
  [157_286_400, "the file has 157,286,400 bytes: the service may refuse more than 150,000,000"],
  [157_286_401, "the file has 157,286,401 bytes: an upload takes at most 157,286,400"],
])("check of a file of %i bytes warns of %s", async (bytes, said) => {
  const file = await written('{"a":1}\n'.repeat(2000));
  // The rest is one long line, which no check reads and no disk holds.
  await truncate(file, bytes);
  const { exitCode, stdout } = await tunerank(["check", file, "--json"]);
  const [{ warnings }] = JSON.parse(stdout).files;
  const found = warnings.find(({ kind }: { kind: string }) => kind === "size");
  const first = said && [{ reason: expect.stringContaining(said) }];
  expect([exitCode, found?.first]).toEqual([0, first]);
});

test("a signal ends a check with how many files were checked", async () => {
  const file = await written('{"a": 1}\n');
  const child = start(["check", file, "-"], { openInput: true });
  const outcome = outcomeOf(child);
  // More than a pipe holds: once it is written, the command has begun to read.
  await new Promise((resolve) => child.stdin?.write(textOfRows.repeat(10_000), resolve));
  child.kill("SIGTERM");
  const { exitCode, stderr } = await outcome;
  expect([exitCode, stderr]).toEqual([143, "tunerank: Interrupted: 1 of 2 files were checked.\n"]);
});

test("a file that is refused by its first bytes has its own size, and a pipe has none", async () => {
  const file = await written("");
  await truncate(file, 157_286_401);
  const { exitCode, stdout } = await tunerank(["check", file]);
  expect([exitCode, stdout.split("\n").slice(0, 3)]).toEqual([
    2,
    [
      `${file}: 0 rows, 157,286,401 bytes.`,
      "  Invalid: It is binary data, not JSON lines in UTF-8.",
      "  Warning: the file has 157,286,401 bytes: an upload takes at most 157,286,400",
    ],
  ]);
  const input = Buffer.alloc(1000);
  expect((await tunerank(["check", "-"], { input })).stdout.split("\n")[0]).toBe("-: 0 rows.");
  const { files } = JSON.parse((await tunerank(["check", "-", "--json"], { input })).stdout);
  expect(files[0]).not.toHaveProperty("bytes");
});

test("check reads the standard input", async () => {
  const { exitCode, stdout } = await tunerank(["check", "-"], { input: textOfRows });
  expect([exitCode, stdout.split("\n")[0]]).toEqual([
    0,
    `-: 2 rows, ${Buffer.byteLength(textOfRows)} bytes.`,
  ]);
});

test("what a file says cannot move the cursor", async () => {
  const { stdout } = await check('{"\\u001b[31mred": 1}\n');
  expect(stdout).toContain("Keys: \\u001b[31mred (1 row).");
});

// In kilobytes, as the system counts it.
const most = 128 * 1024;
const peak = `import { peakBytes } from ${JSON.stringify(pathToFileURL(path.join(root, "bench/peakBytes.js")).href)};
process.on("exit", () => process.stderr.write("peak " + peakBytes() / 1024 + "\\n"));`;
const unit = 1024 * 1024;
const large: readonly (readonly [what: string, make: () => Iterable<string>])[] = [
  ["of short lines that differ", () => numbered(600_000)],
  ["that is one line", () => repeated('{"a":', '"bbbbbbbbbbbbbbbb"', 8)],
  ["of many small values", () => repeated("", `{"a":[${"{},".repeat(80_000)}{}]}\n`, 60)],
  ["of invalid lines", () => repeated("", "{]\n", 4)],
  ["of one line with keys that differ", () => [`{${numberedNames(600_000)}}\n`]],
  ["that is nested", () => repeated("", `{"a":${"[".repeat(7 * unit)}\n`, 2)],
  ["of keys that differ", () => numberedKeys(400_000)],
];

function* repeated(head: string, part: string, times: number): Generator<string> {
  yield head;
  for (let at = 0; at < times; at += 1) yield part.length < 100 ? part.repeat(unit / 16) : part;
}
function numberedNames(count: number): string {
  return Array.from({ length: count }, (_, name) => `"k${name}":1`).join(",");
}
function numbered(count: number): string[] {
  return [Array.from({ length: count }, (_, row) => `{"q":${row}}\n`).join("")];
}
function numberedKeys(count: number): string[] {
  return [Array.from({ length: count }, (_, row) => `{"key${row}":1}\n`).join("")];
}

test.each(large)(
  "memory stays below 128 MiB for a file %s",
  async (_, make) => {
    const preload = await written(peak, "peak.mjs");
    const file = path.join(folder, "large.jsonl");
    await writeFile(file, make());
    const child = start(["check", file], { env: { NODE_OPTIONS: `--import ${preload}` } });
    const { exitCode, stdout, stderr } = await outcomeOf(child);
    expect([0, 2]).toContain(exitCode);
    // None of them is refused by its first bytes.
    expect(stdout).toMatch(/: [1-9][\d,]* rows?, /);
    const [, kilobytes] = /^peak (\d+)$/m.exec(stderr) ?? [];
    expect(Number(kilobytes)).toBeLessThan(most);
  },
  60_000,
);
