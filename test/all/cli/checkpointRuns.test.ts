// Bulk runs beside each other, and runs whose files change, vanish or find no room.
import { once } from "node:events";
import * as fs from "node:fs";
import path from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import {
  expectWhole,
  folder,
  idsKept,
  input,
  linesOf,
  output,
  parts,
  partsThere,
  rankingOf,
  requestOf,
  rowsOf,
  sentTwice,
  useBulkFiles,
  writeRequests,
} from "../../support/bulkFiles.js";
import { outcomeOf, startIn, startLimited, suspended, tunerank } from "../../support/commandLine.js";
import type { Outcome } from "../../support/project.js";
import { useRecordingServer } from "../../support/recordingServer.js";
import { until } from "../../support/turns.js";

const server = useRecordingServer();
const bulk = useBulkFiles(server);
const oneAtATime = ["--concurrency", "1"];

beforeEach(() => server.reply(rankingOf));

/** From now on only so many requests get a response at once; the returned function responds to the others. */
function holdAfter(count: number): () => void {
  const held: (() => void)[] = [];
  let isOver = false;
  const first = server.requests.length;
  server.reply((request, response) => {
    if (isOver || server.requests.length <= first + count) return rankingOf(request);
    held.push(() => response.end(JSON.stringify(rankingOf(request).json)));
    return undefined;
  });
  return () => {
    isOver = true;
    for (const respond of held.splice(0)) respond();
  };
}

/** Dates a file back by 40 s: its run gave no sign of life for that long. */
function age(file: string | undefined): void {
  const then = new Date(Date.now() - 40_000);
  fs.utimesSync(file ?? "", then, then);
}

/** Starts a run that is suspended before a call; the returned function wakes it, and waits until it has ended. */
async function startSuspended(
  more: readonly string[],
  call: string,
  time = 1,
): Promise<() => Promise<Outcome>> {
  const child = bulk.start(more, { stopAt: { call, time } });
  const ended = outcomeOf(child);
  await suspended(child.pid);
  return () => {
    child.kill("SIGCONT");
    return ended;
  };
}

/** Waits until so many results are in the parts. */
const untilKept = (count: number): Promise<void> => until(() => idsKept().size >= count);

describe("runs at once", () => {
  test("of three that start at once at most one goes on, 20 times; the others leave no part", async () => {
    const count = 3;
    let none = 0;
    for (let round = 0; round < 20; round += 1) {
      await writeRequests(input, 1);
      server.requests = [];
      const respond = holdAfter(0);
      let ended = 0;
      const runs = Array.from({ length: count }, async () => {
        const outcome = await outcomeOf(bulk.start([], { faster: 8 }));
        ended += 1;
        return outcome;
      });
      await until(() => server.requests.length > 1 || ended >= count - 1);
      if (ended < count) await server.received(1);
      expect(server.requests.length).toBeLessThanOrEqual(1);
      expect(partsThere().length).toBe(count - ended);
      respond();
      const outcomes = await Promise.all(runs);
      const refused = outcomes.filter(({ exitCode }) => exitCode === 2);
      for (const { stderr } of refused) expect(stderr).toContain("Another run writes --output (process ");
      expect(refused.length).toBeGreaterThanOrEqual(count - 1);
      if (refused.length === count) none += 1;
      else expectWhole(1);
      fs.rmSync(parts, { recursive: true, force: true });
      fs.rmSync(output, { force: true });
    }
    expect(none).toBeLessThan(10);
  });

  test("one that is suspended for longer than 30 s is passed by another, and loses nothing when it wakes", async () => {
    await writeRequests(input, 6);
    const respond = holdAfter(2);
    const first = bulk.start(oneAtATime);
    const ended = outcomeOf(first);
    await server.received(3);
    await untilKept(2);
    first.kill("SIGSTOP");
    expect((await bulk()).exitCode).toBe(2);
    age(partsThere()[0]);
    server.reply(rankingOf);
    const second = await bulk();
    expect(second.exitCode).toBe(0);
    expect(server.requests).toHaveLength(7);
    // The first may still write its part, so nothing is removed.
    expect(partsThere()).toHaveLength(2);
    respond();
    first.kill("SIGCONT");
    const { exitCode, stdout } = await ended;
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/ \d requests? ranked twice, by two runs at one time\./);
    expect((await bulk()).stdout).toContain("Ranked 0, 6 already done");
    expectWhole(6);
  });

  test.each([
    ["before it writes", "merge-"],
    ["before it renames", "rename"],
  ])(
    "one that is suspended in its merge, %s, while another reaches the end, does not undo it",
    async (_, call) => {
      await writeRequests(input, 4);
      const wake = await startSuspended([...oneAtATime, "--max-requests", "2"], call);
      age(partsThere()[0]);
      expect((await bulk()).exitCode).toBe(0);
      expect(rowsOf(output)).toHaveLength(4);
      expect((await wake()).exitCode).toBe(11);
      expect(rowsOf(output)).toHaveLength(4);
      expect((await bulk()).exitCode).toBe(0);
      expect(sentTwice(server.requests)).toEqual([]);
      expectWhole(4);
    },
  );

  test("a part that is removed between the reading and the renaming of a merge loses no row", async () => {
    await writeRequests(input, 4);
    await bulk(...oneAtATime, "--max-requests", "2");
    fs.rmSync(output);
    const wake = await startSuspended(oneAtATime, "rename");
    fs.unlinkSync(partsThere()[0] as string);
    expect((await wake()).exitCode).toBe(0);
    expect(server.requests).toHaveLength(4);
    expectWhole(4);
  });

  test.each([
    // The seventh list of the parts is made to remove them.
    ["lists", "readdir", 7],
    ["removes", "unlink", 1],
  ])(
    "one that is suspended before it %s the parts to remove leaves those of a later run",
    async (_, call, time) => {
      await writeRequests(input, 2);
      await bulk(...oneAtATime, "--max-requests", "1");
      const wake = await startSuspended([], call, time);
      age(partsThere().at(-1));
      fs.writeFileSync(input, linesOf(requestOf(0), requestOf(1), requestOf(2)));
      expect((await bulk()).exitCode).toBe(0);
      const left = partsThere().at(-1) as string;
      expect((await wake()).exitCode).toBe(0);
      expect(fs.existsSync(left)).toBe(true);
      expect((await bulk()).exitCode).toBe(0);
      expect(server.requests).toHaveLength(3);
      expectWhole(3);
    },
  );

  test.each([3_600_000, -3_600_000])(
    "clocks that differ by %i ms: the file system's decides whether another is alive",
    async (clockMs) => {
      await writeRequests(input, 2);
      await bulk(...oneAtATime, "--max-requests", "1");
      const row = rowsOf(output)[0];
      fs.rmSync(output);
      fs.rmSync(parts, { recursive: true });
      fs.mkdirSync(parts);
      const there = path.join(parts, "7-abcdef.jsonl");
      const run = { host: "pod-1", pid: 1, boot: "b", pidNamespace: "p", began: "1", command: "bulk" };
      fs.writeFileSync(there, linesOf({ run }, row));
      const faults = { clockMs, faster: 8 };
      const refused = await outcomeOf(bulk.start([], faults));
      expect(refused.exitCode).toBe(2);
      expect(refused.stderr).toContain("(process 1 on pod-1, `tunerank bulk`)");
      expect([partsThere(), fs.existsSync(output)]).toEqual([[there], false]);
      age(there);
      expect((await outcomeOf(bulk.start([], faults))).exitCode).toBe(0);
      expect([server.requests.length, rowsOf(output).length, fs.existsSync(there)]).toEqual([2, 2, true]);
      // Only once it has its end line, nobody writes it any more.
      fs.appendFileSync(there, linesOf({ end: true }));
      expect((await bulk()).exitCode).toBe(0);
      expectWhole(2);
    },
  );
});

describe("files that change during a run", () => {
  test.each([
    ["removed", () => fs.rmSync(output)],
    ["cut", () => fs.truncateSync(output, 200)],
    ["emptied", () => fs.truncateSync(output, 0)],
    ["moved away", () => fs.renameSync(output, `${output}.mine`)],
    ["replaced by an older copy", () => fs.copyFileSync(`${output}.old`, output)],
  ])("an output that is %s gets all rows at the end, and nothing is sent again", async (_, change) => {
    await writeRequests(input, 8);
    await bulk(...oneAtATime, "--max-requests", "2");
    fs.copyFileSync(output, `${output}.old`);
    await bulk(...oneAtATime, "--max-requests", "2");
    fs.chmodSync(output, 0o600);
    const respond = holdAfter(2);
    const ended = outcomeOf(bulk.start(oneAtATime));
    await server.received(7);
    change();
    respond();
    expect((await ended).exitCode).toBe(0);
    expect(server.requests).toHaveLength(8);
    expectWhole(8);
  });

  test.each([
    ["its part is removed", () => fs.unlinkSync(partsThere()[0] as string)],
    ["its part is moved", () => fs.renameSync(partsThere()[0] as string, path.join(folder, "moved"))],
    [
      "another file has its part's name",
      () => {
        const [part = ""] = partsThere();
        fs.unlinkSync(part);
        fs.writeFileSync(part, "");
      },
    ],
    ["the folder is moved", () => fs.renameSync(parts, `${parts}.mine`)],
    ["the folder is removed", () => fs.rmSync(parts, { recursive: true })],
  ])("when %s, the run keeps its rows in a new one", async (_, change) => {
    await writeRequests(input, 5);
    const respond = holdAfter(2);
    const ended = outcomeOf(bulk.start(oneAtATime));
    await server.received(3);
    await untilKept(2);
    change();
    respond();
    const { exitCode, stderr } = await ended;
    expect([exitCode, stderr]).toEqual([0, ""]);
    expect(sentTwice(server.requests)).toEqual([]);
    expect(rowsOf(output)).toHaveLength(5);
    fs.rmSync(parts, { recursive: true, force: true });
    expectWhole(5);
  });

  test("a part that is removed is replaced before the next row: a kill then loses none", async () => {
    await writeRequests(input, 5);
    holdAfter(3);
    const child = bulk.start([...oneAtATime, "--rate", "2/s"]);
    await server.received(2);
    await untilKept(1);
    fs.rmSync(parts, { recursive: true });
    await server.received(4);
    await untilKept(3);
    child.kill("SIGKILL");
    await once(child, "exit");
    server.reply(rankingOf);
    expect((await bulk()).exitCode).toBe(0);
    expect(server.requests).toHaveLength(6);
    expectWhole(5);
  });

  test("a line that is no row, added to the output during a run, is not written over", async () => {
    await writeRequests(input, 4);
    await bulk(...oneAtATime, "--max-requests", "1");
    const respond = holdAfter(1);
    const ended = outcomeOf(bulk.start(oneAtATime));
    await server.received(3);
    fs.appendFileSync(output, "my notes\n");
    respond();
    const { exitCode, stderr } = await ended;
    expect(exitCode).toBe(1);
    expect(stderr).toContain("--output, line 2, is not a row of tunerank.");
    expect(fs.readFileSync(output, "utf8")).toContain("my notes");
    expect(idsKept().size).toBe(4);
    const refused = await bulk();
    expect([refused.exitCode, refused.stderr]).toEqual([2, expect.stringContaining("line 2, is not a row")]);
    fs.writeFileSync(output, fs.readFileSync(output, "utf8").replace("my notes\n", ""));
    expect((await bulk()).exitCode).toBe(0);
    expect(server.requests).toHaveLength(4);
    expectWhole(4);
  });

  test("parts are in the order of their numbers, not of their names", async () => {
    await writeRequests(input, 2);
    await bulk(...oneAtATime, "--max-requests", "1");
    const [row] = rowsOf(output);
    fs.rmSync(parts, { recursive: true });
    fs.mkdirSync(parts);
    for (const number of [9, 10]) {
      const lines = linesOf(
        { run: {} },
        { ...row, response: { object: "list", data: [], model: `of ${number}` } },
        { end: true },
      );
      fs.writeFileSync(path.join(parts, `${number}-a.jsonl`), lines);
    }
    server.reply({ status: 400, json: { code: "FAILED_PRECONDITION", message: "No." } });
    // Only a run that was one of the two says that a request was ranked twice.
    expect((await bulk()).stdout).not.toContain("ranked twice");
    expect(partsThere().map((each) => Number.parseInt(path.basename(each), 10))).toEqual([9, 10, 11]);
    expect(rowsOf(output)[0]?.response?.model).toBe("of 10");
  });

  test("a torn line and zero bytes in the middle of a part cost only their requests", async () => {
    await writeRequests(input, 8);
    holdAfter(6);
    const killed = bulk.start(oneAtATime);
    await server.received(7);
    await untilKept(6);
    killed.kill("SIGKILL");
    await once(killed, "exit");
    const [part = ""] = partsThere();
    const lines = fs.readFileSync(part, "utf8").split("\n");
    lines[2] = (lines[2] as string).slice(0, 40);
    lines[4] = "\0".repeat((lines[4] as string).length);
    fs.writeFileSync(part, lines.join("\n"));
    server.requests = [];
    server.reply(rankingOf);
    const { exitCode, stderr } = await bulk();
    expect([exitCode, server.requests.length]).toEqual([0, 4]);
    expect(stderr).toBe("4 rows found in --output and its parts. 2 lines there cannot be read.\n");
    expectWhole(8);
  });
});

describe("no room", () => {
  test.each([
    ["is full for a while nothing more is sent, and what is in flight gets its rows", 30, 4000],
    ["stays full the summary says how many rows are lost, and only these are sent again", 10, 1e9],
  ])("on a disk that %s", async (_, count, untilMs) => {
    await writeRequests(input, count);
    const noRoom = { path: "parts", after: 5, untilMs };
    const faults = { noRoom, faster: untilMs > 4000 ? 200 : 1 };
    const { exitCode, stdout, stderr } = await outcomeOf(bulk.start(["--concurrency", "4"], faults));
    expect(exitCode).toBe(1);
    expect(stderr).toContain("--output cannot be written: ENOSPC");
    const sent = server.requests.length;
    const lost = sent - idsKept().size;
    if (untilMs === 4000) expect([lost, sent < count]).toEqual([0, true]);
    else
      expect(stdout).toContain(
        `${lost} row${lost === 1 ? "" : "s"} could not be written: what they hold is lost.`,
      );
    expect((await bulk()).exitCode).toBe(0);
    expect(server.requests).toHaveLength(count + lost);
    expectWhole(count);
  });

  test("a merge without room leaves the output and the parts, and the next one succeeds", async () => {
    await writeRequests(input, 6);
    await bulk(...oneAtATime, "--max-requests", "3");
    const before = fs.readFileSync(output);
    const noRoom = { path: "merge-", after: 1, untilMs: 1e9 };
    const { exitCode, stderr } = await outcomeOf(bulk.start([], { noRoom }));
    expect([exitCode, fs.readFileSync(output)]).toEqual([1, before]);
    expect(stderr).toContain("--output cannot be written: ENOSPC");
    expect(fs.readdirSync(parts).filter((name) => name.startsWith("merge"))).toEqual([]);
    expect((await bulk()).exitCode).toBe(0);
    expect(server.requests).toHaveLength(6);
    expectWhole(6);
  });

  test.each([64, 256])(
    "with %i open files and more sockets than that all rows are ranked, and the cause is named once",
    async (files) => {
      await writeRequests(input, 600);
      server.reply((request, response) => {
        setTimeout(() => response.end(JSON.stringify(rankingOf(request).json)), 100);
        return undefined;
      });
      const args = ["bulk", input, "--output", output, "--concurrency", `${files + 40}`];
      const { exitCode, stderr } = await outcomeOf(startLimited(files, args, { baseUrl: server.url }));
      expect(exitCode).toBe(0);
      expect(stderr.split("EMFILE")).toHaveLength(2);
      expect(sentTwice(server.requests)).toEqual([]);
      expectWhole(600);
    },
  );
});

describe("what an output may be", () => {
  test("a folder that cannot be written is refused before anything is sent", async () => {
    await writeRequests(input, 1);
    const closed = path.join(folder, "closed");
    fs.mkdirSync(closed);
    fs.chmodSync(closed, 0o555);
    // Root may write anywhere, unless it has no capabilities.
    const plain = process.getuid?.() === 0 ? ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] : ["env"];
    const { exitCode, stderr } = await outcomeOf(
      startIn(plain, ["bulk", input, "--output", path.join(closed, "out.jsonl")], { baseUrl: server.url }),
    );
    expect([exitCode, server.requests]).toEqual([2, []]);
    expect(stderr).toContain("--output cannot be written: EACCES: permission denied. Nothing was sent.");
  });

  test("a symbolic link stays one, and its file gets the rows and keeps its mode", async () => {
    await writeRequests(input, 2);
    fs.mkdirSync(path.join(folder, "elsewhere"));
    const there = path.join(folder, "elsewhere", "rows");
    fs.symlinkSync(there, output);
    await bulk(...oneAtATime, "--max-requests", "1");
    fs.chmodSync(there, 0o600);
    expect(partsThere(there)).toHaveLength(1);
    expect((await bulk()).exitCode).toBe(0);
    expect([fs.lstatSync(output).isSymbolicLink(), fs.statSync(there).mode & 0o777]).toEqual([true, 0o600]);
    expectWhole(2, there);
  });

  test.each([
    [
      "two names (hard links)",
      () => fs.linkSync(input, output),
      "--output has 2 names (hard links), of which a run would",
    ],
    ["a folder", () => fs.mkdirSync(output), "--output must be a file, so that a run can continue from it."],
  ])("what is refused: %s", async (_, make, message) => {
    fs.writeFileSync(input, "");
    make();
    await writeRequests(`${input}l`, 1);
    const { exitCode, stderr } = await tunerank(["bulk", `${input}l`, "--output", output], {
      baseUrl: server.url,
    });
    expect([exitCode, server.requests, stderr]).toEqual([2, [], expect.stringContaining(message)]);
  });
});

test("a signal waits at most 8 s for what is in flight, and says what may be paid for", async () => {
  await writeRequests(input, 5);
  const respond = holdAfter(2);
  const child = bulk.start(["--concurrency", "3"]);
  const ended = outcomeOf(child);
  await server.received(5);
  await untilKept(2);
  child.kill("SIGTERM");
  const began = performance.now();
  const { exitCode, stdout, stderr } = await ended;
  const seconds = (performance.now() - began) / 1000;
  expect(exitCode).toBe(143);
  expect(seconds).toBeGreaterThan(7.5);
  expect(seconds).toBeLessThan(12);
  expect(stdout).toContain("3 requests in flight had no response in 8 s, and may be paid for.");
  expect(stderr).toContain("2 of 5 done; the same command continues");
  respond();
  expect((await bulk()).exitCode).toBe(0);
  expectWhole(5);
});
