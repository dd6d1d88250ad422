// npm run bench -- refusals [--only TEXT]: 1,000 rankings of services that say no, in each setting. Temporal and BullMQ, which
// need servers, are run by npm run check:integrations -- --refusals. Both write their cells to docs/data/refusals.json.
import { readFile, writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { hasRedis } from "../../checks/temporal/support/redis.js";
import { buildServer, startServer } from "../../checks/temporal/support/temporalServer.js";
import { type Cell, measure, type Plan, plans, problemsOf, settings } from "./cells.js";

const { values: options } = parseArgs({
  options: {
    only: { type: "string", multiple: true, default: [""] },
    "at-once": { type: "string", default: "4" },
    "on-servers": { type: "boolean", default: false },
  },
});

const data = new URL("../../docs/data/refusals.json", import.meta.url);
const nameOf = ({ service, setting }: Plan): string => `${service.name} / ${setting}`;
const left = plans.filter(
  (plan) =>
    (settings[plan.setting]?.onServers ?? false) === options["on-servers"] &&
    options.only.some((text) => nameOf(plan).includes(text)),
);
const env: NodeJS.ProcessEnv = {};
let stop = (): void => {};
if (!options["on-servers"])
  console.log("SKIPPED  Temporal and BullMQ: npm run check:integrations -- --refusals runs them.");
else await findServers();

const measured: Cell[] = [];
const lane = async (): Promise<void> => {
  for (let plan = left.shift(); plan !== undefined; plan = left.shift()) {
    const cell = await measure(plan, 1000, env);
    measured.push(cell);
    const problems = problemsOf(cell, plan);
    if (problems.length > 0) process.exitCode = 1;
    console.log(`${problems.length > 0 ? `FAILED (${problems.join(", ")})` : "ok"}  ${JSON.stringify(cell)}`);
  }
};
await Promise.all(Array.from({ length: Number(options["at-once"]) }, lane));
stop();
await save();

/** Starts what these cells need, and takes out those for which it is missing. */
async function findServers(): Promise<void> {
  const built = buildServer();
  if (!hasRedis()) skip("BullMQ", "there is no redis-server (apt-get install redis-server)");
  if ("missing" in built) return skip("Temporal", built.missing);
  const server = await startServer(built.binary);
  Object.assign(env, { TEMPORAL_ADDRESS: server.address, TEMPORAL_NAMESPACE: server.namespace });
  stop = server.stop;
}

function skip(prefix: string, reason: string): void {
  console.log(`SKIPPED  ${prefix}: ${reason}.`);
  left.splice(0, left.length, ...left.filter(({ setting }) => !setting.startsWith(prefix)));
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
  await writeFile(data, `${JSON.stringify({ rows: 1000, cells }, undefined, 2)}\n`);
}
