import { writeFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import {
  folder,
  input,
  output,
  queryOf,
  rowsOf,
  useBulkFiles,
  writeRequests,
} from "../../support/bulkFiles.js";
import { outcomeOf, start, tunerank } from "../../support/commandLine.js";
import { ranked } from "../../support/rankings.js";
import { useRecordingServer } from "../../support/recordingServer.js";

const server = useRecordingServer();
const bulk = useBulkFiles(server, "--concurrency", "2");
const usage = { prompt_tokens: 10, total_tokens: 10 };
const away = { status: 503, headers: { "retry-after": "0" }, json: { code: "UNAVAILABLE" } };

test("the summary has requests, retries, tokens and the speed", async () => {
  await writeRequests(input, 4);
  server.reply((request) => (server.requests.length === 1 ? away : ranked(request, { usage })));
  const { stdout } = await bulk();
  expect(stdout).toMatch(
    /^Ranked 4, 0 already done, in \d+\.\d s\. 5 requests \(1 retry\), 40 tokens, [\d.]+ rows\/s\.\n$/,
  );
});

test("so has the JSON of the summary", async () => {
  await writeRequests(input, 4);
  server.reply((request) => (server.requests.length === 1 ? away : ranked(request, { usage })));
  const { stdout } = await bulk("--json");
  const summary = JSON.parse(stdout);
  expect(summary).toMatchObject({
    ...{ requests: 4, ranked: 4 },
    sent: { requests: 5, retries: 1, tokens: 40 },
    secondsLeft: 0,
  });
  expect(summary.rowsPerSecond).toBeGreaterThan(0);
});

test("with --json the progress is JSON on stderr, with the same figures", async () => {
  await writeRequests(input, 4);
  const busy = { status: 429, headers: { "retry-after": "1" } };
  server.reply((request) => (server.requests.length === 3 ? busy : ranked(request, { usage })));
  const { stderr } = await bulk("--concurrency", "1", "--json");
  const [{ progress }] = stderr
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(progress).toMatchObject({ requests: 4, ranked: 2, sent: { requests: 3, retries: 0, tokens: 20 } });
  expect(progress.rowsPerSecond).toBeGreaterThan(0);
  expect(progress.secondsLeft).toBeGreaterThan(0);
});

test.each([
  ["--max-requests", "5", 5],
  ["--max-tokens", "35", 4],
])("%s %s ends a run with 11, and the same command continues", async (option, most, done) => {
  await writeRequests(input, 8);
  server.reply((request) => ranked(request, { usage }));
  const first = await bulk(option, most);
  expect([first.exitCode, first.stderr]).toEqual([
    11,
    `tunerank: ${option} ${most} is reached: ${done} of 8 done; the same command continues.\n`,
  ]);
  expect(first.stdout).toContain(`Ranked ${done}, 0 already done, in `);
  expect(await rowsOf(output)).toHaveLength(done);
  const second = await bulk(option, most);
  expect(second.exitCode).toBe(0);
  expect((await rowsOf(output)).map(({ id }) => id).sort()).toEqual(
    Array.from({ length: 8 }, (_, index) => `r${index}`),
  );
  expect(server.requests).toHaveLength(8);
});

test("with --json a limit is an error with what is done", async () => {
  await writeRequests(input, 3);
  server.reply((request) => ranked(request, { usage }));
  const { stdout, stderr, exitCode } = await bulk("--max-requests", "1", "--json");
  expect([exitCode, JSON.parse(stderr).error]).toEqual([
    11,
    expect.objectContaining({
      limit: "maxRequests",
      requests: 1,
      progress: expect.objectContaining({ done: 1, of: 3 }),
    }),
  ]);
  expect(JSON.parse(stdout)).toMatchObject({ requests: 3, ranked: 1, sent: { requests: 1 } });
});

test.each(["0", "1.5"])("--max-requests %s is refused before a file is made", async (most) => {
  await writeRequests(input, 1);
  const { exitCode, stderr } = await bulk("--max-requests", most);
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining("--max-requests must be a whole number")]);
  expect(server.requests).toEqual([]);
  await expect(rowsOf(output)).rejects.toThrow("ENOENT");
});

test("one query takes no limits of a bulk run", async () => {
  const { exitCode, stderr } = await tunerank(["rerank", "--query", "q", "--max-tokens", "5", input]);
  expect([exitCode, stderr]).toEqual([
    2,
    expect.stringContaining("--max-tokens has no effect without --bulk."),
  ]);
});

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)("%s says how many are done, and that the same command continues", async (signal, expected) => {
  await writeRequests(input, 5);
  server.reply((request) => (queryOf(request) < "q3" ? ranked(request, { usage }) : undefined));
  const args = ["rerank", "--bulk", input, "--output", output, "--concurrency", "1"];
  const child = start(args, { baseUrl: server.url });
  const ended = outcomeOf(child);
  await server.received(4);
  child.kill(signal);
  const { exitCode, stderr, stdout } = await ended;
  expect([exitCode, stderr]).toEqual([
    expected,
    "tunerank: Interrupted: 3 of 5 done; the same command continues.\n",
  ]);
  expect(stdout).toContain("Ranked 3, ");
});

test("of a pipe it says that it cannot be continued", async () => {
  server.reply((request) => (queryOf(request) === "q0" ? ranked(request, { usage }) : undefined));
  const args = ["rerank", "--bulk", "-", "--output", output, "--concurrency", "1"];
  const child = start(args, { baseUrl: server.url, openInput: true });
  const ended = outcomeOf(child);
  for (const index of [0, 1])
    child.stdin?.write(`${JSON.stringify({ id: index, query: `q${index}`, documents: ["one"] })}\n`);
  await server.received(2);
  child.kill("SIGINT");
  expect(await ended).toMatchObject({
    exitCode: 130,
    stderr:
      "tunerank: Interrupted: 1 done; a run from a pipe cannot be continued. What was ranked is in --output.\n",
  });
});

test("another end of the run says how many are done, too, and nothing of one operation", async () => {
  await writeRequests(input, 5);
  server.reply((request) =>
    queryOf(request) === "q2" ? { status: 401, json: { message: "No." } } : ranked(request, { usage }),
  );
  const { exitCode, stderr } = await bulk("--concurrency", "1");
  expect([exitCode, stderr.split("\n")[1]]).toEqual([
    3,
    expect.stringMatching(/^2 of 5 done; the same command continues\. /),
  ]);
});

test("the hint of such an end has the command's words with --json too", async () => {
  await writeRequests(input, 2);
  server.reply({ status: 429, headers: { "retry-after": "3600" } });
  const { exitCode, stderr } = await bulk("--json");
  const { error } = JSON.parse(stderr.trimEnd().split("\n").at(-1) ?? "");
  expect([exitCode, error.hint]).toEqual([7, expect.stringContaining("--max-hold")]);
  expect(stderr).not.toContain("maxPauseMs");
});

test("several uploads say how many are done, and how to go on", async () => {
  const files = ["a.bin", "b.bin", "c.bin"].map((name) => `${folder}/${name}`);
  for (const file of files) await writeFile(file, "text");
  const first = "1 of 3 files uploaded; 1 file may be stored: look at the dataset, and then";
  const second = "1 of 3 files uploaded; 2 files may be stored: look at the dataset, and then";
  const [checkpoint, resend] = [
    ["--checkpoint", `${folder}/uploads.jsonl`],
    "add --resend-unknown, or leave",
  ];
  for (const [stored, more, next] of [
    [1, checkpoint, `${first} ${resend} it out. The same command sends the others.`],
    [0, checkpoint, `${second} ${resend} them out.`],
    [1, [], `${first} name it again, or leave it out. Name the others to go on.`],
  ] as const) {
    server.requests = [];
    server.reply(() => (server.requests.length <= stored ? { json: { id: "file-1" } } : undefined));
    const child = start(["upload", "reviews", ...files, ...more], { baseUrl: server.url });
    const ended = outcomeOf(child);
    await server.received(stored + 1);
    child.kill("SIGINT");
    const { exitCode, stderr } = await ended;
    expect(exitCode).toBe(130);
    expect(stderr).toContain(`tunerank: Interrupted: ${next}\n`);
  }
});

test("an interrupted upload of which no file may be stored goes on with the same command", async () => {
  const files = ["a.bin", "b.bin"].map((name) => `${folder}/${name}`);
  for (const file of files) await writeFile(file, "text");
  server.reply({ status: 429, headers: { "retry-after": "50" } });
  const args = ["upload", "reviews", ...files, "--checkpoint", `${folder}/uploads.jsonl`];
  const child = start(args, { baseUrl: server.url });
  const ended = outcomeOf(child);
  await server.received(1);
  child.kill("SIGINT");
  expect((await ended).stderr).toContain(
    "tunerank: Interrupted: 0 of 2 files uploaded; the same command continues.\n",
  );
});

describe("a rerank in batches", () => {
  const args = ["--batch-size", "2", "--concurrency", "1"];
  const begin = async (...more: readonly string[]) => {
    await writeFile(input, Array.from({ length: 9 }, (_, line) => `line ${line}\n`).join(""));
    return start(["rerank", "--query", "q", input, ...args, ...more], { baseUrl: server.url });
  };
  const fourRanked =
    "4 of 9 documents were ranked, and their batches were paid for; a batch under way may have been, too. They are not kept: the same command ranks all again. For a run that keeps results, use --bulk with --output.";

  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("%s says how many documents were ranked, and how to go on", async (signal, expected) => {
    server.reply((request) => (server.requests.length < 3 ? ranked(request, { usage }) : undefined));
    for (const more of [[], ["--json"]]) {
      server.requests = [];
      const child = await begin(...more);
      const ended = outcomeOf(child);
      await server.received(3);
      child.kill(signal);
      const { exitCode, stdout, stderr } = await ended;
      expect([exitCode, stdout]).toEqual([expected, ""]);
      if (more.length === 0) expect(stderr).toBe(`tunerank: Interrupted: ${fourRanked}\n`);
      else
        expect(JSON.parse(stderr).error).toMatchObject({
          code: "CANCELLED",
          executed: "yes",
          progress: { done: 4, of: 9, text: fourRanked },
        });
    }
  });

  test("before the first is ranked, a signal says that none was", async () => {
    server.reply(() => undefined);
    const child = await begin();
    const ended = outcomeOf(child);
    await server.received(1);
    child.kill("SIGINT");
    expect((await ended).stderr).toBe(
      "tunerank: Interrupted: 0 of 9 documents were ranked; a batch under way may have been paid for.\n",
    );
  });

  test("an error says it, too, beside its hint", async () => {
    server.reply((request) =>
      server.requests.length < 3
        ? ranked(request, { usage })
        : { status: 401, headers: { "x-request-id": "req-1" }, json: { message: "No." } },
    );
    const { exitCode, stderr } = await outcomeOf(await begin());
    const [message, next] = stderr.split("\n");
    expect([exitCode, message]).toEqual([
      3,
      expect.stringMatching(/^tunerank: \[UNAUTHENTICATED\] .*request id req-1/),
    ]);
    expect(next).toMatch(/^4 of 9 documents were ranked, and .* with --output\. \w/);
  });
});
