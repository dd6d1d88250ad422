// Measures, prints the table, writes results.json. See NOTES.md.
import { cpus, release, type } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { median } from "./alternate.js";
import { scenarios as all, judge } from "./bounds.js";
import { judgedBulkClients, judgedClients, labels, nodeVersion, peerVersions } from "./contestants.js";
import { addResults, isOlder, readResults } from "./results.js";
import { calls } from "./scenarios/calls.js";
import { cases } from "./scenarios/cases.js";
import { table } from "./table.js";

const { values: options } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    only: { type: "string", multiple: true },
    node: { type: "string", default: process.execPath },
    entry: { type: "string" },
    judged: { type: "boolean", default: false },
    older: { type: "boolean", default: false },
  },
});
const { quick, node, older, only = older ? [] : all } = options;
const unknown = only.filter((name) => !all.includes(name));
if (unknown.length > 0) throw new Error(`No scenario ${unknown}: there are ${all.join(", ")}.`);

const judged = {
  cpuPerCall: judgedClients,
  startUp: [...judgedClients, "tunerankBundled", "undiciBundled"],
  bulkCpu: judgedBulkClients,
  bulkTime: judgedBulkClients,
};
const entry = options.entry && path.resolve(options.entry);
const version = nodeVersion(node);
const major = Number.parseInt(version, 10);
const versions = peerVersions();
const machine = `${type()} ${release()}, ${cpus().length} × ${cpus()[0]?.model}`;
console.log(`Node ${version} on ${machine}`);
const peers = Object.entries(versions).map((peer) => peer.join(" "));
console.log(`${peers.join(", ")}
`);

// Quick runs are too noisy to keep, and another build's figures are not this one's.
const isKept = !quick && !entry;
const known = readResults()[major]?.scenarios ?? {};
const isWanted = (name) => only.includes(name) || (older && name in known && isOlder(known[name]));
for (const name of all.filter(isWanted)) {
  const { title, unit, measure } = calls[name] ?? cases[name] ?? (await import(`./scenarios/${name}.js`));
  const few = options.judged && name in judged && { contestants: judged[name] };
  const samples = await measure({ quick, node, entry, ...few });
  process.stderr.write("\r");
  const medians = Object.fromEntries(Object.entries(samples).map(([who, values]) => [who, median(values)]));
  const bounds = judge(name, medians, major);
  console.log(table({ title, unit, medians, bounds }));
  const rounds = Object.values(samples)[0].length;
  const spread = Object.fromEntries(
    Object.entries(samples).map(([who, values]) => [who, [Math.min(...values), Math.max(...values)]]),
  );
  const measured = { date: new Date().toISOString(), machine, title, unit, rounds, medians, spread, bounds };
  if (isKept) addResults(major, { node: version, versions, labels, scenarios: { [name]: measured } });
}
console.log(
  isKept
    ? "Written to bench/results.json: `npm run generate` shows it in the guides and the chart."
    : "Nothing written: --quick and --entry only print.",
);
