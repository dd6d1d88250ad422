import {
  type Bound,
  isOlder,
  processorOf,
  type Results,
  readResults,
  type Scenario,
} from "../../bench/results.js";
import { type Page, table } from "./markdown.js";

const older = "†";
const legend = `${older} Measured before the last change of the transport, the code that sends requests.`;

/** bench/results.json as tables: every figure, for each Node that was measured. */
export async function benchmarksPart(all: readonly Results[] = Object.values(readResults())): Promise<Page> {
  const names = [...new Set(all.flatMap(({ scenarios }) => Object.keys(scenarios)))];
  const parts = names.map((name) => figures(name, all));
  const text = withLegend([...parts, aims(all), measuredWith(all)].join("\n\n"));
  return { path: "parts/benchmarks.md", text };
}

/** The figures of the chart in a sentence, and every aim that is not reached: what stands under the chart. */
export async function benchmarkSummaryPart(
  all: readonly Results[] = Object.values(readResults()),
): Promise<Page> {
  const newest = all.at(-1);
  if (newest === undefined) throw new Error("bench/results.json is empty: npm run bench measures it.");
  return {
    path: "parts/benchmark-summary.md",
    text: withLegend(`${headline(newest)}\n\n${notReached(all)}`),
  };
}

/** A part of a page, with what the mark means if it has one. */
export function withLegend(text: string): string {
  return text.includes(older) ? `${legend}\n\n${text}` : text;
}

/** Stands behind the Node that a scenario was measured with before src/call or src/transport changed. */
export function mark(scenario: Scenario | undefined): string {
  return scenario !== undefined && isOlder(scenario) ? ` ${older}` : "";
}

function headline({ node, scenarios }: Results): string {
  const beside = (name: string, unit: string, peers: readonly (readonly [name: string, label: string])[]) => {
    const { medians = {} } = scenarios[name] ?? {};
    const others = peers.map(([peer, label]) => `${label} ${number(medians[peer])} ${unit}`);
    return `${number(medians.tunerank)} ${unit} (${others.join(", ")})${mark(scenarios[name])}`;
  };
  const cpu = beside("cpuPerCall", "µs", [
    ["nodeHttp", "bare `node:http`"],
    ["fetch", "`fetch`"],
  ]);
  const upload = beside("uploadTime", "ms", [
    ["curl", "curl"],
    ["fetch", "`fetch`"],
  ]);
  return `On Node ${node}, the newest that was measured, a small rerank takes ${cpu} of CPU, and an upload of 150 MB takes ${upload}.`;
}

function notReached(all: readonly Results[]): string {
  const judged = judgedOf(all);
  const missed = judged.filter(({ reached }) => !reached);
  const found = new Map<string, string[]>();
  for (const { title, figure, aim, value, node } of missed) {
    const figures = `- ${title}: ${figure} should be ${aim}, and is`;
    found.set(figures, [...(found.get(figures) ?? []), `${number(value)} on Node ${node}`]);
  }
  const lines = Array.from(found, ([figures, values]) => `${figures} ${values.join(", ")}.`);
  const count = `${judged.length - missed.length} of ${judged.length} [aims](#aims) are reached`;
  return missed.length === 0 ? `${count}.` : `${count}. Not reached:\n\n${lines.join("\n")}`;
}

function judgedOf(all: readonly Results[]) {
  return all.flatMap(({ node, labels, scenarios }) =>
    Object.values(scenarios).flatMap((scenario) =>
      Object.entries(worstBounds(scenario)).map(([figure, { value, atMost, exactly, reached, on }]) => ({
        node: `${node}${mark(scenario)}${on && `, ${on}`}`,
        title: scenario.title,
        figure: inTitle(readable(figure, labels), scenario.title),
        value,
        aim: exactly === undefined ? `at most ${number(atMost)}` : `exactly ${number(exactly)}`,
        reached,
      })),
    ),
  );
}

/** Each bound as its worst processor has it, and which that is; "" if only one was measured. */
function worstBounds(scenario: Scenario): Record<string, Bound & { readonly on: string }> {
  const sets = [scenario, ...(scenario.elsewhere ?? [])];
  const named = Object.keys(scenario.bounds).map((figure) => {
    const found = sets.flatMap((set) => {
      const bound = set.bounds[figure];
      return bound === undefined ? [] : [{ ...bound, on: sets.length > 1 ? processorOf(set) : "" }];
    });
    return [figure, found.reduce((worst, each) => (isWorse(each, worst) ? each : worst))] as const;
  });
  return Object.fromEntries(named);
}

function isWorse(one: Bound, other: Bound): boolean {
  return one.reached === other.reached ? one.value > other.value : other.reached;
}

// "tunerank ÷ nodeHttp" with the names that readers know.
function readable(figure: string, labels: Results["labels"]): string {
  return figure.replace(/^\w+(?= ÷)|(?<=÷ )\w+$/g, (name) => labels[name] ?? name);
}

// A label as a reader of its table needs it: in a bulk run this package is rerankAll, not a loop over client.rerank, and
// what the title subtracts from the other rows is not subtracted from its own.
function inTitle(label: string, title: string): string {
  if (title.startsWith("Bulk")) return label.replace("tunerank", "rerankAll");
  return label === "empty process" && title.includes("minus") ? `${label}, not subtracted` : label;
}

function figures(name: string, all: readonly Results[]): string {
  const measured = all.filter(({ scenarios }) => scenarios[name] !== undefined);
  const scenario = measured[0]?.scenarios[name];
  if (scenario === undefined) throw new Error(`bench/results.json has no ${name}.`);
  const contestants = [
    ...new Set(measured.flatMap((run) => Object.keys(run.scenarios[name]?.medians ?? {}))),
  ];
  if ("tunerank" in scenario.medians) contestants.sort((a, b) => order(scenario, a) - order(scenario, b));
  const rows = contestants.map((contestant) => [
    inTitle(labelOf(contestant, measured), scenario.title),
    ...measured.map((run) => number(run.scenarios[name]?.medians[contestant])),
  ]);
  const unit = scenario.unit === "" ? "" : `, ${scenario.unit}`;
  const nodes = measured.map(({ node, scenarios }) => `Node ${node}${mark(scenarios[name])}`);
  return `### ${scenario.title}${unit}\n\n${table(["Result", ...nodes], rows)}${processors(name, measured)}`;
}

// How far the processors differ, if a scenario was measured on several.
function processors(name: string, measured: readonly Results[]): string {
  const lines = measured.flatMap(({ node, labels, scenarios }) => {
    const scenario = scenarios[name];
    const sets = scenario === undefined ? [] : [scenario, ...(scenario.elsewhere ?? [])];
    if (sets.length < 2) return [];
    const figures = Object.keys(scenario?.bounds ?? {}).map((figure) => {
      const each = sets
        .filter(({ bounds }) => bounds[figure] !== undefined)
        .map((set) => `${number(set.bounds[figure]?.value)} on ${processorOf(set)}${mark(set)}`);
      return `${readable(figure, labels)} is ${each.join(", ")}`;
    });
    return [`- Node ${node}: ${figures.join("; ")}.`];
  });
  return lines.length === 0 ? "" : `\n\nProcessors differ:\n\n${lines.join("\n")}`;
}

function order({ medians }: Scenario, contestant: string): number {
  return medians[contestant] ?? Number.POSITIVE_INFINITY;
}

function labelOf(contestant: string, measured: readonly Results[]): string {
  const label = measured.find(({ labels }) => contestant in labels)?.labels[contestant] ?? contestant;
  return contestant.startsWith("tunerank") ? `**${label}**` : label;
}

function aims(all: readonly Results[]): string {
  const rows = judgedOf(all).map(({ title, figure, value, aim, reached, node }, index, judged) => [
    // Once for all rows below it.
    title === judged[index - 1]?.title ? "" : title,
    figure,
    number(value),
    aim,
    reached ? "yes" : "**no**",
    node,
  ]);
  const whole = table(["What", "Figure", "Measured", "Aim", "Reached", "Node"], rows);
  return `## Aims\n\n::: details All ${rows.length} aims, on all versions of Node\n\n${whole}\n\n:::`;
}

function measuredWith(all: readonly Results[]): string {
  const lines = all.map(({ node, versions, scenarios }) => {
    const peers = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
    const sets = Object.values(scenarios).flatMap((each) => [each, ...(each.elsewhere ?? [])]);
    const where = sets.map(({ date, machine }) => `${date.slice(0, 10)}: ${machine}`);
    return `- Node ${node}; ${peers.join(", ")}.\n${[...new Set(where)].map((line) => `  - ${line}`).join("\n")}`;
  });
  return `## Measured with\n\n${lines.join("\n")}`;
}

function number(value: number | undefined): string {
  if (value === undefined || !Number.isFinite(value)) return "";
  if (Number.isInteger(value)) return value.toLocaleString("en");
  const digits = Math.abs(value) >= 1000 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

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
