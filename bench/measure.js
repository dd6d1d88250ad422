// Measures, prints the table, writes results.json and chart.svg. See NOTES.md.
import { writeFileSync } from "node:fs";
import { cpus, release, type } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { median } from "./alternate.js";
import { judge } from "./bounds.js";
import { chart } from "./chart.js";
import { judgedBulkClients, judgedClients, labels, nodeVersion, peerVersions } from "./contestants.js";
import { addResults } from "./results.js";
import { calls } from "./scenarios/calls.js";
import { table } from "./table.js";

const all = [
  "cpuPerCall",
  "cpuOneAtATime",
  "cpuSlowAnswers",
  "cpuOverTls",
  "timeOnOneCore",
  "startUp",
  "commandLine",
  "uploadTime",
  "uploadMemory",
  "manyDocuments",
  "manyItems",
  "manyAtOnce",
  "bulkCpu",
  "bulkTime",
  "bulkLongTime",
  "bulkStart",
  "bulkMemory",
  "bulkOutage",
  "bundleSize",
  "heapGrowth",
];

const { values: options } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    only: { type: "string", multiple: true, default: all },
    node: { type: "string", default: process.execPath },
    entry: { type: "string" },
    judged: { type: "boolean", default: false },
  },
});
const unknown = options.only.filter((name) => !all.includes(name));
if (unknown.length > 0) throw new Error(`No scenario ${unknown}: there are ${all.join(", ")}.`);

const judged = {
  cpuPerCall: judgedClients,
  startUp: judgedClients,
  bulkCpu: judgedBulkClients,
  bulkTime: judgedBulkClients,
};
const { quick, node } = options;
const entry = options.entry && path.resolve(options.entry);
const version = nodeVersion(node);
const major = Number.parseInt(version, 10);
const versions = peerVersions();
const machine = `${type()} ${release()}, ${cpus().length} × ${cpus()[0]?.model}`;
console.log(`Node ${version} on ${machine}`);
const peers = Object.entries(versions).map((peer) => peer.join(" "));
console.log(`${peers.join(", ")}
`);

const scenarios = {};
for (const name of options.only) {
  const { title, unit, measure } = calls[name] ?? (await import(`./scenarios/${name}.js`));
  const few = options.judged && name in judged && { contestants: judged[name] };
  const samples = await measure({ quick, node, entry, ...few });
  process.stderr.write("\r");
  const medians = Object.fromEntries(Object.entries(samples).map(([who, values]) => [who, median(values)]));
  const bounds = judge(name, medians, major);
  console.log(table({ title, unit, medians, bounds }));
  const rounds = Object.values(samples)[0].length;
  scenarios[name] = { date: new Date().toISOString(), machine, title, unit, rounds, medians, bounds };
}

// Quick runs are too noisy to keep, and another build's figures are not this one's.
if (quick || entry) {
  console.log("Nothing written: --quick and --entry only print.");
} else {
  const results = addResults(major, { node: version, versions, labels, scenarios });
  writeFileSync(new URL("chart.svg", import.meta.url), chart(results));
}
