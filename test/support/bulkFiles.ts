import type { ChildProcess } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, expect } from "vitest";
import { type CommandFaults, envOf, start, tunerank } from "./commandLine.js";
import { type Outcome, temporaryFolder } from "./project.js";
import type { ReceivedRequest, Reply } from "./recordingServer.js";
import { ranked } from "./responses.js";

/** The files of the bulk run of the test that runs, in a folder of its own. */
export let folder: string;
export let input: string;
export let output: string;
/** The folder of the parts. */
export let parts: string;

/** Gives each test these files. @param usual Options of each run @returns what runs the command on them */
export function useBulkFiles(
  server: { readonly url: string },
  ...usual: readonly string[]
): {
  (...more: string[]): Promise<Outcome>;
  /** Starts a run, whose file calls go wrong. */
  start(more: readonly string[], faults?: Omit<CommandFaults, "folder">): ChildProcess;
} {
  let remove: () => Promise<void>;
  beforeEach(async () => {
    ({ folder, remove } = await temporaryFolder());
    input = path.join(folder, "in.jsonl");
    output = path.join(folder, "out.jsonl");
    parts = `${output}.parts`;
  });
  afterEach(() => remove());
  const args = (more: readonly string[]) => ["bulk", input, "--output", output, ...usual, ...more];
  return Object.assign((...more: string[]) => tunerank(args(more), { baseUrl: server.url }), {
    start: (more: readonly string[], faults?: Omit<CommandFaults, "folder">) =>
      start(args(more), { baseUrl: server.url, ...(faults && { env: envOf({ folder, ...faults }) }) }),
  });
}

/** A row of an output or a part. */
export interface FileRow {
  readonly id?: string | number;
  readonly line?: number;
  readonly fingerprint?: string;
  readonly final?: boolean;
  readonly response?: { readonly model: string };
  readonly error?: { readonly code: string; readonly message: string; readonly executed?: string };
}

/** Lines of JSON. */
export function linesOf(...rows: readonly unknown[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join("");
}

/** The request `r0`, `r1` and so on, whose query is `q0`, `q1` and so on. */
export function requestOf(index: number, more: object = {}): object {
  return { id: `r${index}`, query: `q${index}`, documents: ["one", "two"], ...more };
}

/** Writes so many requests. */
export async function writeRequests(file: string, count: number): Promise<void> {
  await writeFile(file, linesOf(...Array.from({ length: count }, (_, index) => requestOf(index))));
}

/** The rows of a file. */
export function rowsOf(file: string): readonly FileRow[] {
  const text = readFileSync(file, "utf8");
  if (text !== "" && !text.endsWith("\n")) throw new Error("The last row has no end.");
  return text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

/** The paths of the parts of an output, the oldest first. */
export function partsThere(of: string = output): readonly string[] {
  if (!existsSync(`${of}.parts`)) return [];
  return readdirSync(`${of}.parts`)
    .filter((name) => name.endsWith(".jsonl"))
    .sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10))
    .map((name) => path.join(`${of}.parts`, name));
}

/** The ids that have a result in an output or in its parts, once each; lines that are no JSON do not count. */
export function idsKept(of: string = output): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const file of [of, ...partsThere(of)].filter((each) => existsSync(each))) {
    for (const line of readFileSync(file, "utf8").split("\n")) {
      try {
        const { id, response } = JSON.parse(line);
        if (response !== undefined) ids.add(id);
      } catch {
        // A line that was cut.
      }
    }
  }
  return ids;
}

/** Expects that each of so many requests has one row, with its own result, and that no part is left. */
export function expectWhole(count: number, of: string = output): void {
  const rows = rowsOf(of);
  const ids = Array.from({ length: count }, (_, index) => `r${index}`);
  expect(rows.map(({ id }) => id).sort()).toEqual(ids.sort());
  for (const { id, response } of rows) expect(response?.model).toBe(`for ${`${id}`.replace("r", "q")}`);
  expect(existsSync(`${of}.parts`)).toBe(false);
}

/** What a request asked for. */
export function queryOf({ body }: ReceivedRequest): string {
  return JSON.parse(`${body}`).query;
}

/** The queries that were sent more than once. */
export function sentTwice(requests: readonly ReceivedRequest[]): readonly string[] {
  const queries = requests.map(queryOf);
  return queries.filter((query, index) => queries.indexOf(query) < index);
}

/** A ranking whose model tells which query it ranks for. */
export function rankingOf(request: ReceivedRequest): Reply {
  return ranked(request, { model: `for ${queryOf(request)}`, usage: {} });
}
