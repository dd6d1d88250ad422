// A checkpoint of many rows: memory, and the time of a merge compared with a copy of the same files.
import { type ChildProcess, spawnSync } from "node:child_process";
import { createWriteStream, readFileSync, rmSync, statSync } from "node:fs";
import path from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { beforeEach, expect, test } from "vitest";
import { fingerprintOf } from "../../../src/cli/rows.js";
import { folder, input, output, parts, rankingOf, requestOf, useBulkFiles } from "../../support/bulkFiles.js";
import { outcomeOf } from "../../support/commandLine.js";
import { useRecordingServer } from "../../support/recordingServer.js";

const server = useRecordingServer();
const bulk = useBulkFiles(server);
// 1,000,000 with TUNERANK_TEST_ROWS=1000000.
const count = Number(process.env.TUNERANK_TEST_ROWS ?? 200_000);
const most = 300_000;

beforeEach(() => server.reply(rankingOf));

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
      spawnSync("sh", ["-c", `cp ${file} ${path.join(folder, "copy")} && sync ${path.join(folder, "copy")}`]);
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
