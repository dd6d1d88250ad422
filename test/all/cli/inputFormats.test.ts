import { readdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Wanted } from "../../../src/cli/input/formats.js";
import { queryOf, rankingOf, rowsOf } from "../../support/bulkFiles.js";
import { outcomeOf, start, tunerank } from "../../support/commandLine.js";
import { inputRows, inputSamples, textOfRows, wide } from "../../support/inputSamples.js";
import { type Outcome, temporaryFolder } from "../../support/project.js";
import { useRecordingServer } from "../../support/recordingServer.js";

const server = useRecordingServer();
let folder: string;
let remove: () => Promise<void>;
let input: string;
let output: string;

beforeEach(async () => {
  ({ folder, remove } = await temporaryFolder());
  [input, output] = [path.join(folder, "in"), path.join(folder, "out.jsonl")];
  server.reply((request) => {
    const { documents } = JSON.parse(`${request.body}`);
    const data = documents?.map((_: string, index: number) => ({ index, relevance_score: 0.5 })) ?? [];
    return { json: { object: "list", model: "m", data, usage: {} } };
  });
});
afterEach(() => remove());

const rows = inputRows;
const jsonLines = textOfRows;
const textLines = "née\nzwei\n";

/** Each command that reads rows or documents, with what it wants to read, and how it names its input. */
const commands = {
  query: (file: string) => ["rerank", "--query", "q", file],
  field: (file: string) => ["rerank", "--query", "q", "--field", "text", file],
  bulk: (file: string) => ["rerank", "--bulk", file, "--output", output],
  body: (file: string) => ["request", "rerankDocuments", "--body-file", file],
} as const;
type Command = keyof typeof commands;
const names: Readonly<Record<Command, string>> = {
  query: "FILE",
  field: "FILE",
  bulk: "--bulk",
  body: "--body-file",
};

const fromFile = async (command: Command, bytes: string | Buffer): Promise<Outcome> => {
  await writeFile(input, bytes);
  return tunerank(commands[command](input), { baseUrl: server.url });
};
const fromPipe = (command: Command, bytes: string | Buffer): Promise<Outcome> =>
  tunerank(commands[command]("-"), { baseUrl: server.url, input: bytes });

async function expectRefused({ exitCode, stdout, stderr }: Outcome, message: string): Promise<void> {
  expect(stderr.split("\n")[0]).toBe(`tunerank: ${message}`);
  expect([exitCode, stdout]).toEqual([2, ""]);
  expect(server.connections).toBe(0);
  // Of a run that was refused there is nothing left.
  expect((await readdir(folder)).filter((name) => name !== "in")).toEqual([]);
}

const all = ["query", "field", "bulk", "body"] as const;
const wantedBy: Readonly<Record<Command, Wanted>> = {
  query: "lines",
  field: "JSON lines",
  bulk: "JSON lines",
  body: "JSON",
};
const cases = inputSamples.flatMap(([what, wanted, bytes, name, convert]) =>
  all
    .filter((command) => wanted.includes(wantedBy[command]))
    .map((command) => ({ what, command, bytes, name, convert })),
);
const endings: Readonly<Record<Command, string>> = {
  query: "txt",
  field: "jsonl",
  bulk: "jsonl",
  body: "json",
};

test.each(cases)("$what is refused with a line that converts it: $command", async (each) => {
  const { command, bytes, name, convert } = each;
  const outcome = await fromFile(command, bytes);
  const first = outcome.stderr.split("\n")[0] ?? "";
  expect(first).toContain(`tunerank: ${names[command]} "${input}" is ${name}, not `);
  expect(first).toContain(convert.replace("FILE", input));
  if (name !== "binary data") expect(first).toContain(`new.${endings[command]}`);
  await expectRefused(outcome, first.replace("tunerank: ", ""));
});

test.each(all)("what is piped is refused so too, and no file is left: %s", async (command) => {
  const outcome = await fromPipe(command, wide(jsonLines));
  const what = {
    query: "text in UTF-8",
    field: "JSON lines in UTF-8",
    bulk: "JSON lines in UTF-8",
    body: "JSON in UTF-8",
  };
  const convert = `iconv -f UTF-16 -t UTF-8 FILE > new.${endings[command]}`;
  const message = `${names[command]} is UTF-16 text, not ${what[command]}. Convert it: \`${convert}\`.`;
  await expectRefused(outcome, message);
});

test("what comes in single bytes is recognised", async () => {
  const child = start(commands.bulk("-"), { baseUrl: server.url, openInput: true });
  const outcome = outcomeOf(child);
  for (const byte of wide(jsonLines))
    await new Promise((resolve) => child.stdin?.write(Buffer.of(byte), resolve));
  child.stdin?.end();
  expect((await outcome).stderr).toContain("--bulk is UTF-16 text");
  expect(server.connections).toBe(0);
});

describe("what is read", () => {
  const variants: readonly (readonly [string, (text: string) => Buffer])[] = [
    ["plain", (text) => Buffer.from(text)],
    ["with a mark", (text) => Buffer.from(`\uFEFF${text}`)],
    ["with CRLF", (text) => Buffer.from(text.replaceAll("\n", "\r\n"))],
    ["without a last line end", (text) => Buffer.from(text.trimEnd())],
    ["in gzip", (text) => gzipSync(text)],
    ["in two members of gzip, with a mark", (text) => Buffer.concat([gzipSync("\uFEFF"), gzipSync(text)])],
  ];
  const expected: Readonly<Record<Command, readonly unknown[]>> = {
    query: [["née", "zwei"]],
    field: [["née 1", "née 2"]],
    bulk: [
      ["née", "two"],
      ["née", "two"],
    ],
    body: [["née", "two"]],
  };

  test.each(variants.flatMap(([what, make]) => all.map((command) => ({ what, make, command }))))(
    "is the same $what: $command",
    async ({ make, command }) => {
      const text = { query: textLines, field: jsonLines, bulk: jsonLines, body: JSON.stringify(rows[0]) }[
        command
      ];
      for (const read of [fromFile, fromPipe]) {
        server.requests = [];
        expect(await read(command, make(text))).toMatchObject({ exitCode: 0, stderr: "" });
        expect(server.requests.map(({ body }) => JSON.parse(`${body}`).documents)).toEqual(expected[command]);
        // A pipe cannot be continued.
        output = path.join(folder, "piped.jsonl");
      }
    },
  );

  test("any text is a document, also what other commands take for another format", async () => {
    const texts = ["<!DOCTYPE html>", "id,query", "1,2", "[1", "PAR1 is a format", "BZh is not", "PK"];
    expect((await fromFile("query", texts.join("\n"))).exitCode).toBe(0);
    expect(JSON.parse(`${server.only.body}`).documents).toEqual(texts);
  });

  test("lines of JSON are no CSV and no array, whatever the first one holds", async () => {
    const bad = ["a, b", "[1]", '"x","y"'];
    for (const first of bad) {
      output = path.join(folder, `${bad.indexOf(first)}.jsonl`);
      const { exitCode, stderr } = await fromFile("bulk", `${first}\n${jsonLines}`);
      expect([exitCode, stderr]).toEqual([5, expect.stringContaining("Line 1 is skipped.")]);
    }
    expect(server.requests).toHaveLength(2 * bad.length);
  });
});

describe("a line that cannot be read", () => {
  const latin1 = Buffer.from('{"id":3,"query":"é","documents":["a"],"text":"é"}\n', "latin1");

  test("is told with its column, and how Latin-1 is converted", async () => {
    const advice = (ending: string, name = input) =>
      `If it is Latin-1: \`iconv -f LATIN1 -t UTF-8 ${name} > new.${ending}\`.`;
    const told = await fromFile("bulk", Buffer.concat([Buffer.from(jsonLines), latin1]));
    expect(told.exitCode).toBe(5);
    expect(told.stderr).toBe(`Line 3 is skipped. It is not UTF-8 (column 18). ${advice("jsonl", "FILE")}\n`);
    expect((await rowsOf(output)).map(({ id }) => id)).toEqual([1, 2]);
    await remove();
    ({ folder, remove } = await temporaryFolder());
    [input, output] = [path.join(folder, "in"), path.join(folder, "out.jsonl")];
    server.connections = 0;
    const text = Buffer.from("na�ve\nMünchen\n", "utf8");
    const broken = Buffer.concat([text, Buffer.from("Zürich\n", "latin1")]);
    const line = `Line 3 cannot be read. It is not UTF-8 (column 2). ${advice("txt")}`;
    await expectRefused(await fromFile("query", broken), line);
    const none = "No line can be ranked with --field; nothing was sent. Line 1:";
    const why = `It is not UTF-8 (column 18). ${advice("jsonl")}`;
    await expectRefused(await fromFile("field", latin1), `${none} ${why}`);
    await expectRefused(
      await fromFile("body", latin1),
      `--body-file "${input}" is not UTF-8. ${advice("json")}`,
    );
  });

  test("is told with the column and the reason when it is no JSON", async () => {
    const bad = '{"id": 3, "query": "q", "score": NaN}';
    const { exitCode, stderr } = await fromFile(
      "bulk",
      `${jsonLines}${bad}\n{"id": 4,}\n{"id": -Infinity}\n`,
    );
    expect(exitCode).toBe(5);
    expect(stderr.trimEnd().split("\n")).toEqual([
      "Line 3 is skipped. It is not JSON (column 34: NaN is no JSON value: write null).",
      "Line 4 is skipped. It is not JSON (column 10: a trailing comma before }).",
      "Line 5 is skipped. It is not JSON (column 8: -Infinity is no JSON value: write null).",
    ]);
  });

  test("names line and column of a body, and the column of a document", async () => {
    const body = '{"query": "q",\n "documents": ["a" "b"]}';
    const why = "(line 2, column 20: a comma or ] is missing)";
    await expectRefused(await fromFile("body", body), `--body-file "${input}" is not JSON ${why}.`);
    const typed = await tunerank(["request", "rerankDocuments", "--body", body], { baseUrl: server.url });
    await expectRefused(typed, `--body is not JSON ${why}.`);
    await expectRefused(
      await fromFile("field", "{'text': 1}\n"),
      "No line can be ranked with --field; nothing was sent. Line 1: It is not JSON (column 2: a name in double quotes is missing). Without --field each line is a document.",
    );
  });
});

test.each(all)("a folder is refused, and no file is made: %s", async (command) => {
  const outcome = await tunerank(commands[command](folder), { baseUrl: server.url });
  await expectRefused(
    outcome,
    `${names[command]} "${folder}" cannot be read: it is a folder. Nothing was sent.`,
  );
});

test.each(all)("gzip that is cut short, or damaged, is named: %s", async (command) => {
  const whole = gzipSync(command === "body" ? JSON.stringify(rows[0]) : jsonLines);
  const said = `${names[command]} "${input}" cannot be read: the gzip data`;
  await expectRefused(
    await fromFile(command, whole.subarray(0, -9)),
    `${said} is cut short. Nothing was sent.`,
  );
  await expectRefused(
    await fromFile(command, whole.fill(7, 20, 30)),
    `${said} is damaged. Nothing was sent.`,
  );
});

describe("an input without any row", () => {
  const nothing = ["", "\n \r\n\n", "\uFEFF", "\uFEFF\n"];
  const message: Readonly<Record<"query" | "field" | "bulk", string>> = {
    query: "There is no document in the input: nothing was sent. If it may be empty, add --allow-empty.",
    field: "There is no document in the input: nothing was sent. If it may be empty, add --allow-empty.",
    bulk: "--bulk is empty: nothing was sent. If it may be empty, add --allow-empty.",
  };

  test.each(["query", "field", "bulk"] as const)(
    "is refused, from a pipe and from a file: %s",
    async (command) => {
      for (const text of nothing) {
        await expectRefused(await fromPipe(command, text), message[command]);
        const named = message[command].replace("--bulk", `--bulk "${input}"`);
        await expectRefused(await fromFile(command, text), named);
      }
      await expectRefused(await fromPipe(command, gzipSync("")), message[command]);
    },
  );

  test.each([
    ["query", ""],
    ["field", ""],
    ["bulk", "Ranked 0, 0 already done, in "],
  ] as const)("is taken with --allow-empty: %s", async (command, said) => {
    const args = [...commands[command]("-"), "--allow-empty"];
    const { exitCode, stdout, stderr } = await tunerank(args, { baseUrl: server.url, input: "" });
    expect([exitCode, stderr]).toEqual([0, ""]);
    expect(stdout.startsWith(said)).toBe(true);
    expect(server.connections).toBe(0);
  });

  test("is one JSON value for programs with --allow-empty", async () => {
    const args = [...commands.query("-"), "--allow-empty", "--json"];
    const { stdout } = await tunerank(args, { baseUrl: server.url, input: "" });
    expect(JSON.parse(stdout)).toEqual({ results: [] });
  });

  test("an output that was there is left as it was", async () => {
    server.reply(rankingOf);
    await writeFile(input, jsonLines);
    expect((await tunerank(commands.bulk(input), { baseUrl: server.url })).exitCode).toBe(0);
    const before = (await rowsOf(output)).length;
    expect(server.requests.map(queryOf).sort()).toEqual(["q1", "q2"]);
    await writeFile(input, "");
    expect((await tunerank(commands.bulk(input), { baseUrl: server.url })).exitCode).toBe(2);
    expect(await rowsOf(output)).toHaveLength(before);
  });

  test("a shard without requests is none: the input has some", async () => {
    await writeFile(input, jsonLines.split("\n")[0] ?? "");
    const codes = await Promise.all(
      [0, 1].map((index) => {
        const own = ["--shard", `${index}/2`, "--output", `${output}.${index}`];
        return tunerank([...commands.bulk(input), ...own], { baseUrl: server.url });
      }),
    );
    expect(codes.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
  });
});

test("a line with a zero byte is refused, however far down", async () => {
  await writeFile(input, `${"a document\n".repeat(2000)}\0\n`);
  const args = ["rerank", "--query", "q", input];
  const { exitCode, stderr } = await tunerank(args, { baseUrl: server.url });
  expect([exitCode, stderr.split("\n")[0]]).toEqual([
    2,
    "tunerank: Line 2001 cannot be read. It has a NUL byte, so it is not text.",
  ]);
  expect(server.connections).toBe(0);
});

test.each([1, 7, 5000])("%i zero bytes among the first lines are named with their line", async (zeros) => {
  const good = '{"id":1,"query":"née","documents":["a","b"]}\n';
  await writeFile(input, `${good}${"\0".repeat(zeros)}\n${good.repeat(300)}`);
  const { exitCode, stdout } = await tunerank(["check", input]);
  expect([exitCode, stdout]).toEqual([
    2,
    expect.stringContaining("  Invalid: line 2, column 1: a NUL byte\n"),
  ]);
  const { stderr } = await tunerank(["rerank", "--query", "q", input], { baseUrl: server.url });
  expect(stderr).toContain("tunerank: Line 2 cannot be read. It has a NUL byte, so it is not text.\n");
  const args = ["rerank", "--query", "q", "--field", "query", "--strict", input];
  expect((await tunerank(args, { baseUrl: server.url })).stderr).toContain(
    "Line 2 is invalid. It is not JSON (column 1: a NUL byte).\n",
  );
  expect(server.connections).toBe(0);
});

test.each([
  ["before its first line", 12, 2, " Nothing was sent."],
  ["after lines of it were read", -9, 1, ""],
])("gzip in a pipe to --bulk that is cut short %s names the input", async (_, end, code, more) => {
  const args = ["rerank", "--bulk", "-", "--output", path.join(folder, "out.jsonl")];
  const packed = gzipSync(textOfRows).subarray(0, end);
  const { exitCode, stderr } = await tunerank(args, { baseUrl: server.url, input: packed });
  expect([exitCode, stderr]).toEqual([
    code,
    expect.stringContaining(`tunerank: --bulk cannot be read: the gzip data is cut short.${more}\n`),
  ]);
});

test.each([
  ["a folder", ".", undefined, '--bulk "." cannot be read: it is a folder. Nothing was sent.'],
  ["an empty pipe", "-", "", "--bulk is empty: nothing was sent. If it may be empty, add --allow-empty."],
  [
    "UTF-16 in a pipe",
    "-",
    wide(textOfRows),
    "--bulk is UTF-16 text, not JSON lines in UTF-8. Convert it: `iconv -f UTF-16 -t UTF-8 FILE > new.jsonl`.",
  ],
])("%s is refused, and no file is left", async (_, file, piped, message) => {
  const args = ["rerank", "--bulk", file, "--output", path.join(folder, "out.jsonl")];
  const { exitCode, stdout, stderr } = await tunerank(args, {
    baseUrl: server.url,
    ...(piped !== undefined && { input: piped }),
  });
  expect([exitCode, stdout, stderr.split("\n")[0]]).toEqual([2, "", `tunerank: ${message}`]);
  expect(server.connections).toBe(0);
  expect(await readdir(folder)).toEqual([]);
});
