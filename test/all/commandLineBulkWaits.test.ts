import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { queryOf, rankingOf, rowsOf, writeRequests } from "../support/bulkFiles.js";
import { onTerminal, outcomeOf, start, startLimited, tunerank } from "../support/commandLine.js";
import { type Outcome, temporaryFolder } from "../support/project.js";
import { type Reply, useRecordingServer } from "../support/recordingServer.js";

const server = useRecordingServer();
let folder: string;
let remove: () => Promise<void>;
let input: string;
let output: string;

beforeEach(async () => {
  ({ folder, remove } = await temporaryFolder());
  [input, output] = ["in.jsonl", "out.jsonl"].map((name) => path.join(folder, name)) as [string, string];
});
afterEach(() => remove());

const args = (...more: string[]): string[] => ["rerank", "--bulk", input, "--output", output, ...more];
const bulk = (...more: string[]): Promise<Outcome> => tunerank(args(...more), { baseUrl: server.url });
const asking = (seconds: number): Reply => ({ status: 429, headers: { "retry-after": `${seconds}` } });

test("a service that asks to wait an hour ends the run with what is done, and the same command continues", async () => {
  await writeRequests(input, 20);
  server.reply((request) => (queryOf(request) === "q5" ? asking(3600) : rankingOf(request)));
  const { exitCode, stdout, stderr } = await bulk("--concurrency", "1");
  expect(exitCode).toBe(7);
  expect(stdout).toMatch(/^Ranked 5, /);
  expect(stderr).toContain(
    "[RESOURCE_EXHAUSTED] The service asks to wait 3600 s, and the run waits no longer than 60 s (--max-hold). The run ended with 5 results handed out and 1 requests begun.",
  );
  expect(stderr).toContain(
    "Run the same command again after that time: it continues. Or allow a longer wait with --max-hold.",
  );
  server.requests = [];
  server.reply(rankingOf);
  expect((await bulk()).exitCode).toBe(0);
  expect(server.requests).toHaveLength(15);
  expect(await rowsOf(output)).toHaveLength(20);
});

test("--max-hold 0 waits for no Retry-After", async () => {
  await writeRequests(input, 3);
  server.reply(asking(1));
  const { exitCode, stderr } = await bulk("--max-hold", "0", "--concurrency", "1");
  expect(exitCode).toBe(7);
  expect(stderr).toContain("The service asks to wait 1 s, and the run never waits (--max-hold is 0).");
  expect(server.requests).toHaveLength(1);
});

test("with --max-hold none a wait of days is told with its date, and no time left is shown", async () => {
  await writeRequests(input, 30);
  server.reply((request) => (server.requests.length > 10 ? asking(3 * 86_400) : rankingOf(request)));
  const child = start(args("--max-hold", "none", "--concurrency", "2", "--timeout", "1e6"), {
    baseUrl: server.url,
  });
  let stderr = "";
  child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
    stderr += chunk;
  });
  while (!stderr.includes("\n")) await once(child.stderr as NodeJS.ReadableStream, "data");
  expect(stderr).toMatch(
    /^\d+ of 30 {2}\d+\/s {2}0 errors {2}the service asks to wait until \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\n$/,
  );
  child.kill("SIGINT");
  await once(child, "exit");
  expect(server.requests.length).toBeLessThan(14);
});

test("a wait is told with the time of day at which it ends, and the run goes on then", async () => {
  await writeRequests(input, 6);
  let asked = false;
  let askedAt = 0;
  server.reply((request) => {
    if (server.requests.length < 4 || asked) return rankingOf(request);
    asked = true;
    askedAt = Date.now();
    return asking(2);
  });
  const { exitCode, stderr } = await bulk("--concurrency", "1");
  expect(exitCode).toBe(0);
  const [, time = ""] =
    /^3 of 6 {2}\d+\/s {2}0 errors {2}the service asks to wait until (?:\S+ )?(\d\d:\d\d:\d\d)\n$/.exec(
      stderr,
    ) ?? [];
  const ends = [2, 3, 4, 5].map((seconds) => new Date(askedAt + seconds * 1000).toTimeString().slice(0, 8));
  expect(ends).toContain(time);
  expect(await rowsOf(output)).toHaveLength(6);
});

test("on a terminal the line shows until when the run waits, in place of the time left", async () => {
  await writeRequests(input, 6);
  server.reply((request) => (server.requests.length === 4 ? asking(1) : rankingOf(request)));
  const { exitCode, stdout } = await onTerminal(args("--concurrency", "1"), { baseUrl: server.url });
  expect(exitCode).toBe(0);
  const drawn = stdout.split("\r").filter((line) => line.includes("asks to wait"));
  expect(drawn.length).toBeGreaterThan(2);
  for (const line of drawn) expect(line).not.toMatch(/\bleft\b/);
});

test.each([
  [["--max-hold=-1"], "--max-hold must be at least 0, or none."],
  [["--max-hold", "soon"], "--max-hold must be a number."],
  [["--max-hold", ""], "--max-hold must be a number."],
])("%j is refused before anything is sent", async (more, message) => {
  await writeRequests(input, 1);
  const { exitCode, stderr } = await bulk(...more);
  expect([exitCode, stderr.includes(message)]).toEqual([2, true]);
  expect(server.requests).toHaveLength(0);
});

test("--max-hold needs --bulk", async () => {
  await writeFile(input, "a\n");
  const { exitCode, stderr } = await tunerank(["rerank", "--query", "q", "--max-hold", "5", input], {
    baseUrl: server.url,
  });
  expect([exitCode, stderr.split("\n")[0]]).toEqual([
    2,
    "tunerank: --max-hold has no effect without --bulk.",
  ]);
});

test.each(["127.0.0.1", "localhost"])(
  "with 32 open files and 64 requests at once to %s all 300 rows are ranked, and the cause is named once",
  async (host) => {
    await writeRequests(input, 300);
    let most = 0;
    let open = 0;
    server.reply((request, response) => {
      most = Math.max(most, ++open);
      response.on("close", () => {
        open -= 1;
      });
      // As long as a ranking takes: answers that come at once would need few sockets.
      setTimeout(() => response.end(JSON.stringify(rankingOf(request).json)), 20);
      return undefined;
    });
    const child = startLimited(32, args("--concurrency", "64"), {
      baseUrl: server.url.replace("127.0.0.1", host),
    });
    const { exitCode, stdout, stderr } = await outcomeOf(child);
    expect([exitCode, stdout.startsWith("Ranked 300, 0 done before, in ")]).toEqual([0, true]);
    expect(stderr.match(/ulimit -n/g)).toHaveLength(1);
    expect(stderr).toContain(
      "This process may open no more files and sockets (EMFILE): fewer requests run at once. Allow more with `ulimit -n`, or use a lower --concurrency.",
    );
    expect(await rowsOf(output)).toHaveLength(300);
    // Nothing was sent twice, and more than one was under way.
    expect(server.requests).toHaveLength(300);
    expect(most).toBeGreaterThan(1);
  },
);
