// npm run bench -- refusals [--only TEXT]: 1,000 rankings of services that say no, in each setting; writes docs/data/refusals.json.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { type Counted, startService } from "./server.js";
import { rows, type Service, services } from "./services.js";
import { settings, type Written } from "./settings.js";

/** One setting with one service. */
interface Cell extends Written, Pick<Counted, "requests" | "refused"> {
  readonly service: string;
  readonly setting: string;
  /** The requests a second that the user declared; absent where nothing was declared. */
  readonly declared?: number;
  /** Requests beyond one for each row, refusals included, in percent of the rows. */
  readonly beyondPercent: number;
  readonly afterCancel?: number;
  readonly mendedToNextMs?: number;
  readonly seconds: number;
}

const { values: options } = parseArgs({
  options: { only: { type: "string", multiple: true }, "at-once": { type: "string", default: "4" } },
});

const program = fileURLToPath(new URL("settings.ts", import.meta.url));
const data = new URL("../../docs/data/refusals.json", import.meta.url);
// These declare a rate; the others have none to declare.
const withRate = ["rerankAll", "the command line"];
const peers = ["p-limit with openai", "a plain loop over undici"];

async function measure(service: Service, setting: string, declared?: number): Promise<Cell> {
  const running = await startService(service);
  const started = performance.now();
  const perMinute = declared === undefined ? "" : String(declared * 60);
  const args = [program, setting, running.url, perMinute, service.isCancelled ? "cancel" : ""];
  const child = spawn(process.execPath, ["--conditions=tunerank-source", "--import", "tsx", ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let written: Written = { rows: 0, errors: 0, twice: 0 };
  for await (const line of createInterface({ input: child.stdout })) {
    if (line === "cancelled") running.cancelled();
    else written = JSON.parse(line) as Written;
  }
  if (child.exitCode === null) await once(child, "exit");
  const seconds = Math.round((performance.now() - started) / 100) / 10;
  const { requests, refused, afterCancel, mendedToNextMs } = await running.close();
  return {
    service: service.name,
    setting,
    ...(declared !== undefined && { declared }),
    ...written,
    requests,
    refused,
    beyondPercent: service.isCancelled ? 0 : Math.round(((requests - rows) / rows) * 1000) / 10,
    ...(service.isCancelled && { afterCancel }),
    ...(mendedToNextMs !== undefined && { mendedToNextMs }),
    seconds,
  };
}

/** What a cell has to hold; empty when it does. A peer is only told. */
export function problemsOf(cell: Cell, { poison = 0, isCancelled, name }: Service): readonly string[] {
  const { setting, declared, rows: ranked, errors, twice, beyondPercent, afterCancel = 0 } = cell;
  if (peers.includes(setting)) return [];
  const problems = twice > 0 ? [`${twice} rows twice`] : [];
  if (isCancelled)
    return afterCancel > 0 ? [...problems, `${afterCancel} requests after the cancel`] : problems;
  // One call of many batches ends with the first that cannot be ranked, and has the others in `partial`.
  const mayEnd = setting === "rerank.items" && (poison > 0 || name.startsWith("a key"));
  if (!mayEnd && ranked !== rows - poison) problems.push(`${ranked} rows`);
  if (!mayEnd && errors !== poison) problems.push(`${errors} errors`);
  const most = name.startsWith("30 %") ? 100 : declared === undefined ? 40 : 2;
  if (beyondPercent > most) problems.push(`${beyondPercent} % beyond need`);
  return problems;
}

const wanted = services.flatMap((service) =>
  Object.keys(settings).flatMap((setting) => {
    if (service.isCancelled && peers.includes(setting)) return [];
    const declared =
      service.perSecond === undefined || !withRate.includes(setting) ? [] : [service.perSecond * 0.95];
    return [undefined, ...declared].map((rate) => ({ service, setting, rate }));
  }),
);
const chosen = wanted.filter(({ service, setting }) =>
  (options.only ?? [""]).some((text) => `${service.name} / ${setting}`.includes(text)),
);
const cells: Cell[] = [];
const left = [...chosen];
const lane = async (): Promise<void> => {
  for (let next = left.shift(); next !== undefined; next = left.shift()) {
    const cell = await measure(next.service, next.setting, next.rate);
    cells.push(cell);
    const problems = problemsOf(cell, next.service);
    if (problems.length > 0) process.exitCode = 1;
    console.log(`${problems.length > 0 ? `FAILED (${problems.join(", ")})` : "ok"}  ${JSON.stringify(cell)}`);
  }
};
await Promise.all(Array.from({ length: Number(options["at-once"]) }, lane));
if (options.only === undefined) await writeFile(data, `${JSON.stringify({ rows, cells }, undefined, 2)}\n`);
else
  console.log(
    `docs/data/refusals.json is left as it is (${(await readFile(data, "utf8").catch(() => "")).length} characters).`,
  );
