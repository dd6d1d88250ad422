import { writeFile } from "node:fs/promises";
import path from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { errors, folder, input, output, rankingOf, rowsOf, useBulkFiles } from "../../support/bulkFiles.js";
import { tunerank } from "../../support/commandLine.js";
import { useRecordingServer } from "../../support/recordingServer.js";

const server = useRecordingServer();
const bulk = useBulkFiles(server, "--concurrency", "1");
beforeEach(() => server.reply(rankingOf));

const documents = ["one", "two"];
const textOf = (rows: readonly object[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join("");
const write = (...rows: object[]): Promise<void> => writeFile(input, textOf(rows));
const bodies = (): unknown[] => server.requests.map(({ body }) => JSON.parse(`${body}`));

describe("lines without an id", () => {
  const rows = ["a", "b"].map((query) => ({ query, documents }));

  test.each([
    ["id", []],
    ["qid", ["--id-field", "qid"]],
  ])("are told of --id line, where the field would be %s", async (name, more) => {
    await write({ ...rows[0], [name]: null }, { ...rows[1] });
    const { exitCode, stderr } = await bulk("--errors", errors, ...more);
    const problem = `It has no field ${name}: name the id's field with --id-field, or number the lines with --id line.`;
    expect([exitCode, stderr.split("\n")]).toEqual([
      5,
      [
        `All 2 lines are invalid: ${problem} Line 1 has query, documents, ${name}. Nothing was sent.`,
        `Line 1 is skipped. ${problem}`,
        `Line 2 is skipped. ${problem}`,
        "",
      ],
    ]);
    expect(server.connections).toBe(0);
  });

  test("are numbered with --id line, blank ones too, and the run goes on where it stopped", async () => {
    await writeFile(input, `${textOf(rows.slice(0, 1))}\n${textOf(rows.slice(1))}`);
    expect(await bulk("--id", "line")).toMatchObject({ exitCode: 0, stderr: "" });
    expect((await rowsOf(output)).map(({ id, response }) => [id, response?.model])).toEqual([
      [1, "for a"],
      [3, "for b"],
    ]);
    expect((await bulk("--id", "line")).stdout).toMatch(/^Ranked 0, 2 already done, in /);
    expect(server.requests).toHaveLength(2);
    // A line that was put before them moves them: none gets the ranking of another.
    await write({ query: "new", documents }, ...rows);
    expect((await bulk("--id", "line")).stderr).toContain(
      "the id is done in --output, but with another request",
    );
  });

  test("are numbered in a pipe, whatever they have as id", async () => {
    const text = textOf([
      { ...rows[0], id: "same" },
      { ...rows[1], id: "same" },
    ]);
    const args = ["rerank", "--bulk", "-", "--output", output, "--id", "line"];
    expect(await tunerank(args, { baseUrl: server.url, input: text })).toMatchObject({
      exitCode: 0,
      stderr: "",
    });
    expect((await rowsOf(output)).map(({ id }) => id).sort()).toEqual([1, 2]);
    expect(bodies()).toContainEqual({ ...rows[0], return_documents: false });
  });

  test.each([
    [
      ["--id", "7"],
      '--id takes only the word "line" (--id line): then the id is the line number. --id-field names the field that holds the id.',
    ],
    [["--id", "line", "--id-field", "qid"], "--id-field has no effect on --id line."],
  ])("%j is refused", async (more, message) => {
    await write(...rows);
    const { exitCode, stderr } = await bulk(...more);
    expect([exitCode, stderr.split("\n")[0]]).toEqual([2, `tunerank: ${message}`]);
    expect(server.connections).toBe(0);
  });
});

describe("documents in several fields", () => {
  const field = "--documents-field";
  const sentDocuments = (): unknown[] => bodies().map((body) => (body as { documents: unknown }).documents);

  test("are one list, in the order of the names; a text is one document, and null none", async () => {
    await write(
      { id: 1, query: "a", neg: ["n1", "n2"], pos: ["p1"] },
      { id: 2, query: "b", neg: null, pos: "p2" },
      { id: 3, query: "c", neg: ["n3"] },
    );
    expect(await bulk(field, "pos, neg")).toMatchObject({ exitCode: 0, stderr: "" });
    expect(sentDocuments()).toEqual([["p1", "n1", "n2"], ["p2"], ["n3"]]);
    // Joined in the file they are the same requests.
    await write({ id: 1, query: "a", documents: ["p1", "n1", "n2"] });
    expect((await bulk()).stdout).toMatch(/^Ranked 0, 1 already done, in /);
    expect(server.requests).toHaveLength(3);
  });

  test("with a name that no line has are refused, and mended", async () => {
    await write({ id: 1, query: "q", pos: ["a"], neg: ["b"] });
    const { exitCode, stderr } = await bulk(field, "pos,negs");
    expect([exitCode, stderr.split("\n")[0], server.connections]).toEqual([
      2,
      "tunerank: No line has negs, which --documents-field names. Nothing was sent.",
      0,
    ]);
    expect((await bulk(field, "pos,neg")).exitCode).toBe(0);
    expect(sentDocuments()).toEqual([["a", "b"]]);
  });

  test.each([
    ["nothing in them", { pos: [], neg: [] }, "documents must be a list of at least 1 string."],
    ["no text in one", { pos: ["p"], neg: [{ text: "n" }] }, "documents[1] must be a string."],
    ["a number in the place of one", { pos: 7, neg: ["n"] }, "documents[0] must be a string."],
  ])("with %s are invalid", async (_, fields, message) => {
    await write({ id: 1, query: "q", ...fields });
    const { exitCode, stderr } = await bulk(field, "pos,neg");
    expect([exitCode, stderr]).toEqual([5, expect.stringContaining(`Line 1: [INVALID_ARGUMENT] ${message}`)]);
    expect(stderr).toContain(`The only request is invalid: ${message} Line 1 has id, query`);
    expect(server.connections).toBe(0);
  });

  test("may be called as fields of a request, and one name may have a comma", async () => {
    await write({ id: 1, query: "q", "pos,neg": ["one"] }, { id: 2, query: "q", task: ["t"], pos: ["p"] });
    expect((await bulk(field, "pos,neg", "--task", "mine")).stderr).toContain("Line 2: ");
    expect(sentDocuments()).toEqual([["one"]]);
    const more = ["--errors", errors, "--output", path.join(folder, "other.jsonl"), "--task", "mine"];
    await write({ id: 2, query: "q", task: ["t"], pos: ["p"] });
    expect(await bulk(field, "task,pos", ...more)).toMatchObject({ exitCode: 0, stderr: "" });
    expect(bodies().at(-1)).toEqual({
      query: "q",
      documents: ["t", "p"],
      task: "mine",
      return_documents: false,
    });
  });

  test.each(["pos,", ",", "pos,neg,pos"])("%j is refused", async (names) => {
    await write({ id: 1, query: "q", documents });
    const { exitCode, stderr } = await bulk(field, names);
    expect([exitCode, stderr.split("\n")[0]]).toEqual([
      2,
      "tunerank: --documents-field must name one field, or several, each once: pos,neg.",
    ]);
  });
});

describe("documents that are objects", () => {
  const passages = [
    { id: "d1", text: "one", title: "first" },
    { id: 2, text: "two" },
  ];
  const named = ["--text-field", "text", "--document-id-field", "id"];
  const idsOf = async (file = output): Promise<unknown> =>
    (await rowsOf(file)).map((row) => (row as { document_ids?: unknown }).document_ids);

  test("are ranked by the field of --text-field, beside others that are text", async () => {
    await write({ id: 1, query: "a", documents: [...passages, "three"] });
    expect(await bulk("--text-field", "text")).toMatchObject({ exitCode: 0, stderr: "" });
    expect(bodies()).toEqual([{ query: "a", documents: ["one", "two", "three"], return_documents: false }]);
    expect(await idsOf()).toEqual([undefined]);
    // It is the request that it would be with the texts alone.
    await write({ id: 1, query: "a", documents: ["one", "two", "three"] });
    expect((await bulk()).stdout).toMatch(/^Ranked 0, 1 already done, in /);
  });

  test("have their ids in the row, in the order of the ranking", async () => {
    server.reply({
      json: {
        data: [
          { index: 2, relevance_score: 0.9 },
          { index: 0, relevance_score: 0.8 },
        ],
      },
    });
    await write({ id: 1, query: "a", pos: passages, neg: [{ id: "d3", text: "three" }], top_n: 2 });
    const more = [...named, "--documents-field", "pos,neg"];
    expect(await bulk(...more)).toMatchObject({ exitCode: 0, stderr: "" });
    expect(server.only).toBeDefined();
    expect(await idsOf()).toEqual([["d3", "d1"]]);
    expect((await bulk(...more)).stdout).toMatch(/^Ranked 0, 1 already done, in /);
    // With another id of a document the row would not be true any more.
    await write({ id: 1, query: "a", pos: passages, neg: [{ id: "d4", text: "three" }], top_n: 2 });
    expect((await bulk(...more)).stderr).toContain(
      "Line 1: the id is done in --output, but with another request",
    );
  });

  const skipped = (problem: string): string =>
    `The only line is invalid: ${problem} Line 1 has id, query, documents. Nothing was sent.\nLine 1 is skipped. ${problem}\n`;

  test.each([
    [
      "no text",
      [{ id: 1, title: "t" }],
      "documents[0] has no text in the field text, which --text-field names. Its fields: id, title.",
    ],
    ["no object", ["one", 7], "documents[1] is no object and no text."],
  ])("with %s are told before anything is sent", async (_, list, problem) => {
    await write({ id: 1, query: "a", documents: list });
    const { exitCode, stderr } = await bulk("--text-field", "text");
    expect([exitCode, stderr]).toEqual([5, skipped(problem)]);
    expect(server.connections).toBe(0);
  });

  test.each([
    ["none", [passages[0], { text: "two" }], 1],
    ["one that cannot be read exactly", [{ id: 1.5, text: "two" }], 0],
    ["a text in its place", ["one"], 0],
  ])("with %s for an id are told before anything is sent", async (_, list, at) => {
    await write({ id: 1, query: "a", documents: list });
    const { exitCode, stderr } = await bulk(...named, "--errors", errors);
    const its = typeof list[at] === "string" ? "" : ` Its fields: ${Object.keys(list[at] ?? {}).join(", ")}.`;
    const problem = `documents[${at}] has no id that is text or a whole number in the field id, which --document-id-field names.${its}`;
    expect([exitCode, stderr]).toEqual([5, skipped(problem)]);
    expect(await rowsOf(errors)).toMatchObject([{ line: 1, error: { message: problem } }]);
    expect(server.connections).toBe(0);
  });

  test("are told of --text-field where the first lines all have them", async () => {
    await write(...Array.from({ length: 20 }, (_, id) => ({ id, query: "a", documents: passages })));
    const { exitCode, stderr } = await bulk();
    expect([exitCode, stderr.split("\n")[0]]).toEqual([
      2,
      "tunerank: The first 20 requests are all invalid: documents[0] must be a string. Line 1 has id, query, documents; if documents are objects, name the field that holds their text with --text-field. Nothing was sent.",
    ]);
  });

  test("have an id only beside a text", async () => {
    await write({ id: 1, query: "a", documents });
    const { exitCode, stderr } = await bulk("--document-id-field", "id");
    expect([exitCode, stderr.split("\n")[0]]).toEqual([
      2,
      "tunerank: --document-id-field has no effect without --text-field.",
    ]);
  });

  test("are nothing for one query", async () => {
    const { exitCode, stderr } = await tunerank(["rerank", "--query", "q", "--text-field", "text", input]);
    expect([exitCode, stderr.split("\n")[0]]).toEqual([
      2,
      "tunerank: --text-field has no effect without --bulk.",
    ]);
  });
});
