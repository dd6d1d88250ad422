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
