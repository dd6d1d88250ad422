// The README's table of retries, made of the conformance data.
import { columns } from "./columns.js";
import type { RetryRow } from "./conformance/rows.js";

const begin = "<!-- The table is written by `npm run generate`. -->\n";
const end = "<!-- End of the table. -->\n";

// The events that people meet most, in few words; those of one line have the same retries.
const lines: readonly (readonly [words: string, events: readonly string[]])[] = [
  [
    "no connection was made; the service itself says UNAVAILABLE",
    ["refused", "connect-stalls", "unavailable-named"],
  ],
  ["RESOURCE_EXHAUSTED (429) with Retry-After up to 60 s", ["exhausted-named-retry-after"]],
  [
    "RESOURCE_EXHAUSTED without a time; DEADLINE_EXCEEDED; a bare 500",
    ["exhausted-named", "deadline-named", "status-500"],
  ],
  [
    "connection lost before the answer; 502, 503, 52x without a code",
    ["reset-before-headers", "status-502-html", "status-503", "status-520"],
  ],
  ["401, when `apiKey` is a function: once more with a fresh key", ["status-401-fresh-key"]],
  [
    "any other refusal",
    ["invalid-argument-named", "not-found-named", "permission-denied-named", "status-409"],
  ],
];

/** The README with its table as the decisions have it now. */
export function withRetryTable(readme: string, rows: readonly RetryRow[]): string {
  const from = readme.indexOf(begin);
  const to = readme.indexOf(end);
  if (from < 0 || to < from) throw new Error("README.md has no place for the table of retries.");
  return readme.slice(0, from + begin.length) + tableOf(rows) + readme.slice(to);
}

function tableOf(rows: readonly RetryRow[]): string {
  const titles = columns.map(({ title }) => title);
  const body = lines.map(([words, events]) => `| ${words} | ${retriesAfter(events, rows).join(" | ")} |\n`);
  return `| What happened | ${titles.join(" | ")} |\n|---|${"---|".repeat(titles.length)}\n${body.join("")}`;
}

function retriesAfter(events: readonly string[], rows: readonly RetryRow[]): readonly number[] {
  const counts = events.map((event) => retriesOf(event, rows));
  const [first = []] = counts;
  if (counts.some((each) => each.join() !== first.join())) {
    throw new Error(`These have no longer the same retries: ${events.join(", ")}.`);
  }
  return first;
}

function retriesOf(event: string, rows: readonly RetryRow[]): readonly number[] {
  const row = rows.find((each) => each.event === event);
  if (row === undefined) throw new Error(`The conformance data has no row ${event}.`);
  return columns.map(({ operation }) => {
    const { requests, attempts = requests } = row.operations[operation];
    return attempts - 1;
  });
}
