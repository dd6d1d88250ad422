// One cell of the matrix: a service that says no, a setting as a process of its own, and what the service counted.
import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Written } from "./program.js";
import { type Asked, startRefusing } from "./server.js";
import { type Service, services } from "./services.js";

/** One setting with one service. */
export interface Cell extends Written {
  readonly service: string;
  readonly setting: string;
  /** The requests a second that the user declared; absent where nothing was declared. */
  readonly declared?: number;
  readonly requests: number;
  readonly refused: number;
  /** Requests beyond one for each row, refusals included, in percent of the rows. */
  readonly beyondPercent: number;
  /** Requests that came after the caller had cancelled. */
  readonly afterCancel?: number;
  /** From the service's mending to the next request. */
  readonly mendedToNextMs?: number;
  /** From the first request to the last. */
  readonly seconds: number;
  /** The seconds of each run, the shortest first; absent for a single run. */
  readonly allSeconds?: readonly number[];
}

/** What is to be measured. */
export interface Plan {
  readonly service: Service;
  readonly setting: string;
  readonly declared?: number | undefined;
}

interface Program {
  /** Absent where it needs a server: whoever starts that has it. */
  readonly file?: string;
  /** A rate can be declared. */
  readonly hasRate?: true;
  /** Another client, which has no bounds to hold. */
  readonly isPeer?: true;
}

const own = { file: fileURLToPath(new URL("settings.ts", import.meta.url)) };
const peers = { file: fileURLToPath(new URL("peers.ts", import.meta.url)), isPeer: true } as const;
const onServers = { hasRate: true } as const;
export const settings: Readonly<Record<string, Program>> = {
  rerankAll: { ...own, hasRate: true },
  "the command line": { ...own, hasRate: true },
  "rerank.items": own,
  "Temporal with three workers": onServers,
  "BullMQ with three workers": onServers,
  "p-limit with openai": peers,
  "a plain loop over undici": peers,
};

/** Every cell; a rate is declared where the service has one and the setting takes it. */
export const plans: readonly Plan[] = services.flatMap((service) =>
  Object.entries(settings).flatMap(([setting, { hasRate, isPeer }]) => {
    if (service.isCancelled && isPeer) return [];
    const withRate = service.perSecond !== undefined && hasRate;
    return (withRate ? [undefined, service.perSecond * 0.95] : [undefined]).map((declared) => ({
      service,
      setting,
      declared,
    }));
  }),
);

/**
 * @param onServers The program that runs the settings on servers, and finds those by its environment
 * @param seen Is given all requests at the end
 */
export async function measure(
  { service, setting, declared }: Plan,
  rows = 1000,
  onServers: string | undefined = undefined,
  seen: (requests: readonly Asked[]) => void = () => {},
): Promise<Cell> {
  const { file } = settings[setting] as Program;
  const program = file ?? onServers;
  if (program === undefined) throw new Error(`There is no program for ${setting}.`);
  const running = Object.assign(await startRefusing(), { says: service.open(), delayMs: service.responseMs });
  const perMinute = declared === undefined ? "" : String(declared * 60);
  const args = [program, setting, running.url, String(rows), perMinute, service.isCancelled ? "cancel" : ""];
  // Those on servers have the packed package, as its users do.
  const conditions = file === undefined ? [] : ["--conditions=tunerank-source"];
  const child = spawn(process.execPath, [...conditions, "--import", "tsx", ...args], {
    cwd: path.dirname(program),
    stdio: ["ignore", "pipe", "inherit"],
  });
  let written: Written = { rows: 0, errors: 0, twice: 0 };
  let untilCancel: number | undefined;
  for await (const line of createInterface({ input: child.stdout })) {
    if (line === "cancelled") untilCancel = running.requests.length;
    else if (line.startsWith("{")) written = JSON.parse(line) as Written;
  }
  if (child.exitCode === null) await once(child, "exit");
  running.close();
  const { requests } = running;
  seen(requests);
  const { isCancelled, mendedMs = Number.POSITIVE_INFINITY } = service;
  const next = requests.find(({ ms }) => ms >= mendedMs);
  return {
    service: service.name,
    setting,
    ...(declared !== undefined && { declared }),
    ...written,
    requests: requests.length,
    refused: requests.filter(({ status }) => status >= 400).length,
    beyondPercent: Math.max(0, Math.round(((requests.length - rows) / rows) * 1000) / 10),
    ...(isCancelled && untilCancel !== undefined && { afterCancel: requests.length - untilCancel }),
    ...(next && { mendedToNextMs: next.ms - mendedMs }),
    seconds: Math.round((requests.at(-1)?.ms ?? 0) / 100) / 10,
  };
}

/** What a cell has to hold; empty when it does. A peer is only told. */
export function problemsOf(cell: Cell, { service }: Plan, rows = 1000): readonly string[] {
  const { poison = 0, isCancelled, name } = service;
  const { setting, declared, rows: ranked, errors, twice, beyondPercent, afterCancel } = cell;
  if (settings[setting]?.isPeer) return [];
  const problems = twice > 0 ? [`${twice} rows twice`] : [];
  if (isCancelled) {
    if (afterCancel === undefined || ranked >= rows) problems.push("it was not cancelled");
    else if (afterCancel > 0) problems.push(`${afterCancel} requests after the cancel`);
    return problems;
  }
  // One call of many batches ends with the first that cannot be ranked, and has the others in `partial`.
  const mayEnd = setting === "rerank.items" && (poison > 0 || name.startsWith("a key"));
  if (mayEnd && ranked === 0) problems.push("nothing in partial");
  if (!mayEnd && ranked !== rows - poison) problems.push(`${ranked} rows`);
  if (!mayEnd && errors !== poison) problems.push(`${errors} errors`);
  const most = name.startsWith("30 %") ? 100 : declared === undefined ? 40 : 2;
  if (beyondPercent > most) problems.push(`${beyondPercent} % beyond need`);
  return problems;
}
