import { readFile, writeFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { errors, input, output, rankingOf, rowsOf, useBulkFiles } from "../support/bulkFiles.js";
import { useRecordingServer } from "../support/recordingServer.js";

const server = useRecordingServer();
const bulk = useBulkFiles(server);

// Where Python's str.splitlines() ends a line, and JSON does not have to escape.
const ends = "\u0085\u2028\u2029";
const raw = /[\u0085\u2028\u2029]/;
const rows = [
  { id: `ranked${ends}`, query: "q", documents: ["one", `two${ends}`], return_documents: true },
  { id: `wrong${ends}`, query: 1, documents: ["one"] },
];
const textOf = (file: string): Promise<string> => readFile(file, "utf8");

test("a row is one line for Python's splitlines() too, and says the same", async () => {
  await writeFile(input, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  server.reply(rankingOf);
  await bulk("--errors", errors);
  for (const file of [output, errors]) {
    const text = await textOf(file);
    expect(text).not.toMatch(raw);
    expect(text).toContain("\\u0085\\u2028\\u2029");
  }
  expect([(await rowsOf(output))[0]?.id, (await rowsOf(errors))[0]?.id]).toEqual([
    `ranked${ends}`,
    `wrong${ends}`,
  ]);
});

test("rows of earlier versions, which hold these characters as they are, are read", async () => {
  await writeFile(input, `${JSON.stringify(rows[0])}\n`);
  server.reply(rankingOf);
  await bulk("--errors", errors);
  const [row] = await rowsOf(output);
  await writeFile(output, `${JSON.stringify(row)}\n`);
  expect(await textOf(output)).toMatch(raw);
  expect((await bulk("--errors", errors)).stdout).toMatch(/^Ranked 0, 1 already done, in /);
  expect(server.requests).toHaveLength(1);
  // Another request under the id: the row of the file says whose it is.
  await writeFile(input, `${JSON.stringify({ ...rows[0], query: "other" })}\n`);
  expect((await bulk("--errors", errors)).stderr).toContain(
    "Line 1: the id is done in --output, but with another request",
  );
});
