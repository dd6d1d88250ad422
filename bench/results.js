// results.json: one entry for each major version of Node, and in it one for each scenario.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";

const file = new URL("results.json", import.meta.url);
const sources = hashOf("call", "transport");

export function readResults() {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    if (error.code === "ENOENT") return {};
    throw error;
  }
}

/** Adds what was measured to what is there. */
export function addResults(major, { scenarios, ...about }) {
  const results = readResults();
  const before = results[major]?.scenarios ?? {};
  const measured = Object.entries(scenarios).map(([name, figures]) => [
    name,
    { sources, ...figures, ...elsewhere(figures, before[name]) },
  ]);
  const all = { ...before, ...Object.fromEntries(measured) };
  results[major] = { ...about, scenarios: all };
  writeFileSync(file, `${JSON.stringify(results, rounded, 2)}\n`);
}

/** The processor in the name of a machine: "AMD EPYC" in "Linux 6.18, 2 × AMD EPYC". */
export function processorOf({ machine }) {
  return machine.slice(machine.indexOf("×") + 1).trim();
}

// What was measured before on other processors is kept: the newest of each.
function elsewhere(figures, before) {
  if (before === undefined) return {};
  const { elsewhere: others = [], ...last } = before;
  const kept = [last, ...others].filter((each) => processorOf(each) !== processorOf(figures));
  return kept.length > 0 ? { elsewhere: kept } : {};
}

/** Whether src/call or src/transport changed since a scenario was measured. */
export function isOlder(scenario) {
  return scenario?.sources !== sources;
}

// By what is in the files: commits are not the same after a rebase, and a shallow clone lacks them.
function hashOf(...rooms) {
  const hash = createHash("sha256");
  for (const room of rooms) {
    const folder = new URL(`../src/${room}/`, import.meta.url);
    const files = readdirSync(folder, { recursive: true }).map((name) => name.replaceAll("\\", "/"));
    for (const name of files.filter((each) => each.endsWith(".ts")).sort())
      hash
        .update(`${room}/${name}\0`)
        .update(readFileSync(new URL(name, folder)))
        .update("\0");
  }
  return hash.digest("hex").slice(0, 16);
}

// Four digits are more than the noise leaves.
function rounded(_key, value) {
  return typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(4)) : value;
}
