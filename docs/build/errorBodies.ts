import { readRows } from "./conformance.js";
import { code, head, type Page, table } from "./markdown.js";

interface ErrorRow {
  readonly name: string;
  readonly status: number;
  readonly body?: string;
  readonly code: string;
  readonly inferred: boolean;
  readonly message: string | null;
}

const longest = 110;

/** The page that holds every row of contract/conformance/errors.json. */
export async function errorBodyPages(): Promise<Page[]> {
  const rows = await readRows<ErrorRow>("errors.json");
  const lines = rows.map((row) => [
    row.name.replaceAll("<", "&lt;"),
    String(row.status),
    bodyOf(row),
    `[${code(row.code)}](/codes/${row.code}.md)`,
    row.inferred ? "yes" : "no",
  ]);
  const text = [
    head(
      "How an error answer is read",
      "Each shape of error body that is understood, with the code that is read from it.",
      { wide: true },
    ),
    "# How an error answer is read\n",
    "The shape of an error body is [not documented](/guide/unstated.md), so the client reads every common one. A code in",
    'the body counts (`codeSource` is `"body"`); without one the HTTP status decides, and the code is inferred if that',
    "status has several or none. Each row is tested; the data: [errors.json](/conformance/errors.json).\n",
    table(["Answer", "Status", "Body", "Code", "Inferred"], lines),
  ].join("\n");
  return [{ path: "guide/error-bodies.md", text }];
}

function bodyOf({ body }: ErrorRow): string {
  if (body === undefined) return "not UTF-8";
  if (body.trim() === "") return "empty";
  const line = body.replaceAll(/\s+/g, " ").replaceAll("`", "'");
  // A control character of a row would end the page's text.
  const shown = line.length > longest ? `${line.slice(0, longest)} …` : line;
  return code(shown.replaceAll(/\p{Cc}|\ufeff/gu, "·"));
}
