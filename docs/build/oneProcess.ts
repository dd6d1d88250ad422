import { readResults, type Scenario } from "../../bench/results.js";
import { mark, withLegend } from "./benchmarks.js";
import { type Page, table } from "./markdown.js";

/** What one process can do, of bench/results.json: for the page that says when one is not enough. */
export async function oneProcessPart(): Promise<Page> {
  const rows = Object.values(readResults()).map(({ node, scenarios }) => {
    const microseconds = medianOf(scenarios, "cpuPerCall", "tunerank");
    return [
      `${node}${mark(scenarios.cpuPerCall) || mark(scenarios.manyAtOnce)}`,
      `${microseconds.toFixed(0)} µs`,
      rounded(1_000_000 / microseconds),
      rounded(medianOf(scenarios, "manyAtOnce", "calls fulfilled")),
      rounded(medianOf(scenarios, "manyAtOnce", "sockets at the server")),
    ];
  });
  const columns = [
    "Node",
    "CPU of a small rerank",
    "Small reranks a second, on one core",
    "Calls at once",
    "Sockets for these calls",
  ];
  return { path: "parts/oneProcess.md", text: withLegend(table(columns, rows)) };
}

function medianOf(scenarios: Readonly<Record<string, Scenario>>, name: string, figure: string): number {
  const value = scenarios[name]?.medians[figure];
  if (value === undefined) throw new Error(`bench/results.json has no ${name}: npm run bench measures it.`);
  return value;
}

// To two digits: more would not carry over to another machine.
function rounded(value: number): string {
  return Number(value.toPrecision(value % 1 === 0 ? 12 : 2)).toLocaleString("en");
}
