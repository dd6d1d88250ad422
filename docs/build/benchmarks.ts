import { isOlder, type Results, readResults, type Scenario } from "../../bench/results.js";
import { type Page, table } from "./markdown.js";

// The figures that a reader asks for first, as bars.
const charts: Readonly<Record<string, { readonly caption: string; readonly unit: string }>> = {
  cpuPerCall: { caption: "CPU per small rerank call, 16 calls at a time, in microseconds", unit: "µs" },
  startUp: {
    caption: "Process start to first response, minus the start of an empty process, in milliseconds",
    unit: "ms",
  },
  uploadTime: { caption: "Upload of a 150 MB file, in milliseconds", unit: "ms" },
};

// The columns of the table, by the contestants of the bench that take the same part.
const columns: readonly (readonly [title: string, ...contestants: string[]])[] = [
  ["tunerank", "tunerank", "tunerank scale"],
  ["with a dispatcher", "tunerankDispatcher", "tunerankHttp2"],
  ["`node:http`", "nodeHttp", "nodeHttpByHand", "nodeHttp2"],
  ["undici", "undiciPool", "undici", "undiciPoolByHand", "undiciPoolHttp2"],
  ["`fetch`", "fetch", "fetchByHand"],
  ["openai", "openai"],
];

const noFigures = "No figures: the code that sends requests changed after they were measured.";

/** What was measured with the newest Node, without figures that are older than the code: bars, and a table of the rest. */
export async function benchmarksPart(all: readonly Results[] = Object.values(readResults())): Promise<Page> {
  const newest = all.at(-1);
  if (newest === undefined) throw new Error("bench/results.json is empty: npm run bench measures it.");
  const fresh = Object.entries(newest.scenarios).filter(([, scenario]) => !isOlder(scenario));
  const tables = fresh.flatMap(([name, scenario]) => bars(name, scenario, newest.labels));
  const rows = fresh.flatMap(([name, scenario]) => (name in charts ? [] : rowsOf(scenario)));
  const where = [...new Set(fresh.map(([, { date, machine }]) => `${date.slice(0, 10)}, ${machine}`))];
  const peers = Object.entries(newest.versions).map(([name, version]) => `${name} ${version}`);
  const measured = `Node ${newest.node}, ${where.join("; ")}. Other packages: ${peers.join(", ")}.`;
  if (rows.length > 0) tables.push(table(["What", ...columns.map(([title]) => title)], rows));
  const text = tables.length === 0 ? noFigures : [...tables, measured].join("\n\n");
  return { path: "parts/benchmarks.md", text };
}

// A scenario in which nobody else takes part says how this package does, not how it compares.
function rowsOf({ title, unit, medians }: Scenario): string[][] {
  const cells = columns.map(([, ...names]) =>
    number(names.map((name) => medians[name]).find(Number.isFinite)),
  );
  return cells[0] === "" && cells[1] === "" ? [] : [[unit === "" ? title : `${title}, ${unit}`, ...cells]];
}

// A table, so that the site's font, colours and width are the chart's too.
function bars(name: string, { medians }: Scenario, labels: Results["labels"]): string[] {
  const chart = charts[name];
  if (chart === undefined) return [];
  const own = medians.tunerank ?? Number.NaN;
  const found = Object.entries(labels).flatMap(([client, label]) => {
    const value = medians[client];
    return value === undefined ? [] : [{ client, label, value }];
  });
  const longest = Math.max(...found.map(({ value }) => value));
  const rows = found
    .sort((a, b) => a.value - b.value)
    .map(({ client, label, value }) => {
      const isOwn = client === "tunerank";
      const percent = Math.max(0.5, (100 * value) / longest).toFixed(1);
      const text = `${Math.round(value)} ${chart.unit}${isOwn ? "" : ` · ${(value / own).toFixed(2)}×`}`;
      return `<tr${isOwn ? ' class="own"' : ""}><th scope="row">${label}</th><td><i style="width: ${percent}%"></i></td><td>${text}</td></tr>`;
    });
  const head = `<table class="bars" aria-label="${chart.caption}">\n<caption>${chart.caption}</caption>`;
  return [`${head}\n${rows.join("\n")}\n</table>`];
}

function number(value: number | undefined): string {
  if (value === undefined) return "";
  if (Number.isInteger(value)) return value.toLocaleString("en");
  const digits = Math.abs(value) >= 1000 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
