import { writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { rankingOf, rowsOf } from "../support/bulkFiles.js";
import { tunerank } from "../support/commandLine.js";
import { type Outcome, temporaryFolder } from "../support/project.js";
import { useRecordingServer } from "../support/recordingServer.js";

const server = useRecordingServer();
let folder: string;
let remove: () => Promise<void>;
let input: string;
let output: string;
let errors: string;

beforeEach(async () => {
  ({ folder, remove } = await temporaryFolder());
  [input, output, errors] = ["in.jsonl", "out.jsonl", "errors.jsonl"].map((name) =>
    path.join(folder, name),
  ) as [string, string, string];
  server.reply(rankingOf);
});
afterEach(() => remove());

const documents = ["one", "two"];
const textOf = (rows: readonly object[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join("");
const write = (...rows: object[]): Promise<void> => writeFile(input, textOf(rows));
const bulk = (...more: string[]): Promise<Outcome> =>
  tunerank(["rerank", "--bulk", input, "--output", output, "--concurrency", "1", ...more], {
    baseUrl: server.url,
  });
const bodies = (): unknown[] => server.requests.map(({ body }) => JSON.parse(`${body}`));

describe("lines without an id", () => {
  const rows = ["a", "b"].map((query) => ({ query, documents }));

  test.each([
    ["id", []],
    ["qid", ["--id-field", "qid"]],
  ])("are told of --id line, where the field would be %s", async (name, more) => {
    await write({ ...rows[0], [name]: null }, { ...rows[1] });
    const { exitCode, stderr } = await bulk("--errors", errors, ...more);
    expect([exitCode, stderr]).toEqual([
      5,
      [1, 2]
        .map(
          (line) =>
            `Line ${line} is left out. It has no field ${name}: --id-field names the field that holds the id, and --id line numbers the lines.\n`,
        )
        .join(""),
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
    expect((await bulk("--id", "line")).stdout).toMatch(/^Ranked 0, 2 done before, in /);
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
      "--id must be line, which numbers the lines; --id-field names the field that holds the id.",
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
    expect((await bulk()).stdout).toMatch(/^Ranked 0, 1 done before, in /);
    expect(server.requests).toHaveLength(3);
  });

  test.each([
    ["none of them", {}, "documents must be a list of at least 1 string."],
    ["nothing in them", { pos: [], neg: [] }, "documents must be a list of at least 1 string."],
    ["no text in one", { pos: ["p"], neg: [{ text: "n" }] }, "documents[1] must be a string."],
    ["a number in the place of one", { pos: 7, neg: ["n"] }, "documents[0] must be a string."],
  ])("with %s are invalid", async (_, fields, message) => {
    await write({ id: 1, query: "q", ...fields });
    const { exitCode, stderr } = await bulk(field, "pos,neg");
    expect([exitCode, stderr]).toEqual([5, expect.stringContaining(`Line 1: [INVALID_ARGUMENT] ${message}`)]);
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
