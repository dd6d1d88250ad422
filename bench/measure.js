// Measures, prints the table, writes results.json. See NOTES.md.
import { cpus, release, type } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { scenarios as all, judge } from "./bounds.js";
import { labels, nodeVersion, peerVersions } from "./contestants.js";
import { addResults, isOlder, readResults } from "./results.js";
import { scenarios } from "./scenarios.js";
import { median } from "./tools.js";

const { values: options } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    only: { type: "string", multiple: true },
    node: { type: "string", default: process.execPath },
    entry: { type: "string" },
    older: { type: "boolean", default: false },
  },
});
const { quick, node, older, only = older ? [] : all } = options;
const unknown = only.filter((name) => !all.includes(name));
if (unknown.length > 0) throw new Error(`No scenario ${unknown}: there are ${all.join(", ")}.`);

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
  const { title, unit, measure } = scenarios[name];
  const samples = await measure({ quick, node, entry });
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

// Every contestant's median, then the bounds.
function table({ title, unit, medians, bounds }) {
  const lines = [`${title}${unit && `, ${unit}`}`];
  for (const [name, value] of sorted(medians)) {
    const row = `  ${(labels[name] ?? name).padEnd(26)}${number(value).padStart(10)}`;
    lines.push(
      isPeer(name) && "tunerank" in medians
        ? `${row}   tunerank takes ${number(medians.tunerank / value)} of it`
        : row,
    );
  }
  for (const [figure, { value, atMost, exactly, reached }] of Object.entries(bounds)) {
    const wanted = exactly === undefined ? `at most ${number(atMost)}` : `exactly ${number(exactly)}`;
    lines.push(`  ${reached ? "reached    " : "NOT REACHED"} ${figure}: ${number(value)}, must be ${wanted}`);
  }
  return `${lines.join("\n")}\n`;
}

function isPeer(name) {
  return name in labels && name !== "tunerank";
}

// Contestants go from best to worst; figures of one contestant alone keep their order.
function sorted(medians) {
  const entries = Object.entries(medians);
  return "tunerank" in medians ? entries.sort(([, a], [, b]) => order(a) - order(b)) : entries;
}

function order(value) {
  return Number.isFinite(value) ? value : Number.POSITIVE_INFINITY;
}

function number(value) {
  if (!Number.isFinite(value)) return "none";
  if (Number.isInteger(value)) return value.toLocaleString("en");
  const digits = Math.abs(value) >= 1000 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
