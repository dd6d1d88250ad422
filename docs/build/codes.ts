import { readFile } from "node:fs/promises";
import { columns } from "../../scripts/generate/retryTable.js";
import type { Executed, StatusCode } from "../../src/errors/codes.js";
import { adviceFor as adviceOfCode } from "../../src/errors/hints.js";
import { httpStatuses, meanings, type OperationId } from "../../src/generated/contract.js";
import { blockOf } from "./blocks.js";
import type { Contract } from "./contract.js";
import { block, code, head, type Page, sentence, table } from "./markdown.js";

/** What a row of contract/conformance/retries.json expects of one operation. */
export interface Expected {
  readonly requests: number;
  readonly attempts?: number;
  /** Whether it is a valid response of this operation: then there is no error. */
  readonly value?: true;
  readonly code: string;
  readonly executed: string;
  readonly executedBecause: string;
  readonly notRetried: string;
}

/** A row of contract/conformance/retries.json, as far as the docs read it. */
export interface Row {
  readonly event: string;
  readonly description: string;
  readonly codeSource: "body" | "status" | "transport" | "client";
  readonly client?: Readonly<Record<string, unknown>>;
  readonly operations: Readonly<Record<OperationId, Expected>>;
}

/** The rows of a file in contract/conformance/ that are about one call whose requests all meet the same. */
export async function readRows<T>(file: string): Promise<readonly T[]> {
  const text = await readFile(new URL(`../../contract/conformance/${file}`, import.meta.url), "utf8");
  const { rows } = JSON.parse(text) as { rows: (T & { server?: object; client?: object })[] };
  return rows.filter(({ server = {}, client = {} }) => !("sequence" in server || "calls" in client));
}

/** How often each operation is repeated in a row's event, in the order of the columns. */
export function repeats(row: Row): number[] {
  return columns.map(({ operation }) => {
    const { requests, attempts = requests } = row.operations[operation];
    return Math.max(0, attempts - 1);
  });
}

/** What the operations of a row have in common, or each of their values. */
export function distinct(row: Row, key: "code" | "executed" | "notRetried"): string[] {
  return [...new Set(failures(row).map((expected) => expected[key]))];
}

function failures({ operations }: Row): Expected[] {
  return columns.map(({ operation }) => operations[operation]).filter(({ value }) => value === undefined);
}

// A "no" is certain where nothing was sent, and assumed where the request was rejected.
const readFrom: Readonly<Record<string, string>> = {
  "nothing-sent": "no: nothing sent",
  refused: "no: rejected",
};

/** What a row's error says of `executed`, as a cell: a "no" names what it is read from. */
export function executedCell(row: Row): string {
  const cells = failures(row).map(({ executed, executedBecause }) =>
    executed === "no" ? (readFrom[executedBecause] ?? executed) : executed,
  );
  return [...new Set(cells)].join(", ");
}

/** What the cells of {@link executedCell} mean, for below a table. */
export const executedNote =
  "`executed` says whether the operation ran. **No: nothing sent** is certain. **No: rejected** is [an assumption](/guide/unstated.md#refused): whether a rejected request did anything is not documented.";

/** What a dash of {@link repeatCells} means. */
export const dashNote = "A dash (–) means that such a response is valid for this operation.";

/** The retries of each operation as cells of a table: what is retried stands out, and a valid response has a dash. */
export function repeatCells(row: Row): string[] {
  return repeats(row).map((count, index) => {
    const { operation } = columns[index] as (typeof columns)[number];
    if (row.operations[operation].value) return "–";
    return count === 0 ? "0" : `**${count}**`;
  });
}

/** A row's description, with the options that make it what it is. */
export function describe({ description, client }: Row): string {
  const options = Object.entries(client ?? {}).map(([name, value]) =>
    // The data, which are for any language, keep the name that this option had.
    code(`${name === "repeatable" ? "idempotent" : name}: ${JSON.stringify(value)}`),
  );
  return options.length === 0 ? description : `${description} (${options.join(", ")})`;
}

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

// What a code's page begins with.
const shown = (page: string, file: string): string => {
  const { language, text } = blockOf(page, file);
  return `${block(language, text.trim())}\n\n`;
};

// What helps most, with code that its guide runs.
const first: Partial<Record<StatusCode, () => string>> = {
  RESOURCE_EXHAUSTED: () =>
    `A rate limit or a quota: the service gets too many requests, or too large ones. Slow down:

- If you know your rate limit, set \`rate\`. The requests are then spread evenly, and hardly any is rate limited:

${shown("guide/bulk.md", "rate.ts")}- If you do not know it, use [\`rerankAll\`](/guide/bulk.md#rate-and-concurrency) or [\`tunerank bulk\`](/guide/bulk.md#rank-from-a-file): they find the rate that the service allows. When it asks for a pause, all requests wait.
- If single calls are rate limited all day, send them less often: [throttle them](/guide/configure.md#throttle-requests), lower [\`concurrency\`](/guide/rerank.md#rank-many-items-in-batches) and [\`maxConnections\`](/guide/runtimes.md#connections-and-keep-alive), and cache responses that you need often.
- [Several machines](/recipes/several-machines.md) share one limit: give each its share of the rate, or put the calls into [a queue](/guide/beyond-one-machine.md) that limits them.

What the error says about it:

`,
  UNAVAILABLE: () => `Look at \`executed\` first:\n\n${shown("guide/errors.md", "executed.ts")}`,
  DEADLINE_EXCEEDED: () =>
    `Choose [the deadline](/guide/retries.md#deadlines) yourself:\n\n${shown("guide/retries.md", "deadline.ts")}`,
  UNAUTHENTICATED: () =>
    `Correct the key, or let it [renew itself](/guide/quickstart.md#rotate-the-key):\n\n${shown("guide/quickstart.md", "freshKey.ts")}`,
  CANCELLED: () =>
    `The caller's own \`signal\` [ended the call](/guide/retries.md#cancel-a-request):\n\n${shown("guide/retries.md", "cancel.ts")}`,
};

// As the mock server counts.
const requestId = "req-1";

/** What to do about a code: what helps most, then what its errors say. */
function adviceFor(name: StatusCode, rows: readonly Row[]): string {
  const states = new Set(rows.flatMap((row) => distinct(row, "executed"))) as Set<Executed>;
  const lines: string[] = [];
  if (states.has("no"))
    lines.push(`- \`executed: "no"\`: ${adviceOfCode({ code: name, executed: "no", requestId })}`);
  if (states.has("unknown") || states.has("yes")) {
    const open = [...states].filter((state) => state !== "no").sort();
    for (const { title, operation } of columns) {
      lines.push(
        `- ${title}, ${open.map((state) => `\`executed: "${state}"\``).join(" or ")}: ${linked(adviceOfCode({ code: name, executed: "unknown", operation, requestId }))}`,
      );
    }
  }
  return (first[name]?.() ?? "") + lines.join("\n");
}

// Where a hint sends somebody, a page says how to go there.
function linked(hint: string): string {
  const words = "the service's other operations";
  return hint.replace(words, `[${words}](/recipes/did-it-run.md)`);
}

/** One page for each code, and their list. */
export async function codePages(contract: Contract): Promise<Page[]> {
  const rows = await readRows<Row>("retries.json");
  const pages = Object.keys(httpStatuses).map((name) => ({
    path: `codes/${name}.md`,
    text: name === "OK" ? okPage() : codePage(name as StatusCode, rows, contract),
  }));
  return [...pages, { path: "codes/index.md", text: index(rows) }];
}

function index(rows: readonly Row[]): string {
  const lines = Object.entries(httpStatuses).map(([name, httpStatus]) => {
    const own = rows.filter((row) => named(row, name));
    const most = own.length === 0 ? columns.map(() => "") : mostRepeats(own).map(String);
    return [`[${code(name)}](/codes/${name}.md)`, String(httpStatus), meanings[name as StatusCode], ...most];
  });
  return [
    head(
      "Status codes",
      "The 17 codes of the service: HTTP status, meaning, and how often a call is retried.",
      { wide: true },
    ),
    "# Status codes\n",
    "`StatusError.code` is one of these, except `OK`. The numbers are the maximum number of retries, with `maxRetries: 2`,",
    "if the response body has the code.\n",
    table(["Code", "HTTP", "Meaning", ...columns.map(({ title }) => title)], lines),
  ].join("\n");
}

// Rows in which a plain response with the code's own status names it, and the client has no special options.
function named(row: Row, name: string): boolean {
  const fresh = row.client === undefined || row.client.apiKey === "function";
  return (
    row.codeSource === "body" && fresh && !/-on-/.test(row.event) && distinct(row, "code").includes(name)
  );
}

function mostRepeats(rows: readonly Row[]): number[] {
  const all = rows.map(repeats);
  return columns.map((_, column) => Math.max(...all.map((each) => each[column] ?? 0)));
}

function codePage(name: StatusCode, rows: readonly Row[], contract: Contract): string {
  const httpStatus = httpStatuses[name];
  const meaning = meanings[name];
  const own = rows.filter((row) => distinct(row, "code").includes(name));
  const rowsOf = (some: readonly Row[]) =>
    some.map((row) => [describe(row), ...repeatCells(row), executedCell(row)]);
  const columnsOf = ["What happened", ...columns.map(({ title }) => title), "executed"];
  const example = contract.errorExample(name);
  return [
    head(name, `${name} (HTTP ${httpStatus}): ${meaning}. What the client does, and what to do.`),
    `# ${name}\n`,
    `HTTP ${httpStatus}. ${sentence(meaning)}\n`,
    `## What to do\n\n${adviceFor(name, own)}\n`,
    `## What the client does\n\n${sentenceOfRepeats(own)} The numbers are retries, with \`maxRetries: 2\`.\n`,
    table(columnsOf, rowsOf(own)),
    `\n${executedNote}\n`,
    `[Every failure, with each status that is read as this code](/guide/decision-table.md) · [Retries and deadlines](/guide/retries.md)\n`,
    example === undefined
      ? ""
      : `## A response\n\nThe shape of an error's body is not documented. This is one of the [common shapes](/guide/error-bodies.md) that the client reads.\n\n${block("json", JSON.stringify(example, null, 2))}\n`,
  ].join("\n");
}

function sentenceOfRepeats(rows: readonly Row[]): string {
  if (Math.max(...mostRepeats(rows)) === 0) return "It never retries a call that ends with this code.";
  const safe =
    "A `read` and a `set` are idempotent. A `start` and an `append` are retried only when nothing was sent, when the service rejected the request and asks for a later retry, or when it says UNAVAILABLE.";
  return `It retries the call as the table says. ${safe}`;
}

function okPage(): string {
  return [
    head("OK", "OK (HTTP 200): success."),
    "# OK\n",
    "HTTP 200. Success.\n",
    "`OK` is not an error: the call succeeds. The `status` of a job can have this code too; then",
    "[`throwIfFailed`](/guide/resume.md) throws nothing. If a body names `OK` but the HTTP status is an error, the status",
    "decides.",
  ].join("\n");
}

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
      "How an error response is read",
      "Each shape of error body that is understood, with the code that is read from it.",
      { wide: true },
    ),
    "# How an error response is read\n",
    "The shape of an error body is [not documented](/guide/unstated.md), so the client reads every common one. A code in",
    'the body counts (`codeSource` is `"body"`); without one the HTTP status decides. The code is inferred if that',
    "status stands for several codes or for none. Each row is tested; the data are in",
    "[errors.json](/conformance/errors.json).\n",
    table(["Response", "Status", "Body", "Code", "Inferred"], lines),
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
