import { execFileSync } from "node:child_process";
import { appendFileSync, readFileSync, type Stats, statSync, truncateSync, writeFileSync } from "node:fs";
import { appendFile, readdir, readFile, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { RowWriter } from "../../../src/cli/checkpoints/rowWriter.js";
import {
  errors,
  folder,
  input,
  output,
  queryOf,
  rankingOf,
  rowsOf,
  useBulkFiles,
  writeRequests,
} from "../../support/bulkFiles.js";
import { tunerank } from "../../support/commandLine.js";
import { useRecordingServer } from "../../support/recordingServer.js";

const server = useRecordingServer();
const bulk = useBulkFiles(server, "--concurrency", "4");

const count = 60;

/** Does something while a run goes on: as its n-th request arrives. */
function meanwhile(change: () => void, at = 20): void {
  let requests = 0;
  server.reply((request) => {
    if (++requests === at) change();
    return rankingOf(request);
  });
}

describe.each([
  // SIZE: a row that is being written at that moment may still follow.
  ["emptied", () => truncateSync(output), "was cut to SIZE bytes"],
  ["cut in the middle of a row", () => truncateSync(output, 100), "was cut to SIZE bytes"],
  ["written over", () => writeFileSync(output, "mine\n"), "was cut to SIZE bytes"],
  ["longer by what somebody else wrote", () => appendFileSync(output, "mine\n"), "was written by another"],
] as const)("an output that is %s while a run writes it", (_, change, reason) => {
  test("ends the run, and each row that is not in it is in a file that is named", async () => {
    await writeRequests(input, count);
    meanwhile(change);
    const { exitCode, stderr } = await bulk();
    const told = reason.replace("SIZE", `${statSync(output).size}`);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining(`tunerank: --output ${told}`)]);
    expect(stderr).toContain("out.jsonl.rescued");
    // No hole, and nothing of this run behind what is not its own.
    expect((await readFile(output)).includes(0)).toBe(false);
    // What was under way has been paid for too.
    const rescued = (await rowsOf(`${output}.rescued`)).map(({ id }) => `${id}`.replace("r", "q"));
    expect(rescued.length).toBeGreaterThan(server.requests.length - 20);
    expect(rescued).toContain(queryOf(server.requests.at(-1) as never));
    expect(server.requests.length).toBeLessThan(count);
  });
});

test("rows that were rescued can be added again, and are not sent twice", async () => {
  await writeRequests(input, count);
  meanwhile(() => truncateSync(output));
  expect((await bulk()).exitCode).toBe(1);
  const rescued = await readFile(`${output}.rescued`);
  await appendFile(output, rescued);
  server.requests = [];
  expect((await bulk()).exitCode).toBe(0);
  const ids = (await rowsOf(output)).map(({ id }) => id);
  expect([new Set(ids).size, ids.length]).toEqual([count, count]);
  expect(server.requests).toHaveLength(count - (await rowsOf(`${output}.rescued`)).length);
});

/** Runs the command that a message has between backticks, as a person would, somewhere else. */
function runAdvised(stderr: string): void {
  const [, command = ""] = /`([^`]+)`/.exec(stderr) ?? [];
  execFileSync("sh", ["-c", command], { cwd: "/" });
}

describe.each([
  ["inside a row", 10],
  ["before the end of its last line", 1],
  ["behind a row", 0],
] as const)("an output that is cut %s", (_, bytes) => {
  test("goes on after the advised command, and no row that is left is paid for twice", async () => {
    await writeRequests(input, count);
    let before = 0;
    meanwhile(() => {
      const rows = readFileSync(output);
      before = rows.filter((byte) => byte === 10).length;
      const lastRow = rows.lastIndexOf("\n", rows.length - 2) + 1;
      truncateSync(output, bytes === 0 ? lastRow : rows.length - bytes);
    });
    const first = await bulk();
    expect(first.exitCode).toBe(1);
    expect(statSync(output).size).toBeGreaterThan(0);
    const rescued = await rowsOf(`${output}.rescued`);
    runAdvised(first.stderr);
    expect(await readdir(folder)).not.toContain("out.jsonl.rescued");
    const kept = await rowsOf(output);
    server.requests = [];
    const { exitCode, stderr } = await bulk();
    expect([exitCode, stderr]).toEqual([0, ""]);
    const ids = (await rowsOf(output)).map(({ id }) => id);
    expect([new Set(ids).size, ids.length]).toEqual([count, count]);
    expect(server.requests).toHaveLength(count - kept.length);
    // Without the end of its line, the last row is whole.
    const cut = bytes === 1 ? 0 : 1;
    expect(kept).toHaveLength(before - cut + rescued.length);
  });
});

test("a cut checkpoint goes on after the advised command, and no file is uploaded twice", async () => {
  const files = ["a", "b", "it's c", "d"].map((name) => path.join(folder, `${name}.jsonl`));
  for (const file of files) await writeFile(file, "{}\n");
  const checkpoint = path.join(folder, "it's mine.jsonl");
  server.reply(() => {
    if (server.requests.length === 2) truncateSync(checkpoint, statSync(checkpoint).size - 10);
    return { json: { id: `file-${server.requests.length}` } };
  });
  const upload = () =>
    tunerank(["upload", "d", ...files, "--checkpoint", checkpoint], { baseUrl: server.url });
  const first = await upload();
  expect([first.exitCode, first.stderr]).toEqual([
    1,
    expect.stringContaining("Then run the same command again: it sends what has no row."),
  ]);
  runAdvised(first.stderr);
  const { exitCode, stdout } = await upload();
  expect([exitCode, stdout.match(/^Uploaded( before)?/gm)]).toEqual([
    0,
    ["Uploaded before", "Uploaded before", "Uploaded", "Uploaded"],
  ]);
  expect(server.requests.map(({ files: [file] }) => file?.filename)).toEqual([
    "a.jsonl",
    "b.jsonl",
    "it's c.jsonl",
    "d.jsonl",
  ]);
});

test.each(["out.jsonl.rescued", "out.jsonl.rescued.7"])(
  "rows in %s that were not added are noticed before anything is sent",
  async (name) => {
    await writeRequests(input, count);
    meanwhile(() => truncateSync(output));
    expect((await bulk()).exitCode).toBe(1);
    const rescued = await rowsOf(`${output}.rescued`);
    await rename(`${output}.rescued`, path.join(folder, name));
    // Somebody else's.
    await writeFile(`${output}.rescued.2`, "mine\n");
    server.requests = [];
    for (const more of [["--dry-run"], []]) {
      const { exitCode, stderr, stdout } = await bulk(...more);
      expect([exitCode, stdout]).toEqual([2, ""]);
      const said = `tunerank: --output lacks ${rescued.length} rows, which an earlier run left in ${name}, beside it. Add them: \``;
      expect(stderr).toContain(said);
      expect(stderr).toContain("`. Nothing was sent.\n");
      if (more.length === 0) runAdvised(stderr);
    }
    expect(server.requests).toHaveLength(0);
    expect((await bulk()).exitCode).toBe(0);
    expect(server.requests.length).toBeLessThanOrEqual(count - rescued.length);
    const ids = (await rowsOf(output)).map(({ id }) => id);
    expect([new Set(ids).size, ids.length]).toEqual([count, count]);
  },
);

test("rows of uploads that were rescued and not added are noticed before anything is sent", async () => {
  const files = ["a", "b", "c"].map((name) => path.join(folder, name));
  for (const file of files) await writeFile(file, "text");
  const checkpoint = path.join(folder, "uploads.jsonl");
  server.reply(() => {
    if (server.requests.length === 2) truncateSync(checkpoint);
    return { json: { id: `file-${server.requests.length}` } };
  });
  const upload = (...more: string[]) =>
    tunerank(["upload", "d", ...files, "--checkpoint", checkpoint, ...more], { baseUrl: server.url });
  expect((await upload()).exitCode).toBe(1);
  for (const more of [["--dry-run"], []]) {
    const { exitCode, stderr } = await upload(...more);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining("--checkpoint lacks ")]);
    if (more.length === 0) runAdvised(stderr);
  }
  expect(server.requests).toHaveLength(2);
  expect((await upload()).exitCode).toBe(0);
});

test("rows that were rescued before are never written over", async () => {
  await writeRequests(input, count);
  await writeFile(`${output}.rescued`, "mine\n");
  meanwhile(() => truncateSync(output));
  const { exitCode, stderr } = await bulk();
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining("out.jsonl.rescued.2")]);
  expect(await readFile(`${output}.rescued`, "utf8")).toBe("mine\n");
  expect((await rowsOf(`${output}.rescued.2`)).length).toBeGreaterThan(0);
});

test("an output that is cut behind its last row is told at the close", async () => {
  await writeRequests(input, count);
  // The last response is no row of it.
  server.reply((request) => {
    if (server.requests.length < count) return rankingOf(request);
    truncateSync(output);
    return { status: 400, json: { code: "INVALID_ARGUMENT", message: "No." } };
  });
  const { exitCode, stderr } = await bulk("--errors", errors, "--concurrency", "1");
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining("--output was cut to 0 bytes")]);
  expect(await readdir(folder)).not.toContain("out.jsonl.rescued");
});

test("an errors file that is emptied ends the run too, and its rows are kept", async () => {
  await writeRequests(input, count);
  server.reply((request) => {
    if (server.requests.length === 20) truncateSync(errors);
    return { status: 400, json: { code: "INVALID_ARGUMENT", message: queryOf(request) } };
  });
  const { exitCode, stderr } = await bulk("--errors", errors);
  const { size } = statSync(errors);
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining(`--errors was cut to ${size} bytes`)]);
  expect((await rowsOf(`${errors}.rescued`)).length).toBeGreaterThan(0);
  expect(server.requests.length).toBeLessThan(count);
});

test("a checkpoint of uploads that is emptied ends the uploads before the next is sent", async () => {
  const files = ["a", "b", "c"].map((name) => path.join(folder, `${name}.jsonl`));
  for (const file of files) await writeFile(file, "{}\n");
  const checkpoint = path.join(folder, "uploads.jsonl");
  server.reply(() => {
    if (server.requests.length === 2) truncateSync(checkpoint);
    return { json: { id: `file-${server.requests.length}` } };
  });
  const { exitCode, stderr } = await tunerank(["upload", "d", ...files, "--checkpoint", checkpoint], {
    baseUrl: server.url,
  });
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining("--checkpoint was cut to 0 bytes")]);
  // The row of the second file was rescued.
  expect(stderr).toContain(
    `1 file was sent already and has no row any more: ${files[0]}. The same command would upload it a second time: restore the checkpoint from a copy first, or leave this file out of the command.`,
  );
  expect(stderr).not.toContain("Then run the same command again");
  expect(server.requests).toHaveLength(2);
  expect(JSON.parse((await readFile(`${checkpoint}.rescued`, "utf8")).split("\n")[0] ?? "")).toMatchObject({
    response: { id: "file-2" },
  });
});

test("a checkpoint that is emptied behind its last row is told with the files that would be sent again", async () => {
  const files = Array.from({ length: 12 }, (_, index) => path.join(folder, `${index}.jsonl`));
  for (const file of files) await writeFile(file, "{}\n");
  const checkpoint = path.join(folder, "uploads.jsonl");
  const upload = (count: number) =>
    tunerank(["upload", "d", ...files.slice(0, count), "--checkpoint", checkpoint], { baseUrl: server.url });
  server.reply(() => ({ json: { id: "file-1" } }));
  expect((await upload(11)).exitCode).toBe(0);
  server.requests = [];
  // Nothing of the twelfth is stored: it is not among them.
  server.reply(() => {
    truncateSync(checkpoint);
    return { status: 400, json: { code: "INVALID_ARGUMENT", message: "No." } };
  });
  const { exitCode, stderr } = await upload(12);
  expect([exitCode, server.requests.length]).toEqual([1, 1]);
  expect(stderr).toContain("11 files were sent already and have no row any more: ");
  expect(stderr).toContain(`${files[9]} and 1 more. The same command would upload them a second time`);
});

describe("a file that changes between a row's check and its write", () => {
  // The first check of a row sees the file as it was; then somebody else changes it.
  class Overtaken extends RowWriter {
    change: (() => void) | undefined;

    override stats(): Stats {
      const before = super.stats();
      this.change?.();
      this.change = undefined;
      return before;
    }
  }

  test.each([
    ["emptied", () => truncateSync(output), ""],
    ["cut in the middle of a row", () => truncateSync(output, 4), '{"id'],
    ["longer by what somebody else wrote", () => appendFileSync(output, "mine\n"), '{"id":1}\nmine\n'],
  ] as const)("%s: the row goes to the other file, and half a row gets no end", async (_, change, left) => {
    const rows = new Overtaken("--output", output, { end: 0, lacksEnd: false });
    rows.add({ id: 1 });
    rows.change = change;
    rows.add({ id: 2 });
    rows.add({ id: 3 });
    expect(() => rows.close()).toThrow("while this run was writing it");
    expect(await readFile(output, "utf8")).toBe(left);
    expect(await readFile(`${output}.rescued`, "utf8")).toBe('{"id":2}\n{"id":3}\n');
  });
});
