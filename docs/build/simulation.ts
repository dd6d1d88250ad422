import { readData } from "./data.js";
import { type Page, table } from "./markdown.js";

export interface Simulation {
  readonly node: string;
  readonly processor: string;
  readonly seeds: number;
  readonly most: number;
  readonly runs: number;
  readonly seconds: number;
  readonly services: readonly {
    readonly name: string;
    readonly isChanging: boolean;
    readonly oracleSeconds: number;
    readonly time: number;
    readonly requests?: number;
    readonly misses?: string;
    readonly schemes: readonly {
      readonly scheme: string;
      readonly time: { readonly median: number; readonly p95: number };
      readonly requests: { readonly median: number; readonly p95: number };
      readonly lost: number;
    }[];
  }[];
}

export function readSimulation(): Promise<Simulation> {
  return readData<Simulation>("simulation.json", "npm run bench -- refusals --simulated");
}

/** docs/data/simulation.json as a table of services and schemes. */
export async function simulationPart(): Promise<Page> {
  const simulation = await readSimulation();
  const { node, processor, seeds, most, runs, seconds, services } = simulation;
  const names = services[0]?.schemes.map(({ scheme }) => scheme) ?? [];
  const lines = services.map(({ name, oracleSeconds, time, requests, schemes }) => [
    name,
    oracleSeconds.toFixed(1),
    time.toFixed(2),
    ...schemes.map((each) => {
      const figures = `${each.time.p95.toFixed(2)}, ${each.requests.p95.toFixed(2)}`;
      const lost = each.lost > 0 ? `, ${each.lost} lost` : "";
      const isMissed = each.time.p95 > time || each.requests.p95 > (requests ?? Number.POSITIVE_INFINITY);
      return isMissed || each.lost > 0 ? `**${figures}${lost}**` : figures;
    }),
  ]);
  const misses = services.flatMap(({ name, misses }) => (misses ? [`- ${name}: ${misses}.`] : []));
  const text = [
    table(["The service", "Oracle, seconds", "Aim", ...names], lines),
    "",
    "What tunerank misses:",
    "",
    ...(misses.length > 0 ? misses : ["- nothing."]),
    "",
    `${runs.toLocaleString("en")} runs of 1,000 rows with ${seeds} seeds, other than those it was tuned with, and ${most} connections, in ${seconds} s on Node ${node}, ${processor}.`,
  ].join("\n");
  return { path: "parts/simulation.md", text };
}
