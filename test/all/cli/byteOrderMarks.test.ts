import { writeFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { errors, input, queryOf, rankingOf, useBulkFiles } from "../../support/bulkFiles.js";
import { tunerank } from "../../support/commandLine.js";
import { useRecordingServer } from "../../support/recordingServer.js";

const server = useRecordingServer();
const bulk = useBulkFiles(server);
const mark = "\uFEFF";
const row = (id: number): string => JSON.stringify({ id, query: `q${id}`, documents: ["a", "b"] });

test("a byte order mark is skipped before the first line only: `cat` of two files makes others", async () => {
  await writeFile(input, `${mark}${row(1)}\n${mark}${row(2)}\n${row(3)}\n`);
  server.reply(rankingOf);
  const { exitCode, stderr } = await bulk("--errors", errors);
  expect([exitCode, stderr.split("\n")[0]]).toEqual([
    5,
    "Line 2 is skipped. It is not JSON (column 1: a byte order mark).",
  ]);
  expect(server.requests.map(queryOf).sort()).toEqual(["q1", "q3"]);
  const { exitCode: checked, stdout } = await tunerank(["check", input]);
  expect([checked, stdout]).toEqual([
    2,
    expect.stringContaining("  Invalid: line 2, column 1: a byte order mark\n"),
  ]);
});

test("a doubled byte order mark is one too many, also in a body and among documents", async () => {
  await writeFile(input, `${mark}${mark}${row(1)}`);
  expect((await tunerank(["check", input])).stdout).toContain(
    "  Invalid: line 1, column 1: a byte order mark\n",
  );
  const { exitCode, stderr } = await tunerank(["request", "rerankDocuments", "--body-file", input], {
    baseUrl: server.url,
  });
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining("(line 1, column 1: a byte order mark)")]);
  const field = await tunerank(["rerank", "--query", "q", "--field", "query", input], {
    baseUrl: server.url,
  });
  expect([field.exitCode, field.stderr]).toEqual([
    2,
    expect.stringContaining("Line 1: It is not JSON (column 1: a byte order mark)."),
  ]);
  expect(server.connections).toBe(0);
});

test("a byte order mark alone in a line is no JSON either, and one in a text is kept", async () => {
  await writeFile(
    input,
    `${row(1)}\n${mark}\n${JSON.stringify({ id: 2, query: `${mark}q`, documents: ["a"] })}\n`,
  );
  const { stdout } = await tunerank(["check", input]);
  expect(stdout).toContain("  Invalid: line 2, column 1: a byte order mark\n");
  expect(stdout).not.toContain("line 3");
});
