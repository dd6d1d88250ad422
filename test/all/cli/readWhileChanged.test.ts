import { appendFileSync, renameSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, expect, test } from "vitest";
import { checkFile } from "../../../src/cli/check/checkFile.js";
import { readBody, readLines } from "../../../src/cli/input/readInput.js";
import { temporaryFolder } from "../../support/project.js";

let remove: () => Promise<void>;
let input: string;

beforeEach(async () => {
  const made = await temporaryFolder();
  remove = made.remove;
  input = path.join(made.folder, "in.txt");
});
afterEach(() => remove());

const { signal } = new AbortController();
const text = "a document\n".repeat(100_000);

/** A signal with which a reader does something to the input once it has read the first bytes. */
function watching(change: () => void): AbortSignal {
  let asked = 0;
  const throwIfAborted = (): void => {
    asked += 1;
    if (asked === 2) change();
  };
  return Object.assign(new AbortController().signal, { throwIfAborted });
}

async function lineCount(change: () => void): Promise<number> {
  let count = 0;
  const request = { name: 'FILE "in.txt"', wanted: "lines", allowEmpty: true } as const;
  for await (const lines of readLines(input, request, watching(change))) count += lines.length;
  return count;
}

const changed =
  /^FILE "in.txt": the input changed while it was read. Nothing was sent: run the same command again,/;
const changes: readonly (readonly [string, () => void])[] = [
  ["emptied", () => truncateSync(input)],
  ["cut behind what was read", () => truncateSync(input, 300_000)],
  ["written over", () => writeFileSync(input, text.toUpperCase())],
  ["written over, and longer", () => writeFileSync(input, text.toUpperCase().repeat(2))],
  [
    "replaced",
    () => {
      writeFileSync(`${input}.next`, text);
      renameSync(`${input}.next`, input);
    },
  ],
];

test.each(changes)("a file that is %s while it is read is refused", async (_, change) => {
  await writeFile(input, text);
  await expect(lineCount(change)).rejects.toThrow(changed);
});

test("gzip that is written over while it is read is not said to be damaged", async () => {
  await writeFile(input, gzipSync(text, { level: 0 }));
  await expect(lineCount(() => writeFileSync(input, "x".repeat(2_000_000)))).rejects.toThrow(changed);
});

test.each([
  ["grew", () => appendFileSync(input, text)],
  ["was touched", () => utimesSync(input, 1, 1)],
])("a file that only %s is read", async (_, change) => {
  await writeFile(input, text);
  let isChanged = false;
  const count = await lineCount(() => {
    change();
    isChanged = true;
  });
  expect([isChanged, count >= 100_000]).toEqual([true, true]);
});

test("a file of the system without a size is read as a pipe is", async () => {
  const bytes = await readBody("/proc/self/status", { name: "--body-file", wanted: undefined }, signal).catch(
    () => undefined,
  );
  // Other systems have none.
  if (bytes !== undefined) expect(bytes.length).toBeGreaterThan(0);
});

test.each([...changes, ["grown", () => appendFileSync(input, '{"a":1}\n')] as const])(
  "a file that is %s while it is checked is said to have changed, unless it only grew",
  async (what, change) => {
    await writeFile(input, '{"a":1}\n'.repeat(100_000));
    const { problem } = await checkFile(input, watching(change), "It");
    expect(problem).toBe(what === "grown" ? undefined : "It changed while it was checked.");
  },
);
