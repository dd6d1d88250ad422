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
beforeEach(() => server.reply(rankingOf));

const documents = ["one", "two"];
const textOf = (rows: readonly object[]): string =>
  rows
    .map((row, index) => `${JSON.stringify({ id: index, query: `q${index}`, documents, ...row })}\n`)
    .join("");
const sent = (name: string): unknown[] => server.requests.map(({ body }) => JSON.parse(`${body}`)[name]);

describe("a field of a line that is used instead of an option", () => {
  test.each([
    ["--task", "task", "mine", "theirs"],
    ["--model", "model", "accounts/a/models/m", "accounts/a/models/n"],
    ["--top-n", "top_n", 2, 1],
  ] as const)("%s is told before anything is sent", async (option, field, mine, theirs) => {
    await writeFile(input, textOf([{ [field]: theirs }, {}, { [field]: mine }, { [field]: theirs }]));
    const { exitCode, stderr } = await bulk(option, `${mine}`);
    expect([exitCode, stderr]).toEqual([
      0,
      `2 lines have their own ${field}, which is used instead of ${option}; --ignore-fields ${field} uses ${option} for all.\n`,
    ]);
    expect(sent(field)).toEqual([theirs, mine, mine, theirs]);
  });

  test("is not used with --ignore-fields, of which nothing is told", async () => {
    await writeFile(input, textOf([{ task: "theirs", top_n: 1 }, {}]));
    const more = ["--task", "mine", "--ignore-fields", "task,top_n"];
    expect(await bulk(...more)).toMatchObject({ exitCode: 0, stderr: "" });
    expect([sent("task"), sent("top_n")]).toEqual([
      ["mine", "mine"],
      [undefined, undefined],
    ]);
    // It is the same run that goes on, and another one without.
    expect((await bulk(...more)).exitCode).toBe(0);
    expect((await bulk("--task", "mine")).stderr).toContain("Line 1: the id is done in --output");
  });

  test("is told of the first line of a pipe, and as JSON for programs", async () => {
    const piped = { baseUrl: server.url, input: textOf([{}, { task: "theirs" }, { task: "theirs" }]) };
    const args = ["rerank", "--bulk", "-", "--output", output, "--task", "mine"];
    const line =
      "Line 2 has its own task, which is used instead of --task; --ignore-fields task uses --task for all.";
    expect((await tunerank(args, piped)).stderr).toBe(`${line}\n`);
    const other = ["--output", path.join(folder, "other.jsonl")];
    await writeFile(input, textOf([{ task: "theirs" }]));
    expect(JSON.parse((await bulk("--task", "mine", "--json", ...other)).stderr)).toEqual({
      note: "1 line has its own task, which is used instead of --task; --ignore-fields task uses --task for all.",
    });
  });

  test("is no news where the lines are done, and --quiet tells nothing", async () => {
    await writeFile(input, textOf([{ task: "theirs" }]));
    expect((await bulk("--task", "mine", "--quiet")).stderr).toBe("");
    expect((await bulk("--task", "mine")).stderr).toBe("");
  });

  test.each([
    [
      "query",
      "--ignore-fields must name fields of a request, such as task: model, top_n, return_documents, task.",
    ],
    [
      "",
      "--ignore-fields must name fields of a request, such as task: model, top_n, return_documents, task.",
    ],
  ])("--ignore-fields %j is refused", async (value, message) => {
    await writeFile(input, textOf([{}]));
    const { exitCode, stderr } = await bulk(`--ignore-fields=${value}`);
    expect([exitCode, stderr.split("\n")[0]]).toEqual([2, `tunerank: ${message}`]);
  });
});

test("null means not given", async () => {
  const nothing = { top_n: null, task: null, model: null, return_documents: null };
  await writeFile(input, textOf([nothing, { ...nothing, topN: null }]));
  expect(await bulk("--task", "mine")).toMatchObject({ exitCode: 0, stderr: "" });
  expect(server.requests.map(({ body }) => JSON.parse(`${body}`))).toEqual(
    ["q0", "q1"].map((query) => ({ query, documents, task: "mine", return_documents: false })),
  );
  // It is the request without them.
  await writeFile(input, textOf([{}, {}]));
  expect(await bulk("--task", "mine")).toMatchObject({ exitCode: 0, stderr: "" });
  expect(server.requests).toHaveLength(2);
});

describe("a request that was never sent", () => {
  test.each([
    ["without a file for errors", () => []],
    ["with one", () => ["--errors", errors]],
  ])("is told, and the mended command sends it: %s", async (_, more) => {
    const rows = Array.from({ length: 3 }, (_each, index) => ({
      id: `r${index}`,
      question: `q${index}`,
      documents,
    }));
    await writeFile(input, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
    const first = await bulk(...more());
    expect(first.exitCode).toBe(5);
    expect(first.stdout).toMatch(/^Ranked 0, 0 already done, 3 invalid, in /);
    expect(await rowsOf(output)).toEqual([]);
    expect((await bulk(...more())).exitCode).toBe(5);
    const mended = await bulk("--query-field", "question", ...more());
    expect(mended).toMatchObject({ exitCode: 0, stderr: "" });
    expect((await rowsOf(output)).map(({ id }) => id)).toEqual(["r0", "r1", "r2"]);
    expect(server.requests.map(queryOf)).toEqual(["q0", "q1", "q2"]);
    if (more().length > 0) expect(await rowsOf(errors)).toEqual([]);
  });
});

describe("a run whose first rows are all invalid in the same way", () => {
  const questions = (count: number, from = 0): string =>
    Array.from(
      { length: count },
      (_, index) => `${JSON.stringify({ id: from + index, question: "q", pos: ["a"], neg: ["b"] })}\n`,
    ).join("");

  test.each([
    ["from a file", false],
    ["from a pipe", true],
  ])("stops, and says what the fields are: %s", async (_, isPiped) => {
    const text = questions(20) + textOf([{ id: "x" }]);
    await writeFile(input, text);
    const args = ["rerank", "--bulk", isPiped ? "-" : input, "--output", output, "--errors", errors];
    const { exitCode, stdout, stderr } = await tunerank(args, {
      baseUrl: server.url,
      ...(isPiped && { input: text }),
    });
    expect([exitCode, stdout]).toEqual([2, ""]);
    expect(stderr.split("\n")[0]).toBe(
      "tunerank: The first 20 requests are all invalid: query must be a string. Line 1 has id, question, pos, neg; use --query-field question. Nothing was sent.",
    );
    expect(server.connections).toBe(0);
  });

  test("stops where each has another spelling of a field", async () => {
    await writeFile(input, textOf(Array.from({ length: 25 }, () => ({ topN: 1 }))));
    const { exitCode, stderr } = await bulk();
    expect([exitCode, server.connections]).toEqual([2, 0]);
    expect(stderr.split("\n")[0]).toBe(
      "tunerank: The first 20 requests are all invalid: body has topN: did you mean top_n? Line 1 has id, query, documents, topN; --ignore-fields topN leaves it out. Nothing was sent.",
    );
    expect((await bulk("--ignore-fields", "topN")).exitCode).toBe(0);
    expect(sent("topN")).toEqual(Array.from({ length: 25 }, () => undefined));
  });

  test("stops where their values differ, and where --ignore-fields leaves the field out", async () => {
    await writeFile(input, textOf(Array.from({ length: 25 }, (_, at) => ({ top_n: at + 0.5 }))));
    const { exitCode, stderr } = await bulk();
    expect([exitCode, server.connections]).toEqual([2, 0]);
    expect(stderr).toContain("; --ignore-fields top_n leaves it out. Nothing was sent.");
    expect((await bulk("--ignore-fields", "top_n")).exitCode).toBe(0);
  });

  test("stops where no line is a JSON object, whatever they are instead", async () => {
    await writeFile(input, "{bad\n[1]\n".repeat(13) + textOf([{}]));
    const { exitCode, stderr } = await bulk();
    expect([exitCode, server.connections]).toEqual([2, 0]);
    expect(stderr).toContain("The first 20 lines are all invalid: It is not JSON (");
  });

  test("columns in capitals are left out with --ignore-fields", async () => {
    await writeFile(input, textOf([{ Task: "t", Model: "m", Top_N: 1 }]));
    expect((await bulk()).exitCode).toBe(5);
    expect((await bulk("--ignore-fields", "Task,model,top_n")).exitCode).toBe(0);
    expect(Object.keys(JSON.parse(`${server.only.body}`))).toEqual([
      "query",
      "documents",
      "return_documents",
    ]);
  });

  const row = { id: 7, query: "q", documents: ["a"] };
  const objects = { ...row, documents: [{ pid: 1, contents: "a" }] };

  test.each([
    [
      "an id",
      { qid: 1, query: "q" },
      [],
      "It has no field id: name the id's field with --id-field, or number the lines with --id line. Line 1 has qid, query.",
    ],
    [
      "an id that is one",
      { ...row, id: [1] },
      [],
      "It has no id that is text or a whole number. Line 1 has id,",
    ],
    [
      "a document's text",
      objects,
      ["--text-field", "text"],
      "documents[0] has no text in the field text, which --text-field names. Its fields: pid, contents. Line 1 has id,",
    ],
    [
      "a document's id",
      objects,
      ["--text-field", "contents", "--document-id-field", "id"],
      "documents[0] has no id that is text or a whole number in the field id, which --document-id-field names. Its fields: pid, contents. Line 1",
    ],
    ["an object", [1], [], "It is not a JSON object. Nothing was sent."],
    ["JSON", "{id: 1}", [], "It is not JSON (column 2: "],
  ])("stops where no line has %s: in a file, a shard and a pipe", async (_name, value, more, message) => {
    const lines = Array.from({ length: 25 }, (_, at) =>
      typeof value === "string" ? `${" ".repeat(at)}${value}` : JSON.stringify(value),
    );
    const text = `\n${lines.join("\n")}\n${JSON.stringify({ ...row, id: "valid" })}\n`;
    await writeFile(input, text);
    const pipe = ["rerank", "--bulk", "-", "--output", output, ...more];
    for (const ended of [
      await bulk("--errors", errors, ...more),
      await bulk("--shard", "2/3", ...more),
      await tunerank(pipe, { baseUrl: server.url, input: text }),
    ]) {
      expect([ended.exitCode, ended.stdout]).toEqual([2, ""]);
      const said = `The first 20 lines are all invalid: ${message.replace("Line 1", "Line 2")}`;
      expect(ended.stderr).toContain(`tunerank: ${said}`);
      expect(ended.stderr.split("\n")).toHaveLength(3);
    }
    expect(server.connections).toBe(0);
  });

  test("looks at the first lines of the file, not at those that an earlier run left", async () => {
    await writeFile(input, textOf([{ id: "x" }]) + questions(25) + "[1]\n".repeat(25));
    for (const isRanked of ["Ranked 1, 0", "Ranked 0, 1"]) {
      const { exitCode, stdout } = await bulk("--errors", errors);
      expect([exitCode, stdout.slice(0, 11)]).toEqual([5, isRanked]);
      expect(stdout).toContain(", 25 invalid, 25 skipped lines, ");
    }
    expect(server.requests).toHaveLength(1);
  });

  test("goes on where one of them is valid, or where they are fewer", async () => {
    await writeFile(input, questions(10) + textOf([{ id: "x" }]) + questions(20, 10));
    expect((await bulk("--errors", errors)).exitCode).toBe(5);
    expect(server.requests).toHaveLength(1);
    await writeFile(input, questions(19));
    expect((await bulk("--errors", errors)).exitCode).toBe(5);
  });
});

describe("a field whose name is nearly that of a request's", () => {
  test.each<[name: string, value: unknown, meant: string, more?: object]>([
    ["top_k", 1, "top_n"],
    ["topk", 1, "top_n"],
    ["top_K", 1, "top_n", { top_n: null }],
    ["tasks", ["t"], "task"],
    ["return-document", true, "return_documents"],
  ])("%s is told before anything is sent, and is not sent", async (name, value, meant, more = {}) => {
    await writeFile(input, textOf([{ [name]: value, ...more }, {}, { [name]: value }]));
    expect(await bulk()).toMatchObject({
      exitCode: 0,
      stderr: `2 lines have ${name}, which is not sent: did you mean ${meant}?\n`,
    });
    expect(sent(name)).toEqual([undefined, undefined, undefined]);
    // It is the request without it, which is done, and no news.
    await writeFile(input, textOf([{}, {}, {}, { [name]: value }]));
    expect((await bulk()).stderr).toBe(`1 line has ${name}, which is not sent: did you mean ${meant}?\n`);
    expect(server.requests).toHaveLength(4);
  });

  test("is told of the first line of a pipe, and as JSON for programs", async () => {
    const piped = { baseUrl: server.url, input: textOf([{}, { top_k: 1 }, { top_k: 1 }]) };
    const args = ["rerank", "--bulk", "-", "--output", output, "--json"];
    expect(JSON.parse((await tunerank(args, piped)).stderr)).toEqual({
      note: "Line 2 has top_k, which is not sent: did you mean top_n?",
    });
  });

  test.each([
    ["null", { top_k: null }, []],
    ["a line that has the right one too", { top_k: 1, top_n: 1 }, []],
    ["a name that is less near", { text: "t", tags: ["t"], title: "t", k: 1 }, []],
    ["a field that the command line names", { mode: ["m"] }, ["--documents-field", "mode"]],
    ["--quiet", { top_k: 1 }, ["--quiet"]],
  ])("is no news with %s", async (_, row, more) => {
    await writeFile(input, textOf([row]));
    expect(await bulk(...more)).toMatchObject({ exitCode: 0, stderr: "" });
  });

  test("is told of few names, escaped", async () => {
    const names = Array.from({ length: 30 }, (_, index) => `top_${String.fromCodePoint(0x2028 + index)}`);
    await writeFile(input, textOf([Object.fromEntries(names.map((name) => [name, 1]))]));
    const lines = (await bulk()).stderr.trimEnd().split("\n");
    expect(lines).toHaveLength(5);
    expect(lines[0]).toBe("1 line has top_\\u2028, which is not sent: did you mean top_n?");
  });
});
