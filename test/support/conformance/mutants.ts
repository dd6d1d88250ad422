// The broken clients of contract/conformance/mutants.json, each under the rows that must tell.
import { readFileSync } from "node:fs";
import path from "node:path";
import type { Cell } from "../../../src/conformance/cell.js";
import { cellsOf } from "../../../src/conformance/cells.js";
import { readData } from "../../../src/conformance/data.js";
import { run } from "../../../src/conformance/runner.js";
import type { RowResult } from "../../../src/conformance/session.js";
import { root } from "../project.js";
import { type Change, certifyClient, type Language } from "./clients.js";

/** A way in which a client breaks. */
interface Mutant {
  readonly name: string;
  readonly sentence: string;
  readonly rule: string;
  readonly rows: readonly string[];
  readonly found?: string;
}

/** A mutant that lives: nothing failed of what should, or it was not run to its end. */
interface Survivor {
  readonly name: string;
  readonly why: string;
}

/** Runs a client to the end of its rows; undefined is the unbroken one. */
type RunClient = (runner: string, mutant: string | undefined) => Promise<void>;

const read = (file: string): unknown => JSON.parse(readFileSync(path.join(root, file), "utf8"));

/** Every mutant. */
export const mutants: readonly Mutant[] = (
  read("contract/conformance/mutants.json") as { mutants: readonly Mutant[] }
).mutants;

/** By language and mutant, what is changed in the client. */
export const broken = read("test/support/conformance/broken.json") as Readonly<
  Partial<Record<Language, Readonly<Record<string, readonly Change[]>>>>
>;

/** The names of the mutants that a language has. */
export function namesOf(language: Language): ReadonlySet<string> {
  return new Set(Object.keys(broken[language] ?? {}));
}

/**
 * The rows that a client does not pass, with what differs.
 * @param isEnough Whether the first difference ends the run: a row that could be served again, on a busy machine, is not.
 */
async function failedRows(
  ids: readonly string[],
  client: (runner: string) => Promise<void>,
  isEnough = false,
): Promise<readonly string[]> {
  const cells = (await everyCell()).filter(({ id }) => ids.includes(id));
  if (cells.length !== ids.length) throw new Error(`Not all of these are rows: ${ids.join(", ")}.`);
  const stop = new AbortController();
  let ended = (): void => {};
  const first: RowResult[] = [];
  const { results } = await run({
    cells,
    port: 0,
    timeoutMs: 90_000,
    signal: stop.signal,
    onListening: (url) => {
      // One that breaks down has failed what it leaves.
      client(url)
        .catch(() => {})
        .finally(() => ended());
      ended = () => setTimeout(() => stop.abort(), 500);
    },
    onResult: (told) => {
      if (!isEnough || told.differences.length === 0) return;
      first.push({ ...told, result: "failed" });
      stop.abort();
    },
    onRefusal: () => {},
  });
  return [...first, ...results.filter(({ result }) => result !== "passed")].map(
    ({ id, result, differences }) => `${result}: ${id} (${differences.join("; ")})`,
  );
}

let cells: Promise<readonly Cell[]> | undefined;

/** Every row, for each operation. */
export function everyCell(): Promise<readonly Cell[]> {
  cells ??= readData().then(cellsOf);
  return cells;
}

/** What the unbroken client fails of the rows that must tell of these mutants. */
export async function failedUnbroken(
  client: RunClient,
  names: ReadonlySet<string>,
): Promise<readonly string[]> {
  const rows = mutants.flatMap((mutant) => (names.has(mutant.name) ? mutant.rows : []));
  return await failedRows([...new Set(rows)], (url) => client(url, undefined));
}

/** The mutants that live. @param workers How many run at once. */
export async function survivorsOf(
  names: ReadonlySet<string>,
  client: RunClient,
  workers: number,
): Promise<readonly Survivor[]> {
  const chosen = mutants.filter(({ name }) => names.has(name));
  // Drawn waits are judged on a quiet machine: one client at a time. Of the others, those that take longest come first.
  const isDrawn = ({ rows }: Mutant): boolean => rows.some((row) => row.includes("/jitter-"));
  const takesLong = ({ rows }: Mutant): number => Number(rows.some((row) => row.includes("/default-")));
  let waiting = chosen.filter((mutant) => !isDrawn(mutant)).sort((a, b) => takesLong(b) - takesLong(a));
  const survivors: Survivor[] = [];
  const work = async (): Promise<void> => {
    for (let mutant = waiting.shift(); mutant; mutant = waiting.shift()) {
      const { name, rows } = mutant;
      const failed = await failedRows(rows, (url) => client(url, name), true);
      // One that breaks down is no proof.
      if (!failed.some((row) => row.startsWith("failed") && !row.endsWith("(no outcome was posted)")))
        survivors.push({ name, why: failed.join(", ") || "every row passed" });
    }
  };
  await Promise.all(Array.from({ length: workers }, work));
  // Beside others, a request takes as long as the wait that is left out: who lives is judged alone, too.
  const living = new Set(survivors.splice(0).map(({ name }) => name));
  waiting = chosen.filter((mutant) => isDrawn(mutant) || living.has(mutant.name));
  await work();
  return survivors;
}

/** A client of a language: each run is of a copy, broken in the way that is named. */
export function brokenClient(language: Language, workers = 4): RunClient {
  return async (runner, mutant) => {
    const how = mutant === undefined ? [] : broken[language]?.[mutant];
    if (!how) throw new Error(`${language} is not broken by ${mutant}.`);
    await certifyClient(language, runner, { changes: how, workers: mutant === undefined ? 16 : workers });
  };
}
