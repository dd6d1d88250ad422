// --batch-size and --split: a query with more, or longer, documents than one request takes has one row.
import { writeFile } from "node:fs/promises";
import { beforeEach, describe, expect, test } from "vitest";
import { input, output, rankingOf, rowsOf, useBulkFiles } from "../../support/bulkFiles.js";
import { tunerank } from "../../support/commandLine.js";
import { ranked } from "../../support/rankings.js";
import { useRecordingServer } from "../../support/recordingServer.js";

const server = useRecordingServer();
const bulk = useBulkFiles(server, "--concurrency", "1");
beforeEach(() => server.reply(rankingOf));

const sent = (): string[][] => server.requests.map(({ body }) => JSON.parse(`${body}`).documents);
const write = (...requests: readonly (readonly string[])[]): Promise<void> =>
  writeFile(
    input,
    requests.map((documents, id) => `${JSON.stringify({ id, query: "q", documents })}\n`).join(""),
  );
const responseOf = async (row = 0) => (await rowsOf(output))[row]?.response as unknown;

test("--batch-size sends a line in several requests, and its row has one ranking", async () => {
  await write(["a", "b", "c", "d", "e"], ["f"]);
  expect(await bulk("--batch-size", "2")).toMatchObject({ exitCode: 0, stderr: "" });
  expect(sent()).toEqual([["a", "b"], ["c", "d"], ["e"], ["f"]]);
  const { data } = (await responseOf()) as { data: { index: number }[] };
  expect(data.map(({ index }) => index).sort()).toEqual([0, 1, 2, 3, 4]);
  expect(await rowsOf(output)).toHaveLength(2);
});

test("a run goes on with another --batch-size, but not with another --split", async () => {
  await write(["a", "b", "c"]);
  expect((await bulk()).exitCode).toBe(0);
  expect((await bulk("--batch-size", "2")).stdout).toMatch(/^Ranked 0, 1 already done/);
  const { exitCode, stderr } = await bulk("--split", "10");
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining("Line 1: the id is done in --output")]);
  expect(server.requests).toHaveLength(1);
});

test("a document that the service rejects costs only itself, and its row names it", async () => {
  server.reply((request) => {
    const at = JSON.parse(`${request.body}`).documents.indexOf("bad");
    const error = { code: "INVALID_ARGUMENT", message: `documents[${at}] is too long.` };
    return at < 0 ? rankingOf(request) : { status: 400, json: error };
  });
  await write(["a", "b", "c", "bad"], ["f"]);
  const first = await bulk("--batch-size", "2");
  expect([first.exitCode, first.stderr]).toEqual([5, ""]);
  expect(first.stdout).toMatch(
    /^Ranked 2 \(1 without documents that the service rejected: `rejected` in its row\), 0 already done, in /,
  );
  const message = expect.stringContaining("documents[3] is too long.");
  expect((await rowsOf(output))[0]).toMatchObject({
    response: { data: [{}, {}, {}] },
    rejected: [{ index: 3, error: { code: "INVALID_ARGUMENT", message } }],
  });
  // The exit code is that of the whole run, whichever start did which part.
  const again = await bulk("--batch-size", "2", "--json");
  expect([again.exitCode, JSON.parse(again.stdout)]).toMatchObject([5, { before: 2, partlyBefore: 1 }]);
  expect(server.requests).toHaveLength(4);
});

describe("a limit in the middle of a line", () => {
  test("says what is sent again, and the same command continues", async () => {
    await write(["a"], ["b", "c", "d"]);
    const args = ["--batch-size", "1", "--max-requests", "3"];
    const first = await bulk(...args);
    expect([first.exitCode, first.stderr]).toEqual([
      11,
      "tunerank: --max-requests 3 is reached: 1 of 2 done; the same command continues, and sends 2 requests of unfinished lines again.\n",
    ]);
    expect((await bulk(...args)).exitCode).toBe(0);
    expect([(await rowsOf(output)).length, server.requests.length]).toEqual([2, 6]);
  });

  test("that no line fits into says that more has to be allowed", async () => {
    server.reply((request) => ranked(request, { usage: { total_tokens: 10 } }));
    await write(["a", "b", "c"]);
    const { exitCode, stderr } = await bulk("--batch-size", "1", "--max-tokens", "15");
    expect([exitCode, stderr]).toEqual([
      11,
      "tunerank: --max-tokens 15 is reached: 0 of 1 done; 2 requests were sent for a line that they do not finish: allow more.\n",
    ]);
  });

  test("is refused for a line that takes more than all of --max-requests, which runs once it may", async () => {
    await write(["a"], ["b", "c", "d"]);
    const { exitCode, stderr } = await bulk("--batch-size", "1", "--max-requests", "2");
    expect([exitCode, stderr]).toEqual([
      5,
      expect.stringMatching(/^Line 2: .*needs 3 HTTP requests .*--batch-size.*--max-requests is 2\./),
    ]);
    expect((await bulk("--batch-size", "1", "--max-requests", "3")).exitCode).toBe(0);
    expect(sent()).toEqual([["a"], ["b"], ["c"], ["d"]]);
  });
});

describe("--split", () => {
  test("cuts long documents at blanks, and a row has the best part of each", async () => {
    await write(["one two three", "four", "f".repeat(12)]);
    expect((await bulk("--split", "8")).exitCode).toBe(0);
    expect(sent()).toEqual([["one two ", "three", "four", "ffffffff", "ffff"]]);
    const { data } = (await responseOf()) as { data: { index: number; part: number }[] };
    expect(data.map(({ index, part }) => [index, part]).sort()).toEqual([
      [0, expect.any(Number)],
      [1, 0],
      [2, expect.any(Number)],
    ]);
  });

  test("never cuts a character in two", async () => {
    await write(["😀😀😀"]);
    expect((await bulk("--split", "3")).exitCode).toBe(0);
    expect(sent()).toEqual([["😀", "😀", "😀"]]);
  });

  test("works for one query too", async () => {
    await writeFile(input, "one two three\nfour\n");
    const args = ["rerank", "--query", "q", "--split", "8", "--batch-size", "2", "--json", input];
    const { exitCode, stdout } = await tunerank(args, { baseUrl: server.url });
    expect([exitCode, JSON.parse(stdout).results]).toMatchObject([0, [{}, {}]]);
    expect(sent()).toEqual([["one two ", "three"], ["four"]]);
  });

  test.each(["0", "1", "2.5"])("%s is refused", async (characters) => {
    await write(["a"]);
    const { exitCode, stderr } = await bulk("--split", characters);
    expect([exitCode, stderr.split("\n")[0]]).toEqual([
      2,
      "tunerank: --split must be a whole number of at least 2.",
    ]);
  });
});
