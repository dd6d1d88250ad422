// results.json: one entry for each major version of Node, and in it one for each scenario.
import { readFileSync, writeFileSync } from "node:fs";

const file = new URL("results.json", import.meta.url);

export function readResults() {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    if (error.code === "ENOENT") return {};
    throw error;
  }
}

/** Adds what was measured to what is there, and hands back all of it. */
export function addResults(major, { scenarios, ...about }) {
  const results = readResults();
  results[major] = { ...about, scenarios: { ...results[major]?.scenarios, ...scenarios } };
  writeFileSync(file, `${JSON.stringify(results, rounded, 2)}\n`);
  return results;
}

// Four digits are more than the noise leaves.
function rounded(_key, value) {
  return typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(4)) : value;
}
