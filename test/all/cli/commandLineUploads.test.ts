import { readFileSync } from "node:fs";
import { appendFile, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { outcomeOf, start, tunerank } from "../../support/commandLine.js";
import { type Outcome, temporaryFolder } from "../../support/project.js";
import { type ReceivedRequest, useRecordingServer } from "../../support/recordingServer.js";
import { until } from "../../support/turns.js";

const server = useRecordingServer();

describe("many uploads", () => {
  let folder: string;
  let remove: () => Promise<void>;
  let files: string[];
  let checkpoint: string;

  beforeEach(async () => {
    ({ folder, remove } = await temporaryFolder());
    files = ["a", "b", "c"].map((name) => path.join(folder, name));
    checkpoint = path.join(folder, "uploads.jsonl");
    for (const file of files) await writeFile(file, `the content of ${path.basename(file)}`);
    server.reply(stored);
  });
  afterEach(() => remove());

  const nameOf = ({ files: [file] }: ReceivedRequest): string => `${file?.filename}`;
  const stored = (request: ReceivedRequest) => ({
    json: { id: `file-${nameOf(request)}`, bytes: request.files[0]?.bytes.length, filename: nameOf(request) },
  });
  const upload = (...more: string[]): Promise<Outcome> =>
    tunerank(["upload", "reviews", ...files, ...more, "--quiet"], { baseUrl: server.url });
  const outcomes = ({ stdout }: Outcome): string[] =>
    stdout
      .trimEnd()
      .split("\n")
      .map((line) => (line.split(/[:.]/)[0] ?? "").replace(folder, ""));

  test("several files are uploaded one after the other, with a result for each", async () => {
    const { exitCode, stdout } = await upload();
    expect(exitCode).toBe(0);
    expect(stdout).toBe(
      files.map((file) => `Uploaded ${file}: 16 bytes, file file-${path.basename(file)}.\n`).join(""),
    );
    expect(server.requests.map(nameOf)).toEqual(["a", "b", "c"]);
  });

  test("one display shows how far they are together", async () => {
    const { stderr } = await tunerank(["upload", "reviews", ...files], { baseUrl: server.url });
    expect(stderr.trimEnd().split("\n").at(-1)).toBe("Sent 48 of 48 bytes (100 %).");
  });

  test("what was refused is sent again on the next start, and what was stored is not", async () => {
    server.reply((request) => (nameOf(request) === "b" ? { status: 429 } : stored(request)));
    const first = await upload("--checkpoint", checkpoint);
    expect([first.exitCode, outcomes(first)]).toEqual([7, ["Uploaded /a", "Failed", "Uploaded /c"]]);
    server.requests = [];
    server.reply(stored);
    const second = await upload("--checkpoint", checkpoint, "--json");
    expect(second.exitCode).toBe(0);
    expect(JSON.parse(second.stdout).files).toMatchObject([
      { file: files[0], outcome: "uploaded before", result: { id: "file-a" } },
      { file: files[1], outcome: "uploaded", result: { id: "file-b" } },
      { file: files[2], outcome: "uploaded before" },
    ]);
    expect(server.requests.map(nameOf)).toEqual(["b"]);
  });

  test("a 429 with Retry-After of one upload holds the next; one that asks for too long ends them", async () => {
    const arrivals: number[] = [];
    let seconds = 1;
    server.reply((request) => {
      arrivals.push(performance.now());
      if (nameOf(request) !== "a") return stored(request);
      return { status: 429, headers: { "retry-after": `${seconds}` } };
    });
    const first = await upload("--max-retries", "0");
    expect(outcomes(first)).toEqual(["Failed", "Uploaded /b", "Uploaded /c"]);
    expect((arrivals[1] as number) - (arrivals[0] as number)).toBeGreaterThanOrEqual(1000);
    seconds = 3600;
    server.requests = [];
    const second = await upload();
    expect([second.exitCode, outcomes(second)]).toEqual([7, ["Failed", "Not sent", "Not sent"]]);
    expect(server.requests.map(nameOf)).toEqual(["a"]);
  });

  test("a file whose fate is unknown is not sent again, unless it is asked for", async () => {
    server.reply((request, response) => {
      if (nameOf(request) !== "b") return stored(request);
      response.destroy();
      return undefined;
    });
    expect((await upload("--checkpoint", checkpoint)).exitCode).toBe(8);
    server.requests = [];
    server.reply(stored);
    const second = await upload("--checkpoint", checkpoint);
    expect([second.exitCode, outcomes(second)]).toEqual([
      6,
      ["Uploaded before", "Unknown", "Uploaded before"],
    ]);
    expect(server.requests).toEqual([]);
    const third = await upload("--checkpoint", checkpoint, "--resend-unknown");
    expect([third.exitCode, outcomes(third)]).toEqual([
      0,
      ["Uploaded before", "Uploaded /b", "Uploaded before"],
    ]);
    expect(server.requests.map(nameOf)).toEqual(["b"]);
  });

  test.each([{ message: "maintenance" }, {}, { id: null }])(
    "a file whose response is %j is not counted as stored, and not sent again unless it is asked for",
    async (json) => {
      server.reply((request) => (nameOf(request) === "b" ? { json } : stored(request)));
      const first = await upload("--checkpoint", checkpoint);
      expect([first.exitCode, outcomes(first)]).toEqual([10, ["Uploaded /a", "Failed", "Uploaded /c"]]);
      expect(first.stdout).toContain("The file may have been stored");
      expect(first.stdout).not.toContain("undefined");
      server.requests = [];
      server.reply(stored);
      const second = await upload("--checkpoint", checkpoint);
      expect(outcomes(second)).toEqual(["Uploaded before", "Unknown", "Uploaded before"]);
      expect(server.requests).toEqual([]);
      const third = await upload("--checkpoint", checkpoint, "--resend-unknown");
      expect([third.exitCode, server.requests.map(nameOf)]).toEqual([0, ["b"]]);
    },
  );

  test("such a response in the checkpoint of an earlier version does not count as stored either", async () => {
    await upload("--checkpoint", checkpoint);
    const rows = await readFile(checkpoint, "utf8");
    await writeFile(
      checkpoint,
      rows.replace(/"response":\{"id":"file-b"[^}]*\}/, '"response":{"message":"maintenance"}'),
    );
    server.requests = [];
    const next = await upload("--checkpoint", checkpoint);
    expect([next.exitCode, outcomes(next)]).toEqual([6, ["Uploaded before", "Unknown", "Uploaded before"]]);
    expect(server.requests).toEqual([]);
  });

  test("a run that is killed leaves the file it was sending unknown, also when its last row is torn", async () => {
    server.reply((request) => (nameOf(request) === "b" ? undefined : stored(request)));
    const child = start(["upload", "reviews", ...files, "--checkpoint", checkpoint], { baseUrl: server.url });
    const outcome = outcomeOf(child);
    await server.received(2);
    child.kill("SIGKILL");
    await outcome;
    await appendFile(checkpoint, '{"id":"[\\"rev');
    server.reply(stored);
    const next = await upload("--checkpoint", checkpoint);
    expect([next.exitCode, outcomes(next)]).toEqual([6, ["Uploaded before", "Unknown", "Uploaded /c"]]);
    for (const line of (await readFile(checkpoint, "utf8")).trimEnd().split("\n")) JSON.parse(line);
  });

  test("a refused key ends it, and the rest is not sent", async () => {
    server.reply({ status: 401 });
    const outcome = await upload();
    expect([outcome.exitCode, outcomes(outcome)]).toEqual([3, ["Failed", "Not sent", "Not sent"]]);
    expect(server.requests).toHaveLength(1);
  });

  test("a file that has changed since it was uploaded is refused before anything is sent", async () => {
    await upload("--checkpoint", checkpoint);
    server.requests = [];
    await writeFile(files[1] as string, "something else");
    const { exitCode, stderr } = await upload("--checkpoint", checkpoint);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(`FILE "${files[1]}" has changed since it was uploaded`);
    expect(server.requests).toEqual([]);
  });

  test.each([
    [["--name", "x"], "--name is for one file, without --checkpoint."],
    [["-"], "The standard input can be uploaded only alone, without --checkpoint."],
    [["no such file"], 'FILE "no such file" cannot be found: nothing was sent.'],
    [["/"], 'FILE "/" is a folder: name the files in it. Nothing was sent.'],
  ])("%j is refused before anything is sent", async (more, message) => {
    const { exitCode, stderr } = await upload(...more);
    expect([exitCode, stderr.split("\n")[0]]).toEqual([2, `tunerank: ${message}`]);
    expect(server.requests).toEqual([]);
  });

  test("files that would arrive under one name are refused before anything is sent, and both are named", async () => {
    await mkdir(path.join(folder, "later"));
    const same = path.join(folder, "later", "b");
    await writeFile(same, "another content");
    const { exitCode, stderr, stdout } = await upload(same);
    expect([exitCode, stdout]).toEqual([2, ""]);
    expect(stderr.split("\n")[0]).toBe(
      `tunerank: ${files[1]} and ${same} would both arrive as "b", and the second may replace the first: rename one, or upload it alone with --name. Nothing was sent.`,
    );
    expect(server.requests).toEqual([]);
  });

  test("the name that counts is the one that is sent: a link's own, not that of its file", async () => {
    const elsewhere = path.join(folder, "elsewhere");
    await mkdir(elsewhere);
    await writeFile(path.join(elsewhere, "a"), "another content");
    await symlink(path.join(elsewhere, "a"), path.join(folder, "d"));
    expect((await upload(path.join(folder, "d"))).exitCode).toBe(0);
    expect(server.requests.map(nameOf)).toEqual(["a", "b", "c", "d"]);
    server.requests = [];
    await writeFile(path.join(elsewhere, "e"), "another content");
    await symlink(path.join(elsewhere, "e"), path.join(elsewhere, "c"));
    const { exitCode, stderr } = await upload(path.join(elsewhere, "c"));
    expect([exitCode, server.requests]).toEqual([2, []]);
    expect(stderr).toContain('would both arrive as "c"');
  });

  test("equal names are no obstacle to a run that has nothing of them left to send", async () => {
    const folders = ["first", "second"].map((name) => path.join(folder, name));
    for (const each of folders) {
      await mkdir(each);
      await writeFile(path.join(each, "train"), each);
    }
    const pair = folders.map((each) => path.join(each, "train"));
    const alone = (file: string, name: string) =>
      tunerank(["upload", "reviews", file, "--checkpoint", checkpoint, "--quiet"], {
        baseUrl: server.url,
      }).then(({ exitCode }) => expect(exitCode, name).toBe(0));
    for (const file of pair) await alone(file, file);
    server.requests = [];
    const both = await tunerank(["upload", "reviews", ...pair, "--checkpoint", checkpoint], {
      baseUrl: server.url,
    });
    expect([both.exitCode, outcomes(both)]).toEqual([0, ["Uploaded before", "Uploaded before"]]);
    expect(server.requests).toEqual([]);
  });

  test("a file that is named twice is refused, and so is an option that has no effect", async () => {
    expect((await upload(files[0] as string)).stderr).toContain(
      `FILE "${files[0]}" is named twice. Nothing was sent.`,
    );
    const alone = await tunerank(["upload", "reviews", files[0] as string, "--resend-unknown"], {
      baseUrl: server.url,
    });
    expect(alone.stderr).toContain("--resend-unknown has no effect without --checkpoint.");
    expect(server.requests).toEqual([]);
  });
});

describe("uploads at once", () => {
  let folder: string;
  let remove: () => Promise<void>;
  let files: string[];
  let checkpoint: string;

  beforeEach(async () => {
    ({ folder, remove } = await temporaryFolder());
    files = Array.from("abcdefghijkl", (name) => path.join(folder, name));
    checkpoint = path.join(folder, "uploads.jsonl");
    for (const file of files) await writeFile(file, `the content of ${path.basename(file)}`);
    server.reply(stored);
  });
  afterEach(() => remove());

  const nameOf = ({ files: [file] }: ReceivedRequest): string => `${file?.filename}`;
  const stored = (request: ReceivedRequest) => ({
    json: { id: `file-${nameOf(request)}`, bytes: request.files[0]?.bytes.length, filename: nameOf(request) },
  });
  const upload = (...more: string[]): Promise<Outcome> =>
    tunerank(["upload", "reviews", ...files, ...more], { baseUrl: server.url });
  const words = ({ stdout }: Outcome): string[] =>
    stdout
      .trimEnd()
      .split("\n")
      .map((line) => line.split(" ")[0] ?? "");

  /** Responds once so many requests are in flight. @returns the most that were */
  function atOnce(number: number): { most: number } {
    const seen = { most: 0 };
    const held: (() => void)[] = [];
    let left = files.length;
    server.reply((request, response) => {
      held.push(() => response.end(JSON.stringify(stored(request).json)));
      seen.most = Math.max(seen.most, held.length);
      if (held.length === Math.min(number, left)) {
        left -= held.length;
        for (const respond of held.splice(0)) respond();
      }
      return undefined;
    });
    return seen;
  }

  test("12 files leave nothing but their progress on stderr", async () => {
    const { exitCode, stderr } = await upload("--quiet");
    expect([exitCode, stderr]).toEqual([0, ""]);
  });

  test("--concurrency 3 sends three files at a time, with their results in the order of the files", async () => {
    const seen = atOnce(3);
    const outcome = await upload("--concurrency", "3");
    expect(outcome.exitCode).toBe(0);
    expect(seen.most).toBe(3);
    expect(outcome.stdout.match(/file-\w/g)).toEqual(files.map((file) => `file-${path.basename(file)}`));
    expect(outcome.stderr.trimEnd().split("\n").at(-1)).toBe("Sent 192 of 192 bytes (100 %).");
  });

  test("a 429 with Retry-After of one of several holds them all, and it is tried again first", async () => {
    const arrivals: [name: string, at: number][] = [];
    server.reply((request) => {
      arrivals.push([nameOf(request), performance.now()]);
      return arrivals.filter(([name]) => name === "c").length === 1 && nameOf(request) === "c"
        ? { status: 429, headers: { "retry-after": "1" } }
        : stored(request);
    });
    expect((await upload("--concurrency", "3", "--quiet")).exitCode).toBe(0);
    const [first, second] = arrivals.filter(([name]) => name === "c");
    const later = arrivals.filter(([, at]) => at > (first?.[1] ?? 0) + 100);
    expect(later[0]?.[0]).toBe("c");
    expect((second?.[1] ?? 0) - (first?.[1] ?? 0)).toBeGreaterThanOrEqual(1000);
    expect(server.requests).toHaveLength(13);
  });

  test("a refused key ends what has not begun; what is under way is finished", async () => {
    const held: [ReceivedRequest, ServerResponse][] = [];
    server.reply((request, response) => {
      held.push([request, response]);
      return undefined;
    });
    const running = upload("--concurrency", "3", "--quiet", "--checkpoint", checkpoint);
    await until(() => held.length === 3);
    const [refused, ...others] = held;
    refused?.[1].writeHead(401).end();
    setTimeout(() => {
      for (const [request, response] of others) response.end(JSON.stringify(stored(request).json));
    }, 200);
    const outcome = await running;
    expect(outcome.exitCode).toBe(3);
    expect(words(outcome).sort()).toEqual(["Failed:", ...Array(9).fill("Not"), "Uploaded", "Uploaded"]);
    expect(server.requests).toHaveLength(3);
  });

  test("a run that is killed with three under way leaves these three unknown", async () => {
    server.reply((request) => (/[bcd]/.test(nameOf(request)) ? undefined : stored(request)));
    const args = ["upload", "reviews", ...files, "--checkpoint", checkpoint, "--concurrency", "3"];
    const child = start(args, { baseUrl: server.url });
    const outcome = outcomeOf(child);
    await server.received(4);
    child.kill("SIGKILL");
    await outcome;
    server.reply(stored);
    const next = await upload("--checkpoint", checkpoint, "--concurrency", "3", "--quiet");
    expect(next.exitCode).toBe(6);
    expect(words(next).slice(0, 5)).toEqual(["Uploaded", "Unknown:", "Unknown:", "Unknown:", "Uploaded"]);
    expect(server.requests).toHaveLength(12);
    const rows = (await readFile(checkpoint, "utf8")).trimEnd().split("\n");
    expect(rows.filter((row) => JSON.parse(row).response)).toHaveLength(9);
  });

  test.each([0, 1])("Ctrl-C ends it, with %i under way: the rest is not sent", async (underWay) => {
    server.reply((request) => {
      if (nameOf(request) === "a") return { status: 429, headers: { "retry-after": "50" } };
      return underWay === 0 ? stored(request) : undefined;
    });
    if (underWay > 0) files.shift();
    const args = ["upload", "reviews", ...files, "--max-retries", "0", "--checkpoint", checkpoint];
    const child = start(args, { baseUrl: server.url });
    const outcome = outcomeOf(child);
    await server.received(1);
    await until(() => underWay > 0 || /"executed":"no"/.test(readFileSync(checkpoint, "utf8")));
    child.kill("SIGINT");
    const { exitCode, ...said } = await outcome;
    expect(exitCode).toBe(130);
    expect(words({ exitCode, ...said })).toEqual(["Failed:", ...Array(files.length - 1).fill("Not")]);
    expect(server.requests).toHaveLength(1);
  });

  test.each([
    [["--concurrency", "0"], "--concurrency must be a whole number of at least 1."],
    [["--concurrency", "1.5"], "--concurrency must be a whole number of at least 1."],
  ])("%j is refused before anything is sent", async (more, message) => {
    const { exitCode, stderr } = await upload(...more);
    expect([exitCode, stderr.split("\n")[0]]).toEqual([2, `tunerank: ${message}`]);
    expect(server.requests).toEqual([]);
  });
});

describe("a large file", () => {
  test("a file of more than 64 MiB is read whole, unlike a pipe", async () => {
    const { folder, remove } = await temporaryFolder();
    try {
      const file = path.join(folder, "large.txt");
      await writeFile(file, `${"x".repeat(65 * 1024 * 1024)}\nshort\n`);
      server.reply({ json: { object: "list", data: [{ index: 0, relevance_score: 1 }] } });
      const args = ["rerank", "--query", "q", "--batch-size", "1", file, "--json"];
      const { exitCode, stdout } = await tunerank(args, { baseUrl: server.url });
      expect(exitCode).toBe(0);
      expect(JSON.parse(stdout).results).toHaveLength(2);
      expect(server.requests).toHaveLength(2);
    } finally {
      await remove();
    }
  });
});
