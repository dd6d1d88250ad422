import { appendFileSync, renameSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { appendFile, readFile, writeFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { input, output, queryOf, rankingOf, rowsOf, useBulkFiles } from "../../support/bulkFiles.js";
import type { Outcome } from "../../support/project.js";
import { useRecordingServer } from "../../support/recordingServer.js";

const server = useRecordingServer();
const bulk = useBulkFiles(server, "--concurrency", "4");

// Long enough that a run has read only a part of the file when the first of its requests gets its response.
const lineOf = (id: number, version = "old"): string =>
  `${JSON.stringify({ id, query: `${version} ${id}`, documents: ["one ".repeat(1000), "two"] })}\n`;
const linesOf = (from: number, to: number, version?: string): string =>
  Array.from({ length: to - from }, (_, index) => lineOf(from + index, version)).join("");
const count = 400;

/** Does something to the input while a run reads it: as its tenth request arrives. */
function meanwhile(change: () => void): void {
  let requests = 0;
  server.reply((request) => {
    if (++requests === 10) change();
    return rankingOf(request);
  });
}

const changed = /^tunerank: --bulk: the input changed at line (\d+) /m;

async function expectStopped({ exitCode, stderr }: Outcome): Promise<void> {
  const [, line = ""] = changed.exec(stderr) ?? [];
  expect([exitCode, stderr]).toEqual([1, expect.stringMatching(changed)]);
  expect(Number(line)).toBeGreaterThan(10);
  expect(Number(line)).toBeLessThan(count);
  // Nothing was sent that the first pass did not see, and whatever was sent is kept.
  const sent = server.requests.map(queryOf).sort();
  expect(sent.filter((query) => !query.startsWith("old "))).toEqual([]);
  expect((await rowsOf(output)).map(({ id }) => `old ${id}`).sort()).toEqual(sent);
  expect(sent.length).toBeLessThan(count);
}

test.each([
  ["written over with other requests", () => writeFileSync(input, linesOf(0, count, "new"))],
  ["written over, and longer", () => writeFileSync(input, linesOf(0, 2 * count, "new"))],
  [
    "written over with the same and then others",
    () => {
      writeFileSync(input, linesOf(0, count / 2) + linesOf(count / 2, count, "new"));
    },
  ],
  [
    "replaced by another file",
    () => {
      writeFileSync(`${input}.next`, linesOf(0, count));
      renameSync(`${input}.next`, input);
    },
  ],
  ["emptied", () => truncateSync(input)],
  ["cut in the middle of a line", () => truncateSync(input, lineOf(0).length * 300 + 17)],
])("an input that is %s stops the run, and rows of before are kept", async (_, change) => {
  await writeFile(input, linesOf(0, count));
  meanwhile(change);
  await expectStopped(await bulk());
});

test("an unpacked input that is written over stops the run", async () => {
  await writeFile(input, gzipSync(linesOf(0, count), { level: 0 }));
  meanwhile(() => writeFileSync(input, gzipSync(linesOf(0, count, "new"), { level: 0 })));
  await expectStopped(await bulk());
});

test("a line that was changed once it had been read is told at the end", async () => {
  await writeFile(input, linesOf(0, count));
  meanwhile(() => writeFileSync(input, lineOf(0, "new") + linesOf(1, count)));
  const { exitCode, stderr } = await bulk();
  expect([exitCode, stderr]).toEqual([1, expect.stringMatching(changed)]);
  expect(changed.exec(stderr)?.[1]).toBe("1");
  expect(await rowsOf(output)).toHaveLength(count);
});

test("an input that only grew is no change, and what was added waits for the next start", async () => {
  await writeFile(input, linesOf(0, count));
  meanwhile(() => appendFileSync(input, linesOf(count, count + 20)));
  expect(await bulk()).toMatchObject({ exitCode: 0, stderr: "" });
  expect(await rowsOf(output)).toHaveLength(count);
  server.requests = [];
  expect((await bulk()).exitCode).toBe(0);
  expect(server.requests).toHaveLength(20);
  expect(await rowsOf(output)).toHaveLength(count + 20);
});

test("a last line that is still being written waits for the next start", async () => {
  const [last, rest] = [lineOf(count).slice(0, 40), lineOf(count).slice(40)];
  await writeFile(input, linesOf(0, count) + last);
  meanwhile(() => appendFileSync(input, rest));
  const stderr = `Line ${count + 1} is not complete yet: the next start reads it.\n`;
  expect(await bulk()).toMatchObject({ exitCode: 0, stderr });
  expect(await rowsOf(output)).toHaveLength(count);
  expect((await bulk()).exitCode).toBe(0);
  expect(await rowsOf(output)).toHaveLength(count + 1);
});

test("a last line that was a request, and becomes longer, is a change", async () => {
  await writeFile(input, linesOf(0, count).trimEnd());
  meanwhile(() => appendFileSync(input, "garbage\n"));
  const { exitCode, stderr } = await bulk();
  expect([exitCode, changed.exec(stderr)?.[1]]).toEqual([1, `${count}`]);
  expect(await rowsOf(output)).toHaveLength(count - 1);
});

test("an input that was only touched is no change", async () => {
  await writeFile(input, linesOf(0, count).trimEnd());
  meanwhile(() => utimesSync(input, 1, 1));
  expect(await bulk()).toMatchObject({ exitCode: 0, stderr: "" });
  expect(await rowsOf(output)).toHaveLength(count);
});

test("a run that was stopped so goes on with what the file holds then", async () => {
  await writeFile(input, linesOf(0, count));
  meanwhile(() => truncateSync(input));
  expect((await bulk()).exitCode).toBe(1);
  const before = await readFile(output, "utf8");
  await appendFile(input, linesOf(0, count));
  expect((await bulk()).exitCode).toBe(0);
  expect((await readFile(output, "utf8")).startsWith(before)).toBe(true);
  expect(new Set((await rowsOf(output)).map(({ id }) => id)).size).toBe(count);
  expect(server.requests).toHaveLength(count);
});
