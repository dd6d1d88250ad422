import { readData } from "./data.js";
import { type Page, table } from "./markdown.js";
import { readSimulation } from "./simulation.js";

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
  readonly allSeconds?: readonly number[];
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
    ...(await times(cells, own)),
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

// The time of each setting over that of the oracle with the same service. Workers get more time: their queue takes some.
async function times(cells: readonly Cell[], own: readonly string[]): Promise<readonly string[]> {
  const { services } = await readSimulation();
  const isOfWorkers = (setting: string): boolean => setting.endsWith("workers");
  const lines = services.flatMap(({ name, oracleSeconds, time }) => {
    const found = cells.filter((cell) => cell.service === name && cell.declared === undefined);
    if (found.length === 0) return [];
    const aimOf = (setting: string): number => (isOfWorkers(setting) ? 1.5 + 5 / oracleSeconds : time);
    const text = (setting: string): string => {
      const cell = found.find((each) => each.setting === setting);
      if (cell === undefined || cell.rows < 999) return "-";
      const over = (seconds: number): string => (seconds / oracleSeconds).toFixed(2);
      const { seconds, allSeconds = [seconds] } = cell;
      const [least, most] = [allSeconds[0] ?? seconds, allSeconds.at(-1) ?? seconds];
      const shown =
        allSeconds.length > 1 ? `${over(seconds)} (${over(least)} to ${over(most)})` : over(seconds);
      return seconds / oracleSeconds > aimOf(setting) ? `**${shown}**` : shown;
    };
    const aims = `${time.toFixed(2)}; workers ${aimOf("workers").toFixed(2)}`;
    return [[capital(name), oracleSeconds.toFixed(1), aims, ...own.map(text)]];
  });
  return [
    "The time from the first request to the last, divided by that of [an oracle](#how-a-run-finds-the-concurrency-limit) that knows the limits of the service. Where five runs were made: the median, and the shortest and the longest. Bold figures miss their aim.",
    "",
    table(["The service", "Oracle, seconds", "Aim", ...own.map(capital)], lines),
  ];
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
