// The README's table of retries, made of the conformance data.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type OperationId, operations, type RetryKind } from "../../src/generated/contract.js";
import { descriptions } from "../../src/generated/descriptions.js";
import type { RetryRow } from "./conformance/exchanges.js";
import { shortName } from "./document.js";

const begin = "<!-- The table is written by `npm run generate`. -->\n";
const end = "<!-- End of the table. -->\n";

type Entry = readonly [words: string, events: readonly string[]];

// The events that people meet most, in few words. Entries of one line share it while they have the same retries; the events
// of one entry must have them.
const lines: readonly (readonly Entry[])[] = [
  [
    ["no connection was made", ["refused", "connect-stalls"]],
    ["the response body has the code UNAVAILABLE", ["unavailable-named"]],
  ],
  [["RESOURCE_EXHAUSTED (429) with a Retry-After of at most 60 s", ["exhausted-named-retry-after"]]],
  [
    ["RESOURCE_EXHAUSTED (429) without Retry-After", ["exhausted-named"]],
    ["no response within `attemptTimeoutMs`", ["attempt-timeout"]],
    ["DEADLINE_EXCEEDED (504)", ["deadline-named", "status-504"]],
    ["500 without a code", ["status-500"]],
  ],
  [
    ["connection lost before the response", ["reset-before-headers"]],
    ["502, 503, 52x without a code", ["status-502-html", "status-503", "status-520"]],
  ],
  [
    ["401, with a key from a function", ["status-401-fresh-key"]],
    ["421", ["status-421"]],
    ["425", ["status-425"]],
  ],
  [["400, 403, 404, 409, 501", ["status-400", "status-403", "status-404", "status-409", "status-501"]]],
];

/** The README with its table as the decisions have it now. */
export function withRetryTable(readme: string, rows: readonly RetryRow[]): string {
  const from = readme.indexOf(begin);
  const to = readme.indexOf(end);
  if (from < 0 || to < from) throw new Error("README.md has no place for the table of retries.");
  return readme.slice(0, from + begin.length) + tableOf(rows) + readme.slice(to);
}

function tableOf(rows: readonly RetryRow[]): string {
  // The names of the retry classes are explained in the guide.
  const titles = columns.map(({ names }) => names);
  const body = lines.flatMap((entries) => linesOf(entries, rows)).join("");
  return `| What happened | ${titles.join(" | ")} |\n|---|${"---|".repeat(titles.length)}\n${body}`;
}

function linesOf(entries: readonly Entry[], rows: readonly RetryRow[]): readonly string[] {
  const words = new Map<string, string[]>();
  for (const entry of entries) {
    const retries = retriesAfter(entry, rows).join(" | ");
    words.set(retries, [...(words.get(retries) ?? []), entry[0]]);
  }
  return [...words].map(([retries, said]) => `| ${said.join(", or ")} | ${retries} |\n`);
}

function retriesAfter([words, events]: Entry, rows: readonly RetryRow[]): readonly number[] {
  const [first = [], ...others] = events.map((event) => retriesOf(event, rows));
  if (others.every((each) => each.join() === first.join())) return first;
  throw new Error(
    `${placeOf(words)}: "${words}" stands for rows that no longer have the same retries (${events.join(", ")}). Write an entry for each.`,
  );
}

function placeOf(words: string): string {
  const before = readFileSync(fileURLToPath(import.meta.url), "utf8").split(words)[0] ?? "";
  return `scripts/generate/retryTable.ts:${before.split("\n").length}`;
}

function retriesOf(event: string, rows: readonly RetryRow[]): readonly number[] {
  const row = rows.find((each) => each.event === event);
  if (row === undefined) throw new Error(`The conformance data has no row ${event}.`);
  return columns.map(({ operation }) => {
    const { requests, attempts = requests } = row.operations[operation];
    return attempts - 1;
  });
}

// The columns of every table of retries: the kinds of operations, with the operations of each.

/** A kind of operations, by the words of a table's head. */
export interface Column {
  readonly kind: RetryKind;
  /** The names of its operations, with commas. */
  readonly names: string;
  /** Such as "set (scale)". */
  readonly title: string;
  /** One of them: the others are retried alike. */
  readonly operation: OperationId;
}

const kinds: readonly RetryKind[] = ["start", "read", "set", "append"];

// The whole name where the short one says it of two.
function nameOf(id: OperationId): string {
  const { method } = descriptions[id];
  const all = Object.values(descriptions).map((each) => shortName(each.method));
  const own = shortName(method);
  return all.filter((name) => name === own).length > 1 ? method : own;
}

/** The kinds that the contract has operations of. */
export const columns: readonly Column[] = kinds.flatMap((kind) => {
  const ids = (Object.keys(operations) as OperationId[]).filter((id) => operations[id].kind === kind);
  const [operation] = ids;
  const names = ids.map(nameOf).join(", ");
  return operation === undefined ? [] : [{ kind, names, title: `${kind} (${names})`, operation }];
});
