import { writeFile } from "node:fs/promises";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Wanted } from "../../src/cli/input/formats.js";
import type { Line } from "../../src/cli/input/lines.js";
import { readLines } from "../../src/cli/input/readInput.js";
import { inputSamples, textOfRows } from "../support/inputSamples.js";
import { temporaryFolder } from "../support/project.js";

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
