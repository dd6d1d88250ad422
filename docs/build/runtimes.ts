import { readFileSync } from "node:fs";
import path from "node:path";
import { readData } from "./data.js";
import { block, type Page, table } from "./markdown.js";

interface Runtimes {
  readonly date: string;
  readonly rows: readonly {
    readonly runtime: string;
    readonly version: string;
    readonly passed: number;
    readonly checks: number;
  }[];
}

interface FirstHour {
  readonly rows: readonly { readonly file: string }[];
}

const docs = new URL("../", import.meta.url);

/** docs/data/runtimes.json as a table. */
export async function runtimesPart(): Promise<Page> {
  const { date, rows } = await readData<Runtimes>("runtimes.json", "npm run check:runtimes");
  const lines = rows.map(({ runtime, version, passed, checks }) => [
    runtime,
    version,
    `${passed} of ${checks}`,
  ]);
  const text = `${table(["Runtime", "Version", "Checks passed"], lines)}\n\nMeasured on ${date}.`;
  return { path: "parts/runtimes.md", text };
}

/** The programs of checks/first-hour that a page shows, as they ran. */
export async function programParts(): Promise<Page[]> {
  const { rows } = await readData<FirstHour>("firstHour.json", "npm run check:first-hour -- --all");
  return [...new Set(rows.map(({ file }) => file))].map((file) => {
    const code = readFileSync(new URL(`../checks/first-hour/${file}`, docs), "utf8");
    const info = `${path.extname(file).slice(1)} skip-check="npm run check:first-hour runs it"`;
    return { path: `parts/program-${path.dirname(file)}.md`, text: block(info, code) };
  });
}
