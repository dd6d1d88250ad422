import { block, code, type Page, prose, sentence, table } from "./markdown.js";
import { readData } from "./measured.js";

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
}

interface Results {
  readonly clients: readonly ClientRow[];
}

/** docs/data/generators.json as a table: a command to paste for each language, and what came of it. */
export async function languagesPart(): Promise<Page> {
  const { clients } = await readData<Results>("generators.json", "npm run check:generators");
  const tools = byTool(clients);
  const rows = tools.flatMap(rowsOf);
  // Why one was not compiled here says nothing of the client.
  const notes = tools.flatMap(([{ tool = "", note = "", jobs = 0 } = {}]) =>
    note === "" || jobs === 0 ? [] : [`- ${tool}: ${prose(sentence(note))}`],
  );
  const text = [
    toGet(clients),
    table(["Language", "Command", "Calls", "Jobs", "Newer", "Nulls", "Errors", "Tool"], rows),
    legend(clients),
    `\n## Notes on the generators\n\n${notes.join("\n")}`,
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

function toGet(clients: readonly ClientRow[]): string {
  const commands = new Set(clients.flatMap(({ get }) => (get === "" ? [] : [get])));
  return `These commands get the tools, in the versions that were tested:\n\n${block("sh check", [...commands].join("\n"))}\n`;
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
  const dates = clients.map(({ date }) => date.replaceAll("-", "\u2011")).sort();
  const measured = [...new Set([dates[0], dates.at(-1)])].join(" to ");
  return [
    "",
    "- *Calls*: what was sent equals what this package sends, and the response is read as this package reads it.",
    "- *Jobs*: the three examples of a job in the OpenAPI document.",
    "- *Newer*: a job with unknown states, codes, schedules and fields, zeros and empty strings.",
    "- *Nulls*: a job in which every optional field is `null`, which the document does not allow.",
    "- *Errors*: error responses, pages of proxies among them, whose status the client passes on.",
    `\nMeasured on ${measured}.`,
  ].join("\n");
}
