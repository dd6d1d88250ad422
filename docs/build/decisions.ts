import { columns } from "../../scripts/generate/columns.js";
import {
  dashNote,
  describe,
  distinct,
  executedCell,
  executedNote,
  type Row,
  readRows,
  repeatCells,
} from "./conformance.js";
import { code, head, type Page, table } from "./markdown.js";

// What people ask about most, in the words of the guide; the full table holds the rest.
const main: readonly (readonly [event: string, words: string])[] = [
  ["refused", "no connection was made"],
  ["name-not-found", "the host name is unknown"],
  ["unavailable-named", "the response body has the code `UNAVAILABLE`"],
  ["exhausted-named-retry-after", "`RESOURCE_EXHAUSTED` (429) with a `Retry-After` of at most 60 s"],
  ["exhausted-named", "`RESOURCE_EXHAUSTED` (429) without `Retry-After`"],
  ["status-502-html", "502, 503 or 52x from a proxy, without a code"],
  ["reset-before-headers", "the connection is lost before the response"],
  ["attempt-timeout", "no response within `attemptTimeoutMs`"],
  ["deadline-named", "`DEADLINE_EXCEEDED`, 504 or 408"],
  ["status-500", "500 without a code"],
  ["internal-named", "the response body has the code `INTERNAL` or `UNKNOWN`"],
  ["body-truncated", "a 200, and the connection is lost before the end of its body"],
  ["not-json-text", "a 200 that is not JSON, nor a web page"],
  ["html", "a 200 that is a web page"],
  ["incomplete-other", "a 200 whose JSON lacks a required field"],
  ["status-401-fresh-key", "401, with a key from a function"],
  ["status-421", "421 (misdirected request) or 425 (too early), without a code"],
  ["not-found-named", "any other rejection: 400, 403, 404, 409, 501"],
  ["data-loss-named", "`DATA_LOSS`"],
  ["status-307", "a redirect: never followed"],
];

const sections: Readonly<Record<Row["codeSource"], string>> = {
  body: "The response has a code",
  status: "The response has no code",
  transport: "The network fails",
  client: "The client ends the call, or an argument is invalid",
};

/** The short table of the guide, and the page that holds every row of contract/conformance/retries.json. */
export async function decisionPages(): Promise<Page[]> {
  const rows = await readRows<Row>("retries.json");
  return [
    { path: "parts/decisions.md", text: shortTable(rows) },
    { path: "guide/decision-table.md", text: fullTable(rows) },
  ];
}

function shortTable(rows: readonly Row[]): string {
  const lines = main.map(([event, words]) => {
    const row = rows.find((each) => each.event === event);
    if (row === undefined) throw new Error(`contract/conformance/retries.json has no row ${event}.`);
    return [`[${words}](/guide/decision-table.md#${event})`, ...repeatCells(row), executedCell(row)];
  });
  return `${table(["What happened", ...columns.map(({ title }) => title), "executed"], lines)}\n\n${executedNote} ${dashNote}`;
}

function fullTable(rows: readonly Row[]): string {
  const parts = Object.entries(sections).map(([source, title]) => {
    const own = rows.filter(({ codeSource }) => codeSource === source);
    const lines = own.map((row) => [
      `<span id="${row.event}">${describe(row)}</span>`,
      ...repeatCells(row),
      executedCell(row),
      codesOf(row),
      distinct(row, "notRetried").map(code).join(", "),
    ]);
    const titles = ["What happened", ...columns.map(({ title }) => title), "executed", "code", "notRetried"];
    return `## ${title}\n\n${table(titles, lines)}`;
  });
  return [
    head(
      "Every failure and its retries",
      "Every failure and every operation: how often a call is retried, and what its error says.",
      { wide: true },
    ),
    "# Every failure and its retries\n",
    "This decision table has the maximum number of retries after each failure, with the default of `maxRetries: 2`, and what the error of the call says.",
    "[`notRetried`](/guide/errors.md#why-was-it-not-retried) is why there was no retry. A test of each row",
    "counts the requests that reach a real server. [The rules](/guide/retries.md), and",
    "[the same data](/conformance/retries.json) for any language.\n",
    `${executedNote} ${dashNote}\n`,
    ...parts.map((part) => `${part}\n`),
  ].join("\n");
}

function codesOf(row: Row): string {
  return distinct(row, "code")
    .map((name) => `[${code(name)}](/codes/${name}.md)`)
    .join(", ");
}
