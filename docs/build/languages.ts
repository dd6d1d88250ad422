import { readData } from "./data.js";
import { code, type Page, prose, sentence, table } from "./markdown.js";

/** A row of docs/data/generators.json, as far as the docs read it. */
interface ClientRow {
  readonly tool: string;
  readonly version: string;
  readonly language: string;
  readonly document: string;
  readonly compiled: boolean;
  readonly called: number;
  readonly callable: number;
  readonly errorRead: boolean;
  readonly date: string;
  readonly note: string;
}

/** docs/data/generators.json as a table. */
export async function languagesPart(): Promise<Page> {
  const { clients } = await readData<{ clients: ClientRow[] }>("generators.json", "npm run check:generators");
  const rows = clients.map((client) => [
    `${client.tool} ${client.version}`,
    client.language,
    code(client.document),
    client.compiled ? "yes" : "no",
    `${client.called} of ${client.callable}`,
    client.errorRead ? "yes" : "no",
    // The date stays on one line.
    client.date.replaceAll("-", "\u2011"),
  ]);
  const notes = clients
    .filter(({ note }) => note !== "")
    .map(({ tool, note }) => `- ${tool}: ${prose(sentence(note))}`);
  const text = [
    "Each row was made by `npm run check:generators`: the client is generated, compiled, and makes every call it can",
    "against one mock. Method, path, authorization, media type, bodies and file bytes must equal what this package sends.\n",
    table(["Tool", "Language", "Document", "Compiled", "Called", "Error read", "Date"], rows),
    `\n## Good to know\n\n${[...new Set(notes)].join("\n")}`,
  ].join("\n");
  return { path: "parts/languages.md", text };
}
