// Which broken clients would keep the badge if a row were removed: npx tsx test/mutation/rows.ts LANGUAGE [TEXT]. Each broken
// client of the language runs against all rows with TEXT in their id, which takes hours without it.
import type { Language } from "../support/conformance/clients.js";
import { brokenClient, everyCell, failuresOf, mutants, namesOf } from "../support/conformance/mutants.js";

const [language = "python", text = ""] = process.argv.slice(2);
const cells = (await everyCell()).filter(({ id, large }) => id.includes(text) && !large);
const ids = cells.map(({ id }) => id);
const names = namesOf(language as Language);
const client = brokenClient(language as Language);

const passed = await failuresOf(ids, (url) => client(url, undefined));
const stray = new Set(passed.filter(({ result }) => result === "failed").map(({ id }) => id));
const killers = new Map<string, readonly string[]>();
for (const { name } of mutants.filter((mutant) => names.has(mutant.name))) {
  const failed = (await failuresOf(ids, (url) => client(url, name)))
    .filter(({ id, result }) => result === "failed" && !stray.has(id))
    .map(({ id }) => id);
  killers.set(name, failed);
  console.error(`${name}: ${failed.length} of ${ids.length} rows notice`);
}

for (const id of ids) {
  const noticed = [...killers].filter(([, rows]) => rows.includes(id));
  const only = noticed.filter(([, rows]) => rows.length === 1).map(([name]) => name);
  const kept = only.length === 0 ? "none would live" : `${only.join(", ")} would live`;
  console.log(`${id}: notices ${noticed.length}; without it ${kept}`);
}
const living = [...killers].filter(([, rows]) => rows.length === 0).map(([name]) => name);
console.log(`${living.length} live of ${killers.size} in ${language}: ${living.join(", ") || "none"}`);
process.exit(0);
