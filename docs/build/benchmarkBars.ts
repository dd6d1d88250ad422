import { type Results, readResults } from "../../bench/results.js";
import { mark, withLegend } from "./benchmarks.js";
import type { Page } from "./markdown.js";

// The figures that a reader asks for first.
const charts: Readonly<Record<string, { readonly caption: string; readonly unit: string }>> = {
  cpuPerCall: { caption: "CPU per small rerank call, 16 calls at a time, in microseconds", unit: "µs" },
  startUp: {
    caption: "Process start to first response, minus the start of an empty process, in milliseconds",
    unit: "ms",
  },
  uploadTime: { caption: "Upload of a 150 MB file, in milliseconds", unit: "ms" },
};

/** Bars of the newest Node that was measured: a table, so that the site's font, colours and width are the chart's too. */
export async function benchmarkBarsPart(
  all: readonly Results[] = Object.values(readResults()),
): Promise<Page> {
  const newest = all.at(-1);
  if (newest === undefined) throw new Error("bench/results.json is empty: npm run bench measures it.");
  const tables = Object.keys(charts)
    .filter((name) => name in newest.scenarios)
    .map((name) => bars(name, newest));
  const note = `Node ${newest.node}, medians of one run; less is better. 2.00×: twice tunerank.`;
  return { path: "parts/benchmark-bars.md", text: withLegend([...tables, note].join("\n\n")) };
}

function bars(name: string, { scenarios, labels }: Results): string {
  const { caption, unit } = charts[name] as { caption: string; unit: string };
  const scenario = scenarios[name];
  const { medians = {} } = scenario ?? {};
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
      const text = `${Math.round(value)} ${unit}${isOwn ? "" : ` · ${(value / own).toFixed(2)}×`}`;
      return `<tr${isOwn ? ' class="own"' : ""}><th scope="row">${label}</th><td><i style="width: ${percent}%"></i></td><td>${text}</td></tr>`;
    });
  return [
    `<table class="bars" aria-label="${caption}">`,
    `<caption>${caption}${mark(scenario)}</caption>`,
    ...rows,
    "</table>",
  ].join("\n");
}
