// npm run bench -- refusals [--only TEXT] [--runs N]: 1,000 rankings of services that say no, in each setting; N runs, by
// default five, of which the one with the median time counts. Temporal and BullMQ, which need servers, are run by
// npm run check:integrations -- --refusals. Both write their cells to docs/data/refusals.json.
// `--simulated [--seeds N]` compares ways to find a service's limit, in simulated time; `--judged` judges the search.
import { readFile, writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { recordRun } from "../../scripts/lastRuns.js";
import { type Cell, measure, type Plan, plans, problemsOf, settings } from "./cells.js";
import { drawDrain } from "./simulation/drain.js";
import { runJudged, runSimulated } from "./simulation/run.js";

const { values: options } = parseArgs({
  options: {
    only: { type: "string", multiple: true, default: [""] },
    "at-once": { type: "string", default: "4" },
    runs: { type: "string", default: "5" },
    // Instead of the others: whose servers run, and the program that knows them.
    on: { type: "string", multiple: true },
    program: { type: "string" },
    simulated: { type: "boolean", default: false },
    judged: { type: "boolean", default: false },
    drain: { type: "boolean", default: false },
    seeds: { type: "string", default: "60" },
  },
});

if (options.drain) {
  await drawDrain();
  process.exit();
}
if (options.simulated || options.judged) {
  const judge = options.judged ? runJudged : runSimulated;
  process.exit((await judge(Number(options.seeds), options.only)) ? 0 : 1);
}

const data = new URL("../../docs/data/refusals.json", import.meta.url);
const nameOf = ({ service, setting }: Plan): string => `${service.name} / ${setting}`;
const isWanted = ({ setting }: Plan): boolean =>
  options.on === undefined
    ? settings[setting]?.file !== undefined
    : options.on.some((server) => setting.startsWith(server));
const left = plans.filter(
  (plan) => isWanted(plan) && options.only.some((text) => nameOf(plan).includes(text)),
);
if (options.on === undefined)
  console.log("SKIPPED  Temporal and BullMQ: npm run check:integrations -- --refusals runs them.");

const measured: Cell[] = [];
const lane = async (): Promise<void> => {
  for (let plan = left.shift(); plan !== undefined; plan = left.shift()) {
    const runs: Cell[] = [];
    for (let run = 0; run < Number(options.runs); run += 1)
      runs.push(await measure(plan, 1000, options.program));
    const problems = [...new Set(runs.flatMap((run) => problemsOf(run, plan)))];
    const cell = medianOf(runs);
    measured.push(cell);
    if (problems.length > 0) process.exitCode = 1;
    console.log(`${problems.length > 0 ? `FAILED (${problems.join(", ")})` : "ok"}  ${JSON.stringify(cell)}`);
  }
};
await Promise.all(Array.from({ length: Number(options["at-once"]) }, lane));
await save();
if (options.on === undefined && options.only.join("") === "" && process.exitCode === undefined)
  recordRun("refusals");

function medianOf(runs: readonly Cell[]): Cell {
  const sorted = [...runs].sort((one, other) => one.seconds - other.seconds);
  const cell = sorted[Math.floor(sorted.length / 2)] as Cell;
  return { ...cell, allSeconds: sorted.map(({ seconds }) => seconds) };
}

/** What was measured takes the place of what was there; the rest stays. */
async function save(): Promise<void> {
  const text = await readFile(data, "utf8").catch(() => '{ "cells": [] }');
  const all = [...measured, ...(JSON.parse(text) as { cells: Cell[] }).cells];
  const cells = plans.flatMap((plan) => {
    const found = all.find(
      ({ service, setting, declared }) =>
        service === plan.service.name && setting === plan.setting && declared === plan.declared,
    );
    if (found === undefined) return [];
    // What does not hold, where something does not.
    return { ...found, problems: problemsOf(found, plan).join(", ") || undefined };
  });
  const json = JSON.stringify({ rows: 1000, cells }, undefined, 2);
  // Lists of numbers on one line, as the formatter has them.
  const lines = json.replace(
    /\[[\d.,\s]+\]/g,
    (list) => `[${list.slice(1, -1).trim().replace(/\s+/g, " ")}]`,
  );
  await writeFile(data, `${lines}\n`);
}
