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
  readonly notHad: string;
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
  const rows = tools.map(([first, ...others]) => rowOf(first as ClientRow, others));
  const notes = tools.flatMap(([{ tool = "", note = "" } = {}]) =>
    note === "" ? [] : [`- ${tool}: ${prose(sentence(note))}`],
  );
  const text = [
    table(["Language", "Command", "Result"], rows),
    legend(clients),
    `\n## Good to know\n\n${notes.join("\n")}`,
    `\n## What could not be had\n\n${notHad(tools)}`,
    `\n## Linters\n\n${linted(linters)}\n`,
    table(["Linter", "Command", "Documents", "Findings"], lintersCells(linters)),
  ].join("\n");
  return { path: "parts/languages.md", text };
}

function byTool<Row extends { readonly tool: string }>(rows: readonly Row[]): Row[][] {
  const tools = new Map<string, Row[]>();
  for (const row of rows) tools.set(row.tool, [...(tools.get(row.tool) ?? []), row]);
  return [...tools.values()];
}

// One result where the tool makes the same of both documents.
function rowOf(first: ClientRow, others: readonly ClientRow[]): string[] {
  const documents = [first, ...others].map(({ document }) => (document.includes("3.0") ? "3.0" : "3.1"));
  const same = others.every((row) => resultOf(row) === resultOf(first));
  const results = same
    ? `${resultOf(first)} (OpenAPI ${documents.join(" and ")})`
    : [first, ...others].map((row, index) => `OpenAPI ${documents[index]}: ${resultOf(row)}`).join("; ");
  return [first.language, code(first.command), `${first.version}: ${results}`];
}

function resultOf({ compiled, called, callable, jobs, newer, nulls, errors, errorRows }: ClientRow): string {
  if (compiled === "no") return "**does not compile**";
  if (compiled !== "yes")
    return compiled === "parsed" ? "made and parsed, not compiled" : "made, not compiled";
  const found = [
    "compiles",
    ...(callable === 0 ? [] : [`${called} of ${callable} calls`]),
    ...(jobs === 0 ? [] : [`${jobs} of 3 jobs`]),
    ...(jobs === 0 ? [] : [`newer job ${newer ? "read" : "**refused**"}`]),
    ...(jobs === 0 ? [] : [`nulls ${nulls === "read" ? "read" : "refused"}`]),
    ...(errorRows === 0 ? [] : [`${errors} of ${errorRows} errors`]),
  ];
  return found.join(", ");
}

function legend(clients: readonly ClientRow[]): string {
  const refused = clients.find(({ nulls }) => nulls !== "read" && nulls !== "");
  const [latest = ""] = clients
    .map(({ date }) => date)
    .sort()
    .reverse();
  return [
    "\nThe number is the tool's version. `npm run check:generators` ran these commands and nothing else.",
    "*Calls*: method, path, authorization, media type, body and file bytes equal what this package sends, and the",
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

function notHad(tools: readonly (readonly ClientRow[])[]): string {
  const missing = tools.flatMap(([row]) => (row === undefined || row.notHad === "" ? [] : [row]));
  if (missing.length === 0) return "Nothing: every client was compiled with the toolchain that it names.";
  const lines = missing.map(({ tool, compiled, notHad: error }) => {
    const instead = compiled === "yes" ? "compiled in another way" : "not compiled";
    return `- ${tool}, ${instead}: ${code(error)}`;
  });
  return `The toolchains that were looked for where this was measured, and what was said:\n\n${lines.join("\n")}`;
}

function linted(linters: readonly LinterRow[]): string {
  const found = linters.filter(({ findings }) => findings !== "none");
  if (found.length === 0) return "None finds anything, on any published form.";
  return `Findings in ${found.map(({ document }) => document).join(", ")}.`;
}

function lintersCells(linters: readonly LinterRow[]): string[][] {
  return byTool(linters).map((rows) => {
    const [{ tool = "", version = "", command = "" } = {}] = rows;
    const found = [...new Set(rows.map(({ findings }) => findings))].join(", ");
    return [`${tool} ${version}`, code(command), String(rows.length), found];
  });
}
