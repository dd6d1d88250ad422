import { datesOf, readData } from "./data.js";
import { code, type Page, table } from "./markdown.js";

interface Results {
  readonly revision: string;
  readonly clients: readonly {
    readonly date: string;
    readonly name: string;
    readonly language: string;
    readonly generated: boolean;
    readonly passed: number;
    readonly failed: number;
    readonly skipped: number;
    readonly skippedFor: Readonly<Record<string, number>>;
    readonly differs: Readonly<Record<string, number>>;
  }[];
}

/** docs/data/conformance.json as two tables: what came of each client, and what a generated one alone does not do. */
export async function conformancePart(): Promise<Page> {
  const { revision, clients } = await readData<Results>(
    "conformance.json",
    "npm run check:generators -- --conformance",
  );
  const lines = clients.map(({ name, language, passed, failed, skipped, skippedFor }) => [
    name,
    language,
    ...[passed, failed, skipped].map(String),
    Object.keys(skippedFor).map(shortNeed).join(", "),
  ]);
  const columns = ["Client", "Language", "Passed", "Failed", "Skipped", "Skipped for"];
  const parts = [table(columns, lines), ""];
  for (const { name, differs } of clients.filter(({ generated }) => generated)) {
    const kinds = Object.entries(differs).sort(([, a], [, b]) => b - a);
    parts.push(
      `A generated client makes the requests and leaves the rest to its caller. This is how ${name}, differs from the rules, and in how many rows:`,
      "",
      table(
        ["What differs", "Rows"],
        kinds.map(([kind, count]) => [words[kind] ?? code(kind), `${count}`]),
      ),
      "",
    );
  }
  parts.push(`Measured on ${datesOf(clients)} with revision ${revision} of the contract.`);
  return { path: "parts/conformance.md", text: parts.join("\n") };
}

const words: Readonly<Record<string, string>> = {
  code: "`code`: it reports only the status",
  executed: "`executed`: it does not say whether the operation ran",
  requests: "requests: it never retries",
  message: "message: the raw body",
  retryAfterMs: "`retryAfterMs`: it does not read how long to wait",
  attempts: "attempts: always one",
  value: "a value instead of an error, or the reverse",
  waits: "waits: none",
  request: "a request that breaks the contract",
  "the posted outcome contains the key": "the key is in the error",
};

// Of what this machine lacked, the first words are enough.
function shortNeed(need: string): string {
  return need.startsWith("this machine") ? "this machine" : code(need);
}
