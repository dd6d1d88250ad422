// The parts of pages that show what the checks and the bench have measured: docs/data, which git keeps.
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { isOlder, readResults } from "../../bench/results.js";
import { block, type Page, table } from "./markdown.js";

const docs = new URL("../", import.meta.url);

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
  const text = `${table(["Runtime", "Version", "Checks passed"], lines)}\n\nMeasured on ${date}.`;
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
  const parts = [table(columns, rows), ""];
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
    table(["Policy", "Requests sent", "Requests per call", "Most requests in a second"], rows),
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
