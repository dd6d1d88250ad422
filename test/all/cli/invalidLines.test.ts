import { writeFile } from "node:fs/promises";
import path from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import {
  errors,
  folder,
  input,
  output,
  queryOf,
  rankingOf,
  rowsOf,
  useBulkFiles,
} from "../../support/bulkFiles.js";
import { tunerank } from "../../support/commandLine.js";
import { useRecordingServer } from "../../support/recordingServer.js";

const server = useRecordingServer();
const bulk = useBulkFiles(server, "--concurrency", "1");
beforeEach(() => {
  server.reply((request) =>
    queryOf(request) === "no"
      ? { status: 400, json: { code: "INVALID_ARGUMENT", message: "No\u2028." } }
      : rankingOf(request),
  );
});

const documents = ["one", "two"];
const rowOf = (id: unknown, query: unknown = "q"): string => `${JSON.stringify({ id, query, documents })}\n`;
// A line that is none, and a request that is refused before it is sent, in turn.
const invalid = (count: number): string =>
  Array.from({ length: count }, (_, index) => (index % 2 === 0 ? "[1]\n" : rowOf(`r${index}`, 1))).join("");
const toldIn = (stderr: string): string[] => stderr.trimEnd().split("\n");
const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

test("all of them are in --errors, and the summary says so where not all were shown", async () => {
  await writeFile(input, rowOf("a") + "[1]\n".repeat(60) + invalid(10));
  const { exitCode, stdout, stderr } = await bulk("--errors", errors);
  expect([exitCode, toldIn(stderr).length, toldIn(stderr).at(-1)]).toEqual([
    5,
    51,
    "More of these are not shown.",
  ]);
  expect((await rowsOf(errors)).map(({ line }) => line).sort((a = 0, b = 0) => a - b)).toEqual(
    numbers(70).map((line) => line + 1),
  );
  expect(stdout).toMatch(
    /^Ranked 1, 0 already done, 5 invalid, 65 skipped lines, in \d+\.\d s\. .* rows\/s\. 15 were not shown: all of them are in --errors\.\n$/,
  );
});

test("without --errors the summary says where the rest would be", async () => {
  await writeFile(input, rowOf("a") + invalid(60));
  const { stdout, stderr } = await bulk();
  expect(toldIn(stderr)).toHaveLength(51);
  expect(stdout).toMatch(
    /, 30 invalid, 30 skipped lines, in \d+\.\d s\. .* rows\/s\. 10 were not shown: with --errors FILE, all of them are in that file\.\n$/,
  );
});

test("as many as are shown are not said to be more", async () => {
  await writeFile(input, rowOf("a") + invalid(50));
  const { stdout, stderr } = await bulk();
  expect(toldIn(stderr)).toHaveLength(50);
  expect(stdout).toMatch(/, 25 skipped lines, in \d+\.\d s\. [^.]*[\d.]+ rows\/s\.\n$/);
});

test("with --json each is JSON, and so are the counts of those that were not shown", async () => {
  await writeFile(input, `${rowOf("a", "no")}[1]\n${rowOf("b", 1)}`);
  const { stdout, stderr } = await bulk("--json");
  expect(toldIn(stderr)).toHaveLength(3);
  const told = toldIn(stderr).map((line) => JSON.parse(line));
  expect(told.sort((a, b) => a.line - b.line)).toEqual([
    {
      line: 1,
      id: "a",
      error: expect.objectContaining({ code: "INVALID_ARGUMENT", executed: "no", httpStatus: 400 }),
    },
    { line: 2, error: { code: "INVALID_ARGUMENT", message: "It is not a JSON object." } },
    { line: 3, id: "b", error: expect.objectContaining({ code: "INVALID_ARGUMENT", attempts: 0 }) },
  ]);
  expect(JSON.parse(stdout)).toMatchObject({ wrong: 2, badLines: 1, notShown: 0 });

  await writeFile(input, rowOf("a") + invalid(60));
  const many = await bulk("--json", "--output", path.join(folder, "other.jsonl"));
  expect(JSON.parse(toldIn(many.stderr).at(-1) ?? "")).toEqual({ note: "More of these are not shown." });
  expect(JSON.parse(many.stdout)).toMatchObject({ badLines: 30, notShown: 10 });
});

test("with --json an id that was there before, in a pipe, is JSON too", async () => {
  const args = ["rerank", "--bulk", "-", "--output", output, "--json"];
  const { stderr } = await tunerank(args, { baseUrl: server.url, input: rowOf("a") + rowOf("a") });
  expect(JSON.parse(stderr)).toEqual({
    line: 2,
    id: "a",
    error: { code: "INVALID_ARGUMENT", message: "An earlier line has this id.", executed: "no" },
  });
});

describe("one policy for a line that cannot be used", () => {
  const bad = ['{"id":3', '{"id":4,"query":5,"text":null}', Buffer.from([0xe9])] as const;
  const good =
    '{"id":1,"query":"q","documents":["a"],"text":"a"}\n{"id":2,"query":"q","documents":["b"],"text":"b"}\n';
  const file = (...lines: readonly (string | Uint8Array)[]): Buffer =>
    Buffer.concat(lines.map((line) => Buffer.concat([Buffer.from(line), Buffer.from("\n")])));
  const mixed = Buffer.concat([Buffer.from(good), file(...bad)]);
  const field = (...more: readonly string[]) =>
    tunerank(["rerank", "--query", "q", "--field", "text", input, ...more], { baseUrl: server.url });

  test("with --field it is named, skipped and counted, and the rest is ranked", async () => {
    await writeFile(input, mixed);
    const { exitCode, stdout, stderr } = await field();
    expect(exitCode).toBe(5);
    expect(stdout.trim().split("\n")).toHaveLength(2);
    expect(toldIn(stderr)).toEqual([
      expect.stringMatching(/^Line 3 is skipped. It is not JSON \(column 8: .*\)\.$/),
      "Line 4 is skipped. It has no string in the field that --field names.",
      expect.stringMatching(/^Line 5 is skipped. It is not UTF-8 \(column 1\)\. If it is Latin-1: `iconv /),
      "3 lines were skipped.",
    ]);
    expect(JSON.parse(`${server.only.body}`).documents).toEqual(["a", "b"]);
  });

  test("with --field and --json each is JSON, and so is their number", async () => {
    await writeFile(input, Buffer.concat([mixed, file(...Array.from({ length: 60 }, () => "1"))]));
    const { exitCode, stdout, stderr } = await field("--json");
    expect(exitCode).toBe(5);
    expect(JSON.parse(stdout)).toMatchObject({ results: [{}, {}], badLines: 63 });
    const told = toldIn(stderr).map((line) => JSON.parse(line));
    expect(told).toHaveLength(52);
    expect(told[1]).toEqual({
      line: 4,
      error: { code: "INVALID_ARGUMENT", message: "It has no string in the field that --field names." },
    });
    expect(told.slice(50)).toEqual([
      { note: "More of these are not shown." },
      { note: "63 lines were skipped. 13 of them were not shown." },
    ]);
  });

  test.each([
    ["--field", () => field("--strict")],
    ["--bulk", () => bulk("--strict")],
  ])("with --strict %s sends nothing of a file with such lines", async (_name, run) => {
    await writeFile(input, mixed);
    const { exitCode, stdout, stderr } = await run();
    expect([exitCode, stdout, server.connections]).toEqual([2, "", 0]);
    const told = toldIn(stderr);
    expect(told.slice(0, 3)).toEqual([
      expect.stringMatching(/^Line 3 is invalid. It is not JSON /),
      expect.stringMatching(/^Line 4 is invalid. /),
      expect.stringMatching(/^Line 5 is invalid. It is not UTF-8 /),
    ]);
    expect(told[3]).toBe("tunerank: 3 lines are invalid, so nothing was sent (--strict).");
    await writeFile(input, good);
    expect(await run()).toMatchObject({ exitCode: 0, stderr: "" });
  });

  test("--strict sends nothing of a file with another spelling of a field", async () => {
    await writeFile(input, rowOf(1) + rowOf(2).replace("}", ', "topN": 3}'));
    const { exitCode, stdout, stderr } = await bulk("--strict");
    expect([exitCode, stdout, server.connections]).toEqual([2, "", 0]);
    expect(toldIn(stderr).slice(0, 2)).toEqual([
      "Line 2 is invalid. body has topN: did you mean top_n?",
      "tunerank: 1 line is invalid, so nothing was sent (--strict).",
    ]);
  });

  test("--strict reads the whole input first, which a pipe to --bulk does not allow", async () => {
    const args = ["rerank", "--bulk", "-", "--output", output, "--strict"];
    const { exitCode, stderr } = await tunerank(args, { baseUrl: server.url, input: good });
    expect([exitCode, stderr.split("\n")[0]]).toEqual([
      2,
      "tunerank: --strict reads the whole input before anything is sent: --bulk must be a file, not a pipe.",
    ]);
  });

  test("a file without any document to rank is refused, with its first line", async () => {
    await writeFile(input, file(...bad));
    const { exitCode, stderr } = await field();
    expect([exitCode, server.connections]).toEqual([2, 0]);
    expect(toldIn(stderr)[0]).toMatch(
      /^tunerank: No line can be ranked with --field; nothing was sent\. Line 1: It is not JSON /,
    );
  });
});
