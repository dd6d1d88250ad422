import { readData } from "./data.js";
import { block, code, type Page, prose, sentence, table } from "./markdown.js";

/** A row of docs/data/generators.json about a generated client, as far as the docs read it. */
interface ClientRow {
  readonly tool: string;
  readonly version: string;
  readonly language: string;
  readonly document: string;
  readonly command: string;
  /** What gets the tool, where its command does not. */
  readonly get: string;
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
  const rows = tools.flatMap(rowsOf);
  const notes = tools.flatMap(([{ tool = "", note = "" } = {}]) =>
    note === "" ? [] : [`- ${tool}: ${prose(sentence(note))}`],
  );
  const text = [
    toGet(clients),
    table(["Language", "Command", "Calls", "Jobs", "Newer", "Nulls", "Errors", "Check"], rows),
    legend(clients),
    `\n## Notes on the generators\n\n${notes.join("\n")}`,
    `\n::: details Toolchains that were missing\n\n${notHad(tools)}\n\n:::`,
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

// One row where the tool makes the same of both documents.
function rowsOf(rows: readonly ClientRow[]): string[][] {
  const [first, ...others] = rows;
  if (first === undefined) return [];
  if (others.every((row) => String(resultOf(row)) === String(resultOf(first)))) return [rowOf(first, "")];
  return rows.map((row) => rowOf(row, row.document.includes("3.0") ? ", OpenAPI 3.0" : ", OpenAPI 3.1"));
}

function rowOf(row: ClientRow, of: string): string[] {
  const { language, command, tool, version } = row;
  return [language, code(command), ...resultOf(row), `${code(tool)} ${version}${of}`];
}

// Each tool once, whatever the number of its languages. The others are got by npx, or by a build.
function toGet(clients: readonly ClientRow[]): string {
  const commands = new Set(clients.flatMap(({ get }) => (get === "" ? [] : [get])));
  return `\`npx\` downloads some of the tools by itself. These commands install the others:\n\n${block("sh check", [...commands].join("\n"))}\n`;
}

function resultOf({
  compiled,
  called,
  callable,
  jobs,
  newer,
  nulls,
  errors,
  errorRows,
}: ClientRow): string[] {
  const of = (found: number, all: number): string => (all === 0 ? "" : `${found}/${all}`);
  const read = (isRead: boolean): string => (jobs === 0 ? "" : isRead ? "yes" : "no");
  return [
    callable > 0 ? of(called, callable) : compiled === "yes" ? "compiles" : compiled,
    of(jobs, jobs === 0 ? 0 : 3),
    read(newer),
    read(nulls === "read"),
    of(errors, errorRows),
  ];
}

function legend(clients: readonly ClientRow[]): string {
  const refused = clients.find(({ nulls }) => nulls !== "read" && nulls !== "");
  const [latest = ""] = clients
    .map(({ date }) => date)
    .sort()
    .reverse();
  return [
    "\nThe last column names the check of each row and the tool's version. To run a check again, run",
    "`npm run check:generators -- --only NAME`, with the name in quotes. It runs only the commands of this table.\n",
    "- *Calls*: method, path, authorization, media type, body and file bytes equal what this package sends. The client",
    "  reads the response as this package does, and the code that makes the call compiles.",
    "- *Jobs*: the three examples of a job in the OpenAPI document.",
    "- *Newer*: a job with unknown states, codes, schedules and fields, zeros and empty strings.",
    "- *Nulls*: a job in which every optional field is `null`, which the document does not allow.",
    "- *Errors*: the error responses of the conformance data, with pages of proxies among them. The client passes the",
    "  status on.",
    refused === undefined
      ? ""
      : `\nThe error of a client that does not accept nulls: ${code(shown(refused.nulls))}`,
    `\nMeasured on ${latest.replaceAll("-", "\u2011")}.`,
  ].join("\n");
}

function shown(nulls: string): string {
  return nulls.replace(/^job nulls: /, "").slice(0, 120);
}

function notHad(tools: readonly (readonly ClientRow[])[]): string {
  const missing = tools.flatMap(([row]) => (row === undefined || row.notHad === "" ? [] : [row]));
  if (missing.length === 0) return "None: every client was compiled with the toolchain that it names.";
  const lines = missing.map(({ tool, compiled, notHad: error }) => {
    const instead = compiled === "yes" ? "compiled in another way" : "not compiled";
    return `- ${tool}, ${instead}: ${code(error)}`;
  });
  return `These toolchains were missing on the machine that ran the checks. After each is the error message:\n\n${lines.join("\n")}`;
}

function linted(linters: readonly LinterRow[]): string {
  const found = linters.filter(({ findings }) => findings !== "none");
  // Not one of them, because the service states none of what it asks for.
  const owasp =
    "OWASP's ruleset for Spectral (`@stoplight/spectral-owasp-ruleset`) is not among them: it asks for limits of texts, numbers and lists, for rate limits and for CORS headers, which the service does not state and the contract does not invent.";
  if (found.length === 0) return `None finds anything, on any published form. ${owasp}`;
  return `Findings in ${found.map(({ document }) => document).join(", ")}.`;
}

function lintersCells(linters: readonly LinterRow[]): string[][] {
  return byTool(linters).map((rows) => {
    const [{ tool = "", version = "", command = "" } = {}] = rows;
    const found = [...new Set(rows.map(({ findings }) => findings))].join(", ");
    return [`${tool} ${version}`, code(command), String(rows.length), found];
  });
}
