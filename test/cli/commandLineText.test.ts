import { writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { tunerank } from "../support/commandLine.js";
import { temporaryFolder } from "../support/project.js";
import { useRecordingServer } from "../support/recordingServer.js";

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

  test("in the answer to an upload", async () => {
    server.reply({ json: { id: hostile, bytes: 3, filename: hostile } });
    const args = ["upload", "reviews", "-", "--name", "a.txt"];
    const { exitCode, stdout } = await tunerank(args, { baseUrl: server.url, input: "abc" });
    expect(exitCode).toBe(0);
    expectPlain(stdout);
  });

  test("in a job's state and in its failure", async () => {
    server.reply({ json: { name: hostile, state: hostile, status: { code: "ABORTED", message: hostile } } });
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
