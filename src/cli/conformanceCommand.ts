import { writeFile } from "node:fs/promises";
import { cellsOf } from "../conformance/cells.js";
import { readData } from "../conformance/data.js";
import { badgeOf, countsOf, junitOf, reportLines, reportOf } from "../conformance/report.js";
import { run as serve } from "../conformance/runner.js";
import { type Context, cannotListen, reasonOf, refuseOptions, UsageError } from "./context.js";
import { counted } from "./terminal.js";

export const conformanceDefaults = { port: 4020, timeout: 120_000 } as const;
const longestSeconds = 86_400;

/** `tunerank conformance`: serves the conformance data to a client under test, and prints every difference. */
export async function run({ options, terminal, signal }: Context): Promise<void> {
  const { port = conformanceDefaults.port, timeout = conformanceDefaults.timeout } = options;
  const { only = [""], except = [], large = false } = options;
  if (options.list) refuseOptions(options, ["port", "timeout", "badge", "junit"], "has no effect on --list.");
  if (!(timeout > 0 && timeout <= longestSeconds * 1000))
    throw new UsageError(`--timeout must be more than 0 and at most ${longestSeconds} seconds.`);
  const data = await readData();
  const every = cellsOf(data).filter((cell) => large || !cell.large);
  const has = (parts: readonly string[], id: string): boolean => parts.some((part) => id.includes(part));
  const cells = every.filter(({ id }) => has(only, id) && !has(except, id));
  if (cells.length === 0) throw new UsageError("--only matches no test case: --list prints their ids.");
  if (options.list) {
    const rows = cells.map(({ id, description, needs }) => ({ id, description, needs }));
    const needing = (needs: readonly string[]) => (needs.length > 0 ? ` Needs ${needs.join(", ")}.` : "");
    const lines = rows.map(({ id, description, needs }) => `${id}  ${description}${needing(needs)}`);
    return terminal.result(rows, lines);
  }
  const { results, cut } = await serve({
    ...{ cells, port, timeoutMs: timeout, signal },
    onListening(url) {
      const asks = "a client asks with GET /next and posts to POST /outcome.";
      terminal.tell({ url, rows: cells.length }, `${counted(cells.length, "test case")} on ${url}: ${asks}`);
    },
    onResult({ id, result, differences }) {
      const what = result === "postponed" ? "served again later" : "failed";
      if (!terminal.isSilent && differences.length > 0) terminal.note(`${what}: ${id}`);
    },
    onRefusal: (refused) => terminal.tell({ refused }, `Refused a request of the client: ${refused}`),
  }).catch(cannotListen);
  const counts = countsOf(results, every.length);
  const told = { results, cut, counts, revision: data.revision };
  terminal.result(reportOf(told), reportLines(told));
  const files = { badge: badgeOf(counts, data.revision), junit: junitOf(told) };
  for (const option of ["badge", "junit"] as const)
    if (options[option] !== undefined)
      await writeFile(options[option], files[option]).catch((error: Error) => {
        throw new Error(`--${option} cannot be written: ${reasonOf(error)}.`);
      });
  // For exit code 1, unless every test case was served, and all that were not skipped passed.
  const { passed, failed, neverServed } = counts;
  const of = counted(results.length, "test case");
  if (cut !== undefined) throw new Error(cut);
  if (failed > 0) throw new Error(`${failed} of ${of} failed.`);
  if (neverServed > 0) throw new Error(`${neverServed} of ${of} did not run.`);
  if (passed === 0) throw new Error("Every test case was skipped: nothing is certified.");
}
