// A run as JUnit's XML, which CI systems show row by row.
import type { ToldRun } from "./report.js";
import type { RowResult } from "./session.js";

/** One test case for each row that was asked for. */
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

// What XML has no place for is left out, also as a reference.
function escaped(text: string): string {
  return text
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "\ufffd")
    .replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
