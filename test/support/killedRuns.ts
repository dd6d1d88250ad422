import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { expect } from "vitest";
import { seededRandom } from "../../bench/outage/random.js";
import { queryOf, rankingOf, rowsOf, writeRequests } from "./bulkFiles.js";
import { start, tunerank } from "./commandLine.js";
import type { RecordingServer } from "./recordingServer.js";
import { turns, until } from "./turns.js";

/** A run that is killed again and again. */
export interface KilledRuns {
  readonly requests: number;
  readonly kills: number;
  readonly seed: number;
}

/** Kills a bulk run at random moments, starts it again each time, and at last lets it end: every id has one row. */
export async function expectOneRowEach(
  server: RecordingServer,
  folder: string,
  { requests, kills, seed }: KilledRuns,
): Promise<void> {
  const random = seededRandom(seed);
  const file = path.join(folder, "requests.jsonl");
  const output = path.join(folder, "results.jsonl");
  await writeRequests(file, requests);
  server.reply(rankingOf);
  const args = ["rerank", "--bulk", file, "--output", output, "--quiet"];
  let killed = 0;
  // Each run gets some way, so that there is something left for the last.
  const most = Math.max(2, Math.floor((2 * requests) / kills));
  for (let run = 0; run < kills; run += 1) {
    const child = start(args, { baseUrl: server.url });
    const ended = once(child, "exit");
    await randomMoment(child, server, random, most);
    child.kill("SIGKILL");
    const [, signal] = await ended;
    if (signal === "SIGKILL") killed += 1;
  }
  const last = await tunerank(args, { baseUrl: server.url });
  expect([last.exitCode, last.stderr]).toEqual([0, ""]);
  const rows = await rowsOf(output);
  expect(rows.map(({ id }) => id).sort()).toEqual(
    Array.from({ length: requests }, (_, index) => `r${index}`).sort(),
  );
  for (const { id, response } of rows) expect(response?.model).toBe(`for ${`${id}`.replace("r", "q")}`);
  // What was killed was under way: no more than a run has under way is sent again.
  expect(new Set(server.requests.map(queryOf)).size).toBe(requests);
  expect(server.requests.length).toBeLessThanOrEqual(requests + killed * 128);
  expect(killed).toBeGreaterThan(kills / 3);
}

// While it starts, while it reads what is done, or once it has sent some more.
async function randomMoment(
  child: ChildProcess,
  server: RecordingServer,
  random: () => number,
  most: number,
): Promise<void> {
  const before = server.requests.length;
  const more = Math.floor(random() * most);
  await until(() => server.requests.length - before >= more || child.exitCode !== null);
  await turns(Math.floor(random() * 200));
}
