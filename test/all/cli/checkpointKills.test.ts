// A bulk run that is killed anywhere: no row that was written is lost, and the same command continues.
import { once } from "node:events";
import { appendFileSync, cpSync, existsSync, rmSync, utimesSync } from "node:fs";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeEach, expect, test } from "vitest";
import { seededRandom } from "../../../bench/outage/simulate.js";
import {
  expectWhole,
  folder,
  idsKept,
  input,
  output,
  partsThere,
  queryOf,
  rankingOf,
  sentTwice,
  useBulkFiles,
  writeRequests,
} from "../../support/bulkFiles.js";
import { envOf } from "../../support/commandFaults.js";
import { outcomeOf, start, tunerank } from "../../support/commandLine.js";
import { RecordingServer, useRecordingServer } from "../../support/recordingServer.js";

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
  const sent = server.requests.length;
  const { exitCode } = await bulk("--quiet");
  expect([exitCode, server.requests.length - sent]).toEqual([0, count - kept.size]);
  expectWhole(count);
  expect(existsSync(`${output}.parts`)).toBe(false);
  // What was in flight when a run was killed is sent again, and nothing else.
  expect(sentTwice(server.requests).length).toBeLessThanOrEqual(killed * 128);
  expect(killed).toBeGreaterThan(kills / 3);
});
