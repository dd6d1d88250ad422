import { isDeepStrictEqual } from "node:util";
import type { Report } from "./breaks.js";

type Fields = Readonly<Record<string, unknown>>;

/** A situation of the conformance data, and what a client makes of it. */
interface Row extends Fields {
  readonly event?: string;
  readonly name?: string;
  readonly operations?: Readonly<Record<string, Fields>>;
}

// What a row of error answers says of a client; the others have an outcome for each operation.
const outcomes = ["code", "inferred", "codeSource", "message"];
// Names of things for people, and of this data itself.
const ignored = ["$schema", "x-contract-revision", "description"];

/**
 * What new conformance data asks otherwise of clients that passed the old: breaks are reported; what is new, which
 * such a client may fail too, is returned.
 */
export function compareData(
  file: string,
  before: Fields,
  after: Fields | undefined,
  report: Report,
): string[] {
  if (after === undefined) report(file, "is gone", "certified clients");
  else if (Array.isArray(before.rows)) return compareRows(file, before, after, report);
  else compareFields(file, before, after, report);
  return [];
}

function compareRows(file: string, before: Fields, after: Fields, report: Report): string[] {
  const old = rowsOf(before);
  const now = rowsOf(after);
  const additions: string[] = [];
  for (const [name, row] of old) {
    const found = now.get(name);
    const where = `${file}, ${name}`;
    if (found === undefined) report(where, "is gone", "certified clients");
    else {
      compareOutcomes(where, row, found, report);
      if (isAnother(row, found))
        additions.push(`another situation in ${file}, \`${name}\`, which a certified client may fail`);
    }
  }
  const added = [...now.keys()].filter((name) => !old.has(name));
  if (added.length === 0) return additions;
  const counted = `${file} goes from ${old.size} rows to ${now.size}; the new ones, which a certified client may fail`;
  return [...additions, `${counted}: ${added.map((name) => `\`${name}\``).join(", ")}`];
}

// An outcome that says more than before changes nothing of what it said.
function compareOutcomes(where: string, before: Row, after: Row, report: Report): void {
  const shared = Object.fromEntries(outcomes.map((key) => [key, before[key]]));
  for (const [key, value] of Object.entries(shared)) {
    compareField(where, key, value, after[key], report);
  }
  for (const [operation, outcome] of Object.entries(before.operations ?? {})) {
    const found = after.operations?.[operation];
    if (found === undefined) report(`${where}, ${operation}`, "is gone", "certified clients");
    else compareFields(`${where}, ${operation}`, outcome, found, report);
  }
}

function compareFields(where: string, before: Fields, after: Fields, report: Report): void {
  for (const [key, value] of Object.entries(before)) {
    if (!ignored.includes(key)) compareField(where, key, value, after[key], report);
  }
}

function compareField(where: string, key: string, old: unknown, now: unknown, report: Report): void {
  if (old === undefined || isDeepStrictEqual(old, now)) return;
  if (isFields(old) && isFields(now)) compareFields(`${where}, ${key}`, old, now, report);
  else
    report(
      where,
      `${key} was ${JSON.stringify(old)}, is ${JSON.stringify(now) ?? "gone"}`,
      "certified clients",
    );
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

// What was said of the situation, and is no more.
function isAnother({ operations: _, ...before }: Row, after: Row): boolean {
  const keys = Object.keys(before).filter((key) => !outcomes.includes(key) && !ignored.includes(key));
  return keys.some((key) => !isDeepStrictEqual(before[key], after[key]));
}

function rowsOf({ rows }: Fields): Map<string, Row> {
  return new Map((rows as Row[]).map((row) => [row.event ?? row.name ?? "", row]));
}
