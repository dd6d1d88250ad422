import { readData } from "./data.js";
import { type Page, table } from "./markdown.js";

interface Cell {
  readonly service: string;
  readonly setting: string;
  readonly declared?: number;
  readonly rows: number;
  readonly errors: number;
  readonly requests: number;
  readonly beyondPercent: number;
  readonly afterCancel?: number;
  readonly mendedToNextMs?: number;
  readonly seconds: number;
  readonly problems?: string;
}

interface Refusals {
  readonly rows: number;
  readonly cells: readonly Cell[];
}

const peers = ["p-limit with openai", "a plain loop over undici"];

/** docs/data/refusals.json as a table, and all its figures folded. */
export async function refusalsPart(): Promise<Page> {
  const { rows, cells } = await readData<Refusals>("refusals.json", "npm run bench -- refusals");
  const settings = [...new Set(cells.map(({ setting }) => setting))];
  const own = settings.filter((setting) => !peers.includes(setting));
  const lines = [...new Set(cells.map(serviceOf))].map((service) => {
    const found = (setting: string) =>
      cells.find((cell) => cell.setting === setting && serviceOf(cell) === service);
    const others = peers.map(found).map((cell) => (cell ? briefly(cell, rows) : "-"));
    return [
      capital(service),
      ...own.map(found).map((cell) => (cell ? briefly(cell, rows) : "-")),
      others.every((text) => text === "-") ? "-" : others.join("; "),
    ];
  });
  const text = [
    table(["The service", ...own.map(capital), `Other clients: ${peers.join("; ")}`], lines),
    "",
    "::: details All figures",
    "",
    ...settings.flatMap((setting) => [
      `**${capital(setting)}**`,
      "",
      table(
        ["The service", "Rankings", "Errors", "Requests", "Additional requests", "Recovery time", "Seconds"],
        cells.filter((cell) => cell.setting === setting).map(figures),
      ),
      "",
    ]),
    ":::",
  ].join("\n");
  return { path: "parts/refusals.md", text };
}

// The data keep the names that bench/refusals/settings.ts gave them.
const serviceOf = ({ service, declared }: Cell): string =>
  declared === undefined ? service : `${service}; with a rate of ${declared} a second`;

// What is not as it has to be stands out.
function briefly(cell: Cell, rows: number): string {
  const { setting, afterCancel, beyondPercent, rows: ranked, errors, problems } = cell;
  const parts = [afterCancel === undefined ? `+${beyondPercent} %` : `${afterCancel} after the cancel`];
  if (afterCancel === undefined && errors > 0) parts.push(`${errors} failed`);
  if (afterCancel === undefined && ranked + errors < rows)
    parts.push(setting === "rerank.items" ? `${ranked} ranked` : `${rows - ranked - errors} lost`);
  return problems ? `**${parts.join(", ")}**` : parts.join(", ");
}

function figures(cell: Cell): string[] {
  const number = (value: number) => value.toLocaleString("en");
  return [
    serviceOf(cell),
    number(cell.rows),
    number(cell.errors),
    number(cell.requests),
    cell.afterCancel === undefined ? `${cell.beyondPercent} %` : `${cell.afterCancel} after the cancel`,
    cell.mendedToNextMs === undefined ? "" : `${(cell.mendedToNextMs / 1000).toFixed(1)} s`,
    String(cell.seconds),
  ];
}

function capital(text: string): string {
  return /^(?:rerank|p-limit)/.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1);
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
