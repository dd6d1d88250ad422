import { type ChildProcess, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  cpSync,
  createWriteStream,
  existsSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
} from "node:fs";
import path from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { seededRandom } from "../../../bench/outage/simulate.js";
import { fingerprintOf } from "../../../src/cli/rows.js";
import {
  expectWhole,
  folder,
  idsKept,
  input,
  output,
  parts,
  partsThere,
  queryOf,
  rankingOf,
  requestOf,
  sentTwice,
  useBulkFiles,
  writeRequests,
} from "../../support/bulkFiles.js";
import { envOf, outcomeOf, start, tunerank } from "../../support/commandLine.js";
import { RecordingServer, useRecordingServer } from "../../support/recordingServer.js";

// A bulk run that is killed anywhere: no row that was written is lost, and the same command continues.

const server = useRecordingServer();
const bulk = useBulkFiles(server);
const others = [new RecordingServer(), new RecordingServer(), new RecordingServer()];
afterAll(() => Promise.all(others.map((each) => each.close())));

beforeEach(() => server.reply(rankingOf));

test("killed at each file call in turn, from its start to the end of its merge", {
  timeout: 900_000,
}, async () => {
  await writeRequests(input, 12);
  // Rows that are in the output and in the part of a run that ended, then some that are in the part of a killed run alone.
  await bulk("--max-requests", "4", "--concurrency", "1");
  server.reply((request) => (server.requests.length > 8 ? undefined : rankingOf(request)));
  const child = bulk.start(["--concurrency", "1"]);
  await server.received(9);
  child.kill("SIGKILL");
  await once(child, "exit");
  appendFileSync(partsThere().at(-1) as string, '{"id":"r8","fing');
  const before = [...idsKept()].sort();
  expect(before).toEqual(["r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7"]);

  const ends: number[] = [];
  let unnamed = 0;
  const worker = async (own: RecordingServer, index: number): Promise<void> => {
    await own.start();
    const work = path.join(folder, `worker${index}`);
    for (let killAt = index + 1; ends.length === 0; killAt += others.length) {
      for (const name of ["in.jsonl", "out.jsonl", "out.jsonl.parts"])
        cpSync(path.join(folder, name), path.join(work, name), { recursive: true });
      own.reset();
      own.reply(rankingOf);
      const out = path.join(work, "out.jsonl");
      const args = ["bulk", path.join(work, "in.jsonl"), "--output", out, "--quiet"];
      const env = envOf({ folder: out, killAt, isHalf: true });
      const { exitCode } = await outcomeOf(start(args, { baseUrl: own.url, env }));
      const kept = idsKept(out);
      expect(before.filter((id) => !kept.has(id))).toEqual([]);
      // A process that was killed has no exit code.
      expect([0, null]).toContain(exitCode);
      if (exitCode === 0) ends.push(killAt);
      const sent = own.requests.length;
      let next = await tunerank(args, { baseUrl: own.url });
      // A part without its first line names no process: for 30 s it counts as one of a run that has just begun.
      if (next.stderr.includes("(it has just begun)")) {
        unnamed += 1;
        for (const part of partsThere(out)) utimesSync(part, 0, 0);
        next = await tunerank(args, { baseUrl: own.url });
      }
      expect([next.exitCode, next.stderr]).toEqual([0, ""]);
      const again = own.requests.slice(sent).map((request) => queryOf(request).replace("q", "r"));
      expect(again.filter((id) => kept.has(id))).toEqual([]);
      expect(again).toHaveLength(12 - kept.size);
      expectWhole(12, out);
      rmSync(work, { recursive: true });
    }
  };
  await Promise.all(others.map(worker));
  expect(ends[0]).toBeGreaterThan(40);
  // Only a kill between creating a part and writing its first line makes one.
  expect(unnamed).toBeLessThanOrEqual(3);
});

// 200 with TUNERANK_TEST_KILLS=200.
const kills = Number(process.env.TUNERANK_TEST_KILLS ?? 30);

test(`killed at ${kills} random moments`, { timeout: 900_000 }, async () => {
  const random = seededRandom(56);
  const count = kills * 12;
  await writeRequests(input, count);
  const began = performance.now();
  await bulk("--dry-run");
  const startMs = performance.now() - began;
  let killed = 0;
  let kept: ReadonlySet<string> = new Set();
  for (let run = 0; run < kills; run += 1) {
    const sent = server.requests.length;
    // Half of the runs end soon, so that some are killed in their merge; the others are killed while they send.
    const child = bulk.start(run % 2 === 0 ? ["--max-requests", "10"] : ["--concurrency", "4"]);
    const ended = once(child, "exit");
    const moment = run % 2 === 0 ? (0.3 + random() * 1.5) * startMs : random() * 2 * startMs;
    if (run % 2 === 1) await Promise.race([server.received(sent + 1), ended]);
    await Promise.race([wait(run % 2 === 0 ? moment : random() * 40), ended]);
    child.kill("SIGKILL");
    const [, signal] = await ended;
    if (signal === "SIGKILL") killed += 1;
    const again = server.requests.slice(sent).map((request) => queryOf(request).replace("q", "r"));
    expect(again.filter((id) => kept.has(id))).toEqual([]);
    const now = idsKept();
    expect([...kept].filter((id) => !now.has(id))).toEqual([]);
    kept = now;
  }
  // A part without its first line counts for 30 s as one of a run that has just begun.
  for (const part of partsThere()) utimesSync(part, 0, 0);
  const sent = server.requests.length;
  const { exitCode } = await bulk("--quiet");
  expect([exitCode, server.requests.length - sent]).toEqual([0, count - kept.size]);
  expectWhole(count);
  expect(existsSync(`${output}.parts`)).toBe(false);
  // What was in flight when a run was killed is sent again, and nothing else.
  expect(sentTwice(server.requests).length).toBeLessThanOrEqual(killed * 128);
  expect(killed).toBeGreaterThan(kills / 3);
});

describe("a checkpoint of many rows", () => {
  // 1,000,000 with TUNERANK_TEST_ROWS=1000000.
  const count = Number(process.env.TUNERANK_TEST_ROWS ?? 200_000);
  const most = 300_000;

  /** The most memory that a process has had, in kB, and the CPU time that it has taken, in seconds, until it ends. */
  function usageOf(child: ChildProcess): () => { readonly peak: number; readonly seconds: number } {
    const usage = { peak: 0, seconds: 0 };
    const look = (): void => {
      const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
      const fields = readFileSync(`/proc/${child.pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
      usage.peak = Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? usage.peak);
      usage.seconds = (Number(fields[11]) + Number(fields[12])) / 100;
    };
    const timer = setInterval(() => {
      try {
        look();
      } catch {
        clearInterval(timer);
      }
    }, 50);
    return () => ({ ...usage });
  }

  async function writeRows(
    file: string,
    row: (index: number) => string,
    from: number,
    to: number,
  ): Promise<void> {
    const rows = function* (): Generator<string> {
      for (let index = from; index < to; index += 1) yield row(index);
    };
    await pipeline(Readable.from(rows()), createWriteStream(file));
  }

  function rowOf(index: number): string {
    const { id, query, documents } = requestOf(index) as { id: string; query: string; documents: string[] };
    const fingerprint = fingerprintOf([
      JSON.stringify(id),
      JSON.stringify({ query, documents, return_documents: false }),
    ]);
    const data = documents.map((_, at) => ({ index: at, relevance_score: 0.5 }));
    return `${JSON.stringify({ id, fingerprint, response: { object: "list", model: `for ${query}`, data, usage: {} } })}\n`;
  }

  test(`${count} rows take at most 300 MB, and their merge at most 1.5 times a copy and 10 s`, {
    timeout: 900_000,
  }, async () => {
    await writeRows(input, (index) => `${JSON.stringify(requestOf(index))}\n`, 0, count + 10);
    await writeRows(output, rowOf, 0, count / 2);
    const half = `${output}.half`;
    await writeRows(half, rowOf, count / 2, count);
    // The other half is in the part of a run that has ended.
    spawnSync("sh", [
      "-c",
      `mkdir ${parts} && (echo '{"run":{}}'; cat ${half}; echo '{"end":true}') > ${parts}/1-a.jsonl`,
    ]);
    const copies: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      const began = performance.now();
      for (const file of [output, half])
        spawnSync("sh", [
          "-c",
          `cp ${file} ${path.join(folder, "copy")} && sync ${path.join(folder, "copy")}`,
        ]);
      copies.push((performance.now() - began) / 1000);
    }
    const child = bulk.start([]);
    const usage = usageOf(child);
    let [before, began] = [0, 0];
    server.reply((request) => {
      before = usage().seconds;
      began = performance.now();
      return rankingOf(request);
    });
    const { exitCode, stdout, stderr } = await outcomeOf(child, 900_000);
    const wall = (performance.now() - began) / 1000;
    const { peak, seconds } = usage();
    // CPU time, so that what other programs of the machine do meanwhile does not count.
    const merge = seconds - before;
    expect([exitCode, server.requests.length]).toEqual([0, 10]);
    expect(stdout).toContain("Ranked 10,");
    expect(stderr).toContain("rows found in --output and its parts.");
    const copy = copies.sort((a, b) => a - b)[1] as number;
    console.log(
      `${count} rows, ${statSync(output).size} bytes: peak ${peak} kB, merge ${merge} s of CPU (${wall} s), cp ${copy} s`,
    );
    expect(peak).toBeLessThan(most);
    expect(merge).toBeLessThan(1.5 * copy + 10);
    const lines = Number(spawnSync("wc", ["-l", output], { encoding: "utf8" }).stdout.split(" ")[0]);
    expect(lines).toBe(count + 10);
    rmSync(half);
  });
});
