import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { RerankRequest } from "../../../src/index.js";
import { queryOf, rankingOf, rowsOf, writeRequests } from "../../support/bulkFiles.js";
import { onTerminal, outcomeOf, start, startLimited, tunerank } from "../../support/commandLine.js";
import { type Outcome, temporaryFolder } from "../../support/project.js";
import { type ReceivedRequest, type Reply, useRecordingServer } from "../../support/recordingServer.js";

const server = useRecordingServer();

describe("a bulk run that waits", () => {
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
      "[RESOURCE_EXHAUSTED] The service asks to wait 3600 s, and the run waits no longer than 60 s (--max-hold). The run ended with 5 results and 1 request without a result.",
    );
    expect(stderr).toContain(
      "Run the same command again after that time, or allow a longer wait with --max-hold.",
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
      /^\d+ of 30 {2}\d+\/s {2}0 errors {2}the service asks to wait until \d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}\d+ requests(?: \(\d+ retr\w+\))? {2}0 tokens\n$/,
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
      /^3 of 6 {2}\d+\/s {2}0 errors {2}the service asks to wait until (?:\S+ )?(\d\d:\d\d:\d\d) {2}4 requests {2}0 tokens\n$/.exec(
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
    [
      ["--max-hold", "soon"],
      "--max-hold must be a number of seconds, or a time such as 500ms, 5s or 2min, or none.",
    ],
    [
      ["--max-hold", ""],
      "--max-hold must be a number of seconds, or a time such as 500ms, 5s or 2min, or none.",
    ],
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
        // As long as a ranking takes: responses that come at once would need few sockets.
        setTimeout(() => response.end(JSON.stringify(rankingOf(request).json)), 20);
        return undefined;
      });
      const child = startLimited(32, args("--concurrency", "64"), {
        baseUrl: server.url.replace("127.0.0.1", host),
      });
      const { exitCode, stdout, stderr } = await outcomeOf(child);
      expect([exitCode, stdout.startsWith("Ranked 300, 0 already done, in ")]).toEqual([0, true]);
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
});

// `tunerank rerank` in several requests.
describe("the batches of a ranking", () => {
  const documentsOf = ({ body }: ReceivedRequest): readonly string[] =>
    (JSON.parse(`${body}`) as RerankRequest).documents;
  const rank = (input: string, ...more: string[]): Promise<Outcome> =>
    tunerank(["rerank", "--query", "q", "--concurrency", "1", ...more], { baseUrl: server.url, input });

  // Two bytes for each of these letters; a quote has two in JSON.
  const documents = ["é".repeat(50), "ü".repeat(50), '"'.repeat(50), "a", "b", "c", "d"];
  const input = documents.map((each) => `${each}\n`).join("");

  function replyWithLengths(): void {
    server.reply((request) => {
      const data = documentsOf(request).map(({ length }, index) => ({
        index,
        relevance_score: length / 100,
      }));
      return {
        json: { object: "list", model: "m", data, usage: { prompt_tokens: 1, total_tokens: 2 } },
      };
    });
  }

  test("--max-batch-bytes ends a batch by its JSON in UTF-8, to the byte, beside --batch-size", async () => {
    replyWithLengths();
    const limits = ["--max-batch-bytes", "280", "--batch-size", "3"];
    const { exitCode, stdout, stderr } = await rank(input, ...limits, "--json");
    expect([exitCode, stderr]).toEqual([0, ""]);
    expect(server.requests.map(documentsOf)).toEqual([
      documents.slice(0, 2),
      documents.slice(2, 5),
      documents.slice(5),
    ]);
    const { results, usage } = JSON.parse(stdout);
    expect(results).toHaveLength(7);
    expect(usage).toEqual({ prompt_tokens: 3, total_tokens: 6 });
    const exact = server.requests[0]?.body.length as number;
    server.requests = [];
    const two = `${documents[0]}\n${documents[1]}\n`;
    expect((await rank(two, "--max-batch-bytes", `${exact}`)).exitCode).toBe(0);
    expect((await rank(two, "--max-batch-bytes", `${exact - 1}`)).exitCode).toBe(0);
    expect(server.requests.map((request) => documentsOf(request).length)).toEqual([2, 1, 1]);
  });

  test("a line that alone is too large is named by its number, and nothing is sent", async () => {
    const text = `a\n\n${"x".repeat(99)}\n`;
    const { exitCode, stdout, stderr } = await rank(text, "--max-batch-bytes", "100");
    expect([exitCode, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(
      /^tunerank: Line 3 alone makes a request of \d+ bytes: --max-batch-bytes is 100\.\n/,
    );
    const forMachines = await rank(text, "--max-batch-bytes", "100", "--json");
    expect([forMachines.exitCode, JSON.parse(forMachines.stderr).error]).toEqual([
      2,
      {
        name: "UsageError",
        code: "INVALID_ARGUMENT",
        executed: "no",
        executedBecause: "nothing-sent",
        message: expect.stringMatching(/^Line 3 alone .*: --max-batch-bytes is 100\.$/),
      },
    ]);
    expect(server.connections).toBe(0);
  });

  test.each([
    ["--max-batch-bytes=0", "[OUT_OF_RANGE] --max-batch-bytes must be at least 1, not 0."],
    ["--max-batch-bytes=-1", "[OUT_OF_RANGE] --max-batch-bytes must be at least 1, not -1."],
    ["--max-batch-bytes=1.5", "[INVALID_ARGUMENT] --max-batch-bytes must be a whole number, not 1.5."],
    ["--batch-size=0", "[OUT_OF_RANGE] --batch-size must be at least 1, not 0."],
  ])("%s is refused before anything is sent", async (option, message) => {
    const { exitCode, stdout, stderr } = await rank(input, option);
    expect([exitCode, stdout]).toEqual([2, ""]);
    expect(stderr.split("\n")[0]).toBe(`tunerank: ${message}`);
    expect(stderr).toContain("The request was not sent.");
    expect(server.connections).toBe(0);
  });
});
