import { rmSync } from "node:fs";
import { mkdir, readFile, truncate, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { exitCodeOf } from "../../../src/cli/exitCodes.js";
import { httpStatuses } from "../../../src/generated/contract.js";
import { canaryKey } from "../../support/canary.js";
import { tunerank } from "../../support/commandLine.js";
import { useCountingServer } from "../../support/countingServer.js";
import { root, temporaryFolder } from "../../support/project.js";
import { useRecordingServer } from "../../support/recordingServer.js";

const server = useRecordingServer();

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
      const { exitCode, stdout, stderr } = await tunerank(args, { baseUrl: server.url });
      expect(stdout).toBe("");
      expect(stderr.split("\n")).toEqual([
        `tunerank: [${code}] It is ${code}.`,
        expect.stringMatching(
          /^(The service rejected the request: we assume that it did not run|The operation may have run)\. .{20}/,
        ),
        "",
      ]);
      return [code, exitCode];
    });
    expect(Object.fromEntries(await Promise.all(outcomes))).toEqual(exitCodeOf);
  });

  test("a failure for machines is one JSON value on stderr", async () => {
    server.reply({
      status: 404,
      headers: { "x-request-id": "r-1" },
      json: { code: "NOT_FOUND", message: "Gone." },
    });
    const { exitCode, stdout, stderr } = await tunerank(["resume", "job-1", "--json"], {
      baseUrl: server.url,
    });
    expect([exitCode, stdout]).toEqual([4, ""]);
    expect(JSON.parse(stderr).error).toMatchObject({ code: "NOT_FOUND", executed: "no", requestId: "r-1" });
  });

  test("a failure tells the request id", async () => {
    server.reply({
      status: 404,
      headers: { "x-request-id": "r-1" },
      json: { code: "NOT_FOUND", message: "Gone." },
    });
    const { stderr } = await tunerank(["resume", "job-1"], { baseUrl: server.url });
    expect(stderr).toMatch(/^tunerank: \[NOT_FOUND\] Gone\. \(request id r-1\)\n/);
  });

  test("a repeat is told of while it is waited for, unless it is to be quiet", async () => {
    const respond = () =>
      server.requests.length % 2 === 1 ? { status: 503, json: { code: "UNAVAILABLE" } } : { json: {} };
    server.reply(respond);
    const told = await tunerank(["scale", "prod", "1"], { baseUrl: server.url });
    expect(told.exitCode).toBe(0);
    expect(told.stderr).toMatch(/^Attempt 1 failed: UNAVAILABLE\. Retrying (now|in \d\.\d s)\.\n$/);
    const quiet = await tunerank(["scale", "prod", "1", "--quiet"], { baseUrl: server.url });
    expect([quiet.exitCode, quiet.stderr]).toEqual([0, ""]);
    expect(server.requests).toHaveLength(4);
  });

  test.each(["--api-key", "--key", "--api-key=k", "-key"])(
    "a key is refused as an argument: %s",
    async (option) => {
      const { exitCode, stderr } = await tunerank(["scale", "prod", "1", option, "secret-value"], {
        baseUrl: server.url,
      });
      expect(exitCode).toBe(2);
      expect(stderr).toContain("A key cannot be an argument");
      expect(stderr).not.toContain("secret-value");
      expect(server.connections).toBe(0);
    },
  );

  test.each([
    ["TUNERANK_API_KEY", "--api-key-file FILE"],
    ["TUNERANK_BASE_URL", "--base-url URL"],
    ["TUNERANK_ACCOUNT_ID", "--account ID"],
  ])("without %s the option is named", async (variable, option) => {
    const surroundings = { baseUrl: server.url, env: { [variable]: undefined } };
    const { exitCode, stderr } = await tunerank(["scale", "prod", "1"], surroundings);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(
      `tunerank: Not set: ${variable} (${option}). Set the variable or the option, or name a file of variables with --env-file FILE.\n`,
    );
  });
});

// One rule: 2 is refused before anything is sent, 1 is a fault of this machine during the run, 5 is what the service
// refused. commandLineFailures.test.ts has the exit code of each code of the service.
describe("an exit code", () => {
  const counting = useCountingServer();
  let folder: string;
  let remove: () => Promise<void>;
  const at = (name: string): string => path.join(folder, name);

  beforeAll(async () => {
    ({ folder, remove } = await temporaryFolder());
    await mkdir(at("folder"));
    await writeFile(at("a.jsonl"), '{"text":"a"}\n');
    await writeFile(at("b.jsonl"), '{"text":"b"}\n');
  });
  afterAll(() => remove());

  test.each<[what: string, args: (at: (name: string) => string) => string[], words: string]>([
    ["a file that is missing", (at) => ["upload", "reviews", at("none")], "cannot be found"],
    ["a folder", (at) => ["upload", "reviews", `${at("folder")}/`], "is a folder: nothing was sent."],
    [
      "a folder without a slash",
      (at) => ["upload", "reviews", at("folder")],
      "is a folder: nothing was sent.",
    ],
    [
      "a folder among files",
      (at) => ["upload", "reviews", at("a.jsonl"), `${at("folder")}/`],
      'folder/" is a folder: nothing was sent.',
    ],
    ["an id with slashes", () => ["scale", "accounts/a/deployments/b", "1"], "DEPLOYMENT"],
    [
      "an id with slashes, for several files",
      (at) => ["upload", "a/b", at("a.jsonl"), at("b.jsonl")],
      "datasetId contains",
    ],
    [
      "a field that is missing",
      (at) => ["rerank", "--query", "q", "--field", "none", at("a.jsonl")],
      "line 1: it has no string in the field",
    ],
    [
      "a number that is too small",
      (at) => ["rerank", "--query", "q", "--top-n", "0", at("a.jsonl")],
      "topN (--top-n)",
    ],
    ["a wrong address", () => ["scale", "prod", "1", "--base-url", "nowhere"], "--base-url"],
  ])("%s is refused before anything is sent: 2", async (_what, args, words) => {
    const { exitCode, stdout, stderr } = await tunerank(args(at), { baseUrl: server.url });
    expect(`${stdout}${stderr}`).toContain(words);
    expect([exitCode, server.connections]).toEqual([2, 0]);
  });

  test("an argument that the service refuses: 5, for one file as for several", async () => {
    server.reply({ status: 400, json: { code: "INVALID_ARGUMENT", message: "No." } });
    const files = [at("a.jsonl"), at("b.jsonl")];
    const runs = [
      ["scale", "prod", "1"],
      ["upload", "reviews", ...files.slice(1)],
      ["upload", "reviews", ...files],
    ];
    for (const args of runs) expect((await tunerank(args, { baseUrl: server.url })).exitCode).toBe(5);
  });

  test("a bulk run that ended with invalid lines: 5", async () => {
    const input = at("bulk.jsonl");
    await writeFile(input, '{"id":1,"query":"q","documents":["d"]}\nno JSON\n');
    server.reply({
      json: { object: "list", model: "m", data: [{ index: 0, relevance_score: 1 }], usage: {} },
    });
    const args = ["bulk", input, "--output", at("out.jsonl")];
    expect((await tunerank(args, { baseUrl: server.url })).exitCode).toBe(5);
  });

  test("a file that changes while it is sent is a fault of this machine: 1", async () => {
    const file = at("large");
    await writeFile(file, "");
    await truncate(file, 24 * 1024 * 1024);
    counting.listen((request, response) => {
      request.once("data", () => void truncate(file, 1));
      request
        .on("error", () => {})
        .on("end", () => response.end("{}"))
        .resume();
    });
    const { exitCode, stderr } = await tunerank(["upload", "reviews", file, "--quiet"], {
      baseUrl: counting.url,
    });
    expect(stderr).toContain("[FAILED_PRECONDITION] The file changed");
    expect(exitCode).toBe(1);
  });

  test("a file that goes missing after another was sent is a fault of this machine: 1", async () => {
    const files = ["first", "second"].map(at);
    for (const file of files) await writeFile(file, "a");
    server.reply(() => {
      rmSync(files[1] as string, { force: true });
      return { json: { id: "file-1", bytes: 1, filename: "first" } };
    });
    const { exitCode, stdout } = await tunerank(["upload", "reviews", ...files, "--quiet"], {
      baseUrl: server.url,
    });
    expect(stdout).toContain("second");
    expect(exitCode).toBe(1);
  });

  test("the help and the guide of the command line give one rule", async () => {
    const { stdout } = await tunerank(["--help"]);
    const help = stdout.replace(/\s+/g, " ");
    const guide = await readFile(path.join(root, "docs/guide/cli.md"), "utf8");
    for (const meaning of [
      "a local failure, such as a full disk",
      "nothing was sent: an argument or file is invalid or missing, or an output file is not from tunerank",
      "rejected by the service, or invalid lines or files were skipped",
    ]) {
      expect(help).toContain(meaning);
      expect(guide).toContain(meaning);
    }
  });
});

// Mistakes on the command line: each is refused before anything is sent, and never shows a key that landed there.
describe("a command line that is refused", () => {
  const aTime = "must be a number of seconds, or a time such as 500ms, 5s or 2min.";
  const theQuery = "The query is an option: `tunerank rerank --query TEXT [FILE]`.";
  const wrong: readonly (readonly [args: string[], message: string])[] = [
    [["frobnicate"], "There is no such command."],
    [["help", "frobnicate"], "There is no such command."],
    [["--quite", "scale", "prod", "1"], "Option '--quite' is unknown. (Did you mean --quiet?)"],
    [["scale"], "Missing required argument 'DEPLOYMENT'."],
    [["scale", "prod"], "Missing required argument 'REPLICAS'."],
    [["scale", "prod", "many"], "REPLICAS must be a whole number, 0 or more."],
    [["scale", "prod", "-1"], "REPLICAS must be a whole number, 0 or more."],
    [["scale", "prod", "1", "2"], "Too many arguments for 'scale'. Expected 2 arguments but got 3."],
    [["scale", "prod", "1", "--jsno"], "Option '--jsno' is unknown. (Did you mean --json?)"],
    [["scale", "prod", "1", "-x"], "Option '-x' is unknown."],
    [["mock", "--account", "acme"], "Option '--account' is unknown."],
    [["scale", "prod", "1", "--json=yes"], "Option '--json' is unknown, or takes no value."],
    [["scale", "prod", "1", "--timeout"], "Option '--timeout <TIME>' argument missing."],
    [
      ["rerank", "--query", "--quiet", "package.json"],
      "--query has no value. One that starts with a dash is written --query=VALUE.",
    ],
    [
      ["scale", "prod", "1", "--account", "-x"],
      "--account has no value. One that starts with a dash is written --account=VALUE.",
    ],
    [["scale", "prod", "1", "--timeout="], `--timeout ${aTime}`],
    [["scale", "prod", "1", "--timeout", "soon"], `--timeout ${aTime}`],
    [["rerank", "--query", "q", "--batch-size", "1k"], "--batch-size must be a number."],
    [["bulk", "package.json", "--rate", "10"], "--rate must be like 600/min, 10/s or 36000/h."],
    [["upload", "d.jsonl"], "DATASET is missing: `tunerank upload DATASET FILE`."],
    [["upload", "reviews"], "Missing required argument 'FILE'."],
    [
      ["rerank", "--query", "q", "nowhere.txt"],
      'FILE "nowhere.txt" cannot be read: ENOENT: no such file or directory. Nothing was sent.',
    ],
    [
      ["rerank", "--query", "q", "/dev/null"],
      'FILE "/dev/null" has no document: nothing was sent. If it may be empty, add --allow-empty.',
    ],
    [["rerank", "package.json"], theQuery],
    [["rerank", "capital", "docs.txt"], theQuery],
    [["rerank", "-q", "password", "package.json"], `${theQuery} -q means --quiet.`],
    [
      ["rerank", "--query", "q", "--concurrency", "3", "README.md"],
      "--concurrency has no effect without --batch-size.",
    ],
    [["request", "--list", "--param", "a=b"], "--param has no effect on --list."],
    [["conformance", "--list", "--junit", "r.xml"], "--junit has no effect on --list."],
    [
      ["scale", "prod", "1", "--api-key-file", "nowhere"],
      "--api-key-file cannot be read: ENOENT: no such file or directory. It takes the name of a file, not the key.",
    ],
    [["completion", "powershell"], "SHELL must be one of bash, zsh, fish."],
    [["mock", "--port", "70000"], "Port 70000 of the host cannot be listened on: ERR_SOCKET_BAD_PORT."],
    [["mock", "--fail", "rerank:foo"], expect.stringMatching(/^--fail must be OPERATION:FAILURE, such as /)],
  ];

  test.each(wrong)("%j is refused before anything is sent", async (args, message) => {
    const { exitCode, stdout, stderr } = await tunerank(args, { baseUrl: server.url });
    expect([exitCode, stdout]).toEqual([2, ""]);
    expect(stderr.split("\n")[0]?.replace(/^tunerank: /, "")).toEqual(message);
    expect(stderr.split("\n")[1]).toMatch(/^Run `tunerank .*--help` for help\.$/);
    expect(server.connections).toBe(0);
  });

  // Options of earlier versions: each is refused with what to type now.
  test.each([
    [
      ["rerank", "--bulk", "in.jsonl", "--output", "o", "--wait"],
      "`rerank --bulk` is now `tunerank bulk FILE --output OUT`.",
    ],
    [
      ["rerank", "--output=o", "--query", "q"],
      "`rerank --output` is an option of `tunerank bulk FILE --output OUT`, which ranks many queries.",
    ],
    [
      ["bulk", "in.jsonl", "--errors", "e"],
      "`bulk --errors` is gone: OUT has one row for each id, also with its error; see `jq 'select(.error)' OUT`.",
    ],
    [
      ["bulk", "in.jsonl", "--max-hold", "5"],
      "`bulk --max-hold` is now `tunerank bulk FILE --output OUT` with --max-pause.",
    ],
    [
      ["bulk", "in.jsonl", "--max-retries", "5"],
      "`bulk --max-retries` does not apply: each request is retried until --timeout.",
    ],
    [
      ["upload", "d", "f", "--wait"],
      "`upload --wait` is gone: while another run writes to the same file, a run ends with exit code 2.",
    ],
    [["request", "--repeatable", "GET", "/"], "`request --repeatable` is now `request --idempotent`."],
  ])("%j names what takes its place", async (args, message) => {
    const { exitCode, stderr } = await tunerank(args, { baseUrl: server.url });
    expect([exitCode, stderr.split("\n")[0], server.connections]).toEqual([2, `tunerank: ${message}`, 0]);
  });

  test("the value of a query may be the name of such an option", async () => {
    server.reply({ json: { data: [{ index: 0, relevance_score: 1 }] } });
    const args = ["rerank", "--query=--bulk", "--", "README.md"];
    expect((await tunerank(args, { baseUrl: server.url })).exitCode).toBe(10);
    expect(JSON.parse(`${server.only.body}`).query).toBe("--bulk");
  });

  // What the client refuses, with the option or the argument that sets it, from the error's field.
  test.each([
    [
      ["scale", "prod", "1", "--timeout", "-1"],
      "timeoutMs (--timeout): [OUT_OF_RANGE] timeoutMs must be greater than 0, not -1000.",
    ],
    [
      ["scale", "prod", "1", "--timeout=0"],
      "timeoutMs (--timeout): [OUT_OF_RANGE] timeoutMs must be greater than 0, not 0.",
    ],
    [
      ["scale", "prod", "1", "--max-retries", "-1"],
      "maxRetries (--max-retries): [OUT_OF_RANGE] maxRetries must be at least 0, not -1.",
    ],
    [
      ["scale", "prod", "1", "--max-retries", "20"],
      "maxRetries (--max-retries): [OUT_OF_RANGE] maxRetries must be at most 2, not 20: no failure is retried more often.",
    ],
    [
      ["rerank", "--query", "q", "--top-n", "0", "README.md"],
      "topN (--top-n): [OUT_OF_RANGE] topN must be at least 1, not 0.",
    ],
    [
      ["scale", "a/b", "1"],
      'deploymentId (DEPLOYMENT): [INVALID_ARGUMENT] deploymentId contains "/": pass the id alone ("b"), not a full resource name.',
    ],
    [
      ["request", "resumeReinforcementFineTuningJob", "--param", "reinforcement_fine_tuning_job_id=.."],
      "reinforcementFineTuningJobId (--param reinforcement_fine_tuning_job_id): [INVALID_ARGUMENT] ",
    ],
    [["mock", "--port", "-1"], "port (--port): [OUT_OF_RANGE] port must be at least 0, not -1."],
    [["mock", "--delay", "0"], "delayMs (--delay): [OUT_OF_RANGE] delayMs must be greater than 0, not 0."],
    [["mock", "--fail", "rerank:503x0"], "times (--fail): [OUT_OF_RANGE] times must be at least 1, not 0."],
    [["mock", "--fail", "rerank:NOPE"], "code (--fail): [INVALID_ARGUMENT] code must be one of "],
    [
      ["mock", "--allow-origin", "foo"],
      "allowOrigins (--allow-origin): [INVALID_ARGUMENT] allowOrigins must hold origins ",
    ],
  ])("%j names the option", async (args, message) => {
    const [told, json] = await Promise.all([
      tunerank(args, { baseUrl: server.url }),
      tunerank([...args, "--json"], { baseUrl: server.url }),
    ]);
    expect([told.exitCode, told.stdout, server.connections]).toEqual([2, "", 0]);
    expect(told.stderr).toContain(`tunerank: ${message}`);
    const [, argument, option] = /^(\w+) \((.*?)\)/.exec(message) ?? [];
    expect(JSON.parse(json.stderr).error).toMatchObject({ argument, option });
  });

  // Wherever a key may land by mistake.
  test.each([
    ["too many arguments", ["scale", "prod", "1", canaryKey]],
    ["too many arguments, for machines", ["scale", "prod", "1", canaryKey, "--json"]],
    ["too many arguments after --", ["scale", "--", "prod", "1", canaryKey]],
    ["a command", [canaryKey]],
    ["a command to help with", ["help", canaryKey]],
    ["a number", ["scale", "prod", canaryKey]],
    ["an option's number", ["scale", "prod", "1", "--timeout", canaryKey]],
    ["an option", ["scale", "prod", "1", `--${canaryKey}`]],
    ["a short option", ["scale", "prod", "1", `-${canaryKey}`]],
    ["an unknown option's value", ["scale", "prod", "1", `--api-token=${canaryKey}`]],
    ["the value of an option that takes none", ["scale", "prod", "1", `--json=${canaryKey}`]],
    ["a file of documents", ["rerank", "--query", "q", canaryKey]],
    ["a field", ["rerank", "--query", "q", "--field", canaryKey, "examples/train.jsonl"]],
    ["a key's file", ["scale", "prod", "1", "--api-key-file", canaryKey]],
    ["an address", ["scale", "prod", "1", "--base-url", canaryKey]],
    ["a shell", ["completion", canaryKey]],
  ])("a key given as %s is refused and not repeated", async (_, args) => {
    const { exitCode, stdout, stderr } = await tunerank(args, { baseUrl: server.url });
    expect([exitCode, stdout]).toEqual([2, ""]);
    for (const part of [canaryKey, "4tX/+", "9z?~"]) expect(stderr).not.toContain(part);
    expect(server.connections).toBe(0);
  });
});
