// Which broken clients would keep the badge if a row were removed: npx tsx test/mutation/rows.ts LANGUAGE. Each broken client
// of the language runs against all rows but the large ones, which takes hours; --only TEXT and --except TEXT choose rows, and
// --rule TEXT the broken clients, by the rule that they break.
import { parseArgs } from "node:util";
import type { Language } from "../support/conformance/clients.js";
import { brokenClient, everyCell, failuresOf, mutants, namesOf } from "../support/conformance/mutants.js";
import { languages } from "./clients.js";

const { values, positionals } = parseArgs({
  options: {
    only: { type: "string", multiple: true, default: [""] },
    except: { type: "string", multiple: true, default: [] },
    rule: { type: "string", default: "" },
  },
  allowPositionals: true,
});
const language = (positionals[0] ?? "python") as Language;
const has = (id: string, texts: readonly string[]): boolean => texts.some((text) => id.includes(text));
const ids = (await everyCell())
  .filter(({ id, large }) => has(id, values.only) && !has(id, values.except) && !large)
  .map(({ id }) => id);
const client = brokenClient(language);

const passed = await failuresOf(ids, (url) => client(url, undefined));
const left = new Set(passed.map(({ id }) => id));
for (const { id, result } of passed) console.log(`${id}: ${result} of the unbroken client`);

const killers = new Map<string, readonly string[]>();
const names = namesOf(language);
const waiting = mutants.filter(({ name, rule }) => names.has(name) && rule.includes(values.rule));
const work = async (): Promise<void> => {
  for (let mutant = waiting.shift(); mutant; mutant = waiting.shift()) {
    const { name } = mutant;
    const failed = (await failuresOf(ids, (url) => client(url, name)))
      .filter(({ id, result, differences: [first] }) => {
        // A row that a client leaves when it breaks down notices nothing.
        return result === "failed" && !left.has(id) && first !== "no outcome was posted";
      })
      .map(({ id }) => id);
    killers.set(name, failed);
    console.error(`${name}: ${failed.length} of ${ids.length} rows notice`);
  }
};
const atOnce = languages.find(({ name }) => name === language)?.atOnce ?? 1;
await Promise.all(Array.from({ length: atOnce }, work));

for (const id of ids) {
  const noticed = [...killers].filter(([, rows]) => rows.includes(id));
  const only = noticed.filter(([, rows]) => rows.length === 1).map(([name]) => name);
  const kept = only.length === 0 ? "none would live" : `${only.join(", ")} would live`;
  console.log(`${id}: notices ${noticed.length}; without it ${kept}`);
}
const living = [...killers].filter(([, rows]) => rows.length === 0).map(([name]) => name);
console.log(`${living.length} live of ${killers.size} in ${language}: ${living.join(", ") || "none"}`);
process.exit(0);
