// npm run bench -- refusals [--seeds N]: judges the search for a service's limit with each simulated service, and holds three
// simulated runs against runs over sockets.
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { recordRun } from "../../scripts/lastRuns.js";
import { rerankAll } from "../../src/bulk/index.js";
import { createClient } from "../../src/index.js";
import {
  compare,
  compareSecond,
  missesOf,
  ours,
  problemsOf,
  secondProblems,
  simulated,
  spread,
} from "./judge.js";
import { startRefusing } from "./server.js";
import type { Service } from "./services.js";
import { simulate } from "./simulate.js";

const rows = 1000;
// Their runs are short, and differ little from each other.
const onSockets = ["10 at once", "200 at once", "one row of 1,000 that is always rejected"];
// Sockets may be slower by 5 %, or by what compiling the code takes at the start. They may be faster where requests are
// rejected: a rejected one occupies the simulated service for 1 ms to 3, and a real one for less.
const mostSlower = 0.05;
const startSeconds = 0.2;

const { values: options } = parseArgs({
  options: { seeds: { type: "string", default: "60" }, url: { type: "string" } },
});

if (options.url === undefined) await judge(Number(options.seeds));
else await rank(options.url);

async function judge(seeds: number): Promise<void> {
  const verdicts = [
    ...simulated.map((service) => judged(service, seeds)),
    ...(await Promise.all(simulated.filter(({ name }) => onSockets.includes(name)).map(agrees))),
  ];
  if (verdicts.includes(false)) process.exitCode = 1;
  else if (seeds >= 60) recordRun("refusals");
}

function judged(service: Service, seeds: number): boolean {
  const compared = compare(service, seeds);
  const second = compareSecond(service, seeds);
  const failed = [...problemsOf(service, compared), ...secondProblems(service, second)];
  const missed = missesOf(service, compared);
  const verdict = failed.length > 0 ? "FAILED" : missed.length > 0 ? "missed" : "ok    ";
  const found = [...new Set([...failed, ...missed])].map((text) => `; ${text}`).join("");
  const figures = `${compared.time.p95} times the oracle's time, ${compared.requests.p95} requests a row`;
  console.log(
    `${verdict}  ${service.name}: ${figures}; a second run ${second.time}, ${second.requests}${found}`,
  );
  return failed.length === 0;
}

async function agrees(service: Service): Promise<boolean> {
  const { url, requests, close } = Object.assign(await startRefusing(), {
    says: service.open(),
    delayMs: service.responseMs,
  });
  const args = [
    "--conditions=tunerank-source",
    "--import",
    "tsx",
    fileURLToPath(import.meta.url),
    "--url",
    url,
  ];
  const ranking = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "inherit"] });
  const exitCode = await new Promise((resolve) => ranking.on("exit", resolve));
  close();
  const seconds = (requests.at(-1)?.ms ?? 0) / 1000;
  const runs = Array.from({ length: 20 }, (_, seed) => simulate(service, () => ours(), seed + 1));
  const simulatedSeconds = spread(runs.map(({ lastRequestMs }) => lastRequestMs / 1000)).median;
  const more = seconds - simulatedSeconds;
  const isClose = exitCode === 0 && more <= Math.max(startSeconds, mostSlower * simulatedSeconds);
  const figures = `${seconds} s and ${requests.length} requests over sockets, ${simulatedSeconds} s simulated`;
  console.log(`${isClose ? "ok    " : "FAILED"}  ${service.name}: ${figures}`);
  return isClose;
}

async function rank(url: string): Promise<void> {
  const client = createClient({ baseUrl: url, apiKey: "bench-key" });
  const requests = Array.from({ length: rows }, (_, id) => ({
    id,
    query: `row ${id}`,
    documents: ["a document"],
  }));
  let errors = 0;
  for await (const { error } of rerankAll(client, requests)) if (error) errors += 1;
  process.exit(errors > 1 ? 1 : 0);
}
