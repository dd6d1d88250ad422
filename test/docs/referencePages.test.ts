import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { executedCell, type Row, readRows } from "../../docs/build/codes.js";
import { Contract } from "../../docs/build/contract.js";
import { contractPages } from "../../docs/build/pages.js";

const contract = await Contract.read();
const document = parse(await readFile(new URL("../../openapi.yaml", import.meta.url), "utf8"));
const pages = new Map((await contractPages()).map(({ path, text }) => [path, text]));
const page = (name: string): string => pages.get(name) ?? expect.fail(`There is no page ${name}.`);
const reference = [...pages].filter(([name]) => /^(reference|enums)\//.test(name)).map(([, text]) => text);

// The words as a page shows them.
const shown = (text: string) => text.trim().replaceAll("<", "&lt;");

function decisions(node: unknown, path: string): [place: string, open: string, decided: string][] {
  if (typeof node !== "object" || node === null) return [];
  return Object.entries(node).flatMap(([key, value]) => {
    if (key !== "x-unstated") return decisions(value, `${path}.${key}`);
    const [, open = "", decided = ""] =
      /^Not stated: (.*?)\s+Decided: (.*)$/s.exec(String(value).trim()) ?? [];
    return [[path, shown(open), shown(decided)] as [string, string, string]];
  });
}

test.each(decisions(document, "openapi"))(
  "what is not stated of %s stands in the reference, in one folded line a page",
  (_, open, decided) => {
    const words = `${open} *Assumed:* ${decided}`.replaceAll(/\s+/g, " ");
    const plain = reference.map((text) => text.replaceAll("\\|", "|").replaceAll(/\s+/g, " "));
    const having = plain.filter((text) => text.includes(words));
    expect(having).not.toEqual([]);
    for (const text of having) expect(text.match(/<summary>The service does not document/g)).toHaveLength(1);
  },
);

test.each([
  [
    "rerank",
    [
      '`query` <span class="chip required">required, we assume</span>',
      '`documents` <span class="chip required">required, we assume</span>',
      "| `object` |",
      "| `data[].index` |",
      '`data[].document` <span class="chip">optional, we assume</span>',
    ],
  ],
  ["scale", ['`replicaCount` <span class="chip required">required, we assume</span>']],
  ["upload", ['`file` <span class="chip required">required</span>', "| `purpose` |"]],
  [
    "job",
    [
      '`dataset` <span class="chip required">required</span>',
      '`evaluator` <span class="chip required">required</span>',
    ],
  ],
])(
  "on the page %s a field that we require is marked as our decision, and one that is documented is not",
  (name, fields) => {
    for (const field of fields) expect(page(`reference/${name}.md`)).toContain(field);
  },
);

test("an error response of a code's page says that its shape is not documented", () => {
  for (const name of Object.keys(contract.codes)) {
    const text = page(`codes/${name}.md`);
    if (text.includes("## A response"))
      expect(text).toMatch(/## A response\n\nThe shape of an error's body is not documented/);
  }
});

test('each row of the decision table names what a "no" is read from', async () => {
  const rows = await readRows<Row>("retries.json");
  for (const text of [page("guide/decision-table.md"), page("parts/decisions.md")]) {
    expect(text).not.toMatch(/\| no(, \w+)* \|/);
    expect(text).toContain("/guide/unstated.md#refused");
  }
  const cells = new Map(rows.map((row) => [row.event, executedCell(row)]));
  expect(cells.get("refused")).toBe("no: nothing sent");
  expect(cells.get("not-found-named")).toBe("no: rejected");
  expect(cells.get("status-429")).toBe("no: rejected");
  expect(page("parts/unstated.md")).toContain('<span id="refused"></span>');
});

test("the examples hold no absurd number", () => {
  const numbers = (node: unknown, key = ""): [string, number][] => {
    if (typeof node === "object" && node !== null)
      return Object.entries(node).flatMap(([name, value]) => numbers(value, name));
    return Number.isFinite(Number(node)) && node !== "" && node !== null ? [[key, Number(node)]] : [];
  };
  const values = Object.values(document.paths).flatMap((path) =>
    JSON.stringify(path).includes("examples") ? numbers(path) : [],
  );
  expect(values.length).toBeGreaterThan(50);
  // Ten years of one accelerator in seconds; dates in seconds are beyond it.
  for (const [name, value] of values)
    if (name !== "created_at") expect([name, value < 3.2e8]).toEqual([name, true]);
});
