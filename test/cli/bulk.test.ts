import * as fs from "node:fs";
import { hostname } from "node:os";
import { gzipSync } from "node:zlib";
import { beforeEach, expect, test } from "vitest";
import {
  expectWhole,
  folder,
  input,
  linesOf,
  output,
  parts,
  partsThere,
  queryOf,
  rankingOf,
  requestOf,
  rowsOf,
  useBulkFiles,
  writeRequests,
} from "../support/bulkFiles.js";
import { outcomeOf, start, tunerank } from "../support/commandLine.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { until } from "../support/turns.js";

const server = useRecordingServer();
const bulk = useBulkFiles(server);
const write = (...rows: readonly unknown[]): void => fs.writeFileSync(input, linesOf(...rows));
const documents = ["one", "two"];

beforeEach(() => server.reply(rankingOf));

/** Responds as the service does, but rejects these queries. */
function reject(queries: readonly string[], code = "INVALID_ARGUMENT", status = 400): void {
  server.reply((request) =>
    queries.includes(queryOf(request)) ? { status, json: { code, message: "No." } } : rankingOf(request),
  );
}

test("each id has one row with its response and a fingerprint, and no part is left; the same command sends nothing", async () => {
  await writeRequests(input, 20);
  const first = await bulk();
  expect([first.exitCode, first.stderr]).toEqual([0, ""]);
  expect(first.stdout).toMatch(/^Ranked 20, 0 already done, in \d+\.\d s\. 20 requests, 0 tokens, /);
  expectWhole(20);
  expect(fs.readdirSync(folder).sort()).toEqual(["in.jsonl", "out.jsonl"]);
  const before = fs.readFileSync(output);
  const second = await bulk();
  expect([second.exitCode, second.stderr]).toEqual([0, "20 rows found in --output and its parts.\n"]);
  expect(second.stdout).toMatch(/^Ranked 0, 20 already done, /);
  expect(server.requests).toHaveLength(20);
  expect(fs.readFileSync(output)).toEqual(before);
});

test("an output of the former `rerank --bulk` continues", async () => {
  write(
    { id: "r0", query: "q0", documents },
    { id: 1, query: "q1", documents: ["ä", "two"], top_n: 1, model: "accounts/a/models/m" },
    requestOf(2),
  );
  const former = [
    { id: "r0", fingerprint: "NVlcU2DT6-h-91d5w1xMi-", response: { object: "list", data: [] } },
    { id: 1, fingerprint: "VTD0Ntwh9kIULDiwQ4vZyL", response: { object: "list", data: [] } },
  ];
  fs.writeFileSync(output, linesOf(...former));
  expect((await bulk()).exitCode).toBe(0);
  expect(queryOf(server.only)).toBe("q2");
  expect(rowsOf(output).slice(0, 2)).toEqual(former);
});

test("a rejected request has a final row, which only --retry-final sends again; a passing failure is sent by the same command", async () => {
  await writeRequests(input, 4);
  server.reply((request) => {
    const query = queryOf(request);
    if (query === "q1") return { status: 400, json: { code: "INVALID_ARGUMENT", message: "No." } };
    if (query === "q2") return { status: 400, json: { code: "FAILED_PRECONDITION", message: "No." } };
    if (query === "q3") return { json: { object: "list", data: [{ index: 9, relevance_score: 1 }] } };
    return rankingOf(request);
  });
  const first = await bulk("--concurrency", "1");
  expect(first.exitCode).toBe(6);
  expect(first.stderr).toContain("Line 2: [INVALID_ARGUMENT] No.");
  expect(first.stdout).toContain("2 with a final error (--retry-final sends them again), 1 failed,");
  const byId = (id: string) => rowsOf(output).filter((row) => row.id === id);
  expect(byId("r1")).toMatchObject([{ final: true, error: { code: "INVALID_ARGUMENT", executed: "no" } }]);
  expect(byId("r2")).toMatchObject([{ final: false, error: { code: "FAILED_PRECONDITION" } }]);
  expect(byId("r3")).toMatchObject([{ final: true, error: { executed: "yes" } }]);
  server.reset();
  server.reply(rankingOf);
  const second = await bulk();
  expect([second.exitCode, server.requests.map(queryOf)]).toEqual([5, ["q2"]]);
  expect(second.stdout).toContain("3 already done (2 of them with a final error)");
  expect((await bulk("--retry-final")).exitCode).toBe(0);
  expect(server.requests.map(queryOf).sort()).toEqual(["q1", "q2", "q3"]);
  expectWhole(4);
});

test("a request that has changed ends the run before anything is sent; --update ranks it again", async () => {
  await writeRequests(input, 5);
  await bulk();
  write(...[0, 1, 2, 3].map((index) => requestOf(index, { top_n: 1 })), requestOf(4), requestOf(5));
  const before = fs.readFileSync(output);
  const refused = await bulk();
  expect(refused).toMatchObject({ exitCode: 2, stdout: "" });
  expect(refused.stderr).toContain(
    'The requests of 4 ids have changed since they got results: "r0", "r1", "r2" .... Add --update to rank them again, or name another --output. Nothing was sent.',
  );
  expect(fs.readFileSync(output)).toEqual(before);
  expect(fs.existsSync(parts)).toBe(false);
  expect(server.requests).toHaveLength(5);
  expect((await bulk("--update")).exitCode).toBe(0);
  expect(server.requests).toHaveLength(10);
  expectWhole(6);
  // The older input is another request again, of which the output has no row any more.
  await writeRequests(input, 5);
  expect((await bulk()).exitCode).toBe(2);
});

test("an older result stays while the changed request has none", async () => {
  await writeRequests(input, 1);
  await bulk();
  const [before] = rowsOf(output);
  write(requestOf(0, { top_n: 1 }));
  reject(["q0"]);
  expect((await bulk("--update")).exitCode).toBe(5);
  expect(rowsOf(output)).toEqual([before]);
});

test("a path names a field, and lines of a Batch API are read as they are", async () => {
  write({ key: { id: 7 }, body: { query: "q7" }, passages: [{ text: "one" }, { text: "two" }] });
  const fields = ["--id-field", "key.id", "--query-field", "body.query"];
  await bulk(...fields, "--documents-field", "passages[].text");
  expect(JSON.parse(`${server.only.body}`)).toEqual({ query: "q7", documents, return_documents: false });
  server.requests = [];
  write({ custom_id: "r8", method: "POST", url: "/v1/rerank", body: { query: "q8", documents, top_n: 1 } });
  expect((await bulk()).exitCode).toBe(0);
  expect(JSON.parse(`${server.only.body}`)).toEqual({
    query: "q8",
    documents,
    top_n: 1,
    return_documents: false,
  });
  expect(rowsOf(output).map(({ id }) => id)).toEqual([7, "r8"]);
});

test("a pipe continues: what is done is skipped, and a second line with one id is named", async () => {
  const text = linesOf(requestOf(0), requestOf(1), requestOf(1, { query: "other" }));
  const piped = (more: string) =>
    tunerank(["bulk", "-", "--output", output], { baseUrl: server.url, input: text + more });
  const first = await piped("");
  expect(first.exitCode).toBe(5);
  expect(first.stderr).toBe("Line 3 is skipped. An earlier line has this id.\n");
  expect(rowsOf(output).at(-1)).toMatchObject({ line: 3, error: { code: "INVALID_ARGUMENT" } });
  expect((await piped(linesOf(requestOf(2)))).exitCode).toBe(5);
  expect(server.requests.map(queryOf).sort()).toEqual(["q0", "q1", "q2"]);
  const changed = await tunerank(["bulk", "-", "--output", output], {
    ...{ baseUrl: server.url, input: linesOf(requestOf(0, { top_n: 1 })) },
  });
  expect(changed.exitCode).toBe(1);
  expect(changed.stderr).toContain('The requests of 1 id have changed since they got results: "r0".');
});

test("invalid lines are named, skipped and rows of the output; a second line with one id, too", async () => {
  const lines = [
    linesOf(requestOf(0)),
    "not JSON\n\n",
    linesOf([1], { id: "x", query: "q" }, requestOf(0, { query: "second" }), requestOf(1)),
  ];
  fs.writeFileSync(input, lines.join(""));
  const first = await bulk();
  expect(first.exitCode).toBe(5);
  expect(first.stderr.split("\n")).toEqual([
    expect.stringMatching(/^Line 2 is skipped\. It is not JSON: Unexpected token/),
    "Line 4 is skipped. It is not a JSON object.",
    "Line 5 is skipped. It has no field documents (--documents-field). Its fields: id, query.",
    "Line 6 is skipped. An earlier line has this id.",
    "",
  ]);
  const invalid = () => rowsOf(output).flatMap(({ line }) => line ?? []);
  expect(invalid()).toEqual([2, 4, 5, 6]);
  // The rows of lines are those of the last run's input.
  fs.writeFileSync(input, `${linesOf(requestOf(0), requestOf(1))}also not JSON\n`);
  expect((await bulk()).exitCode).toBe(5);
  expect(invalid()).toEqual([3]);
  expect(server.requests).toHaveLength(2);
  const strict = await bulk("--strict");
  expect([strict.exitCode, strict.stdout]).toEqual([2, ""]);
  expect(strict.stderr).toContain("1 invalid line: nothing was sent (--strict).");
});

test("if the first line has no request, the run ends before anything is sent", async () => {
  write({ qid: 1, text: "q", passages: [] }, requestOf(0));
  const { exitCode, stderr } = await bulk();
  expect([exitCode, server.requests, fs.existsSync(output)]).toEqual([2, [], false]);
  expect(stderr).toContain(
    `FILE "${input}", line 1: It has no field id (--id-field). Its fields: qid, text, passages. Nothing was sent.`,
  );
});

test.each([
  [
    "bytes that are no member",
    [gzipSync(linesOf(requestOf(0))), Buffer.alloc(64), gzipSync(linesOf(requestOf(1)))],
    "gzip: what follows a member is not gzip",
  ],
  [
    "a cut member",
    [gzipSync(linesOf(requestOf(0), requestOf(1))).subarray(0, -12)],
    "cannot be read: gzip: unexpected end of file.",
  ],
])("gzip with %s is an error, and several members are read", async (_, bad, message) => {
  fs.writeFileSync(input, Buffer.concat(bad));
  const damaged = await bulk();
  expect(damaged.exitCode).not.toBe(0);
  expect(damaged.stderr).toContain(message);
  fs.writeFileSync(input, Buffer.concat([gzipSync(linesOf(requestOf(0))), gzipSync(linesOf(requestOf(1)))]));
  expect((await bulk()).exitCode).toBe(0);
  expectWhole(2);
});

test.each([
  ["Parquet", "PAR1\u0015 and so on", "is Parquet, not JSON lines in UTF-8."],
  ["a JSON array", '[\n{"id": 1}\n]\n', "is one JSON array, not JSON lines in UTF-8."],
  ["text in Latin-1", Buffer.from('{"id": "\u00e4"}\n', "latin1"), "line 1: It is not UTF-8"],
  ["nothing", "", "is empty: nothing was sent. If it may be empty, add --allow-empty."],
])("an input that is %s is refused with its name", async (_, content, message) => {
  fs.writeFileSync(input, content);
  const { exitCode, stderr } = await bulk();
  expect([exitCode, server.requests, fs.readdirSync(folder)]).toEqual([2, [], ["in.jsonl"]]);
  expect(stderr).toContain(`FILE "${input}"`);
  expect(stderr).toContain(message);
});

test("an input that changes while it is read ends the run, and what was ranked is kept", async () => {
  const long = { documents: ["one", "x".repeat(5000)] };
  write(...Array.from({ length: 300 }, (_, index) => requestOf(index, long)));
  server.reply((request) => {
    if (server.requests.length === 1) fs.appendFileSync(input, linesOf(requestOf(300)));
    return rankingOf(request);
  });
  const { exitCode, stderr } = await bulk();
  expect(exitCode).toBe(1);
  expect(stderr).toContain("changed while it was read. What is done is kept: run the same command again");
  const kept = rowsOf(output).length;
  expect(kept).toBeGreaterThan(0);
  expect(kept).toBeGreaterThanOrEqual(server.requests.length - 1);
});

const result = { id: "r", fingerprint: "NVlcU2DT6-h-91d5w1xMi-", response: { data: [] } };
test.each([
  ["a line that is no row", linesOf(requestOf(0))],
  ["text without an end", "my notes"],
  ["the beginning of a row", '{"id":42,"na'],
  ["a row without a whole fingerprint", linesOf({ ...result, fingerprint: "ab" })],
  ["a number for a fingerprint", linesOf({ ...result, fingerprint: 1 })],
  ["a row of an upload", linesOf({ ...result, response: { id: "file-1" } })],
  ["zeros", "\0\0\0\0"],
  ["whole JSON after its rows", `${linesOf(result)}{"id":"mine"}`],
  ["a note after its rows", `${linesOf(result)}a note`],
])("an output with a line that is no row is refused, and left byte for byte: %s", async (_, content) => {
  await writeRequests(input, 1);
  fs.writeFileSync(output, content);
  const { exitCode, stderr } = await bulk();
  expect([exitCode, server.requests, fs.readFileSync(output, "utf8")]).toEqual([2, [], content]);
  expect(stderr).toMatch(/^tunerank: --output, line [12], is not a row of tunerank\./);
  expect(fs.readdirSync(folder).sort()).toEqual(["in.jsonl", "out.jsonl"]);
});

test("a torn last row of an output is sent again", async () => {
  await writeRequests(input, 3);
  await bulk();
  const text = fs.readFileSync(output, "utf8");
  fs.writeFileSync(output, text.slice(0, -30));
  server.requests = [];
  expect((await bulk()).exitCode).toBe(0);
  expect(server.requests).toHaveLength(1);
  expectWhole(3);
});

test("a second run is refused while one is alive, names it, and leaves no part; a dry run says so too", async () => {
  await writeRequests(input, 1);
  server.reply(() => undefined);
  const first = bulk.start([]);
  await server.received();
  const there = partsThere();
  const [second, dry] = await Promise.all([bulk(), bulk("--dry-run")]);
  for (const { exitCode, stderr, stdout } of [second, dry]) {
    expect([exitCode, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(
      `Another run writes --output (process ${first.pid} on ${hostname()}, \`tunerank bulk\`). Wait until it has ended; if it was killed, wait 30 seconds. Nothing was sent.`,
    );
  }
  expect(partsThere()).toEqual(there);
  first.kill("SIGKILL");
  await outcomeOf(first);
  server.reply(rankingOf);
  expect((await bulk()).exitCode).toBe(0);
  expectWhole(1);
});

test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
  "%s sends nothing more, and waits for what is in flight: its rows are kept",
  async (signal) => {
    await writeRequests(input, 30);
    const held: (() => void)[] = [];
    server.reply((request, response) => {
      held.push(() => response.end(JSON.stringify(rankingOf(request).json)));
      return undefined;
    });
    const child = bulk.start(["--concurrency", "8"]);
    const ended = outcomeOf(child);
    await server.received(8);
    child.kill(signal);
    setTimeout(() => {
      for (const respond of held) respond();
    }, 300);
    const { exitCode, stderr } = await ended;
    expect(exitCode).toBe({ SIGINT: 130, SIGTERM: 143, SIGHUP: 129 }[signal]);
    expect(stderr).toContain("Interrupted: 8 of 30 done; the same command continues.");
    expect([server.requests.length, rowsOf(output).length]).toEqual([8, 8]);
    server.reply(rankingOf);
    expect((await bulk()).exitCode).toBe(0);
    expect(server.requests).toHaveLength(30);
    expectWhole(30);
  },
);

test("a second signal ends the run at once", async () => {
  await writeRequests(input, 1);
  server.reply(() => undefined);
  const child = bulk.start([]);
  const ended = outcomeOf(child);
  await server.received();
  child.kill("SIGINT");
  setTimeout(() => child.kill("SIGINT"), 300);
  const began = performance.now();
  expect((await ended).exitCode).toBe(130);
  expect(performance.now() - began).toBeLessThan(4000);
  server.reply(rankingOf);
  expect((await bulk()).exitCode).toBe(0);
  expectWhole(1);
});

test("a number such as 1e400 is no null in a row, and the result is kept", async () => {
  await writeRequests(input, 1);
  server.reply((request) => {
    const text = JSON.stringify(rankingOf(request).json);
    return { text: text.replace('"usage":{}', '"usage":{"seconds":1e400,"saved":[-1e400,null]}') };
  });
  expect((await bulk()).exitCode).toBe(0);
  const most = Number.MAX_VALUE;
  expect(rowsOf(output)[0]).toMatchObject({ response: { usage: { seconds: most, saved: [-most, null] } } });
});

test("a row is one line for Python's splitlines() too; rows that hold such characters are read", async () => {
  const id = "r\u0085\u2028\u2029";
  write({ id, query: "q", documents: ["one"] });
  await bulk();
  expect(fs.readFileSync(output, "utf8")).not.toMatch(/[\u0085\u2028\u2029]/);
  fs.writeFileSync(output, linesOf(...rowsOf(output)));
  expect((await bulk()).stdout).toMatch(/^Ranked 0, 1 already done, /);
  expect(server.requests).toHaveLength(1);
});

test.each([
  ["a limit of requests", ["--max-requests", "5"], 11, "--max-requests 5 is reached: 5 of 12 done"],
  ["a limit of time", ["--total-timeout", "3"], 9, "of 12 done; the same command continues"],
])("%s ends a run with what is done kept, and the same command continues", async (_, options, exit, text) => {
  await writeRequests(input, 12);
  server.reply((request) => (server.requests.length > 5 && exit === 9 ? undefined : rankingOf(request)));
  const { exitCode, stderr } = await bulk("--concurrency", "1", ...options);
  expect([exitCode, rowsOf(output).length]).toEqual([exit, 5]);
  expect(stderr).toContain(text);
  expect(fs.readFileSync(partsThere()[0] as string, "utf8")).toMatch(/\n\{"end":true\}\n$/);
  server.requests = [];
  server.reply(rankingOf);
  expect((await bulk()).exitCode).toBe(0);
  expect(server.requests).toHaveLength(7);
  expectWhole(12);
});

test("a rejected key ends the run at once, with exit code 3, and what is done is kept", async () => {
  await writeRequests(input, 6);
  await bulk("--concurrency", "1", "--max-requests", "2");
  server.reply({ status: 401, json: { code: "UNAUTHENTICATED", message: "No." } });
  const { exitCode, stderr } = await bulk("--concurrency", "1");
  expect([exitCode, rowsOf(output).length, server.requests.length]).toEqual([3, 2, 3]);
  expect(stderr).toContain("2 of 6 done; the same command continues.");
});

test("--batch-size sends a line in several requests; documents that the service rejects are named in its row", async () => {
  write({ id: 1, query: "q", documents: ["a", "b", "bad", "d"] });
  server.reply((request) =>
    JSON.parse(`${request.body}`).documents.includes("bad")
      ? { status: 400, json: { code: "INVALID_ARGUMENT", message: "No." } }
      : rankingOf(request),
  );
  const { exitCode, stdout } = await bulk("--batch-size", "2");
  expect(exitCode).toBe(5);
  expect(stdout).toContain("1 without documents that the service rejected (`rejected`)");
  const [row] = rowsOf(output) as unknown as [{ response: { data: { index: number }[] }; rejected: unknown }];
  expect(row.response.data.map(({ index }) => index).sort()).toEqual([0, 1, 3]);
  expect(row.rejected).toMatchObject([{ index: 2, error: { code: "INVALID_ARGUMENT" } }]);
});

test.each([
  ["in.jsonl", "./in.jsonl", [], "FILE and --output must be different files."],
  ["-", "out.jsonl", ["--strict"], "--strict reads all of FILE"],
  ["in.jsonl", "no/out.jsonl", [], "The folder of --output cannot be found: ENOENT"],
])("%s with --output %s %j is refused", async (file, to, more, message) => {
  await writeRequests(input, 1);
  const from = file === "-" ? file : input;
  const args = ["bulk", from, "--output", `${folder}/${to}`, ...more];
  const { exitCode, stderr } = await tunerank(args, { baseUrl: server.url, input: linesOf(requestOf(0)) });
  expect([exitCode, server.requests, stderr]).toEqual([2, [], expect.stringContaining(message)]);
});

test("elsewhere than on a terminal, progress is a line every ten seconds", async () => {
  await writeRequests(input, 3);
  server.reply((request, response) => {
    setTimeout(() => response.end(JSON.stringify(rankingOf(request).json)), 300);
    return undefined;
  });
  const { exitCode, stderr } = await outcomeOf(bulk.start(["--concurrency", "1"], { clockRate: 50 }));
  expect(exitCode).toBe(0);
  expect(stderr).toMatch(/^\d of 3 {2}[\d.]+\/s {2}0 errors$/m);
});

test("an input in a pipe stays open without holding up its rows", async () => {
  const child = start(["bulk", "-", "--output", output], { baseUrl: server.url, openInput: true });
  const ended = outcomeOf(child);
  child.stdin?.write(linesOf(requestOf(0)));
  await until(() => partsThere().some((file) => fs.readFileSync(file, "utf8").includes('"response"')));
  child.stdin?.end(linesOf(requestOf(1)));
  expect((await ended).exitCode).toBe(0);
  expectWhole(2);
});
