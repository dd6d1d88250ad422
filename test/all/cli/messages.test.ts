// What a command says: it names what the user typed, fits the command, and says what is wrong and what to do.
import { beforeEach, expect, test } from "vitest";
import { canaryKey } from "../../support/canary.js";
import { useRecordingServer } from "../../support/recordingServer.js";
import { useCommand } from "../../support/useCommand.js";

const server = useRecordingServer();
const { run, at, written } = useCommand(server);

beforeEach(() => server.reply({ json: {} }));

test("check names a file as it was typed, also for programs, unless the key stands in its place", async () => {
  const none = "It cannot be read: ENOENT: no such file or directory. Nothing was sent.";
  const there = await written("documents.txt", "one\n");
  const { stdout } = await run(["check", "none.jsonl", there, `${canaryKey}.jsonl`]);
  expect(stdout).toMatch(`none.jsonl: 0 rows.\n  Invalid: ${none}\n${there}: 1 row.\n`);
  expect(stdout).toContain("\n[redacted].jsonl: 0 rows.\n");
  const json = await run(["check", "none.jsonl", canaryKey, "--json"]);
  expect(JSON.parse(json.stdout).files).toMatchObject([
    { file: "none.jsonl", problem: none },
    { file: "[redacted]" },
  ]);
});

test.each([
  ["in another format", "a,b\n1,2\n", "rerank --query q --field a FILE", /FILE ".*some\.jsonl"/],
  [
    "in another format",
    ",a\n1,2\n",
    "bulk FILE --output out.jsonl",
    /FILE ".*some\.jsonl" is CSV as pandas writes it/,
  ],
  ["that is empty", "", "upload reviews FILE", /FILE ".*some\.jsonl" is /],
  ["that is invalid", '{"a": 1}\n{\n', "upload reviews FILE", /some\.jsonl" is invalid: .*line 2/],
])("a file %s is named before anything is sent: %j, %s", async (_, content, line, message) => {
  const file = await written("some.jsonl", content);
  const args = line.split(" ").map((word) => (word === "FILE" ? file : word.replace(/^out/, at("out"))));
  const { exitCode, stderr } = await run(args);
  expect([exitCode, server.connections]).toEqual([2, 0]);
  expect(stderr).toMatch(message);
});

test.each([
  ["upload reviews README.md -q", "Send a smaller file: larger ones need another operation of the service,"],
  ["rerank --query q README.md", "Send fewer documents at once (rerank.items with batchSize)."],
  ["scale prod 1", "Send a smaller request."],
  ["request POST /v1/x --body {}", "Send a smaller request."],
])("a hint fits the command that sends too much: %s", async (line, advice) => {
  server.reply({ status: 413, json: {} });
  const { stderr } = await run(line.split(" "));
  expect(stderr.split("\n")[1]).toContain(advice);
});

test("a hint fits what became of a request", async () => {
  server.reply({ status: 502 });
  const stored = await run(["upload", "reviews", "README.md", "-q"]);
  expect(stored.stderr.split("\n")[1]).toBe(
    "The operation may have run. The file may have been stored: check the dataset with the service's other operations before you upload it again. The call was not retried, because running it twice is not safe.",
  );
  server.reply({ status: 404, json: { code: "NOT_FOUND", message: "Gone." } });
  const { stderr } = await run(["scale", "prod", "1"]);
  expect(stderr.split("\n")[1]).toMatch(
    /^The service rejected the request: we assume that it did not run\. /,
  );
});

test.each([
  ["a wrong argument", ["scale", "prod", "two"]],
  ["an unknown option", ["scale", "prod", "2", "--nothing"]],
  ["a file that is missing", ["rerank", "--query", "q", "none.txt"]],
])("for programs %s says that nothing ran, as any refusal does", async (_, args) => {
  const { exitCode, stderr } = await run([...args, "--json"]);
  const fields = { name: "UsageError", code: "INVALID_ARGUMENT", message: expect.any(String) };
  expect([exitCode, JSON.parse(stderr).error]).toEqual([
    2,
    { ...fields, executed: "no", executedBecause: "nothing-sent" },
  ]);
});

test("lines that are JSON objects are ranked as they are only with a warning, which --field takes away", async () => {
  const file = await written("objects.jsonl", '{"body":{"text":"one"}}\n{"body":{"text":"two"}}\n');
  const data = [0, 1].map((index) => ({ index, relevance_score: 1 - index }));
  server.reply({ json: { data } });
  const raw = await run(["rerank", "--query", "q", file]);
  expect([raw.exitCode, raw.stderr]).toEqual([
    0,
    expect.stringMatching(/^Warning: FILE ".*objects\.jsonl" has JSON objects/),
  ]);
  const field = await run(["rerank", "--query", "q", "--field", "body.text", file]);
  expect([field.exitCode, field.stderr]).toEqual([0, ""]);
  expect(server.requests.map(({ body }) => JSON.parse(`${body}`).documents)).toEqual([
    ['{"body":{"text":"one"}}', '{"body":{"text":"two"}}'],
    ["one", "two"],
  ]);
});
