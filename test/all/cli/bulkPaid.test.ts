// What the service has run was paid for: without a usable result it is an error row, which no later start sends again.
import { readFile, writeFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import {
  errors,
  input,
  output,
  queryOf,
  rankingOf,
  rowsOf,
  useBulkFiles,
  writeRequests,
} from "../../support/bulkFiles.js";
import { tunerank } from "../../support/commandLine.js";
import { type ReceivedRequest, type Reply, useRecordingServer } from "../../support/recordingServer.js";

const server = useRecordingServer();
const bulk = useBulkFiles(server);

/** Responds to the query `q1` so, and to all others with a ranking. */
function replyToOne(reply: Reply): void {
  server.reply((request) => (queryOf(request) === "q1" ? reply : rankingOf(request)));
}

const isOfOne = (request: ReceivedRequest): boolean => queryOf(request) === "q1";
const entry = (index: number): object => ({ index, relevance_score: 0.5 });
// 100,000 deep.
const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
const deepResponse = `{"data":[{"index":0,"relevance_score":1},{"index":1,"relevance_score":0,"more":${deep}}]}`;

describe.each<[name: string, reply: Reply, requests: number, says: string]>([
  [
    "an index of none of the documents",
    { json: { data: [entry(0), entry(9)] } },
    1,
    "is outside the list of 2 documents",
  ],
  ["too few documents", { json: { data: [entry(0)] } }, 1, "index 1 is missing"],
  ["no JSON", { text: '{"data":[' }, 2, "is not the JSON object that the OpenAPI document describes"],
  ["no data", { json: {} }, 2, "data is missing or not valid"],
  ["what no row can hold", { text: deepResponse }, 1, "cannot be written as JSON"],
])("a response with %s", (_name, reply, requests, says) => {
  test.each([[false], [true]])("is a final error row, with --errors: %s", async (hasErrors) => {
    await writeRequests(input, 3);
    replyToOne(reply);
    const more = hasErrors ? ["--errors", errors] : [];
    const first = await bulk(...more);
    expect([first.exitCode, server.requests.filter(isOfOne).length]).toEqual([10, requests]);
    expect(first.stdout).toMatch(
      /^Ranked 2, 0 already done, 1 paid for without a result \(--resend-paid sends it again\), in /,
    );
    const rows = [...(await rowsOf(output)), ...(hasErrors ? await rowsOf(errors) : [])];
    expect(rows.map(({ id }) => id).sort()).toEqual(["r0", "r1", "r2"]);
    const row = rows.find(({ id }) => id === "r1");
    expect(row).toMatchObject({ final: true, error: { code: "INTERNAL", executed: "yes" } });
    expect(row?.response).toBeUndefined();
    expect(row?.error?.message).toContain(says);

    server.requests = [];
    const second = await bulk(...more);
    expect([second.exitCode, server.requests]).toEqual([10, []]);
    expect(second.stderr).toContain(
      "1 request was paid for without a result by an earlier run. --resend-paid sends it again.",
    );

    server.reply(rankingOf);
    const third = await bulk(...more, "--resend-paid");
    expect(third.stdout).toMatch(/^Ranked 1, 2 already done, in /);
    expect([third.exitCode, server.requests.map(queryOf)]).toEqual([0, ["q1"]]);
    const all = await rowsOf(output);
    expect(all.map(({ id }) => id).sort()).toEqual(["r0", "r1", "r2"]);
    expect(all.every(({ response }) => response !== undefined)).toBe(true);
    if (hasErrors) expect(await rowsOf(errors)).toEqual([]);
    server.requests = [];
    expect((await bulk(...more)).exitCode).toBe(0);
    expect(server.requests).toEqual([]);
  });
});

test("a request that failed after an attempt that ran is final, too", async () => {
  await writeRequests(input, 3);
  const replies: Reply[] = [{ json: {} }, { status: 400, json: { code: "FAILED_PRECONDITION" } }];
  server.reply((request) => (isOfOne(request) ? replies.shift() : undefined) ?? rankingOf(request));
  expect((await bulk()).exitCode).toBe(6);
  server.requests = [];
  expect((await bulk("--json")).stdout).toContain('"before":3');
  expect(server.requests).toEqual([]);
});

test.each([[false], [true]])(
  "what was paid for and is not in the input any more is not this run's, with --errors: %s",
  async (hasErrors) => {
    await writeRequests(input, 3);
    const invalid = { status: 400, json: { code: "INVALID_ARGUMENT", message: "No." } };
    server.reply((request) =>
      queryOf(request) === "q1" ? { json: {} } : queryOf(request) === "q2" ? invalid : rankingOf(request),
    );
    const more = hasErrors ? ["--errors", errors] : [];
    expect((await bulk(...more)).exitCode).toBe(10);
    const rows = (await readFile(input, "utf8")).split("\n");
    await writeFile(input, `${rows[0]}\n${rows[2]}\n`);
    const { exitCode, stdout, stderr } = await bulk(...more, "--json");
    expect([exitCode, stderr]).toEqual([5, ""]);
    expect(JSON.parse(stdout)).toMatchObject({ before: 2, wrongBefore: 1, paidBefore: 0 });
  },
);

test("documents that are nested deeply are their row's error, and not the end of the run", async () => {
  const line = (id: string, documents: string): string =>
    `{"id":"${id}","query":"q","documents":${documents}}\n`;
  await writeFile(input, line("a", '["one"]') + line("deep", deep) + line("b", '["one"]'));
  server.reply(rankingOf);
  for (const ranked of [2, 0]) {
    const { exitCode, stdout } = await bulk("--json");
    expect([exitCode, JSON.parse(stdout)]).toEqual([5, expect.objectContaining({ ranked, wrong: 1 })]);
  }
  expect(server.requests).toHaveLength(2);
  // It was never sent, and so it is no row.
  expect((await rowsOf(output)).map(({ id }) => id).sort()).toEqual(["a", "b"]);
});

describe.each([[false], [true]])("--resend-paid, with --errors: %s", (hasErrors) => {
  const useless: Reply = { json: {} };
  const more = (): string[] => (hasErrors ? ["--errors", errors] : []);
  const paidRows = async () => [...(await rowsOf(output)), ...(hasErrors ? await rowsOf(errors) : [])];

  test("goes on where it was cut off, and loses no row", async () => {
    await writeRequests(input, 6);
    // It is not retried: by chance a retry comes before the next request, and uses up --max-requests.
    server.reply({ json: { object: "list", data: [{ index: 9, relevance_score: 1 }] } });
    expect((await bulk(...more())).exitCode).toBe(10);
    for (const [first, second] of [
      ["q0", "q1"],
      ["q2", "q3"],
      ["q4", "q5"],
      // All were sent again once: now again.
      ["q0", "q1"],
    ]) {
      server.requests = [];
      const args = ["--resend-paid", "--max-requests", "2", "--concurrency", "1"];
      const { exitCode } = await bulk(...more(), ...args);
      expect([10, 11]).toContain(exitCode);
      expect(server.requests.map(queryOf)).toEqual([first, second]);
      expect((await paidRows()).map(({ id }) => id).sort()).toEqual(["r0", "r1", "r2", "r3", "r4", "r5"]);
    }
    // Without the option none is sent.
    server.requests = [];
    expect((await bulk(...more())).exitCode).toBe(10);
    expect(server.requests).toEqual([]);
  });

  test("keeps the rows where the key is rejected", async () => {
    await writeRequests(input, 3);
    server.reply(useless);
    await bulk(...more());
    server.reply({ status: 401 });
    expect((await bulk(...more(), "--resend-paid")).exitCode).toBe(3);
    expect((await paidRows()).map(({ id }) => id).sort()).toEqual(["r0", "r1", "r2"]);
    server.requests = [];
    expect((await bulk(...more())).exitCode).toBe(10);
    expect(server.requests).toEqual([]);
  });

  test("a run that was killed before it dropped the old rows leaves one row for each id at the next start", async () => {
    await writeRequests(input, 2);
    server.reply(useless);
    await bulk(...more());
    const old = await readFile(hasErrors ? errors : output, "utf8");
    server.reply(rankingOf);
    expect((await bulk(...more(), "--resend-paid")).exitCode).toBe(0);
    const written = await readFile(output, "utf8");
    await writeFile(hasErrors ? errors : output, hasErrors ? old : old + written);
    server.requests = [];
    const { exitCode, stdout } = await bulk(...more(), "--json");
    expect([exitCode, server.requests]).toEqual([0, []]);
    expect(JSON.parse(stdout)).toMatchObject({ before: 2, paidBefore: 0, ranked: 0 });
    expect((await paidRows()).map(({ id }) => id).sort()).toEqual(["r0", "r1"]);
  });
});

test("a row says that its request ran, whatever the last attempt says, and that the run ended before a retry", async () => {
  await writeRequests(input, 1);
  const replies: Reply[] = [{ text: "{" }, { status: 503, json: { code: "UNAVAILABLE", message: "Down." } }];
  server.reply(() => replies.shift() ?? { status: 400, json: { code: "INVALID_ARGUMENT", message: "No." } });
  await bulk();
  const [after] = await rowsOf(output);
  expect(after?.error?.message).toMatch(
    / No\. .*The request ran, and was paid for: only --resend-paid sends it again\.$/,
  );
  await writeFile(output, "");
  server.reply({ text: "{" });
  expect((await bulk("--max-requests", "1")).exitCode).toBe(10);
  const [cut] = await rowsOf(output);
  expect(cut?.error?.message).toContain(" The run ended before a retry. ");
});

test("requests that the service rejected run again with another model, in the same output", async () => {
  await writeRequests(input, 3);
  server.reply((request) =>
    `${request.body}`.includes("typo")
      ? { status: 404, json: { code: "NOT_FOUND", message: "No such model." } }
      : rankingOf(request),
  );
  expect((await bulk("--model", "accounts/a/models/typo")).exitCode).toBe(5);
  const { exitCode, stdout } = await bulk("--model", "accounts/a/models/right");
  expect([exitCode, stdout.slice(0, 25)]).toEqual([0, "Ranked 3, 0 already done,"]);
  expect((await rowsOf(output)).map(({ id, error }) => [id, error]).sort()).toEqual([
    ["r0", undefined],
    ["r1", undefined],
    ["r2", undefined],
  ]);
});

test("--resend-paid needs --bulk", async () => {
  const { exitCode, stderr } = await tunerank(["rerank", "--query", "q", "--resend-paid", "package.json"], {
    baseUrl: server.url,
  });
  expect([exitCode, stderr]).toEqual([
    2,
    expect.stringContaining("--resend-paid has no effect without --bulk."),
  ]);
});
