import { appendFile, readdir, readFile, truncate, writeFile } from "node:fs/promises";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { beforeEach, expect, test } from "vitest";
import {
  errors,
  folder,
  input,
  output,
  queryOf,
  rankingOf,
  rowsOf,
  useBulkFiles,
  writeRequests,
} from "../../support/bulkFiles.js";
import { outcomeOf, secondsFor, start, tunerank } from "../../support/commandLine.js";
import { expectOneRowEach } from "../../support/killedRuns.js";
import { useRecordingServer } from "../../support/recordingServer.js";

const server = useRecordingServer();
const bulk = useBulkFiles(server);
beforeEach(() => server.reply(rankingOf));

const lines = (...rows: unknown[]): Promise<void> =>
  writeFile(input, rows.map((row) => `${typeof row === "string" ? row : JSON.stringify(row)}\n`).join(""));
const documents = ["one", "two"];

test("every id has one row, with its ranking and a fingerprint, and the files are all that is left", async () => {
  await writeRequests(input, 50);
  const { exitCode, stdout, stderr } = await bulk();
  expect([exitCode, stderr]).toEqual([0, ""]);
  expect(stdout).toMatch(
    /^Ranked 50, 0 already done, in \d+\.\d s\. 50 requests, 0 tokens, \d+ rows\/s\.\n$/,
  );
  const rows = await rowsOf(output);
  expect(new Set(rows.map(({ id }) => id)).size).toBe(50);
  for (const { id, response, fingerprint } of rows) {
    expect(response?.model).toBe(`for ${`${id}`.replace("r", "q")}`);
    expect(fingerprint).toMatch(/^[\w-]{22}$/);
  }
  expect(JSON.parse(`${server.requests[0]?.body}`)).toEqual({
    query: "q0",
    documents,
    return_documents: false,
  });
  expect((await readdir(folder)).sort()).toEqual(["in.jsonl", "out.jsonl", "out.jsonl.run"]);
});

test("the same command again sends nothing, and says so for machines", async () => {
  await writeRequests(input, 5);
  await bulk();
  const { exitCode, stdout } = await bulk("--json");
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    requests: 5,
    before: 5,
    ranked: 0,
    wrong: 0,
    failed: 0,
    badLines: 0,
  });
  expect(server.requests).toHaveLength(5);
});

test("a torn last line is repaired, and its request sent again; a whole one without its end is kept", async () => {
  await writeRequests(input, 3);
  await bulk("--concurrency", "1");
  const whole = await readFile(output, "utf8");
  await truncate(output, whole.length - 1);
  await bulk();
  expect(await readFile(output, "utf8")).toBe(whole);
  expect(server.requests).toHaveLength(3);
  await truncate(output, whole.length - 10);
  expect((await bulk()).exitCode).toBe(0);
  expect(await readFile(output, "utf8")).toBe(whole);
  expect(server.requests).toHaveLength(4);
  // What is left of a row when a machine loses power.
  await appendFile(output, Buffer.alloc(100));
  expect((await bulk()).exitCode).toBe(0);
  expect(await readFile(output, "utf8")).toBe(whole);
});

test.each(["a note of mine", '{"name":"a config file"}', "a note\n", '{"id":1}\n'])(
  "an output file that is none, %j, is left as it is",
  async (text) => {
    await writeRequests(input, 3);
    await writeFile(output, text);
    const { exitCode, stderr } = await bulk();
    expect(exitCode).toBe(2);
    expect(stderr).toContain("--output, line 1, is not a row of a bulk run");
    expect(await readFile(output, "utf8")).toBe(text);
    expect(server.requests).toHaveLength(0);
  },
);

test("another request under a done id is refused, and so are other options", async () => {
  await writeRequests(input, 3);
  await bulk();
  const { exitCode, stderr } = await bulk("--task", "another");
  expect(exitCode).toBe(2);
  expect(stderr).toContain(
    "Lines 1, 2, 3: the id is done in --output, but with another request or other options",
  );
  await lines({ id: "r0", query: "q0", documents: ["one", "three"] });
  expect((await bulk()).stderr).toContain("Line 1: the id is done in --output");
  // Another order of the fields is the same request.
  await lines({ documents, query: "q0", id: "r0", return_documents: false });
  expect((await bulk()).exitCode).toBe(0);
  expect(server.requests).toHaveLength(3);
});

test("a duplicate id in a file is refused before anything is sent", async () => {
  await lines(
    { id: 1, query: "a", documents },
    { id: "1", query: "b", documents },
    { id: 1, query: "c", documents },
  );
  const { exitCode, stderr } = await bulk();
  expect(exitCode).toBe(2);
  expect(stderr).toContain("line 3 has the id of line 1. Nothing was sent.");
  expect(server.requests).toHaveLength(0);
});

test("a duplicate id in a pipe is an error row, and a pipe is not continued", async () => {
  const text = ["a", "b", "a"].map((id) => `${JSON.stringify({ id, query: id, documents })}\n`).join("");
  const args = ["rerank", "--bulk", "-", "--output", output, "--errors", errors];
  const surroundings = { baseUrl: server.url, input: text };
  const { exitCode, stderr } = await tunerank(args, surroundings);
  expect(exitCode).toBe(5);
  expect(stderr).toContain("Line 3 is skipped. An earlier line has this id.");
  expect((await rowsOf(output)).map(({ id }) => id).sort()).toEqual(["a", "b"]);
  expect(await rowsOf(errors)).toMatchObject([{ id: "a", line: 3, error: { code: "INVALID_ARGUMENT" } }]);
  const again = await tunerank(args, surroundings);
  expect(again.exitCode).toBe(2);
  expect(again.stderr).toContain("A run from a pipe cannot be continued");
  expect(server.requests).toHaveLength(2);
});

test("bad lines are told with their numbers, and do not stop the rest", async () => {
  await lines(
    `\uFEFF${JSON.stringify({ id: "a", query: "a", documents })}`,
    "",
    "{not json",
    [1],
    { query: "no id", documents },
    { id: 1.5, query: "q", documents },
    `${JSON.stringify({ id: "b", query: "b", documents })}\r`,
    { id: null, query: "q", documents },
  );
  await appendFile(input, Buffer.from([0x7b, 0xff, 0x7d, 0x0a]));
  const { exitCode, stderr } = await bulk("--errors", errors);
  expect(exitCode).toBe(5);
  expect(stderr.match(/^Line \d+/gm)).toEqual(["Line 3", "Line 4", "Line 5", "Line 6", "Line 8", "Line 9"]);
  expect((await rowsOf(output)).map(({ id }) => id).sort()).toEqual(["a", "b"]);
  expect((await rowsOf(errors)).map(({ line }) => line)).toEqual([3, 4, 5, 6, 8, 9]);
  // They are told again, not added again.
  await bulk("--errors", errors);
  expect(await rowsOf(errors)).toHaveLength(6);
});

test("wrong requests do not run again, and transient failures do", async () => {
  await writeRequests(input, 4);
  let isAway = true;
  // Longer than a row has: it fails at once, and not while an attempt is under way as its time ends.
  const longAway = { "retry-after": "300" };
  server.reply((request) => {
    if (queryOf(request) === "q1") return { status: 400, json: { code: "INVALID_ARGUMENT", message: "No." } };
    if (queryOf(request) === "q2" && isAway) return { status: 503, headers: longAway };
    return rankingOf(request);
  });
  const first = await bulk("--errors", errors, "--max-hold", "none", "--json");
  expect(first.exitCode).toBe(8);
  expect(JSON.parse(first.stdout)).toMatchObject({ requests: 4, ranked: 2, wrong: 1, failed: 1 });
  expect(await rowsOf(errors)).toMatchObject([
    { id: "r1", final: true, error: { code: "INVALID_ARGUMENT" } },
    { id: "r2", final: false, error: { code: "UNAVAILABLE" } },
  ]);
  isAway = false;
  server.requests = [];
  // The exit code speaks of the whole run.
  expect((await bulk("--errors", errors)).exitCode).toBe(5);
  expect(server.requests.map(queryOf)).toEqual(["q2"]);
  expect((await rowsOf(errors)).map(({ id }) => id)).toEqual(["r1"]);
  expect((await rowsOf(output)).map(({ id }) => id).sort()).toEqual(["r0", "r2", "r3"]);
});

test("a wrong request that was mended runs again, and its error is gone", async () => {
  await lines({ id: "a", query: "a", documents: [] });
  expect((await bulk("--errors", errors)).exitCode).toBe(5);
  // It was never sent.
  expect(await rowsOf(errors)).toMatchObject([{ id: "a", final: false }]);
  await lines({ id: "a", query: "a", documents });
  expect((await bulk("--errors", errors)).exitCode).toBe(0);
  expect(await rowsOf(errors)).toEqual([]);
  expect(await rowsOf(output)).toHaveLength(1);
});

test("without a file for errors, a wrong request that was sent is a row of the output", async () => {
  await lines({ id: "a", query: "a", documents }, { id: "b", query: "b", documents });
  server.reply((request) =>
    queryOf(request) === "a"
      ? { status: 400, json: { code: "INVALID_ARGUMENT", message: "No." } }
      : rankingOf(request),
  );
  const { exitCode, stderr } = await bulk();
  expect(exitCode).toBe(5);
  expect(stderr).toContain("Line 1: [INVALID_ARGUMENT] No.");
  const byId = new Map((await rowsOf(output)).map((row) => [row.id, row]));
  expect(byId.get("a")).toMatchObject({ final: true, error: { code: "INVALID_ARGUMENT" } });
  expect(byId.get("b")?.response).toBeDefined();
});

test("a wrong request that was never sent is told, and is no row", async () => {
  await lines({ id: "a", query: "a", documents, topN: 3 }, { id: "b", query: "b", documents });
  const { exitCode, stderr } = await bulk();
  expect(exitCode).toBe(5);
  expect(stderr).toContain("Line 1: [INVALID_ARGUMENT] body has topN: did you mean top_n?");
  expect((await rowsOf(output)).map(({ id }) => id)).toEqual(["b"]);
});

test("fields may have other names, gzip is read, and what is no field of a request is not sent", async () => {
  const row = { qid: 7, question: "why", passages: documents, label: "mine", query: "not this", top_n: 1 };
  await writeFile(input, gzipSync(`${JSON.stringify(row)}\n`));
  const names = ["--id-field", "qid", "--query-field", "question", "--documents-field", "passages"];
  expect(
    (await bulk(...names, "--task", "t", "--top-n", "5", "--model", "accounts/a/models/m")).exitCode,
  ).toBe(0);
  expect(JSON.parse(`${server.only.body}`)).toEqual({
    query: "why",
    documents,
    model: "accounts/a/models/m",
    top_n: 1,
    return_documents: false,
    task: "t",
  });
  expect(await rowsOf(output)).toMatchObject([{ id: 7 }]);
});

test("a refused key ends the run at once, with what is done kept", async () => {
  await writeRequests(input, 100);
  server.reply((request) => (queryOf(request) === "q3" ? { status: 401 } : rankingOf(request)));
  const { exitCode, stdout, stderr } = await bulk("--concurrency", "1");
  expect(exitCode).toBe(3);
  expect(stderr).toContain("[UNAUTHENTICATED]");
  expect(stdout).toMatch(/^Ranked 3, /);
  expect(await rowsOf(output)).toHaveLength(3);
  server.reply(rankingOf);
  expect((await bulk()).exitCode).toBe(0);
  expect(await rowsOf(output)).toHaveLength(100);
});

test.each(["SIGINT", "SIGTERM"] as const)(
  "%s ends a run with what is done kept, and the next goes on",
  async (signal) => {
    await writeRequests(input, 20);
    server.reply((request) => (queryOf(request) === "q5" ? undefined : rankingOf(request)));
    const child = start(["rerank", "--bulk", input, "--output", output], { baseUrl: server.url });
    const outcome = outcomeOf(child);
    await server.received(20);
    child.kill(signal);
    const { exitCode, stdout, stderr } = await outcome;
    expect(exitCode).toBe(signal === "SIGINT" ? 130 : 143);
    expect(stderr).toBe("tunerank: Interrupted: 19 of 20 done; the same command continues.\n");
    expect(stdout).toMatch(/^Ranked 19, /);
    server.reply(rankingOf);
    await bulk();
    expect(await rowsOf(output)).toHaveLength(20);
    expect((await readdir(folder)).sort()).toEqual(["in.jsonl", "out.jsonl", "out.jsonl.run"]);
  },
);

test("--total-timeout ends a run whose requests have time left, and the next goes on", async () => {
  await writeRequests(input, 5);
  const apart = path.join(folder, "apart.jsonl");
  const seconds = await secondsFor(() => bulk("--output", apart));
  server.requests = [];
  server.reply((request) => (queryOf(request) === "q3" ? undefined : rankingOf(request)));
  const { exitCode, stdout, stderr } = await bulk("--total-timeout", seconds, "--timeout", "600");
  expect(exitCode).toBe(9);
  expect(stdout).toMatch(/^Ranked 4, /);
  expect(stderr).toContain(
    `[DEADLINE_EXCEEDED] The run was not over within ${Number(seconds) * 1000} ms (--total-timeout). The run ended with 4 results`,
  );
  expect(stderr).toContain("Allow more time with --total-timeout.");
  expect(await rowsOf(output)).toHaveLength(4);
  server.requests = [];
  server.reply(rankingOf);
  // Longer than a timer can be, and the run does not wait for it.
  expect((await bulk("--total-timeout", "1e306")).exitCode).toBe(0);
  expect(server.requests.map(queryOf)).toEqual(["q3"]);
});

test("--total-timeout ends a run that waits for the standard input", async () => {
  const args = ["rerank", "--bulk", "-", "--output", output, "--total-timeout", "0.1"];
  const { exitCode, stderr } = await outcomeOf(start(args, { baseUrl: server.url, openInput: true }));
  expect(exitCode).toBe(9);
  expect(stderr).toContain("The run was not over within 100 ms (--total-timeout).");
});

test("two runs may not write one output, and the lock of one that was killed is no obstacle", async () => {
  await writeRequests(input, 3);
  server.reply(() => undefined);
  const child = start(["rerank", "--bulk", input, "--output", output], { baseUrl: server.url });
  const outcome = outcomeOf(child);
  await server.received(3);
  const { exitCode, stderr } = await bulk();
  expect(exitCode).toBe(2);
  expect(stderr).toContain(`Another run is writing to --output: process ${child.pid} `);
  child.kill("SIGKILL");
  await outcome;
  server.reply(rankingOf);
  expect((await bulk()).exitCode).toBe(0);
  expect(await rowsOf(output)).toHaveLength(3);
});

test.each([
  [["--query", "x"], "--query has no effect on --bulk."],
  [["--batch-size", "0"], "--batch-size must be a whole number of at least 1."],
  [["--max-batch-bytes", "5"], "--max-batch-bytes has no effect on --bulk."],
  [["--total-timeout", "0"], "--total-timeout must be greater than 0."],
  [["--total-timeout=-1"], "--total-timeout must be greater than 0."],
  [
    ["--total-timeout", "soon"],
    "--total-timeout must be a number of seconds, or a time such as 500ms, 5s or 2min.",
  ],
  [["--max-retries", "5"], "--max-retries has no effect on --bulk."],
  [["--concurrency", "0"], "--concurrency must be a whole number of at least 1, or auto."],
  [["--concurrency", "many"], "--concurrency must be a number."],
  [["file.txt"], "With --bulk there is no FILE"],
])("%j is refused", async (more, message) => {
  await writeRequests(input, 1);
  const { exitCode, stderr } = await bulk(...more);
  expect([exitCode, stderr.includes(message)]).toEqual([2, true]);
  expect(server.requests).toHaveLength(0);
  expect(await readdir(folder)).toEqual(["in.jsonl"]);
});

test("--bulk needs an output of its own, and its options need --bulk", async () => {
  await writeRequests(input, 1);
  const refusals = await Promise.all([
    tunerank(["rerank", "--bulk", input], { baseUrl: server.url }),
    tunerank(["rerank", "--bulk", input, "--output", input], { baseUrl: server.url }),
    tunerank(["rerank", "--bulk", `${input}.no`, "--output", output], { baseUrl: server.url }),
    tunerank(["rerank", "--query", "q", "--output", output, input], { baseUrl: server.url }),
    tunerank(["rerank", "--query", "q", "--total-timeout", "60", input], { baseUrl: server.url }),
    tunerank(["rerank", input], { baseUrl: server.url }),
  ]);
  expect(refusals.map(({ exitCode, stderr }) => [exitCode, stderr.split("\n")[0]])).toEqual([
    [2, "tunerank: --bulk needs --output FILE, from which a run can continue."],
    [2, "tunerank: --bulk, --output and --errors must be different files."],
    [
      2,
      `tunerank: --bulk "${input}.no" cannot be read: ENOENT: no such file or directory. Nothing was sent.`,
    ],
    [2, "tunerank: --output has no effect without --bulk."],
    [2, "tunerank: --total-timeout has no effect without --bulk."],
    [2, "tunerank: Required option '--query <TEXT>' not specified."],
  ]);
});

test("a bulk run that is killed at random moments has one row for each id", async () => {
  await expectOneRowEach(server, folder, { requests: 300, kills: 8, seed: 7 });
});
