// The reports of a conformance run: lines, JSON, JUnit XML and a badge.
import type { RowResult } from "./session.js";

/** The counts of a run's rows by their results. */
type RowCounts = ReturnType<typeof countsOf>;

/** Counts the rows of a run by their results. @param all The number of rows in the conformance data. */
export function countsOf(
  results: readonly RowResult[],
  all: number,
): Readonly<Record<"passed" | "failed" | "skipped" | "neverServed" | "notAskedFor", number>> & {
  readonly withoutProxies: boolean;
} {
  const count = (kind: RowResult["result"]): number => results.filter(({ result }) => result === kind).length;
  return {
    passed: count("passed"),
    failed: count("failed"),
    skipped: count("skipped"),
    // Rows that were not handed out to the client before the run was ended early.
    neverServed: count("never served"),
    // Rows that were not part of the run (`--only`, `--except`).
    notAskedFor: all - results.length,
    withoutProxies: results.some(({ skippedFor }) => skippedFor === "proxy"),
  };
}

function skippedByName(results: readonly RowResult[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { skippedFor } of results) {
    if (skippedFor !== undefined) counts[skippedFor] = (counts[skippedFor] ?? 0) + 1;
  }
  return counts;
}

export interface ToldRun {
  readonly results: readonly RowResult[];
  readonly counts: RowCounts;
  readonly revision: string;
  readonly cut: string | undefined;
}

const rows = (count: number): string => (count === 1 ? "1 test case" : `${count} test cases`);

/** The report for people: each row that failed or did not run, the skipped rows by need, and the counts. */
export function reportLines({ results, counts, revision }: ToldRun): readonly string[] {
  const { passed, failed, skipped, neverServed } = counts;
  const unserved = neverServed === 0 ? "" : `, ${neverServed} not run`;
  const many = (told: string, is: (row: RowResult) => boolean): readonly string[] => {
    const count = results.filter(is).length;
    return count === 0 ? [] : [`${told}: ${rows(count)}`];
  };
  return [
    ...results.flatMap(({ id, result, differences }) =>
      result === "failed" ? [id, ...differences.map((text) => `  ${text}`)] : [],
    ),
    ...results.flatMap(({ id, result }) => (result === "never served" ? [`not run: ${id}`] : [])),
    ...Object.entries(skippedByName(results)).map(([name, count]) => `skipped for ${name}: ${rows(count)}`),
    ...many("passed with executed unknown where the table says no", ({ notes }) => notes.length > 0),
    ...many(
      "passed when served again, alone, because the machine was busy",
      ({ result, whileBusy }) => result === "passed" && whileBusy !== undefined,
    ),
    `${passed} passed, ${failed} failed, ${skipped} skipped${unserved}, of ${rows(results.length)} (contract revision ${revision})`,
  ];
}

export function reportOf({ results, counts, revision, cut }: ToldRun): object {
  return { revision, ...counts, skippedFor: skippedByName(results), cut: cut ?? null, rows: results };
}

const height = 20;
const padding = 6;
// The average width of a Verdana character at 11 px, to estimate a text's width. `textLength` fits the text to it.
const characterWidth = 6.6;

const colors = { green: "#1a7f37", gray: "#59636e", red: "#b3261e" };

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
  const lengths = [label, value].map((text) => Math.round(text.length * characterWidth));
  const [labelWidth = 0, valueWidth = 0] = lengths.map((length) => length + 2 * padding);
  const width = labelWidth + valueWidth;
  const textAt = (text: string, x: number): string =>
    `<text x="${x}" y="14" textLength="${Math.round(text.length * characterWidth)}">${text}</text>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" role="img" aria-label="${label}: ${value}">
<title>${label}: ${value}</title>
<rect width="${labelWidth}" height="${height}" fill="#444"/>
<rect x="${labelWidth}" width="${valueWidth}" height="${height}" fill="${color}"/>
<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">
${textAt(label, padding)}
${textAt(value, labelWidth + padding)}
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
