// The reports of a conformance run: lines, JSON, JUnit XML and a badge.
import type { RowResult } from "./session.js";

/** The counts of a run's rows by their results. */
interface RowCounts
  extends Readonly<Record<"passed" | "failed" | "skipped" | "neverServed" | "notAskedFor", number>> {
  readonly withoutProxies: boolean;
  /** By what the client or the machine lacks, how many rows were skipped for it. */
  readonly skippedFor: Readonly<Record<string, number>>;
}

/** Counts the rows of a run by their results. @param all The number of rows in the conformance data. */
export function countsOf(results: readonly RowResult[], all: number): RowCounts {
  const count = (kind: RowResult["result"]): number => results.filter(({ result }) => result === kind).length;
  const skippedFor: Record<string, number> = {};
  for (const { skippedFor: need } of results)
    if (need !== undefined) skippedFor[need] = (skippedFor[need] ?? 0) + 1;
  return {
    passed: count("passed"),
    failed: count("failed"),
    skipped: count("skipped"),
    // Rows that were not handed out to the client before the run was ended early.
    neverServed: count("never served"),
    // Rows that were not part of the run (`--only`, `--except`).
    notAskedFor: all - results.length,
    withoutProxies: skippedFor.proxy !== undefined,
    skippedFor,
  };
}

export interface ToldRun {
  readonly results: readonly RowResult[];
  readonly counts: RowCounts;
  readonly revision: string;
  /** Why the run ended before all rows were done; undefined if all were done. */
  readonly cut: string | undefined;
}

const rows = (count: number): string => (count === 1 ? "1 test case" : `${count} test cases`);

/** The report for people: each row that failed or did not run, the skipped rows by need, and the counts. */
export function reportLines({ results, counts, revision }: ToldRun): readonly string[] {
  const { passed, failed, skipped, neverServed, skippedFor } = counts;
  const unserved = neverServed === 0 ? "" : `, ${neverServed} not run`;
  const busy = results.filter(({ result, whileBusy }) => result === "passed" && whileBusy);
  const many = {
    ...Object.fromEntries(Object.entries(skippedFor).map(([name, count]) => [`skipped for ${name}`, count])),
    "passed with executed unknown where the table says no": results.filter(({ notes }) => notes[0]).length,
    "passed when served again, alone, because the machine was busy": busy.length,
  };
  return [
    ...results.flatMap(({ id, result, differences }) =>
      result === "failed" ? [id, ...differences.map((text) => `  ${text}`)] : [],
    ),
    ...results.flatMap(({ id, result }) => (result === "never served" ? [`not run: ${id}`] : [])),
    ...Object.entries(many).flatMap(([told, count]) => (count > 0 ? [`${told}: ${rows(count)}`] : [])),
    `${passed} passed, ${failed} failed, ${skipped} skipped${unserved}, of ${rows(results.length)} (contract revision ${revision})`,
  ];
}

export function reportOf({ results, counts, revision, cut }: ToldRun): object {
  return { revision, ...counts, cut: cut ?? null, rows: results };
}

const colors = { green: "#1a7f37", gray: "#59636e", red: "#b3261e" };
// The average width of a Verdana character at 11 px, to estimate a text's width. `textLength` fits the text to it.
const characterWidth = 6.6;

/**
 * An SVG badge with the counts of a run: red if a row failed; green only if every row of the run was served and passed.
 */
export function badgeOf(counts: RowCounts, revision: string): string {
  const { passed, failed, skipped, neverServed, notAskedFor } = counts;
  const label = `conformance ${revision}`;
  const parts = { failed, passed, "never served": neverServed, skipped, "not asked for": notAskedFor };
  const value = Object.entries(parts)
    .filter(([name, count]) => count > 0 || name === "passed")
    .map(([name, count]) => `${count} ${name}`)
    .concat(counts.withoutProxies ? ["without proxies"] : [])
    .join(", ");
  const isWhole = neverServed === 0 && skipped === 0 && passed > 0;
  const color = colors[failed > 0 ? "red" : isWhole ? "green" : "gray"];
  const widthOf = (text: string): number => Math.round(text.length * characterWidth);
  const [left, right] = [widthOf(label) + 12, widthOf(value) + 12];
  const textAt = (text: string, x: number): string =>
    `<text x="${x}" y="14" textLength="${widthOf(text)}">${text}</text>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="20" role="img" aria-label="${label}: ${value}">
<title>${label}: ${value}</title>
<rect width="${left}" height="20" fill="#444"/>
<rect x="${left}" width="${right}" height="20" fill="${color}"/>
<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">
${textAt(label, 6)}
${textAt(value, left + 6)}
</g>
</svg>
`;
}

export function junitOf({ results, counts, revision, cut }: ToldRun): string {
  const { failed, skipped, neverServed } = counts;
  const named = `name="conformance ${escaped(revision)}"`;
  const figures = `tests="${results.length}" failures="${failed}" errors="${neverServed}" skipped="${skipped}"`;
  const end = cut === undefined ? "" : `<system-err>${escaped(cut)}</system-err>\n`;
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuites ${figures}>
<testsuite ${named} ${figures}>
${results.map(caseOf).join("\n")}
${end}</testsuite>
</testsuites>
`;
}

function caseOf({ id, result, differences, skippedFor = "" }: RowResult): string {
  const [file = "", ...rest] = id.split("/");
  const head = `<testcase classname="${escaped(file)}" name="${escaped(rest.join("/"))}"`;
  if (result === "passed") return `${head}/>`;
  const [first = ""] = differences;
  const said = {
    failed: `<failure message="${escaped(first)}">${escaped(differences.join("\n"))}</failure>`,
    skipped: `<skipped message="${escaped(skippedFor)}"/>`,
    "never served": `<error message="never served"/>`,
  };
  return `${head}>${said[result]}</testcase>`;
}

// Replaces characters that XML does not allow, even as a character reference, and escapes the others.
function escaped(text: string): string {
  return text
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "\ufffd")
    .replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
