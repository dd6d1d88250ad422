import { appendFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { BulkRequest, readLine } from "../../../src/cli/bulk/bulkRequest.js";
import { EarlierRows } from "../../../src/cli/bulk/earlierRows.js";
import { type FirstPassResult, firstPass } from "../../../src/cli/bulk/firstPass.js";
import type { Row } from "../../../src/cli/checkpoints/readRows.js";
import { type Line, linesOf } from "../../../src/cli/input/lines.js";
import { temporaryFolder } from "../../support/project.js";

let folder: string;
let remove: () => Promise<void>;
let input: string;
let done: Row[];

beforeEach(async () => {
  ({ folder, remove } = await temporaryFolder());
  input = path.join(folder, "in.jsonl");
  done = [];
});
afterEach(() => remove());

const reading = {
  idField: "id",
  queryField: "query",
  documentsField: "documents",
  defaults: { return_documents: false },
  given: [],
  ignored: new Set<string>(),
  shard: undefined,
};
const requestOf = (id: string | number, query = "q") => ({ id, query, documents: ["ä", "two"] });
const write = (...rows: object[]): Promise<void> =>
  writeFile(input, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
const line = { number: 1, bytes: undefined, offset: 0, end: 0, hasEnd: true };
const fileOf = (rows: readonly Row[]) => ({
  path: path.join(folder, "out.jsonl"),
  read: async (note: (line: Line, row: Row) => void): Promise<void> => {
    for (const row of rows) note(line, row);
  },
});
const look = async (wrong: readonly Row[] = []): Promise<FirstPassResult> =>
  firstPass({
    file: input,
    input: { name: "--bulk", wanted: "JSON lines", allowEmpty: false },
    signal: new AbortController().signal,
    reading,
    earlier: await EarlierRows.read(fileOf(done), fileOf(wrong), false),
  });

async function* chunks(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text);
}

async function readRequest(row: object): Promise<BulkRequest> {
  for await (const [line] of linesOf(chunks(JSON.stringify(row)))) {
    const request = line && readLine(line, reading);
    if (request instanceof BulkRequest) return request;
  }
  throw new Error("It is no request.");
}

async function noteDone(row: object): Promise<void> {
  const { id, fingerprint } = await readRequest(row);
  done.push({ id, fingerprint, response: {} });
}

test("a request has the fingerprint that earlier versions gave it", async () => {
  expect((await readRequest(requestOf("r0", "q0"))).fingerprint).toBe("Oi_gEObpvSEGG9uVDD3Ofe");
});

test("what is done, and what is known to be wrong, is found by id and request", async () => {
  const wrong = await readRequest(requestOf(2));
  await noteDone(requestOf("1"));
  await write(requestOf("1"), requestOf(1), requestOf(2), requestOf(3));
  const { fingerprint } = wrong;
  const found = await look([{ id: 2, fingerprint, error: { code: "INVALID_ARGUMENT" }, final: true }]);
  expect(found.requests).toBe(4);
  expect([1, 2, 3, 4].filter((line) => found.done.has(line))).toEqual([1, 3]);
});

test("a wrong request that was mended is not done", async () => {
  const error = { code: "INVALID_ARGUMENT" };
  await write(requestOf(2));
  expect((await look([{ id: 2, fingerprint: "another_fingerprint_22", error, final: true }])).done.size).toBe(
    0,
  );
});

test("a changed request under a done id is refused, among many lines", async () => {
  const rows = Array.from({ length: 20_000 }, (_, index) => requestOf(`request ${index}`));
  for (const row of rows.slice(0, 12_000)) await noteDone(row);
  await write(...rows);
  const { requests, done: lines } = await look();
  expect([requests, lines.size, lines.has(12_000), lines.has(12_001)]).toEqual([20_000, 12_000, true, false]);
  await writeFile(path.join(folder, "out.jsonl"), `${JSON.stringify({ id: "request 9" })}\n`);
  rows[9] = requestOf("request 9", "another");
  await write(...rows);
  await expect(look()).rejects.toThrow("Line 10: the id is done in --output, but with another request");
  await appendFile(input, `${JSON.stringify(rows[5])}\n`);
  await expect(look()).rejects.toThrow("line 20001 has the id of line 6. Nothing was sent.");
});
