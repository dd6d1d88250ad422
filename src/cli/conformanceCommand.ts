import { writeFile } from "node:fs/promises";
import { type Cell, cellsOf } from "../conformance/cells.js";
import { readData } from "../conformance/data.js";
import { badgeOf, countsOf, junitOf, reportLines, reportOf, type ToldRun } from "../conformance/report.js";
import { run as serve } from "../conformance/runner.js";
import { type Context, checkPort, listenError, reasonOf, refuseOptions, UsageError } from "./context.js";
import { counted, isSilent, jsonLines, oneLine, type Terminal } from "./terminal.js";

interface ConformanceOptions {
  readonly port?: number;
  readonly only?: readonly string[];
  readonly except?: readonly string[];
  readonly large?: boolean;
  readonly list?: boolean;
  readonly badge?: string;
  readonly junit?: string;
  /** After how many seconds without a request the run ends. */
  readonly timeout?: number;
}

/** The defaults of the options of `tunerank conformance`. The timeout is in seconds. */
export const conformanceDefaults = { port: 4020, timeout: 120 } as const;
const longestTimeout = 86_400;

/** `tunerank conformance`: serves the conformance data to a client under test, and prints every difference. */
export async function run({ options, terminal, signal }: Context<ConformanceOptions>): Promise<void> {
  const { port = conformanceDefaults.port, timeout = conformanceDefaults.timeout } = options;
  if (options.list) refuseOptions(options, ["port", "timeout", "badge", "junit"], "has no effect on --list.");
  checkPort(port);
  if (!(timeout > 0 && timeout <= longestTimeout))
    throw new UsageError(`--timeout must be more than 0 and at most ${longestTimeout} seconds.`);
  const data = await readData();
  const every = cellsOf(data).filter(({ large }) => options.large || !large);
  const cells = chosen(every, options);
  if (options.list) return list(cells, terminal);
  const ended = await serve({
    cells,
    port,
    timeoutMs: timeout * 1000,
    signal,
    onListening: (url) => {
      const rows = cells.length;
      const asks = "a client asks with GET /next and posts to POST /outcome.";
      terminal.tell({ url, rows }, `${counted(rows, "test case")} on ${url}: ${asks}`);
    },
    onResult: ({ id, result, differences }) => {
      const what = result === "postponed" ? "served again later" : "failed";
      if (!isSilent(terminal) && differences.length > 0) terminal.note(oneLine(`${what}: ${id}`));
    },
    onRefusal: (refused) => terminal.tell({ refused }, `Refused a request of the client: ${refused}`),
  }).catch((error: Error) => {
    throw listenError(error, port);
  });
  const { results, cut } = ended;
  const told = { results, cut, counts: countsOf(results, every.length), revision: data.revision };
  if (terminal.json) terminal.print(jsonLines(reportOf(told)));
  else for (const line of reportLines(told)) terminal.print(withIndent(line));
  if (options.badge !== undefined) await write(options.badge, badgeOf(told.counts, told.revision), "badge");
  if (options.junit !== undefined) await write(options.junit, junitOf(told), "JUnit file");
  conclude(told);
}

function withIndent(line: string): string {
  return `${/^ */.exec(line)?.[0]}${oneLine(line)}`;
}

function chosen(cells: readonly Cell[], { only, except = [] }: ConformanceOptions): readonly Cell[] {
  const has = (parts: readonly string[], { id }: Cell): boolean => parts.some((part) => id.includes(part));
  const found = cells.filter((cell) => (only === undefined || has(only, cell)) && !has(except, cell));
  if (found.length === 0) throw new UsageError("--only matches no test case: --list prints their ids.");
  return found;
}

function list(cells: readonly Cell[], terminal: Terminal): void {
  const rows = cells.map(({ id, description, needs }) => ({ id, description, needs }));
  const lineOf = ({ id, description, needs }: (typeof rows)[number]): string =>
    oneLine(`${id}  ${description}${needs.length > 0 ? ` Needs ${needs.join(", ")}.` : ""}`);
  if (terminal.json) terminal.print(jsonLines(rows));
  else for (const row of rows) terminal.print(lineOf(row));
}

async function write(file: string, text: string, name: string): Promise<void> {
  await writeFile(file, text).catch((error: NodeJS.ErrnoException) => {
    throw new Error(`The ${name} cannot be written: ${reasonOf(error)}.`);
  });
}

// Throws, for exit code 1, unless every row (test case) was served, and all that were not skipped passed.
function conclude({ results, counts, cut }: ToldRun): void {
  if (cut !== undefined) throw new Error(cut);
  const { passed, failed, neverServed } = counts;
  if (failed > 0) throw new Error(`${failed} of ${counted(results.length, "test case")} failed.`);
  if (neverServed > 0)
    throw new Error(`${neverServed} of ${counted(results.length, "test case")} did not run.`);
  if (passed === 0) throw new Error("Every test case was skipped: nothing is certified.");
}
