// The broken clients of contract/conformance/mutants.json, each under the rows that must tell.
import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { type Cell, cellsOf } from "../../../src/conformance/cells.js";
import { readData } from "../../../src/conformance/data.js";
import { run } from "../../../src/conformance/runner.js";
import { root } from "../project.js";
import { findPython } from "./pythonClient.js";

/** A way in which a client breaks. */
export interface Mutant {
  readonly name: string;
  readonly sentence: string;
  readonly rule: string;
  readonly rows: readonly string[];
  readonly found?: string;
}

/** One that lives: nothing failed of what should, or it was not run to its end. */
export interface Survivor {
  readonly name: string;
  readonly why: string;
}

/** Runs a client to the end of its rows; undefined is the unbroken one. */
export type RunClient = (runner: string, mutant: string | undefined) => Promise<void>;

const folder = path.join(root, "contract/conformance");
const read = (file: string): unknown => JSON.parse(readFileSync(path.join(folder, file), "utf8"));

/** Every mutant. */
export const mutants: readonly Mutant[] = (read("mutants.json") as { mutants: readonly Mutant[] }).mutants;

/** The names of the mutants that a language has. @param language Its folder. */
export function namesOf(language: string): ReadonlySet<string> {
  return new Set(Object.keys(read(`${language}/mutants.json`) as object));
}

/** The rows that a client fails, with what differs. */
async function failedRows(
  ids: readonly string[],
  client: (runner: string) => Promise<void>,
): Promise<readonly string[]> {
  const cells = (await everyCell()).filter(({ id }) => ids.includes(id));
  if (cells.length !== ids.length) throw new Error(`Not all of these are rows: ${ids.join(", ")}.`);
  const stop = new AbortController();
  let ended = (): void => {};
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
    onResult: () => {},
    onRefusal: () => {},
  });
  return results
    .filter(({ result }) => result !== "passed")
    .map(({ id, result, differences }) => `${result}: ${id} (${differences.join("; ")})`);
}

let cells: Promise<readonly Cell[]> | undefined;

function everyCell(): Promise<readonly Cell[]> {
  cells ??= readData().then(cellsOf);
  return cells;
}

/** What the unbroken client fails of all these rows. */
export async function failedUnbroken(client: RunClient): Promise<readonly string[]> {
  return await failedRows([...new Set(mutants.flatMap(({ rows }) => rows))], (url) => client(url, undefined));
}

/** The mutants that live. @param workers How many run at once. */
export async function survivorsOf(
  names: ReadonlySet<string>,
  client: RunClient,
  workers: number,
): Promise<readonly Survivor[]> {
  const waiting = mutants.filter(({ name }) => names.has(name));
  const survivors: Survivor[] = [];
  const work = async (): Promise<void> => {
    for (let mutant = waiting.shift(); mutant; mutant = waiting.shift()) {
      const { name, rows } = mutant;
      const failed = await failedRows(rows, (url) => client(url, name));
      // One that breaks down is no proof.
      if (!failed.some((row) => row.startsWith("failed") && !row.endsWith("(no outcome was posted)")))
        survivors.push({ name, why: failed.join(", ") || "every row passed" });
    }
  };
  await Promise.all(Array.from({ length: workers }, work));
  return survivors;
}

const execute = promisify(execFile);

/** The Python client, whose program breaks it. */
export async function brokenPython(): Promise<RunClient> {
  const python = (await findPython()) ?? "python3";
  const program = path.join(folder, "python/certify.py");
  return async (runner, mutant) => {
    const env = { ...process.env, ...(mutant && { MUTANT: mutant }) };
    await execute(python, [program, runner, "4"], { env });
  };
}

interface Change {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** The Go client, of which a copy is broken. */
export async function brokenGo(): Promise<RunClient> {
  const changes = read("go/mutants.json") as Readonly<Record<string, readonly Change[]>>;
  return async (runner, mutant) => {
    const copy = mkdtempSync(path.join(tmpdir(), "tunerank-mutant-"));
    try {
      cpSync(folder, copy, { recursive: true });
      for (const change of changes[mutant ?? ""] ?? []) breakFile(path.join(copy, "go"), change);
      await execute("go", ["run", ".", runner], { cwd: path.join(copy, "go") });
    } finally {
      rmSync(copy, { recursive: true, force: true });
    }
  };
}

function breakFile(copy: string, { file, from, to }: Change): void {
  const parts = readFileSync(path.join(copy, file), "utf8").split(from);
  if (parts.length !== 2) throw new Error(`${file} has not one place with ${from}`);
  writeFileSync(path.join(copy, file), parts.join(to));
}
