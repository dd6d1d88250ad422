// npm run bench -- refusals --simulated [--seeds N] [--only TEXT]: the schemes with each service, compared with one
// that knows its rule; without --only it writes docs/data/simulation.json. `--judged` judges ours, and compares the
// simulation with runs over sockets.
import { writeFile } from "node:fs/promises";
import { cpus } from "node:os";
import { type Cell, measure, plans } from "../cells.js";
import type { Service } from "../services.js";
import { boundsOf, missesOf, ours, problemsOf, secondProblems } from "./judge.js";
import { type Compared, compare, compareSecond, simulated, spread } from "./measure.js";
import { most, schemes } from "./schemes.js";
import { simulate } from "./simulate.js";

const data = new URL("../../../docs/data/simulation.json", import.meta.url);
const chosen = (only: readonly string[]): readonly Service[] =>
  simulated.filter(({ name }) => only.some((text) => name.includes(text)));

/** Compares all schemes. @returns whether ours is as it has to be */
export async function runSimulated(seeds: number, only: readonly string[]): Promise<boolean> {
  const began = performance.now();
  const services = chosen(only).map((service) => ({ service, compared: compare(service, seeds) }));
  const seconds = Math.round((performance.now() - began) / 100) / 10;
  const runs = services.length * (Object.keys(schemes).length + 1) * seeds;
  console.log(
    `${seeds} seeds, ${most} connections. Time ÷ the oracle's, median and p95; requests ÷ rows, p95.`,
  );
  for (const { service, compared } of services) print(service, compared);
  console.log(`\n${runs} runs of 1,000 rows in ${seconds} s.`);
  if (only.join("") === "") {
    const processor = cpus()[0]?.model ?? "";
    const figures = services.map(({ service, compared }) => figuresOf(service, compared));
    const written = { node: process.versions.node, processor, seeds, most, runs, seconds, services: figures };
    await writeFile(data, `${JSON.stringify(written, undefined, 2)}\n`);
  }
  return services.every(({ service, compared }) => problemsOf(service, compared).length === 0);
}

function figuresOf(service: Service, compared: readonly Compared[]) {
  const { name, isChanging = false } = service;
  const oracleSeconds = compared[0]?.oracleSeconds as number;
  return {
    ...{ name, isChanging, oracleSeconds, ...boundsOf(service, oracleSeconds) },
    misses: missesOf(service, compared).join("; ") || undefined,
    schemes: compared.slice(1).map(({ scheme, time, requests, lost }) => ({ scheme, time, requests, lost })),
  };
}

function print(service: Service, compared: readonly Compared[]): void {
  console.log(`\n${service.name} (the oracle: ${compared[0]?.oracleSeconds} s)`);
  for (const { scheme, time, requests, lost } of compared) {
    const rows = lost > 0 ? `, ${lost} ROWS LOST` : "";
    const figures = `${time.median.toFixed(2)}, ${time.p95.toFixed(2)}; ${requests.p95.toFixed(2)}${rows}`;
    console.log(`  ${scheme.padEnd(14)} ${figures}`);
  }
  const failed = problemsOf(service, compared);
  for (const text of failed) console.log(`  FAILED: ${text}`);
  for (const text of missesOf(service, compared))
    if (!failed.includes(text)) console.log(`  missed: ${text}`);
}

// Short ones, whose runs differ little from each other.
const onSockets = ["10 at once", "200 at once", "one row of 1,000 that is always rejected"];
// Sockets may be slower by 5 %, or by what compiling the code takes at the start. They may be faster where requests are
// rejected: a rejected one occupies the simulated service for 1 ms to 3, and a real one for less.
const mostSlower = 0.05;
const startSeconds = 0.2;

/** Judges ours over all seeds, then compares some services with sockets. @returns whether all is as it has to be */
export async function runJudged(seeds: number, only: readonly string[]): Promise<boolean> {
  let isWell = true;
  for (const service of chosen(only)) {
    const compared = compare(service, seeds);
    const second = compareSecond(service, seeds);
    const failed = [...problemsOf(service, compared), ...secondProblems(service, second)];
    const missed = missesOf(service, compared);
    if (failed.length > 0) isWell = false;
    const verdict = failed.length > 0 ? "FAILED" : missed.length > 0 ? "missed" : "ok    ";
    const found = [...new Set([...failed, ...missed])].map((text) => `; ${text}`).join("");
    const { time, timeP95, requests } = second;
    console.log(`${verdict}  ${service.name}; a second run ${time}, ${timeP95}; ${requests}${found}`);
  }
  for (const name of onSockets.filter((name) => only.some((text) => name.includes(text)))) {
    const plan = plans.find(({ service, setting }) => service.name === name && setting === "rerankAll");
    if (plan === undefined) throw new Error(`There is no cell for ${name}.`);
    if (!agrees(plan.service, await measure(plan))) isWell = false;
  }
  return isWell;
}

function agrees(service: Service, { seconds, requests }: Cell): boolean {
  const runs = Array.from({ length: 20 }, (_, seed) =>
    simulate(service, schemes[ours] as () => never, seed + 1),
  );
  const simulatedSeconds = spread(runs.map(({ lastRequestMs }) => lastRequestMs / 1000)).median;
  const more = seconds - simulatedSeconds;
  const isClose = more <= Math.max(startSeconds, mostSlower * simulatedSeconds);
  const percent = ((more / simulatedSeconds) * 100).toFixed(1);
  const figures = `${seconds} s and ${requests} requests over sockets, ${simulatedSeconds} s simulated`;
  console.log(`${isClose ? "ok    " : "FAILED"}  ${service.name}: ${figures} (${percent} %)`);
  return isClose;
}
