import { readData } from "./data.js";
import { code, type Page, prose, sentence, table } from "./markdown.js";

/** A row of docs/data/generators.json about a generated client, as far as the docs read it. */
interface ClientRow {
  readonly tool: string;
  readonly version: string;
  readonly language: string;
  readonly document: string;
  readonly command: string;
  readonly compiled: "yes" | "no" | "parsed" | "generated only";
  readonly called: number;
  readonly callable: number;
  readonly jobs: number;
  readonly newer: boolean;
  readonly nulls: string;
  readonly errors: number;
  readonly errorRows: number;
  readonly date: string;
  readonly note: string;
}

/** A row about a linter. */
interface LinterRow {
  readonly tool: string;
  readonly version: string;
  readonly document: string;
  readonly command: string;
  readonly findings: string;
}

interface Results {
  readonly clients: readonly ClientRow[];
  readonly linters: readonly LinterRow[];
}

/** docs/data/generators.json as tables: a command to paste for each language, what came of it, and linters. */
export async function languagesPart(): Promise<Page> {
  const { clients, linters } = await readData<Results>("generators.json", "npm run check:generators");
  const tools = byTool(clients);
  const commands = tools.map(([first]) => [first?.language ?? "", code(first?.command ?? "")]);
  const results = tools.flatMap((rows) => rows.map(resultCells));
  const notes = clients
    .filter(({ note }) => note !== "")
    .map(({ tool, note }) => `- ${tool}: ${prose(sentence(note))}`);
  const text = [
    table(["Language", "Command"], commands),
    "\n## What came of each\n",
    "Made by `npm run check:generators`, with these commands and nothing else:\n",
    table(["Tool", "Document", "Compiled", "Calls", "Jobs", "Newer job", "Nulls", "Errors"], results),
    legend(clients),
    `\n## Good to know\n\n${[...new Set(notes)].join("\n")}`,
    "\n## Linters\n\nNone finds anything, on any published form.\n",
    table(["Linter", "Command", "Documents", "Findings"], lintersCells(linters)),
  ].join("\n");
  return { path: "parts/languages.md", text };
}

function byTool<Row extends { readonly tool: string }>(rows: readonly Row[]): Row[][] {
  const tools = new Map<string, Row[]>();
  for (const row of rows) tools.set(row.tool, [...(tools.get(row.tool) ?? []), row]);
  return [...tools.values()];
}

function resultCells(row: ClientRow): string[] {
  const { tool, version, document, compiled, called, callable, jobs, newer, nulls, errors, errorRows } = row;
  const version31 = document.includes("3.0") ? "3.0" : "3.1";
  const isCalled = compiled === "yes";
  const ofAll = (count: number, all: number) => (all === 0 ? "" : `${count} of ${all}`);
  return [
    `${tool} ${version}`,
    version31,
    compiled,
    isCalled ? ofAll(called, callable) : "",
    isCalled ? ofAll(jobs, 3) : "",
    isCalled ? (newer ? "read" : "refused") : "",
    isCalled ? (nulls === "read" ? "read" : "refused") : "",
    isCalled ? ofAll(errors, errorRows) : "",
  ];
}

function legend(clients: readonly ClientRow[]): string {
  const refused = clients.find(({ nulls }) => nulls !== "read" && nulls !== "");
  const [latest = ""] = clients
    .map(({ date }) => date)
    .sort()
    .reverse();
  return [
    "\n*Calls*: method, path, authorization, media type, body and file bytes equal what this package sends, and the",
    "answer was understood alike. *Jobs*: the contract's three examples. *Newer job*: unknown states, codes, schedules",
    "and fields, zeros and empty texts. *Nulls*: every optional field is `null`, which the document does not allow.",
    "*Errors*: each error answer of the conformance data, pages of proxies among them; its status was handed on.",
    refused === undefined ? "" : `\nWhat a client says that refuses nulls: ${code(shown(refused.nulls))}`,
    `\nMeasured on ${latest.replaceAll("-", "\u2011")}.`,
  ].join("\n");
}

function shown(nulls: string): string {
  return nulls.replace(/^job nulls: /, "").slice(0, 120);
}

function lintersCells(linters: readonly LinterRow[]): string[][] {
  return byTool(linters).map((rows) => {
    const [{ tool = "", version = "", command = "" } = {}] = rows;
    const found = [...new Set(rows.map(({ findings }) => findings))].join(", ");
    return [`${tool} ${version}`, code(command), String(rows.length), found];
  });
}
