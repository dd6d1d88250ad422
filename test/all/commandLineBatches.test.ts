// `tunerank rerank` in several requests.
import { expect, test } from "vitest";
import type { RerankRequest } from "../../src/index.js";
import { tunerank } from "../support/commandLine.js";
import type { Outcome } from "../support/project.js";
import { type ReceivedRequest, useRecordingServer } from "../support/recordingServer.js";

const server = useRecordingServer();

const documentsOf = ({ body }: ReceivedRequest): readonly string[] =>
  (JSON.parse(`${body}`) as RerankRequest).documents;
const rank = (input: string, ...more: string[]): Promise<Outcome> =>
  tunerank(["rerank", "--query", "q", "--concurrency", "1", ...more], { baseUrl: server.url, input });

// Two bytes for each of these letters; a quote has two in JSON.
const documents = ["é".repeat(50), "ü".repeat(50), '"'.repeat(50), "a", "b", "c", "d"];
const input = documents.map((each) => `${each}\n`).join("");

function replyWithLengths(): void {
  server.reply((request) => {
    const data = documentsOf(request).map(({ length }, index) => ({ index, relevance_score: length / 100 }));
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
    { name: "UsageError", message: expect.stringMatching(/^Line 3 alone .*: --max-batch-bytes is 100\.$/) },
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
