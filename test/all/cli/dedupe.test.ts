// --dedupe: requests that ask the same under different ids are sent once, and each id has its row.
import { writeFile } from "node:fs/promises";
import { beforeEach, expect, test } from "vitest";
import { errors, input, output, queryOf, rankingOf, rowsOf, useBulkFiles } from "../../support/bulkFiles.js";
import { tunerank } from "../../support/commandLine.js";
import { useRecordingServer } from "../../support/recordingServer.js";

const server = useRecordingServer();
const bulk = useBulkFiles(server);
beforeEach(() => server.reply(rankingOf));

const rowOf = (id: unknown, query: unknown, more: object = {}): string =>
  `${JSON.stringify({ id, query, documents: ["one", "two"], ...more })}\n`;
const queries = (): string[] => server.requests.map(queryOf).sort();
const idsOf = async (file = output) => (await rowsOf(file)).map(({ id }) => id).sort();

test("each is sent once, and every id has the row", async () => {
  await writeFile(input, ["a", "b", "a", "c", "a"].map((query, id) => rowOf(id, query)).join(""));
  const { exitCode, stdout, stderr } = await bulk("--dedupe");
  expect([exitCode, stderr, queries()]).toEqual([0, "", ["a", "b", "c"]]);
  expect(stdout).toMatch(/^Ranked 5 \(2 of them as another line that asks the same\), 0 already done, in /);
  const rows = await rowsOf(output);
  expect(rows.map(({ id, response }) => [id, response?.model]).sort()).toEqual([
    [0, "for a"],
    [1, "for b"],
    [2, "for a"],
    [3, "for c"],
    [4, "for a"],
  ]);
  expect(new Set(rows.map(({ fingerprint }) => fingerprint)).size).toBe(5);
  // It is the run without the option, too.
  expect((await bulk()).stdout).toMatch(/^Ranked 0, 5 already done, in /);
});

test("what is not sent does not count, but documents in another order and other options do", async () => {
  const more = [{ note: 1 }, { note: 2 }, { documents: ["two", "one"] }, { top_n: 1 }, { top_n: null }];
  await writeFile(input, more.map((each, id) => rowOf(id, "a", each)).join(""));
  expect((await bulk("--dedupe")).exitCode).toBe(0);
  expect(server.requests).toHaveLength(3);
  expect(await idsOf()).toEqual([0, 1, 2, 3, 4]);
});

test("without it they are sent, and counted in the summary", async () => {
  await writeFile(input, ["a", "b", "a", "a"].map((query, id) => rowOf(id, query)).join(""));
  const { stdout } = await bulk();
  expect(stdout).toMatch(
    /, in \d+\.\d s\. .*rows\/s\. 2 lines ask the same as another; --dedupe sends each once\.\n$/,
  );
  expect(server.requests).toHaveLength(4);
  expect(JSON.parse((await bulk("--json")).stdout)).toMatchObject({ before: 4, same: 0 });
});

test("without it those that fail are counted too", async () => {
  server.reply((request) => (queryOf(request) === "a" ? { json: {} } : rankingOf(request)));
  await writeFile(input, ["a", "a", "b", "b", "a"].map((query, id) => rowOf(id, query)).join(""));
  expect((await bulk()).stdout).toContain(" 3 lines ask the same as another; --dedupe sends each once.");
});

test("with it none is said to ask the same: on one line, and on new lines of a run that goes on", async () => {
  for (const ids of [["a"], ["a", "b"]]) {
    await writeFile(input, ids.map((id) => rowOf(id, id)).join(""));
    const { stdout } = await bulk("--dedupe", "--json");
    expect(JSON.parse(stdout)).toMatchObject({ ranked: 1, same: 0, copied: 0 });
  }
  expect(queries()).toEqual(["a", "b"]);
});

test("each row has the ids of its own documents", async () => {
  const documents = (first: string) => [
    { text: "one", id: first },
    { text: "two", id: "z" },
  ];
  await writeFile(
    input,
    ["x", "y"].map((first, id) => rowOf(id, "a", { documents: documents(first) })).join(""),
  );
  const fields = ["--text-field", "text", "--document-id-field", "id"];
  expect((await bulk("--dedupe", ...fields)).exitCode).toBe(0);
  expect(server.requests).toHaveLength(1);
  const rows = (await rowsOf(output)) as readonly { document_ids?: string[] }[];
  expect(rows.map(({ document_ids }) => [...(document_ids ?? [])].sort())).toEqual([
    ["x", "z"],
    ["y", "z"],
  ]);
});

test("a run that was killed between two rows goes on from the first", async () => {
  await writeFile(input, ["ä", "b", "ä"].map((query, id) => rowOf(id, query)).join(""));
  await bulk("--dedupe", "--concurrency", "1");
  const kept = (await rowsOf(output)).filter(({ id }) => id !== 2);
  await writeFile(output, kept.map((row) => `${JSON.stringify(row)}\n`).join(""));
  server.requests = [];
  expect(await bulk("--dedupe")).toMatchObject({ exitCode: 0, stderr: "" });
  expect(server.requests).toHaveLength(0);
  expect((await rowsOf(output)).find(({ id }) => id === 2)?.response).toEqual(kept[0]?.response);
});

test("an invalid request is rejected once, and each id has its error", async () => {
  server.reply({ status: 400, json: { code: "INVALID_ARGUMENT", message: "No." } });
  await writeFile(input, rowOf(1, "a") + rowOf(2, "a"));
  expect((await bulk("--dedupe", "--errors", errors)).exitCode).toBe(5);
  expect(server.requests).toHaveLength(1);
  expect((await rowsOf(errors)).map(({ id, final }) => [id, final]).sort()).toEqual([
    [1, true],
    [2, true],
  ]);
});

test("what failed for a while is sent again once on the next start", async () => {
  server.reply({ status: 503 });
  await writeFile(input, rowOf(1, "a") + rowOf(2, "a"));
  const failed = await bulk("--dedupe", "--timeout", "0.3");
  // 9 on a busy machine, where the first response comes after the deadline.
  expect([8, 9]).toContain(failed.exitCode);
  expect(await idsOf()).toEqual([]);
  server.reply(rankingOf);
  server.requests = [];
  expect((await bulk("--dedupe")).exitCode).toBe(0);
  expect([server.requests.length, await idsOf()]).toEqual([1, [1, 2]]);
});

test("thousands of the same from a pipe are sent once, and invalid ones are not waited for", async () => {
  const invalid = Array.from({ length: 10 }, (_, id) => rowOf(`x${id}`, 1));
  const text = invalid.join("") + Array.from({ length: 3000 }, (_, id) => rowOf(id, "a")).join("");
  const args = ["rerank", "--bulk", "-", "--output", output, "--errors", errors, "--dedupe"];
  const { exitCode } = await tunerank(args, { baseUrl: server.url, input: text });
  expect([exitCode, server.requests.length]).toEqual([5, 1]);
  expect([(await rowsOf(output)).length, (await rowsOf(errors)).length]).toEqual([3000, 10]);
});

test("what shares the error of a paid request is not said to be paid for", async () => {
  server.reply({ json: { data: [{ index: 9, relevance_score: 1 }] } });
  await writeFile(input, [1, 2, 3, 4].map((id) => rowOf(id, "a")).join(""));
  const { stdout } = await bulk("--dedupe", "--concurrency", "1");
  expect(server.requests).toHaveLength(1);
  expect(stdout).toContain(
    "Ranked 0, 0 already done, 1 paid for without a result, 3 with the error of such a line that asks the same (--resend-paid sends them again), in ",
  );
});

test.each([
  ["was paid for and is useless", { json: { data: [{ index: 9, relevance_score: 1 }] } }],
  [
    "says what is wrong with it",
    { status: 400, json: { error: { code: "INVALID_ARGUMENT", message: "No." } } },
  ],
])("a request whose response %s is not sent again for a later line", async (_what, reply) => {
  server.reply((request) => (queryOf(request) === "a" ? reply : rankingOf(request)));
  const asked = Array.from({ length: 20 }, (_, line) => (line % 2 ? `${line}` : "a"));
  await writeFile(input, asked.map((query, id) => rowOf(id, query)).join(""));
  await bulk("--dedupe", "--concurrency", "1");
  expect(queries().filter((query) => query === "a")).toHaveLength(1);
  expect(server.requests).toHaveLength(11);
  const rows = await rowsOf(output);
  expect(rows.filter(({ response }) => response).length).toBe(10);
  expect(new Set(rows.map(({ id }) => id)).size).toBe(20);
});
