import { readData } from "./data.js";
import { type Page, table } from "./markdown.js";

interface Proxies {
  readonly date: string;
  readonly node: string;
  readonly versions: Readonly<Record<string, string>>;
  readonly rows: readonly {
    readonly proxy: string;
    readonly client: string;
    readonly idleMs: number;
    readonly reloads: boolean;
    readonly operations: string;
    readonly calls: number;
    readonly ranTwice: number;
    readonly lost: number;
    readonly overBudget: number;
    readonly unknown: number;
    readonly wrong: number;
  }[];
}

/** docs/data/proxies.json as a table. */
export async function proxiesPart(): Promise<Page> {
  const { date, node, versions, rows } = await readData<Proxies>(
    "proxies.json",
    "npm run test:proxies -- --calls 10000 --peers --write",
  );
  const lines = rows.map((row) => [
    row.proxy,
    `${row.idleMs / 1000} s${row.reloads ? ", reloads" : ""}`,
    row.client,
    row.operations,
    row.calls.toLocaleString("en"),
    ...[row.ranTwice, row.lost, row.overBudget, row.unknown, row.wrong].map(String),
  ]);
  const columns = [
    "Proxy",
    "Closes connections idle for",
    "Client",
    "Calls of",
    "Calls",
    "Ran twice",
    "Lost",
    "Over budget",
    "Unknown",
    "Wrong response",
  ];
  const shown = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  const text = [
    table(columns, lines),
    "",
    '- "Client": undici, got, openai and stripe are other packages of npm, for comparison. They send the same requests, with their default retries.',
    '- "Ran twice": resumes and uploads that the service got more than once.',
    '- "Lost": calls that failed although a retry was safe, without those over budget.',
    '- "Over budget": calls that were not retried because the retry budget was used up; nothing was sent. Squid, unlike the others, stops listening while it reads its configuration, so 200 calls at once share ten retries.',
    '- "Unknown": resumes and uploads whose response was lost. They must not be sent twice.',
    '- "Wrong response": calls that got the response to another call.',
    "",
    `Measured on ${date} with Node ${node}, ${shown.join(", ")}.`,
  ].join("\n");
  return { path: "parts/proxies.md", text };
}
