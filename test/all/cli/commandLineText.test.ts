import { writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { scoreShares } from "../../../src/cli/terminal.js";
import { canaryKey } from "../../support/canary.js";
import { secondsFor, tunerank } from "../../support/commandLine.js";
import { temporaryFolder } from "../../support/project.js";
import { useRecordingServer } from "../../support/recordingServer.js";

describe("a text of the service", () => {
  const server = useRecordingServer();
  let folder: string;
  let remove: () => Promise<void>;

  beforeAll(async () => {
    ({ folder, remove } = await temporaryFolder());
  });
  afterAll(() => remove());

  // Each is written as a code point: in a source file nobody would see it.
  const spoofing: readonly (readonly [name: string, character: string])[] = [
    ["escape", "\u001b"],
    ["delete", "\u007f"],
    ["C1 control sequence introducer", "\u009b"],
    ["C1 next line", "\u0085"],
    ["soft hyphen", "\u00ad"],
    ["Arabic letter mark", "\u061c"],
    ["Mongolian vowel separator", "\u180e"],
    ["zero-width space", "\u200b"],
    ["zero-width joiner", "\u200d"],
    ["right-to-left mark", "\u200f"],
    ["line separator", "\u2028"],
    ["right-to-left override", "\u202e"],
    ["word joiner", "\u2060"],
    ["right-to-left isolate", "\u2067"],
    ["Hangul filler", "\u3164"],
    ["byte order mark", "\ufeff"],
    ["interlinear annotation anchor", "\ufff9"],
    ["tag letter", "\u{e0041}"],
    ["variation selector 17", "\u{e0100}"],
  ];
  const all = spoofing.map(([, character]) => character).join("");
  const hostile = `be${all}fore`;

  function expectPlain(shown: string): void {
    for (const [name, character] of spoofing) expect(shown.includes(character), name).toBe(false);
    expect(shown).toMatch(/be *fore/);
  }

  const readable = "Grüße, 東京, שלום, нет, 🙂";

  describe("text of the service comes to stdout and stderr without invisible and control characters", () => {
    test("in a ranking", async () => {
      const file = path.join(folder, "documents.txt");
      // An LF or U+2028 within would be a line of its own or not, as readers like.
      await writeFile(file, `${hostile}\n${readable}\n`);
      server.reply({
        json: {
          data: [
            { index: 0, relevance_score: 0.5 },
            { index: 1, relevance_score: 0.25 },
          ],
        },
      });
      const { exitCode, stdout } = await tunerank(["rerank", "--query", "q", file], { baseUrl: server.url });
      expect(exitCode).toBe(0);
      expectPlain(stdout);
      expect(stdout).toContain(`0.250\t2\t${readable}\n`);
    });

    test("in the response to an upload", async () => {
      server.reply({ json: { id: hostile, bytes: 3, filename: hostile } });
      const args = ["upload", "reviews", "-", "--name", "a.txt"];
      const { exitCode, stdout } = await tunerank(args, { baseUrl: server.url, input: "abc" });
      expect(exitCode).toBe(0);
      expectPlain(stdout);
    });

    test("in a job's state and in its failure", async () => {
      server.reply({
        json: { name: hostile, state: hostile, status: { code: "ABORTED", message: hostile } },
      });
      const { stdout } = await tunerank(["resume", "job-1"], { baseUrl: server.url });
      expectPlain(stdout);
    });

    test("in the deployment's name", async () => {
      // Control characters in an id are refused before anything is sent.
      const { exitCode, stdout } = await tunerank(["scale", "be\u202e\u200bfore", "1"], {
        baseUrl: server.url,
      });
      expect([exitCode, stdout]).toEqual([0, "Deployment before: accepted, 1 replica.\n"]);
    });

    test("in an error's message", async () => {
      server.reply({ status: 404, json: { code: "NOT_FOUND", message: hostile } });
      const { exitCode, stderr } = await tunerank(["resume", "job-1"], { baseUrl: server.url });
      expect(exitCode).toBe(4);
      expectPlain(stderr);
    });
  });

  describe("JSON for machines escapes them, and says the same", () => {
    test("in a result", async () => {
      const job = { name: hostile, [hostile]: readable, state: "JOB_STATE_RUNNING" };
      server.reply({ json: job });
      const { exitCode, stdout } = await tunerank(["resume", "job-1", "--json"], { baseUrl: server.url });
      expect(exitCode).toBe(0);
      for (const [name, character] of spoofing) expect(stdout.includes(character), name).toBe(false);
      expect(stdout).toContain(readable);
      expect(JSON.parse(stdout)).toMatchObject(job);
    });

    test("in a ranking", async () => {
      server.reply({ json: { data: [{ index: 0, relevance_score: 0.5 }] } });
      const document = { id: hostile, text: "a" };
      const args = ["rerank", "--query", "q", "--field", "text", "--json"];
      const surroundings = { baseUrl: server.url, input: JSON.stringify(document) };
      const { stdout } = await tunerank(args, surroundings);
      for (const [name, character] of spoofing) expect(stdout.includes(character), name).toBe(false);
      expect(JSON.parse(stdout).results).toEqual([{ line: 1, score: 0.5, document }]);
    });

    test("in an error", async () => {
      server.reply({ status: 404, json: { code: "NOT_FOUND", message: hostile, extra: hostile } });
      const { exitCode, stderr } = await tunerank(["resume", "job-1", "--json"], { baseUrl: server.url });
      expect(exitCode).toBe(4);
      for (const [name, character] of spoofing) expect(stderr.includes(character), name).toBe(false);
      expect(JSON.parse(stderr).error).toMatchObject({
        message: expect.stringContaining(hostile),
        body: { extra: hostile },
      });
    });
  });
});

describe("a key that the service sends back is not shown", () => {
  const server = useRecordingServer();

  test.each([
    ["in a job", ["resume", "job-1"]],
    ["in a job, for machines", ["resume", "job-1", "--json"]],
    ["in any JSON", ["request", "GET", "/v1/x"]],
  ])("%s", async (_, args) => {
    server.reply({ json: { name: `a ${canaryKey} b`, [canaryKey]: 1, state: canaryKey } });
    const { exitCode, stdout } = await tunerank(args, { baseUrl: server.url });
    expect(exitCode).toBe(0);
    expect(stdout).toContain("[redacted]");
    for (const form of [canaryKey, JSON.stringify(canaryKey).slice(1, -1)])
      expect(stdout).not.toContain(form);
    if (args.length > 2) expect(JSON.parse(stdout)).toBeDefined();
  });

  test("also if it comes from a file", async () => {
    const { folder, remove } = await temporaryFolder();
    const file = path.join(folder, "key");
    await writeFile(file, "key-of-the-file\n");
    server.reply({ json: { name: "key-of-the-file", state: "x" } });
    const args = ["resume", "job-1", "--api-key-file", file];
    const { stdout } = await tunerank(args, { baseUrl: server.url });
    expect(stdout).toBe("Job [redacted]: x\n");
    await remove();
  });
});

describe("the words of an error", () => {
  // Each is a process of its own.
  vi.setConfig({ testTimeout: 30_000 });

  const server = useRecordingServer();

  test("a deadline that runs out has its advice", async () => {
    const args = ["scale", "prod", "1", "--max-retries", "0"];
    const seconds = await secondsFor(() => tunerank(args, { baseUrl: server.url }));
    server.reply(() => undefined);
    const { exitCode, stderr } = await tunerank([...args, "--timeout", seconds], { baseUrl: server.url });
    expect(exitCode).toBe(9);
    const [what, hint, end] = stderr.split("\n");
    expect([what?.includes("[DEADLINE_EXCEEDED] No complete response within"), end]).toEqual([true, ""]);
    expect(hint).toMatch(/^The operation may have run\. Allow more time with timeoutMs, /);
  });

  test("an address that is refused names --base-url and --allow-insecure-http", async () => {
    const args = ["scale", "prod", "1", "--base-url", "http://api.example.com"];
    const { exitCode, stderr } = await tunerank(args);
    expect(exitCode).toBe(2);
    expect(stderr.split("\n")).toEqual([
      "tunerank: baseUrl (--base-url): [INVALID_ARGUMENT] baseUrl is plain http to another machine: the key would go unencrypted.",
      "The request was not sent. Use https, or add --allow-insecure-http in a trusted network.",
      "",
    ]);
  });

  test("for machines the words are the same", async () => {
    server.reply({ status: 503, json: { code: "UNAVAILABLE", message: "Busy." } });
    const args = ["scale", "prod", "1", "--max-retries", "0", "--json"];
    const { stderr } = await tunerank(args, { baseUrl: server.url });
    const { error } = JSON.parse(stderr);
    expect(error.hint).toContain("maxRetries is 0.");
    expect(error.message).toBe(`[UNAVAILABLE] Busy. ${error.hint}`);
    expect(error).toMatchObject({
      notRetried: "retries-used-up",
      executedBecause: "unclear-answer",
      method: "PATCH",
      path: "/v1/accounts/acme/deployments/prod:scale",
      host: new URL(server.url).host,
    });
  });

  test("what the service says stays as it is", async () => {
    const message = "Raise timeoutMs, or maxRetries.";
    server.reply({ status: 400, json: { code: "INVALID_ARGUMENT", message } });
    const { stderr } = await tunerank(["scale", "prod", "1"], { baseUrl: server.url });
    expect(stderr.split("\n")[0]).toBe(`tunerank: [INVALID_ARGUMENT] ${message}`);
  });
});

describe("the shares of scores", () => {
  test.each([
    ["from 0 to 1", [0.9, 0.45, 0], [1, 0.5, 0]],
    ["small ones", [0.002, 0.001], [1, 0.5]],
    ["larger than 1", [40, 10], [1, 0.25]],
    ["above and below 0", [3, 0, -1], [1, 0.25, 0]],
    ["all below 0", [-1, -2, -5], [1, 0.75, 0]],
    ["all 0", [0, 0], [0, 0]],
    ["none", [], []],
  ])("the bars of scores %s go as far as the best of them", (_, scores, shares) => {
    expect(scoreShares(scores)).toEqual(shares);
  });
});
