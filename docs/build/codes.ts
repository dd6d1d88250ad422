import { columns } from "../../scripts/generate/columns.js";
import type { Executed, StatusCode } from "../../src/errors/codes.js";
import { adviceFor as adviceOfCode } from "../../src/errors/hints.js";
import { httpStatuses, meanings } from "../../src/generated/contract.js";
import { codeOfHttpStatus } from "../../src/policy/decisions.js";
import { blockOf } from "./blocks.js";
import {
  describe,
  distinct,
  executedCell,
  executedNote,
  type Row,
  readRows,
  repeatCells,
  repeats,
} from "./conformance.js";
import type { Contract } from "./contract.js";
import { block, code, head, type Page, sentence, table } from "./markdown.js";

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

${shown("guide/bulk.md", "rate.ts")}- If you do not know it, use [\`rerankAll\`](/guide/bulk.md#rate-and-concurrency) or [\`tunerank rerank --bulk\`](/guide/bulk.md#rank-from-a-file): they find the rate that the service allows. When it asks for a pause, all requests wait.
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
    lines.push(`- \`executed: "no"\`: ${adviceOfCode({ code: name, executed: "no", requestId }, "")}`);
  if (states.has("unknown") || states.has("yes")) {
    const open = [...states].filter((state) => state !== "no").sort();
    for (const { title, operation } of columns) {
      lines.push(
        `- ${title}, ${open.map((state) => `\`executed: "${state}"\``).join(" or ")}: ${linked(adviceOfCode({ code: name, executed: "unknown", operation, requestId }, ""))}`,
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
    '<TableFilter label="Find a code">\n',
    table(["Code", "HTTP", "Meaning", ...columns.map(({ title }) => title)], lines),
    "\n</TableFilter>",
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

// Rows that differ in their HTTP status alone become one: "520, 521: probably a proxy."
function withoutRepetition(rows: readonly Row[]): Row[] {
  const merged = new Map<string, Row>();
  for (const row of rows) {
    const [, status, rest] = /^(\d{3})( .*|:.*)$/.exec(row.description) ?? [];
    const key = status === undefined ? row.event : JSON.stringify([rest, row.client, repeats(row)]);
    const earlier = merged.get(key);
    const description = earlier
      ? `${earlier.description.slice(0, -(rest?.length ?? 0))}, ${row.description}`
      : row.description;
    merged.set(key, { ...row, description });
  }
  return [...merged.values()];
}

function codePage(name: StatusCode, rows: readonly Row[], contract: Contract): string {
  const httpStatus = httpStatuses[name];
  const meaning = meanings[name];
  const own = rows.filter((row) => distinct(row, "code").includes(name));
  const rowsOf = (some: readonly Row[]) =>
    withoutRepetition(some).map((row) => [describe(row), ...repeatCells(row), executedCell(row)]);
  const columnsOf = ["What happened", ...columns.map(({ title }) => title), "executed"];
  const forms = own.filter(isForm);
  const sharing = Object.keys(httpStatuses).filter(
    (each) => each !== name && httpStatuses[each as StatusCode] === httpStatus,
  );
  const shared = sharing.map((each) => `[${code(each)}](/codes/${each}.md)`).join(" and ");
  const example = contract.errorExample(name);
  return [
    head(name, `${name} (HTTP ${httpStatus}): ${meaning}. What the client does, and what to do.`),
    `# ${name}\n`,
    `HTTP ${httpStatus}. ${sentence(meaning)}\n`,
    sharing.length === 0
      ? ""
      : `${shared} ${sharing.length === 1 ? "has" : "have"} the same status. A response without a code is read as ${readAs(httpStatus)}.\n`,
    `## What to do\n\n${adviceFor(name, own)}\n`,
    `## What the client does\n\n${sentenceOfRepeats(own)} The numbers are retries, with \`maxRetries: 2\`.\n`,
    table(columnsOf, rowsOf(own.filter((row) => !isForm(row)))),
    `\n${executedNote}\n`,
    `[Every failure](/guide/decision-table.md) · [Retries and deadlines](/guide/retries.md)\n`,
    `## Statuses read as this code\n\n${statusesOf(name)}\n`,
    example === undefined
      ? ""
      : `## A response\n\nThe shape of an error's body is not documented. This is one of the [common shapes](/guide/error-bodies.md) that the client reads.\n\n${block("json", JSON.stringify(example, null, 2))}\n`,
    forms.length === 0 ? "" : `## Formats of Retry-After\n\n${table(columnsOf, rowsOf(forms))}\n`,
  ].join("\n");
}

// Rows that differ in how a response says how long to wait, which few need to know.
function isForm({ description }: Row): boolean {
  return /\bdate\b|RetryInfo|milliseconds|decimals|several times|neither a number/.test(description);
}

function readAs(httpStatus: number): string {
  const { code: read } = codeOfHttpStatus(httpStatus);
  return `[${code(read)}](/codes/${read}.md), with \`inferred: true\``;
}

function sentenceOfRepeats(rows: readonly Row[]): string {
  if (Math.max(...mostRepeats(rows)) === 0) return "It never retries a call that ends with this code.";
  const safe =
    "A `read` and a `set` are idempotent. A `start` and an `append` are retried only when nothing was sent, when the service rejected the request and asks for a later retry, or when it says UNAVAILABLE.";
  return `It retries the call as the table says. ${safe}`;
}

function statusesOf(name: StatusCode): string {
  const found: { certain: number[]; inferred: number[] } = { certain: [], inferred: [] };
  for (let status = 300; status < 600; status++) {
    const read = codeOfHttpStatus(status);
    // Every status without a code of its own is UNKNOWN.
    if (read.code === "UNKNOWN" && status !== httpStatuses.UNKNOWN) continue;
    if (read.code === name) found[read.inferred ? "inferred" : "certain"].push(status);
  }
  const rest = name === "UNKNOWN" ? " Every other status without a code is read as this one, too." : "";
  const parts = [ranges(found.certain), ranges(found.inferred) && `${ranges(found.inferred)} (inferred)`];
  const list = parts.filter((part) => part !== "").join("; ");
  return list === "" ? "None. Only a body can have this code." : `If the body has no code: ${list}.${rest}`;
}

// 300, 301, 302 is "300 to 302".
function ranges(statuses: readonly number[]): string {
  const found: [from: number, to: number][] = [];
  for (const status of statuses) {
    const last = found.at(-1);
    if (last?.[1] === status - 1) last[1] = status;
    else found.push([status, status]);
  }
  return found.map(([from, to]) => (from === to ? `${from}` : `${from} to ${to}`)).join(", ");
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
    "The names of the rows use these words:\n",
    "- **Google's shape** is the `error` object of Google's APIs. Its `code` is an HTTP status, so a gRPC number in it is",
    "  not read.",
    "- **grpc-gateway** and **Connect** carry gRPC over plain HTTP. grpc-gateway sends the gRPC number of a code, which is read",
    "  only on **its own status**: the HTTP status of that code. Connect sends the code's name in lower case.",
    "- **Flat** means that `code` is not inside an `error` object. The name of a code is read on any status.",
    "- **A before B** means that the client reads A and ignores B.",
    "- **A code of nobody** is none of the 16 codes. **A name of the language** is a property of every JavaScript object.\n",
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
