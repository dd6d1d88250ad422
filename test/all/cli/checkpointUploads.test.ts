// Uploads with a checkpoint: no file is sent twice unasked, whatever its path is, and whenever the command is killed.
import { once } from "node:events";
import * as fs from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { linesOf, partsThere, rowsOf } from "../../support/bulkFiles.js";
import { type CommandFaults, envOf, outcomeOf, start, tunerank } from "../../support/commandLine.js";
import { type Outcome, temporaryFolder } from "../../support/project.js";
import { type ReceivedRequest, type Reply, useRecordingServer } from "../../support/recordingServer.js";
import { until } from "../../support/turns.js";

const server = useRecordingServer();
let folder: string;
let remove: () => Promise<void>;
let log: string;
const at = (name: string): string => path.join(folder, name);
const content = (name: string): string => linesOf({ of: name });

beforeEach(async () => {
  ({ folder, remove } = await temporaryFolder());
  log = at("uploads.log");
  for (const name of ["a", "b", "c", "d", "e"]) fs.writeFileSync(at(`${name}.jsonl`), content(name));
  server.reply(storedOf);
});
afterEach(() => remove());

function nameOf({ files }: ReceivedRequest): string {
  return files[0]?.filename ?? "";
}
function storedOf(request: ReceivedRequest): Reply {
  const filename = nameOf(request);
  return {
    json: { id: `file-${filename}`, object: "file", bytes: request.files[0]?.bytes.length, filename },
  };
}
const sent = (): string[] => server.requests.map(nameOf);
const argsOf = (names: readonly string[], more: readonly string[]): readonly string[] => [
  ...["upload", "reviews", ...names.map((name) => at(`${name}.jsonl`)), "--checkpoint", log, ...more],
];
const upload = (names: string, ...more: readonly string[]): Promise<Outcome> =>
  tunerank(argsOf(names.split(""), more), { baseUrl: server.url });
const startUpload = (names: string, more: readonly string[], faults?: Omit<CommandFaults, "folder">) =>
  start(argsOf(names.split(""), more), {
    baseUrl: server.url,
    ...(faults && { env: envOf({ folder: log, ...faults }) }),
  });

test("what is stored is not sent again, what was rejected is, and no part is left", async () => {
  server.reply((request) =>
    nameOf(request) === "b.jsonl"
      ? { status: 400, json: { code: "INVALID_ARGUMENT", message: "No." } }
      : storedOf(request),
  );
  const first = await upload("abc");
  expect(first.exitCode).toBe(5);
  expect(first.stdout.split("\n")).toEqual([
    `Uploaded ${at("a.jsonl")}: 11 bytes, file file-a.jsonl.`,
    expect.stringContaining(`Failed: ${at("b.jsonl")}: [INVALID_ARGUMENT] No.`),
    `Uploaded ${at("c.jsonl")}: 11 bytes, file file-c.jsonl.`,
    "",
  ]);
  server.reply(storedOf);
  const second = await upload("abc");
  expect([second.exitCode, sent()]).toEqual([0, ["a.jsonl", "b.jsonl", "c.jsonl", "b.jsonl"]]);
  expect(second.stdout).toContain(`Uploaded before: ${at("a.jsonl")}: file file-a.jsonl.`);
  const { files } = JSON.parse((await upload("abc", "--json")).stdout);
  expect(files.map(({ result }: { result: { id: string } }) => result.id)).toEqual([
    "file-a.jsonl",
    "file-b.jsonl",
    "file-c.jsonl",
  ]);
  expect(rowsOf(log).map(({ id }) => id)).toEqual(["reviews/a.jsonl", "reviews/c.jsonl", "reviews/b.jsonl"]);
  expect(fs.existsSync(`${log}.parts`)).toBe(false);
});

test("before the first byte is sent, the row is in the part, and on the disk with its folder", async () => {
  const calls = at("calls");
  const seen: string[] = [];
  server.reply((request) => {
    seen.push(fs.readFileSync(calls, "utf8"));
    expect(fs.readFileSync(partsThere(log)[0] as string, "utf8")).toContain(
      `{"id":"reviews/${nameOf(request)}","fingerprint":`,
    );
    return storedOf(request);
  });
  expect((await outcomeOf(startUpload("ab", [], { logTo: calls }))).exitCode).toBe(0);
  for (const before of seen) {
    const part = partsOf(before);
    const names = before.trim().split("\n");
    const lastWrite = names.lastIndexOf(`write ${part}`);
    expect(names.lastIndexOf(`fdatasync ${part}`)).toBeGreaterThan(lastWrite);
    expect(lastWrite).toBeGreaterThan(names.indexOf(`fsync ${log}.parts`));
    expect(names).toContain(`fsync ${log}.parts`);
  }
  expect(seen).toHaveLength(2);
});

function partsOf(calls: string): string {
  return /^write (.*)$/m.exec(calls)?.[1] ?? "";
}

test("killed at each file call in turn, a file that the service may have is never sent again", {
  timeout: 900_000,
}, async () => {
  for (let killAt = 1; ; killAt += 1) {
    server.requests = [];
    const { exitCode } = await outcomeOf(startUpload("ab", [], { killAt, isHalf: true }));
    const before = sent();
    for (const part of partsThere(log))
      if (!fs.readFileSync(part, "utf8").includes("\n")) fs.unlinkSync(part);
    const next = await upload("ab");
    expect([0, 6]).toContain(next.exitCode);
    for (const name of ["a", "b"]) {
      expect(sent().filter((each) => each === `${name}.jsonl`).length).toBeLessThanOrEqual(1);
      if (before.includes(`${name}.jsonl`))
        expect(next.stdout).toMatch(new RegExp(`(Unknown|Uploaded before): .*/${name}\\.jsonl`));
    }
    const last = await upload("ab", "--resend-unknown");
    expect([last.exitCode, rowsOf(log).length, fs.existsSync(`${log}.parts`)]).toEqual([0, 2, false]);
    if (exitCode === 0) break;
    fs.rmSync(log);
  }
});

test("a file that was being sent when the command was killed is sent again only with --resend-unknown", async () => {
  server.reply((request) => (nameOf(request) === "a.jsonl" ? storedOf(request) : undefined));
  const child = startUpload("abcd", ["--concurrency", "3"]);
  await until(() => new Set(sent()).size === 4);
  child.kill("SIGKILL");
  await once(child, "exit");
  server.requests = [];
  server.reply(storedOf);
  const next = await upload("abcde");
  expect([next.exitCode, sent()]).toEqual([6, ["e.jsonl"]]);
  for (const name of ["b", "c", "d"])
    expect(next.stdout).toContain(
      `Unknown: ${at(`${name}.jsonl`)} may be stored, and was not sent again. If the dataset has the file, leave it out of the command; if not, add --resend-unknown.`,
    );
  // An upload that never left says nothing about the earlier one.
  const unsent = await tunerank(argsOf(["b"], ["--resend-unknown"]), { baseUrl: "http://127.0.0.1:9" });
  expect(unsent.exitCode).toBe(8);
  expect((await upload("abcde")).stdout.match(/Unknown/g)).toHaveLength(3);
  expect((await upload("abcde", "--resend-unknown")).exitCode).toBe(0);
  expect(sent().sort()).toEqual(["b.jsonl", "c.jsonl", "d.jsonl", "e.jsonl"]);
});

test("a response without an id leaves the file unknown, and it is not sent again unasked", async () => {
  server.reply({ json: { object: "file" } });
  expect((await upload("a")).exitCode).toBe(10);
  server.reply(storedOf);
  expect([(await upload("a")).exitCode, server.requests.length]).toEqual([6, 1]);
  expect([(await upload("a", "--resend-unknown")).exitCode, server.requests.length]).toEqual([0, 2]);
  expect([(await upload("a")).exitCode, server.requests.length]).toEqual([0, 2]);
});

test("one changed file of five is held back and named with the line that sends it, and the others go on", async () => {
  await upload("c");
  fs.writeFileSync(at("c.jsonl"), content("another c"));
  const held = await upload("abcde");
  expect([held.exitCode, sent()]).toEqual([6, ["c.jsonl", "a.jsonl", "b.jsonl", "d.jsonl", "e.jsonl"]]);
  expect(held.stdout).toContain(
    `Held back: ${at("c.jsonl")}: another content was sent as "c.jsonl". To send this one too: tunerank upload reviews ${at("c.jsonl")} --name NEW`,
  );
  const added = await upload("c", "--name", "c2.jsonl");
  expect([added.exitCode, sent().at(-1)]).toEqual([0, "c2.jsonl"]);
});

test("a path is no part of an upload's name: swapped links and renamed folders send nothing again", async () => {
  // As Kubernetes mounts a ConfigMap: each file is a link through ..data, which is replaced as a whole.
  for (const version of ["v1", "v2"]) {
    fs.mkdirSync(at(version));
    fs.writeFileSync(at(`${version}/train.jsonl`), content("train"));
  }
  fs.symlinkSync("..data/train.jsonl", at("train.jsonl"));
  const sendAgain = (name: string): Promise<Outcome> =>
    tunerank(["upload", "reviews", at(name), "--checkpoint", log], { baseUrl: server.url });
  const linkTo = (version: string): void => {
    fs.rmSync(at("..data"), { force: true });
    fs.symlinkSync(version, at("..data"));
  };
  linkTo("v1");
  expect((await sendAgain("train.jsonl")).exitCode).toBe(0);
  linkTo("v2");
  expect((await sendAgain("train.jsonl")).stdout).toContain("Uploaded before");
  fs.renameSync(at("v2"), at("v3"));
  expect([(await sendAgain("v3/train.jsonl")).exitCode, sent()]).toEqual([0, ["train.jsonl"]]);
  // Other content under the same name is another file.
  fs.writeFileSync(at("v3/train.jsonl"), content("new"));
  linkTo("v3");
  expect([(await sendAgain("train.jsonl")).exitCode, sent().length]).toEqual([6, 1]);
});

test("the same name over two commands with one checkpoint is held back; in another dataset it is another file", async () => {
  fs.mkdirSync(at("other"));
  fs.writeFileSync(at("other/a.jsonl"), content("other"));
  await upload("a");
  const second = ["upload", "reviews", at("other/a.jsonl"), "--checkpoint", log];
  const held = await tunerank(second, { baseUrl: server.url });
  expect([held.exitCode, server.requests.length]).toEqual([6, 1]);
  const elsewhere = await tunerank(["upload", "news", ...second.slice(2)], { baseUrl: server.url });
  expect([elsewhere.exitCode, server.requests.length]).toEqual([0, 2]);
  expect(rowsOf(log).map(({ id }) => id)).toEqual(["reviews/a.jsonl", "news/a.jsonl"]);
});

test.each([
  [
    "ids of the former form",
    '["acme","reviews","a.jsonl"]',
    "--checkpoint is from an earlier version, which knew",
  ],
  ["an output's ids", "r0", "--checkpoint, line 1, is not a row of tunerank."],
])("a checkpoint with %s is refused, and nothing is sent", async (_, id, message) => {
  const content = linesOf({ id, fingerprint: "NVlcU2DT6-h-91d5w1xMi-", response: { id: "file-1" } });
  fs.writeFileSync(log, content);
  const { exitCode, stderr } = await upload("ab");
  expect([exitCode, server.requests, fs.readFileSync(log, "utf8")]).toEqual([2, [], content]);
  expect(stderr).toContain(message);
});

test("the checkpoint and its parts are left out of *.jsonl, with a word", async () => {
  log = at("log.jsonl");
  server.reply((request) => (nameOf(request) === "b.jsonl" ? undefined : storedOf(request)));
  const killed = startUpload("ab", []);
  await server.received(2);
  killed.kill("SIGKILL");
  await once(killed, "exit");
  const [part = ""] = partsThere(log);
  fs.cpSync(part, log);
  fs.writeFileSync(log, linesOf(...rowsOf(log).filter(({ id }) => id !== undefined)));
  server.reply(storedOf);
  const args = ["upload", "reviews", at("a.jsonl"), log, part, "--checkpoint", log];
  const { exitCode, stderr } = await tunerank(args, { baseUrl: server.url });
  expect([exitCode, server.requests.length]).toEqual([0, 2]);
  for (const file of [log, part])
    expect(stderr).toContain(`${file} is left out: it belongs to the checkpoint.`);
});

test("files that are invalid or that change after their check are not sent, and the others are", async () => {
  fs.appendFileSync(at("b.jsonl"), "{\n{\n");
  server.reply((request) => {
    if (nameOf(request) === "a.jsonl") fs.appendFileSync(at("d.jsonl"), content("more"));
    return storedOf(request);
  });
  const { exitCode, stdout } = await upload("abcd");
  expect([exitCode, sent()]).toEqual([expect.any(Number), ["a.jsonl", "c.jsonl"]]);
  expect(exitCode).not.toBe(0);
  expect(stdout).toMatch(
    /^Invalid: .*b\.jsonl was not sent: line 2: .*, and 1 line more\. --no-check sends it as it is\.$/m,
  );
  expect(stdout).toMatch(
    /^Failed: .*d\.jsonl: .*The file changed after the command began, and was not sent\./m,
  );
  server.reply(storedOf);
  const next = await upload("abcd", "--no-check");
  expect([next.exitCode, sent().slice(2).sort()]).toEqual([0, ["b.jsonl", "d.jsonl"]]);
});

test.each(["SIGINT", "SIGHUP"] as const)(
  "%s waits for the upload that is in flight, and sends no other",
  async (signal) => {
    server.reply((request, response) => {
      setTimeout(() => response.end(JSON.stringify(storedOf(request).json)), 500);
      return undefined;
    });
    const child = startUpload("abc", []);
    const ended = outcomeOf(child);
    await server.received();
    child.kill(signal);
    const { exitCode, stdout, stderr } = await ended;
    expect([exitCode, sent()]).toEqual([signal === "SIGINT" ? 130 : 129, ["a.jsonl"]]);
    expect(stdout).toContain(`Not sent: ${at("b.jsonl")}.`);
    expect(stderr).toContain("Interrupted: 1 of 3 files uploaded; the same command continues.");
    server.reply(storedOf);
    expect((await upload("abc")).exitCode).toBe(0);
    expect(sent()).toEqual(["a.jsonl", "b.jsonl", "c.jsonl"]);
  },
);

test("a 429 with Retry-After holds all", async () => {
  const times: number[] = [];
  server.reply((request) => {
    times.push(performance.now());
    if (times.length > 1) return storedOf(request);
    return {
      status: 429,
      headers: { "retry-after": "1" },
      json: { code: "RESOURCE_EXHAUSTED", message: "Slow." },
    };
  });
  expect((await upload("abc")).exitCode).toBe(0);
  expect((times[1] as number) - (times[0] as number)).toBeGreaterThan(900);
});

test("without room for its row no file is sent", async () => {
  const noRoom = { path: "parts", after: 2, untilMs: 1e9 };
  const { exitCode, stderr } = await outcomeOf(startUpload("ab", [], { noRoom, faster: 200 }));
  expect([exitCode, server.requests]).toEqual([1, []]);
  expect(stderr).toContain("--checkpoint cannot be written: ENOSPC");
  expect([(await upload("ab")).exitCode, sent()]).toEqual([0, ["a.jsonl", "b.jsonl"]]);
});

test("the standard input is checked and sent like any file", async () => {
  const piped = (input: string, ...more: string[]) =>
    tunerank(["upload", "reviews", "-", "--name", "p.jsonl", ...more], { baseUrl: server.url, input });
  expect((await piped("<html>\n")).exitCode).toBe(2);
  expect((await piped("")).stderr).toContain("The standard input is empty: nothing was sent.");
  expect(server.requests).toEqual([]);
  expect((await piped(content("p"))).exitCode).toBe(0);
  expect(server.only.files[0]?.bytes.toString()).toBe(content("p"));
});
