import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { root } from "./toolchains.js";

/** A client that a tool made from a document; a row of docs/data/generators.json. */
export interface ClientRow {
  readonly tool: string;
  readonly version: string;
  readonly language: string;
  readonly document: string;
  /** The command of the tool's manual. */
  readonly command: string;
  /** The command that gets the tool; empty where the command above needs none. */
  readonly get: string;
  readonly compiled: "yes" | "no" | "parsed" | "generated only";
  /** The operations whose request and response were right. */
  readonly called: number;
  /** The operations that the tool can make a client for and that were tried. */
  readonly callable: number;
  readonly errorRead: boolean;
  /** The example jobs that were read. */
  readonly jobs: number;
  /** Whether the job of a newer service was read. */
  readonly newer: boolean;
  /** What became of a job with nulls: "read", or what was said of it. */
  readonly nulls: string;
  /** The error responses whose status was handed on, of those that were tried. */
  readonly errors: number;
  readonly errorRows: number;
  readonly date: string;
  readonly note: string;
  /** What could not be had for the client's own build: a command, and its error. */
  readonly notHad: string;
}

/** What schemathesis found while something served a document; a row of docs/data/generators.json. */
export interface SchemathesisRow {
  readonly tool: "schemathesis";
  readonly version: string;
  readonly server: string;
  readonly document: string;
  readonly operations: number;
  readonly requests: number;
  readonly failures: number;
  readonly date: string;
}

/** What a linter found in a document; a row of docs/data/generators.json. */
export interface LinterRow {
  readonly tool: string;
  readonly version: string;
  readonly document: string;
  readonly command: string;
  readonly findings: string;
  readonly date: string;
}

/** What came of one tool and one document. */
export interface Result<Row = ClientRow | SchemathesisRow | LinterRow> {
  readonly row: Row;
  /** The toolchains that were not there; then nothing was tried. */
  readonly skippedFor: readonly string[];
  readonly problems: readonly string[];
}

export function today(): string {
  return new Date().toISOString().slice(0, 10);
}

/** Says at once what came of a tool. */
export function printResult({ row, skippedFor, problems }: Result, seconds: number): void {
  const what = skippedFor.length > 0 ? "SKIPPED" : problems.length > 0 ? "FAILED" : "ok";
  console.log(`${what}  ${row.tool} ${row.version}, ${row.document}  (${seconds.toFixed(1)} s)`);
  for (const problem of problems) console.error(`  ${problem.replaceAll("\n", "\n  ")}`);
}

export function printTable(results: readonly Result[]): void {
  const lines = results.map(cellsOf);
  const width = (column: number): number => Math.max(...lines.map((line) => line[column]?.length ?? 0));
  console.log();
  for (const line of lines) {
    console.log(line.map((cell, column) => cell.padEnd(line.length > 4 ? width(column) : 0)).join("  "));
  }
}

function cellsOf({ row, skippedFor }: Result): string[] {
  const { tool, version, document } = row;
  if (skippedFor.length > 0) return [tool, version, document, `SKIPPED: no ${skippedFor.join(", no ")}`];
  if ("failures" in row) {
    const { server, operations, requests, failures } = row;
    return [
      tool,
      version,
      document,
      `against ${server}`,
      `${operations} tested`,
      `${requests} requests`,
      `${failures} failures`,
    ];
  }
  if ("findings" in row) return [tool, version, document, `findings: ${row.findings}`];
  const { compiled, called, callable, jobs, newer, nulls, errors, errorRows } = row;
  const build = compiled === "yes" ? "compiled" : compiled === "no" ? "NOT COMPILED" : compiled;
  if (compiled === "generated only" || compiled === "parsed")
    return [tool, version, document, `${build}: ${row.notHad}`];
  const read = `${jobs} jobs read, newer ${newer ? "read" : "NOT READ"}, nulls ${nulls === "read" ? nulls : "refused"}`;
  return [
    tool,
    version,
    document,
    build,
    `${called} of ${callable} called`,
    read,
    `${errors} of ${errorRows} errors`,
  ];
}

/** Keeps the results for the docs. */
export async function writeResults(results: readonly Result[]): Promise<void> {
  const rows = results.map(({ row }) => row);
  const data = {
    clients: rows.filter((row) => "called" in row),
    linters: rows.filter((row) => "findings" in row),
    schemathesis: rows.filter((row) => "failures" in row),
  };
  const folder = join(root, "docs/data");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "generators.json"), `${JSON.stringify(data, null, 2)}\n`);
}
