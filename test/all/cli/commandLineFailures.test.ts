import { rmSync } from "node:fs";
import { beforeEach, describe, expect, test } from "vitest";
import { exitCodeOf } from "../../../src/cli/exitCodes.js";
import { httpStatuses } from "../../../src/generated/contract.js";
import { canaryKey } from "../../support/canary.js";
import { useCommand } from "../../support/commandLine.js";
import { useRecordingServer } from "../../support/recordingServer.js";

const server = useRecordingServer();
const { run, at, written } = useCommand(server);

describe("a failure of the service", () => {
  test("each code of the service has its exit code, a line on stderr and a hint", async () => {
    const failures = Object.keys(httpStatuses).filter((code) => code !== "OK");
    const outcomes = failures.map(async (code) => {
      server.reply(({ url }) => {
        const asked = /deployments\/(.*):scale/.exec(url)?.[1] as keyof typeof httpStatuses;
        return {
          status: httpStatuses[asked],
          json: { error: { code: asked, message: `It is ${asked}.` } },
        };
      });
      const args = ["scale", code, "1", "--max-retries", "0"];
      const { exitCode, stdout, stderr } = await run(args);
      expect(stdout).toBe("");
      expect(stderr.split("\n")).toEqual([
        `tunerank: [${code}] It is ${code}.`,
        // What was wrong with an argument, the service's message says.
        expect.stringMatching(
          code === "INVALID_ARGUMENT"
            ? /^The service rejected the request: we assume that it did not run\.$/
            : /^(The service rejected the request: we assume that it did not run|The operation may have run)\. .{20}/,
        ),
        "",
      ]);
      return [code, exitCode];
    });
    expect(Object.fromEntries(await Promise.all(outcomes))).toEqual(exitCodeOf);
  });

  test("a failure for machines is one JSON value on stderr, with the request id, which is told, too", async () => {
    server.reply({
      status: 404,
      headers: { "x-request-id": "r-1" },
      json: { code: "NOT_FOUND", message: "Gone." },
    });
    const { exitCode, stdout, stderr } = await run(["resume", "job-1", "--json"]);
    expect([exitCode, stdout]).toEqual([4, ""]);
    expect(JSON.parse(stderr).error).toMatchObject({ code: "NOT_FOUND", executed: "no", requestId: "r-1" });
    const told = await run(["resume", "job-1"]);
    expect(told.stderr).toMatch(/^tunerank: \[NOT_FOUND\] Gone\. \(request id r-1\)\n/);
  });

  test("a repeat is told of while it is waited for, unless it is to be quiet", async () => {
    const respond = () =>
      server.requests.length % 2 === 1 ? { status: 503, json: { code: "UNAVAILABLE" } } : { json: {} };
    server.reply(respond);
    const told = await run(["scale", "prod", "1"]);
    expect(told.exitCode).toBe(0);
    expect(told.stderr).toMatch(/^Attempt 1 failed: UNAVAILABLE\. Retrying (now|in \d\.\d s)\.\n$/);
    const quiet = await run(["scale", "prod", "1", "--quiet"]);
    expect([quiet.exitCode, quiet.stderr]).toEqual([0, ""]);
    expect(server.requests).toHaveLength(4);
  });
});

// One rule: 2 is refused before anything is sent, 1 is a fault of this machine during the run, 5 is what the service
// refused.
test("an argument that the service refuses ends with 5, for one file as for several", async () => {
  server.reply({ status: 400, json: { code: "INVALID_ARGUMENT", message: "No." } });
  const files = [await written("a.jsonl", '{"a":1}\n'), await written("b.jsonl", '{"b":1}\n')];
  for (const args of [
    ["scale", "prod", "1"],
    ["upload", "reviews", ...files.slice(1)],
    ["upload", "reviews", ...files],
  ])
    expect((await run(args)).exitCode).toBe(5);
});

test("a file that goes missing after another was sent is a fault of this machine, and ends with 1", async () => {
  const [first = "", second = ""] = [await written("first", "a"), await written("second", "a")];
  server.reply(() => {
    rmSync(second, { force: true });
    return { json: { id: "file-1", bytes: 1, filename: "first" } };
  });
  const { exitCode, stdout } = await run(["upload", "reviews", first, second, "--quiet"]);
  expect([exitCode, stdout]).toEqual([1, expect.stringContaining("second")]);
});

// Mistakes on the command line: each is refused before anything is sent, and never shows a key that landed there.
describe("a command line that is refused", () => {
  // A command line, and how what is said of it begins.
  const mistakes = `
frobnicate => There is no such command: 'tunerank COMMAND [OPTIONS]'.
scale => DEPLOYMENT is missing: 'tunerank scale [options] <DEPLOYMENT> <REPLICAS>'.
scale prod => REPLICAS is missing: 'tunerank scale [options] <DEPLOYMENT> <REPLICAS>'.
scale prod many => REPLICAS must be a whole number, 0 or more.
scale prod 1 --jsno => Option '--jsno' is unknown.
scale prod 1 --json=yes => --json takes no value.
scale prod 1 --timeout => --timeout has no value. One that starts with a dash is written --timeout=VALUE.
rerank --query --quiet package.json => --query has no value. One that starts with a dash is written --query=VALUE.
scale prod 1 --timeout= => --timeout must be a number of seconds, or a time such as 500ms, 5s or 2min.
rerank --query q --batch-size 1k => --batch-size must be a number.
bulk package.json --rate 10 => --rate must be like 600/min, 10/s or 36000/h.
upload d.jsonl => DATASET is missing: 'tunerank upload [options] <DATASET> <FILE...>'.
upload reviews => FILE... is missing: 'tunerank upload [options] <DATASET> <FILE...>'.
upload d package.json checks/package/package.json => package.json and checks/package/package.json would both arrive as "package.json"
upload d package.json - => The standard input can be uploaded only alone, without --checkpoint.
upload d - => The standard input has no name: give one with --name NAME.
upload d package.json --resend-unknown => --resend-unknown has no effect without --checkpoint.
upload reviews none => FILE "none" cannot be found: nothing was sent.
upload reviews docs => FILE "docs" is not a file: nothing was sent.
rerank --query q nowhere.txt => FILE "nowhere.txt" cannot be read: ENOENT: no such file or directory. Nothing was sent.
rerank --query q /dev/null => FILE "/dev/null" has no document: nothing was sent. If it may be empty, add --allow-empty.
rerank capital docs.txt => The query is an option: 'tunerank rerank --query TEXT [FILE]'.
rerank --query q --concurrency 3 README.md => --concurrency has no effect without --batch-size.
bulk package.json => --output FILE is missing: results are written there, and a run continues from it.
request => ID is missing: --list shows the operations.
request --list --param a=b => --param has no effect on --list.
request GET /v1/x --param a=b => --param is for an ID
request POST /v1/x --body {nope => --body is not JSON
request POST /v1/x --body {} --body-file x => --body-file cannot be used together with --body.
request POST /v1/x --body-file /no/such/file => --body-file "/no/such/file" cannot be read
request uploadDatasetFile --param dataset_id=a --body-file - => uploadDatasetFile sends a file: name it with --body-file.
conformance --list --junit r.xml => --junit has no effect on --list.
conformance --only no-such-row => --only matches no test case: --list prints their ids.
conformance --timeout 0 => --timeout must be more than 0 and at most 86400 seconds.
scale prod 1 --api-key-file nowhere => --api-key-file cannot be read: ENOENT: no such file or directory. It takes the name of a file, not the key.
completion powershell => SHELL must be one of bash, zsh, fish.
mock --port 70000 => options.port should be >= 0 and < 65536. Received type number (70000). See --port and --host; port 0 is any free one.
mock --fail rerank => --fail must be OPERATION:FAILURE, such as
rerank --bulk in.jsonl --output o --wait => 'rerank --bulk' is now 'tunerank bulk FILE --output OUT'.
bulk in.jsonl --errors e => 'bulk --errors' is gone: OUT has one row for each id, also with its error
bulk in.jsonl --max-retries 5 => 'bulk --max-retries' does not apply: each request is retried until --timeout.
request --repeatable GET / => 'request --repeatable' is now --idempotent.`;
  // What the client refuses, with the option or the argument that sets it, from the error's field.
  const refusals = `
scale prod 1 --max-retries 20 => maxRetries (--max-retries): [OUT_OF_RANGE] maxRetries must be at most 2, not 20: no failure is retried more often.
scale prod 1 --base-url nowhere => baseUrl (--base-url): [INVALID_ARGUMENT]
scale prod 1 --base-url http://api.example.com => baseUrl (--base-url): [INVALID_ARGUMENT] baseUrl is plain http to another machine: the key would go unencrypted.
scale prod 1 --base-url http://api.example.com => The request was not sent. Use https, or add --allow-insecure-http in a trusted network.
rerank --query q --top-n 0 README.md => topN (--top-n): [OUT_OF_RANGE] topN must be at least 1, not 0.
scale a/b 1 => deploymentId (DEPLOYMENT): [INVALID_ARGUMENT] deploymentId contains "/": pass the id alone ("b"), not a full
upload a/b package.json README.md => [INVALID_ARGUMENT] datasetId contains
request resumeReinforcementFineTuningJob --param reinforcement_fine_tuning_job_id=.. => reinforcementFineTuningJobId (--param reinforcement_fine_tuning_job_id): [INVALID_ARGUMENT]
request scaleDeployment --param deployment_id=prod --body {"replicaCount":-1} => [OUT_OF_RANGE] replicaCount must be at least 0
request GET v1/x => path (PATH): [INVALID_ARGUMENT] path must be a string that begins with "/"
request GET /v1/x --max-bytes 0 => maxResponseBytes (--max-bytes): [OUT_OF_RANGE]
mock --port=-1 => port (--port): [OUT_OF_RANGE] port must be at least 0, not -1.
mock --delay 0 => failure.delayMs (--delay): [OUT_OF_RANGE] failure.delayMs must be greater than 0, not 0.
mock --fail rerank:NOPE => failure.code (--fail): [INVALID_ARGUMENT] failure.code must be one of
mock --allow-origin foo => allowOrigins (--allow-origin): [INVALID_ARGUMENT] allowOrigins must be a list of origins`;
  const rowsOf = (text: string) =>
    text
      .trim()
      .split("\n")
      .map((row) => row.split(" => ") as [string, string]);

  test.each(rowsOf(mistakes))("%s is refused before anything is sent", async (line, message) => {
    const { exitCode, stdout, stderr } = await run(line.split(" ").filter(Boolean));
    expect([exitCode, stdout, server.connections]).toEqual([2, "", 0]);
    const [said = "", help] = stderr.replaceAll("`", "'").split("\n");
    expect(said.slice(0, message.length + 10)).toBe(`tunerank: ${message}`);
    expect(help).toMatch(/^Run 'tunerank .*--help' for help\.$/);
  });

  test.each(rowsOf(refusals))("%s names the option", async (line, message) => {
    const args = line.split(" ");
    const [told, json] = await Promise.all([run(args), run([...args, "--json"])]);
    expect([told.exitCode, server.connections]).toEqual([2, 0]);
    expect(`${told.stdout}${told.stderr}`).toContain(message);
    const [, argument, option] = /^([\w.]+) \((.*?)\)/.exec(message) ?? [];
    if (option && !line.startsWith("upload"))
      expect(JSON.parse(json.stderr).error).toMatchObject({ argument, option });
  });

  test("the value of a query may be the name of such an option", async () => {
    server.reply({ json: { data: [{ index: 0, relevance_score: 1 }] } });
    const args = ["rerank", "--query=--bulk", "--", "README.md"];
    expect((await run(args)).exitCode).toBe(10);
    expect(JSON.parse(`${server.only.body}`).query).toBe("--bulk");
  });

  // Wherever a key may land by mistake: KEY.
  const places = `
scale prod 1 KEY
KEY
scale prod KEY
scale prod 1 --timeout KEY
scale prod 1 --KEY
scale prod 1 --api-key KEY
scale prod 1 -key KEY
scale prod 1 --json=KEY
rerank --query q KEY
rerank --query q --field KEY examples/train.jsonl
scale prod 1 --api-key-file KEY
scale prod 1 --base-url KEY
completion KEY`;
  test.each(places.trim().split("\n"))("a key is refused and not repeated: %s", async (line) => {
    const { exitCode, stdout, stderr } = await run(line.replace("KEY", canaryKey).split(" "));
    expect([exitCode, stdout]).toEqual([2, ""]);
    for (const part of [canaryKey, "4tX/+", "9z?~"]) expect(stderr).not.toContain(part);
    expect(server.connections).toBe(0);
  });
});

describe("what a command says", () => {
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
    [
      "upload reviews README.md -q",
      "Send a smaller file: larger ones need another operation of the service,",
    ],
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

  test.each(["scale prod two", "scale prod 2 --nothing", "rerank --query q none.txt"])(
    "for programs a refusal says that nothing ran: %s",
    async (line) => {
      const { exitCode, stderr } = await run([...line.split(" "), "--json"]);
      const { message, ...fields } = JSON.parse(stderr).error;
      const refused = { name: "UsageError", code: "INVALID_ARGUMENT", executed: "no" };
      expect([exitCode, fields]).toEqual([2, { ...refused, executedBecause: "nothing-sent" }]);
      expect(message).not.toBe("");
    },
  );

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
});

describe("what a command shows", () => {
  describe("a text of the service is shown without invisible and control characters", () => {
    // Of each kind one: controls, format characters, separators, marks of direction, fillers, tags and variation selectors.
    const spoofing = [
      ..."\u001b\u007f\u009b\u0085\u00ad\u061c\u180e\u200b\u200d\u200f\u2028\u202e\u2060\u2067\u3164\ufeff\ufff9",
      ..."\u{e0041}\u{e0100}",
    ];
    const hostile = `be${spoofing.join("")}fore`;
    const readable = "Grüße, 東京, שלום, нет, 🙂";

    function expectNone(shown: string): void {
      expect(spoofing.filter((character) => shown.includes(character))).toEqual([]);
    }

    test.each<[what: string, args: string[], reply: object]>([
      ["a ranking", ["rerank", "--query", "q"], { json: { data: [{ index: 0, relevance_score: 0.5 }] } }],
      [
        "an upload",
        ["upload", "reviews", "-", "--name", "a.txt"],
        { json: { id: hostile, filename: hostile } },
      ],
      ["a job", ["resume", "job-1"], { json: { name: hostile, state: `${hostile}${readable}` } }],
      ["a job's failure", ["resume", "job-1"], { json: { status: { code: "ABORTED", message: hostile } } }],
      ["the id of a deployment", ["scale", "be\u202e\u200bfore", "1"], { json: {} }],
      ["an error", ["resume", "job-1"], { status: 404, json: { code: "NOT_FOUND", message: hostile } }],
    ])("in %s", async (_, args, reply) => {
      server.reply(reply);
      const { stdout, stderr } = await run(args, { input: `${hostile}\n` });
      expectNone(stdout + stderr);
      expect(stdout + stderr).toMatch(/be *fore/);
    });

    test("JSON for machines escapes them, and says the same", async () => {
      const job = { name: hostile, [hostile]: readable, state: "JOB_STATE_RUNNING" };
      server.reply({ json: job });
      const { stdout } = await run(["resume", "job-1", "--json"]);
      expectNone(stdout);
      expect(stdout).toContain(readable);
      expect(JSON.parse(stdout)).toMatchObject(job);
      server.reply({ status: 404, json: { code: "NOT_FOUND", message: hostile, extra: hostile } });
      const { stderr } = await run(["resume", "job-1", "--json"]);
      expectNone(stderr);
      expect(JSON.parse(stderr).error).toMatchObject({
        message: expect.stringContaining(hostile),
        body: { extra: hostile },
      });
    });
  });

  test.each([
    ["in a job", ["resume", "job-1"]],
    ["in a job, for machines", ["resume", "job-1", "--json"]],
    ["in any JSON", ["request", "GET", "/v1/x"]],
  ])("a key that the service sends back is not shown %s", async (_, args) => {
    server.reply({ json: { name: `a ${canaryKey} b`, [canaryKey]: 1, state: canaryKey } });
    const { exitCode, stdout } = await run(args);
    expect(exitCode).toBe(0);
    expect(stdout).toContain("[redacted]");
    for (const form of [canaryKey, JSON.stringify(canaryKey).slice(1, -1)])
      expect(stdout).not.toContain(form);
    if (args.length > 2) expect(JSON.parse(stdout)).toBeDefined();
  });

  test("the words of an error are the same for machines, and those of the service stay as they are", async () => {
    const message = "Raise timeoutMs, or maxRetries.";
    server.reply({ status: 503, json: { code: "UNAVAILABLE", message } });
    const args = ["scale", "prod", "1", "--max-retries", "0"];
    expect((await run(args)).stderr.split("\n")[0]).toBe(`tunerank: [UNAVAILABLE] ${message}`);
    const { error } = JSON.parse((await run([...args, "--json"])).stderr);
    expect(error.hint).toContain("maxRetries is 0.");
    expect(error).toMatchObject({
      message: `[UNAVAILABLE] ${message} ${error.hint}`,
      notRetried: "retries-used-up",
      executedBecause: "unclear-answer",
      method: "PATCH",
      path: "/v1/accounts/acme/deployments/prod:scale",
      host: new URL(server.url).host,
    });
  });
});
