import { readData } from "./data.js";
import { type Page, prose, table } from "./markdown.js";

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

/** docs/data/runtimes.json as a table. */
export async function runtimesParts(): Promise<Page[]> {
  return [await runtimesPart(), await packageChecksPart()];
}

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
  const lines = rows.map(({ check, found }) => [prose(check), prose(found)]);
  const text = `${table(["Check", "Found"], lines)}\n\nVersion ${version}, on ${date}.`;
  return { path: "parts/package-checks.md", text };
}
