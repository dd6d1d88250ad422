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
    readonly seconds: number;
  }[];
}

/** docs/data/conformance.json as two tables: what came of each client, and what a generated one alone does not do. */
export async function conformancePart(): Promise<Page> {
  const { revision, clients } = await readData<Results>(
    "conformance.json",
    "npm run check:generators -- --conformance",
  );
  const rows = clients.map(({ name, language, passed, failed, skipped, skippedFor }) => [
    name,
    language,
    ...[passed + failed + skipped, passed, failed, skipped].map(String),
    Object.keys(skippedFor).map(shortNeed).join(", "),
  ]);
  const columns = [
    "Client",
    "Language",
    "Test cases",
    "Passed",
    "Failed",
    "Skipped",
    "Skipped because this is lacking",
  ];
  const parts = [table(columns, rows), "", `${legend}\n`];
  for (const { name, differs } of clients.filter(({ generated }) => generated)) {
    const kinds = Object.entries(differs).sort(([, a], [, b]) => b - a);
    parts.push(
      `A generated client makes the requests and leaves the rest to its caller. This table shows in how many test cases ${name}, breaks a rule, and how:`,
      "",
      table(
        ["What differs", "Test cases"],
        kinds.map(([kind, count]) => [words[kind] ?? code(kind), `${count}`]),
      ),
      "",
    );
  }
  parts.push(`Measured on ${datesOf(clients)} with revision ${revision} of the OpenAPI document.`);
  return { path: "parts/conformance.md", text: parts.join("\n") };
}

const legend =
  "What is lacking is a feature of the client or of its platform ([what a test case may need](/guide/conformance.md#needs)), or a feature of the test machine. The run of tunerank, which writes the badge, leaves out the test cases `name-server-busy`: few machines can serve them.";

const words: Readonly<Record<string, string>> = {
  code: "`code`: it reports only the status",
  executed: "`executed`: it does not say whether the operation ran",
  requests: "requests that arrive: it never retries",
  message: "message: the raw body",
  retryAfterMs: "`retryAfterMs`: it does not read how long to wait",
  attempts: "attempts that it reports: always one",
  value: "it returns a value instead of an error, or an error instead of a value",
  waits: "waits: none",
  request: "an invalid request",
  time: "time: the call ends too early or too late",
  "the posted outcome contains the key": "the key is in the error",
};

// Of what this machine lacked, the first words are enough.
function shortNeed(need: string): string {
  return need.startsWith("this machine") ? "a feature of the machine" : code(need);
}
