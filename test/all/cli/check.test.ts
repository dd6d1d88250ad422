import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { outcomeOf, start } from "../../support/commandLine.js";
import { useCommand } from "../../support/useCommand.js";

const { run, written } = useCommand({ url: "" });
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
  expect([named.exitCode, named.stdout, piped.stdout]).toEqual([0, `${file}: ${count}.\n`, `-: ${count}.\n`]);
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
