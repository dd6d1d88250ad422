import { readFileSync } from "node:fs";
import path from "node:path";
import { writtenPages } from "./blocks.js";
import { readData } from "./data.js";
import { block, type Page, prose, table } from "./markdown.js";

interface Runtimes {
  readonly date: string;
  readonly rows: readonly {
    readonly runtime: string;
    readonly version: string;
    readonly passed: number;
    readonly checks: number;
  }[];
}

interface PackageChecks {
  readonly date: string;
  readonly version: string;
  readonly rows: readonly { readonly check: string; readonly found: string }[];
}

interface FirstHour {
  readonly date: string;
  readonly rows: readonly {
    readonly name: string;
    readonly version: string;
    readonly file: string;
    readonly found: string;
  }[];
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

/** docs/data/packageChecks.json as a table. */
export async function packageChecksPart(): Promise<Page> {
  const { date, version, rows } = await readData<PackageChecks>(
    "packageChecks.json",
    "npm run check:package",
  );
  const lines = rows.map(({ check, found }) => [prose(names[check] ?? check), prose(found)]);
  const text = `${table(["Check", "Found"], lines)}\n\nVersion ${version}, on ${date}.`;
  return { path: "parts/package-checks.md", text };
}

// What a reader of the page calls a check.
const names: Readonly<Record<string, string>> = {
  "bill of materials": "code of other packages",
  "its weight": "size of the tarball",
};

/** docs/data/firstHour.json as a table: each program with the page that shows it. */
export async function firstHourPart(): Promise<Page> {
  const { date, rows } = await readData<FirstHour>("firstHour.json", "npm run check:first-hour -- --all");
  const places = placesOfPrograms();
  const lines = rows.map(({ name, version, file, found }) => {
    const place = places.get(path.dirname(file));
    if (place === undefined) throw new Error(`No page shows the program ${file}.`);
    // The data keep the check's words; on this page the client is this package.
    const shown = found.replace("the client goes away", "the browser disconnects");
    return [`[${name}](${place})`, version, prose(shown)];
  });
  const text = `${table(["Program", "Version", "What it does"], lines)}\n\nMeasured on ${date}.`;
  return { path: "parts/first-hour.md", text };
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

// The page and the heading below which each program stands.
function placesOfPrograms(): Map<string, string> {
  const places = new Map<string, string>();
  for (const page of writtenPages()) {
    const text = readFileSync(new URL(page, docs), "utf8");
    for (const { 1: name = "", index } of text.matchAll(/^<!-- begin: program-([\w-]+) -->$/gm)) {
      const [, heading] = [...text.slice(0, index).matchAll(/^#{2,4} (.*)$/gm)].at(-1) ?? [];
      const anchor = heading?.toLowerCase().replaceAll(/\W+/g, "-");
      places.set(name, `/${page}${anchor === undefined ? "" : `#${anchor}`}`);
    }
  }
  return places;
}
