import { readData } from "./data.js";
import { type Page, table } from "./markdown.js";

interface Results {
  readonly revision: string;
  readonly clients: readonly {
    readonly date: string;
    readonly name: string;
    readonly language: string;
    readonly passed: number;
    readonly failed: number;
    readonly skipped: number;
    readonly seconds: number;
  }[];
}

/** docs/data/conformance.json as two tables: what came of each client, and what a generated one alone does not do. */
export async function conformancePart(): Promise<Page> {
  const { revision, clients } = await readData<Results>(
    "conformance.json",
    "npm run check:generators -- --conformance",
  );
  const rows = clients.map(({ name, language, passed, failed, skipped }) => [
    name,
    language,
    ...[passed + failed + skipped, passed, failed, skipped].map(String),
  ]);
  const columns = ["Client", "Language", "Test cases", "Passed", "Failed", "Skipped"];
  const parts = [table(columns, rows), ""];
  const last = clients
    .map(({ date }) => date)
    .sort()
    .at(-1);
  const older = clients.filter(({ date }) => date !== last).map(({ name, date }) => ` ${name}: on ${date}.`);
  parts.push(`Measured on ${last} with revision ${revision} of the OpenAPI document.${older.join("")}`);
  return { path: "parts/conformance.md", text: parts.join("\n") };
}
