import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { isOlder, type Results, readResults, type Scenario } from "../../bench/results.js";
import { block, code, type Page, prose, sentence, table } from "./markdown.js";

// The parts of pages that show what the checks and the bench have measured: docs/data, which git keeps.

const docs = new URL("..", import.meta.url);

/** A file of docs/data, which another command writes. */
export async function readData<T>(name: string, command: string): Promise<T> {
  const text = await readFile(new URL(`data/${name}`, docs), "utf8").catch(() => {
    throw new Error(`docs/data/${name} is missing: ${command} writes it.`);
  });
  return JSON.parse(text) as T;
}

interface Runtimes {
  readonly date: string;
  readonly rows: readonly {
    readonly runtime: string;
    readonly version: string;
    readonly passed: number;
    readonly checks: number;
  }[];
}

interface FirstHour {
  readonly rows: readonly { readonly file: string }[];
}

/** docs/data/runtimes.json as a table. */
export async function runtimesPart(): Promise<Page> {
  const { date, rows } = await readData<Runtimes>("runtimes.json", "npm run check:runtimes");
  const lines = rows.map(({ runtime, version, passed, checks }) => [
    runtime,
    version,
    `${passed} of ${checks}`,
  ]);
  const text = `${table(["Runtime", "Version", "Checks passed"], lines, "")}\n\nMeasured on ${date}.`;
  return { path: "parts/runtimes.md", text };
}

/** The programs of checks/first-hour that a page shows, as they ran. */
export async function programParts(): Promise<Page[]> {
  const { rows } = await readData<FirstHour>("firstHour.json", "npm run check:first-hour -- --all");
  return [...new Set(rows.map(({ file }) => file))].map((file) => {
    const code = readFileSync(new URL(`../checks/first-hour/${file}`, docs), "utf8");
    const info = `${path.extname(file).slice(1)} skip-check="npm run check:first-hour runs it"`;
    return { path: `parts/program-${path.dirname(file)}.md`, text: block(info, code) };
  });
}

interface Conformance {
  readonly revision: string;
  readonly clients: readonly {
    readonly date: string;
    readonly name: string;
    readonly language: string;
    readonly passed: number;
    readonly failed: number;
    readonly skipped: number;
    readonly seconds: number;
  }[];
}

/** docs/data/conformance.json as two tables: what came of each client, and what a generated one alone does not do. */
export async function conformancePart(): Promise<Page> {
  const { revision, clients } = await readData<Conformance>(
    "conformance.json",
    "npm run check:generators -- --conformance",
  );
  const rows = clients.map(({ name, language, passed, failed, skipped }) => [
    name,
    language,
    ...[passed + failed + skipped, passed, failed, skipped].map(String),
  ]);
  const columns = ["Client", "Language", "Test cases", "Passed", "Failed", "Skipped"];
  const parts = [table(columns, rows, ""), ""];
  const last = clients
    .map(({ date }) => date)
    .sort()
    .at(-1);
  const older = clients.filter(({ date }) => date !== last).map(({ name, date }) => ` ${name}: on ${date}.`);
  parts.push(`Measured on ${last} with revision ${revision} of the OpenAPI document.${older.join("")}`);
  return { path: "parts/conformance.md", text: parts.join("\n") };
}

interface Outage {
  readonly scenario: {
    readonly callsPerSecond: number;
    readonly downFromMs: number;
    readonly downUntilMs: number;
  };
  readonly figures: readonly {
    readonly policy: string;
    readonly callsInOutage: number;
    readonly requestsInOutage: number;
    readonly amplification: number;
    readonly mostRequestsPerSecond: number;
  }[];
}

/** docs/data/outage.json as a table. */
export async function outagePart(): Promise<Page> {
  const { scenario, figures } = await readData<Outage>("outage.json", "npm run bench -- outage");
  const seconds = (scenario.downUntilMs - scenario.downFromMs) / 1000;
  const rows = figures.map((each) => [
    each.policy,
    each.requestsInOutage.toLocaleString("en"),
    each.amplification.toFixed(2),
    String(each.mostRequestsPerSecond),
  ]);
  const calls = figures[0]?.callsInOutage.toLocaleString("en");
  const text = [
    `A simulation: the service is down for ${seconds} seconds. A program continues to make ${scenario.callsPerSecond} calls a second, ${calls} in all. For comparison, \`openai\` is OpenAI's client from npm, which makes two retries of each call.`,
    "",
    table(["Policy", "Requests sent", "Requests per call", "Most requests in a second"], rows, ""),
  ].join("\n");
  return { path: "parts/outage.md", text };
}

interface Client {
  readonly tool: string;
  readonly called: number;
}

/** The list of the home page and of the README. */
export async function reasonsPart(): Promise<Page> {
  const { node, scenarios } = Object.values(readResults()).at(-1) ?? {};
  const cpu = scenarios?.cpuPerCall;
  const { tunerank = 1, openai = 0 } = cpu?.medians ?? {};
  const { clients } = await readData<{ clients: readonly Client[] }>(
    "generators.json",
    "npm run check:generators",
  );
  const called = new Set(clients.filter((each) => each.called > 0).map(({ tool }) => tool)).size;
  const { dependencies = {} } = JSON.parse(
    await readFile(new URL("../../package.json", import.meta.url), "utf8"),
  );
  const lines = [
    "The client does not send again an upload or a resume that may have run, unless the service itself asks for a retry: [Did it run?](/guide/errors.md#did-it-run)",
    // A figure that is older than the code is not shown.
    ...(cpu === undefined || isOlder(cpu)
      ? []
      : [
          `A call takes 1/${Math.floor(openai / tunerank)} of the CPU of the openai package ([Node ${node}, ${cpu.date.slice(0, 10)}](/guide/benchmarks.md)).`,
        ]),
    `For [Go](/recipes/go.md), [Python](/recipes/python.md) and [other languages](/guide/languages.md), clients from ${called} code generators were compiled and called.`,
    `${Object.keys(dependencies).length} dependencies: [security](/guide/security.md).`,
  ];
  return { path: "parts/reasons.md", text: lines.map((line) => `- ${line}`).join("\n") };
}

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
  if (rows.length > 0) tables.push(table(["What", ...columns.map(([title]) => title)], rows, ""));
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
      return `<tr${isOwn ? ' class="own"' : ""}><th scope="row">${label}</th><td><i style="width:${percent}%"></i></td><td>${text}</td></tr>`;
    });
  return [`<table class="bars">\n<caption>${chart.caption}</caption>\n${rows.join("\n")}\n</table>`];
}

function number(value: number | undefined): string {
  if (value === undefined) return "";
  if (Number.isInteger(value)) return value.toLocaleString("en");
  const digits = Math.abs(value) >= 1000 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** A row of docs/data/generators.json about a generated client, as far as the docs read it. */
interface ClientRow {
  readonly tool: string;
  readonly version: string;
  readonly language: string;
  readonly document: string;
  readonly command: string;
  /** What gets the tool, where its command does not. */
  readonly get: string;
  readonly compiled: "yes" | "no" | "parsed" | "generated only";
  readonly called: number;
  readonly callable: number;
  readonly jobs: number;
  readonly newer: boolean;
  readonly nulls: string;
  readonly errors: number;
  readonly errorRows: number;
  readonly date: string;
  readonly note: string;
}

/** docs/data/generators.json as a table: a command to paste for each language, and what came of it. */
export async function languagesPart(): Promise<Page> {
  const { clients } = await readData<{ readonly clients: readonly ClientRow[] }>(
    "generators.json",
    "npm run check:generators",
  );
  const tools = byTool(clients);
  const rows = tools.flatMap(toolRows);
  // Why one was not compiled here says nothing of the client.
  const notes = tools.flatMap(([{ tool = "", note = "", jobs = 0 } = {}]) =>
    note === "" || jobs === 0 ? [] : [`- ${tool}: ${prose(sentence(note))}`],
  );
  const text = [
    toGet(clients),
    table(["Language", "Command", "Calls", "Jobs", "Newer", "Nulls", "Errors", "Tool"], rows, ""),
    legend(clients),
    `\n## Notes on the generators\n\n${notes.join("\n")}`,
  ].join("\n");
  return { path: "parts/languages.md", text };
}

function byTool<Row extends { readonly tool: string }>(rows: readonly Row[]): Row[][] {
  const tools = new Map<string, Row[]>();
  for (const row of rows) tools.set(row.tool, [...(tools.get(row.tool) ?? []), row]);
  return [...tools.values()];
}

// One row where the tool makes the same of both documents.
function toolRows(rows: readonly ClientRow[]): string[][] {
  const [first, ...others] = rows;
  if (first === undefined) return [];
  if (others.every((row) => String(resultOf(row)) === String(resultOf(first)))) return [rowOf(first, "")];
  return rows.map((row) => rowOf(row, row.document.includes("3.0") ? ", OpenAPI 3.0" : ", OpenAPI 3.1"));
}

function rowOf(row: ClientRow, of: string): string[] {
  const { language, command, tool, version } = row;
  return [language, code(command), ...resultOf(row), `${code(tool)} ${version}${of}`];
}

function toGet(clients: readonly ClientRow[]): string {
  const commands = new Set(clients.flatMap(({ get }) => (get === "" ? [] : [get])));
  return `These commands get the tools, in the versions that were tested:\n\n${block("sh check", [...commands].join("\n"))}\n`;
}

function resultOf({
  compiled,
  called,
  callable,
  jobs,
  newer,
  nulls,
  errors,
  errorRows,
}: ClientRow): string[] {
  const of = (found: number, all: number): string => (all === 0 ? "" : `${found}/${all}`);
  const read = (isRead: boolean): string => (jobs === 0 ? "" : isRead ? "yes" : "no");
  return [
    callable > 0 ? of(called, callable) : compiled === "yes" ? "compiles" : compiled,
    of(jobs, jobs === 0 ? 0 : 3),
    read(newer),
    read(nulls === "read"),
    of(errors, errorRows),
  ];
}

function legend(clients: readonly ClientRow[]): string {
  const dates = clients.map(({ date }) => date.replaceAll("-", "\u2011")).sort();
  const measured = [...new Set([dates[0], dates.at(-1)])].join(" to ");
  return [
    "",
    "- *Calls*: what was sent equals what this package sends, and the response is read as this package reads it.",
    "- *Jobs*: the three examples of a job in the OpenAPI document.",
    "- *Newer*: a job with unknown states, codes, schedules and fields, zeros and empty strings.",
    "- *Nulls*: a job in which every optional field is `null`, which the document does not allow.",
    "- *Errors*: error responses, pages of proxies among them, whose status the client passes on.",
    `\nMeasured on ${measured}.`,
  ].join("\n");
}
