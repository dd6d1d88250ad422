// What a command says: it names what the user typed, fits the command, and says what is wrong and what to do.
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { canaryKey } from "../../support/canary.js";
import { tunerank } from "../../support/commandLine.js";
import { type Outcome, temporaryFolder } from "../../support/project.js";
import { useRecordingServer } from "../../support/recordingServer.js";

const server = useRecordingServer();
let folder: string;
let remove: () => Promise<void>;
let documents: string;

beforeAll(async () => {
  ({ folder, remove } = await temporaryFolder());
  documents = await written("documents.txt", "one\ntwo\n");
});
beforeEach(() => server.reply({ json: {} }));
afterAll(() => remove());

const at = (name: string): string => path.join(folder, name);
const run = (args: readonly string[], more: object = {}): Promise<Outcome> =>
  tunerank(args, { baseUrl: server.url, ...more });

async function written(name: string, text: string): Promise<string> {
  await writeFile(at(name), text);
  return at(name);
}

/** What a command says first that sends nothing and ends with exit code 2. */
async function refusal(args: readonly string[], more: object = {}): Promise<string> {
  const { exitCode, stderr } = await run(args, more);
  expect([exitCode, server.connections]).toEqual([2, 0]);
  return stderr.split("\n")[0]?.replace(/^tunerank: /, "") ?? "";
}

describe("a file is named as it was typed", () => {
  const none = "cannot be read: ENOENT: no such file or directory.";

  test("by check, alone and among others", async () => {
    const alone = await run(["check", "none.jsonl"]);
    expect([alone.exitCode, alone.stdout, alone.stderr]).toEqual([2, `FILE "none.jsonl" ${none}\n`, ""]);
    const both = await run(["check", "none.jsonl", "other.jsonl", documents]);
    expect(both.stdout.split("\n").slice(0, 3)).toEqual([
      `FILE "none.jsonl" ${none}`,
      `FILE "other.jsonl" ${none}`,
      `${documents}: 2 rows, 8 bytes.`,
    ]);
  });

  test("by check for programs", async () => {
    const { stdout } = await run(["check", "none.jsonl", documents, "--json"]);
    expect(JSON.parse(stdout).files.map(({ file }: { file: string }) => file)).toEqual([
      "none.jsonl",
      documents,
    ]);
  });

  test("unless the key stands in its place", async () => {
    const { stdout } = await run(["check", documents, `${canaryKey}.jsonl`]);
    expect(stdout).toContain(`\nFILE 2 ${none}\n`);
    const { stdout: json } = await run(["check", canaryKey, "--json"]);
    expect(JSON.parse(json).files[0]).toMatchObject({ file: "FILE", problem: `FILE ${none}` });
  });

  test("by an input in another format", async () => {
    const table = await written("table.csv", "a,b\n1,2\n");
    expect(await refusal(["rerank", "--query", "q", "--field", "a", table])).toMatch(
      new RegExp(`^FILE "${table}" is CSV, not JSON lines in UTF-8\\.`),
    );
    expect(await refusal(["rerank", "--bulk", table, "--output", at("out.jsonl")])).toMatch(
      new RegExp(`^--bulk "${table}" is CSV, not JSON lines in UTF-8\\.`),
    );
  });

  test("by an upload that was changed, or is named twice", async () => {
    const args = ["upload", "reviews", documents, "--checkpoint", at("uploads.jsonl")];
    server.reply({ json: { id: "file-1", bytes: 8, filename: "documents.txt" } });
    expect((await run(args)).exitCode).toBe(0);
    await written("documents.txt", "one\ntwo\nthree\n");
    const { stderr } = await run(args);
    expect(stderr).toContain(`FILE "${documents}" has changed since it was uploaded`);
    await written("documents.txt", "one\ntwo\n");
    expect((await run(["upload", "reviews", documents, documents])).stderr).toContain(
      `FILE "${documents}" is named twice`,
    );
  });

  test("by a file that is empty or invalid", async () => {
    const empty = await written("empty.jsonl", "");
    expect(await refusal(["upload", "reviews", empty])).toBe(
      `FILE "${empty}" is invalid: it is empty. Nothing was sent; --no-check sends it as it is.`,
    );
    const broken = await written("broken.jsonl", '{"a": 1}\n{\n');
    expect(await refusal(["upload", "reviews", broken])).toBe(
      `FILE "${broken}" is invalid: line 2, column 2: the object does not end: } is missing. Nothing was sent; --no-check sends it as it is.`,
    );
  });
});

describe("a hint fits the command", () => {
  test.each([
    [
      "upload",
      ["upload", "reviews", "README.md", "-q"],
      "Send a smaller file: larger ones need another operation of the service, which this client does not have.",
    ],
    ["rerank", ["rerank", "--query", "q", "README.md"], "Send fewer documents at once (--batch-size)."],
    ["scale", ["scale", "prod", "1"], "Send a smaller request."],
    ["request", ["request", "POST", "/v1/x", "--body", "{}"], "Send a smaller request."],
  ])("when %s sends too much", async (_, args, advice) => {
    server.reply({ status: 413, json: {} });
    const { stderr } = await run(args);
    expect(stderr.split("\n")[1]).toContain(advice);
    if (!advice.includes("--batch-size")) expect(stderr).not.toContain("batch");
  });

  test("when mock is not started: there is no request, and no option of the API", async () => {
    expect(await refusal(["mock", "--fail", "rerank:503x0"])).toBe(
      "--fail: the number after x must be at least 1, not 0.",
    );
    expect(await refusal(["mock", "--fail", "rerank:NOPE"])).toMatch(/^--fail: code must be one of /);
    expect(await refusal(["mock", "--fail", "rerank:foo"])).toBe(
      "--fail rerank:FAILURE needs a status from 200 to 599, reset, stall, truncate, or a code such as UNAVAILABLE; add xN for N requests, such as 503x2.",
    );
    expect(await refusal(["mock", "--allow-origin", "foo"])).toBe(
      '--allow-origin must be an origin such as "https://app.example.com".',
    );
  });

  test("when nobody knows whether a file was stored: it is said once, and where to look", async () => {
    server.reply({ status: 502 });
    const { stderr } = await run(["upload", "reviews", "README.md", "-q"]);
    expect(stderr.split("\n")[1]).toBe(
      "The file may have been stored: check the dataset with the service's other operations (`tunerank request GET PATH`) before you upload it again. The call was not retried, because running it twice is not safe.",
    );
  });

  test("when the service rejects a request: that is no refused connection", async () => {
    server.reply({ status: 404, json: { code: "NOT_FOUND", message: "Gone." } });
    const { stderr } = await run(["scale", "prod", "1"]);
    expect(stderr.split("\n")[1]).toMatch(
      /^The service rejected the request: we assume that it did not run\. /,
    );
  });
});

describe("an option that would do nothing is refused", () => {
  test.each([
    [
      ["rerank", "--query", "q", "--concurrency", "3", "README.md"],
      "--concurrency has no effect without --batch-size, --max-batch-bytes or --bulk.",
    ],
    [
      ["upload", "reviews", "README.md", "--checkpoint", "c.jsonl", "--concurrency", "2"],
      "--concurrency has no effect with one FILE.",
    ],
    [["request", "--list", "--param", "a=b"], "--param has no effect on --list."],
    [["request", "--list", "--max-bytes", "9"], "--max-bytes has no effect on --list."],
    [["conformance", "--list", "--junit", "r.xml"], "--junit has no effect on --list."],
    [["conformance", "--list", "--port", "0"], "--port has no effect on --list."],
  ])("%j", async (args, message) => {
    expect(await refusal(args)).toBe(message);
  });
});

describe("a value that starts with a dash", () => {
  test.each([
    [
      ["scale", "prod", "1", "--max-retries", "-1"],
      "[OUT_OF_RANGE] --max-retries must be at least 0, not -1.",
    ],
    [["scale", "prod", "1", "--timeout", "-5"], "--timeout must be greater than 0."],
    [["scale", "prod", "1", "--timeout=0"], "--timeout must be greater than 0."],
    [
      ["rerank", "--query", "q", "--top-n", "-1", "README.md"],
      "[OUT_OF_RANGE] --top-n must be at least 1, not -1.",
    ],
    [["mock", "--port", "-1"], "--port must be 0 to 65535."],
    [
      ["rerank", "--bulk", "README.md", "--output", "o", "--max-hold", "-1s"],
      "--max-hold must be at least 0, or none.",
    ],
    [
      ["rerank", "--query", "--quiet", "README.md"],
      "Option '--query' has no value: the next word is an option. A value that starts with a dash is written --query=VALUE.",
    ],
    [
      ["scale", "prod", "1", "--account", "-x"],
      "The value of '--account' starts with a dash: write --account=VALUE.",
    ],
  ])("%j", async (args, message) => {
    expect(await refusal(args)).toBe(message);
  });

  test("is taken if it is a number", async () => {
    const data = [0, 1].map((index) => ({ index, relevance_score: 1 - index }));
    server.reply({ json: { data } });
    const { exitCode } = await run(["rerank", "--query", "-40", documents]);
    expect(exitCode).toBe(0);
    expect(JSON.parse(`${server.only.body}`).query).toBe("-40");
  });
});

test.each([
  ["a name that is not near", ["rerank", "--query", "q", "--resume"], "Unknown option '--resume'."],
  ["a command that is not near", ["list"], "There is no such command."],
  ["a near one", ["scale", "prod", "1", "--jsno"], "Unknown option '--jsno'. (Did you mean --json?)"],
])("what is suggested for %s: %j", async (_, args, message) => {
  expect(await refusal(args)).toBe(message);
});

describe("for programs", () => {
  test.each([
    ["a wrong argument", ["scale", "prod", "two"]],
    ["an unknown option", ["scale", "prod", "2", "--nothing"]],
    ["a file that is missing", ["rerank", "--query", "q", "none.txt"]],
  ])("%s says that nothing ran, as any refusal does", async (_, args) => {
    const { exitCode, stderr } = await run([...args, "--json"]);
    expect([exitCode, JSON.parse(stderr).error]).toEqual([
      2,
      {
        name: "UsageError",
        code: "INVALID_ARGUMENT",
        executed: "no",
        executedBecause: "nothing-sent",
        message: expect.any(String),
      },
    ]);
  });
});

describe("an env file with a quote that is not closed", () => {
  const env = { TUNERANK_API_KEY: undefined };
  test.each([
    ["at its end", 'TUNERANK_LOG=off\nTUNERANK_API_KEY="abc'],
    ["before its end", "TUNERANK_LOG=off\nexport TUNERANK_API_KEY='abc\n"],
  ])("is named with the line: %s", async (_, text) => {
    const file = await written("bad.env", text);
    expect(await refusal(["scale", "prod", "2", "--env-file", file], { env })).toBe(
      `--env-file "${file}", line 2: the quote around the value of TUNERANK_API_KEY is not closed.`,
    );
  });

  test("is none where the value has a quote in it, or is over several lines", async () => {
    const text = `TUNERANK_API_KEY="${canaryKey}"\nOTHER="a\nTUNERANK_ACCOUNT_ID='b\n"\nTUNERANK_LOG='off' # "\n`;
    const file = await written("good.env", text);
    const { exitCode, stderr } = await run(["scale", "prod", "2", "--env-file", file], { env });
    expect([exitCode, stderr]).toEqual([0, ""]);
  });
});

test("a short bulk file whose requests are all invalid in the same way is told with the fields that there are", async () => {
  const question = (id: number): string => `{"id":${id},"question":"q","documents":["a"]}\n`;
  const bulk = async (text: string): Promise<string> => {
    const file = await written("in.jsonl", text);
    const { exitCode, stderr } = await run(["rerank", "--bulk", file, "--output", at("o.jsonl")]);
    expect(exitCode).toBe(5);
    return stderr;
  };
  expect(await bulk(question(1))).toContain(
    "The only request is invalid: query must be a string. Line 1 has id, question, documents; use --query-field question. Nothing was sent.\n",
  );
  expect(await bulk(question(1) + question(2))).toContain(
    "All 2 requests are invalid: query must be a string. Line 1 has id, question, documents; use --query-field question. Nothing was sent.\n",
  );
  expect(await bulk('{"id":1,"query":"q","documents":[]}\n')).toContain(
    "The only request is invalid: documents must be a list of at least 1 string. Line 1 has id, query, documents. Nothing was sent.\n",
  );
});

describe("options and lines have the command's names", () => {
  const bulk = async (line: object, ...more: readonly string[]): Promise<[stderr: string, row: string]> => {
    const file = await written(
      "in.jsonl",
      `${JSON.stringify(line)}\n{"id":2,"query":"q","documents":["b"]}\n`,
    );
    const errors = at("errors.jsonl");
    const args = ["rerank", "--bulk", file, "--output", at("named.jsonl"), ...more];
    const { stderr } = await run(args);
    await run([...args, "--errors", errors]);
    return [stderr, (await readFile(errors, "utf8")).split("\n")[0] ?? ""];
  };

  test("in rows, and in what a bulk run says of them", async () => {
    server.reply({ status: 503 });
    const told = await bulk({ id: 1, query: "q", documents: ["a"] }, "--timeout", "0.3");
    for (const text of told) expect(text).not.toMatch(/timeoutMs|axRetries|max-retries/);
    const objects = await bulk({ id: 1, query: "q", documents: [{ text: "a" }] }, "--timeout", "0.3");
    for (const text of objects) expect(text).toContain("--text-field.");
  });

  test("of a paid request no option is named that a bulk run refuses", async () => {
    server.reply({ json: {} });
    const file = await written("in.jsonl", '{"id":1,"query":"q","documents":["a"]}\n');
    const { stderr } = await run(["rerank", "--bulk", file, "--output", at("paid.jsonl")]);
    expect(stderr).toContain("All retries are used up.");
  });

  test("in a ranking that cannot be joined with the file", async () => {
    server.reply({
      json: { object: "list", model: "m", data: [{ index: 1, relevance_score: 0.5 }], usage: {} },
    });
    const file = await written("gap.txt", "\none\n\ntwo\n");
    const { exitCode, stderr } = await run(["rerank", "--query", "q", file]);
    expect(exitCode).toBe(10);
    expect(stderr).toContain("index 0 is missing (line 2).");
  });
});

test.each([[], ["--json"]])("a number that JSON cannot hold is not printed as null %s", async (...more) => {
  server.reply({ headers: { "content-type": "application/json" }, text: '{"score": [-1e400]}' });
  const { exitCode, stdout, stderr } = await run(["request", "GET", "/v1/scores", ...more]);
  expect([exitCode, stdout]).toEqual([10, ""]);
  expect(stderr).toContain("The response cannot be written as JSON: it has a number too large for JSON in");
  expect(stderr).toContain("The operation succeeded: the same command would run it again.");
});
