import { fileURLToPath } from "node:url";
import type { variables } from "../engine.js";
import { exitCodeRows } from "./exitCodes.js";
import { isOperation, operationLines } from "./operations.js";
import { type Command, commands } from "./program.js";

// The folder of the guides in the installed package, as Markdown.
const guides = fileURLToPath(new URL("../docs/", import.meta.url));
export const about = "Rerank documents, upload dataset files, scale deployments, resume fine-tuning jobs.";

// Every variable that the client reads: with this type, TypeScript reports one that is missing here.
const ofClient: Readonly<Record<(typeof variables)[keyof typeof variables], string>> = {
  TUNERANK_BASE_URL: "The service's address (--base-url).",
  TUNERANK_API_KEY: "The API key (--api-key-file).",
  TUNERANK_ACCOUNT_ID: "The account (--account).",
  TUNERANK_RERANK_MODEL: "The model of a rerank (--model).",
  TUNERANK_LOG: "Log attempts to stderr, from level error, warn, info or debug (--debug).",
};

/** Each variable, or several of one kind, with what it does. */
export const environmentRows: readonly (readonly [names: string, meaning: string])[] = [
  ...Object.entries(ofClient),
  ["https_proxy, http_proxy, all_proxy", "The proxy (--proxy)."],
  ["no_proxy", "Hosts that are reached without a proxy (--noproxy)."],
  ["NODE_EXTRA_CA_CERTS", "A file with the certificates of a custom CA. Not read from --env-file."],
  ["NO_COLOR", "No colours (--no-color)."],
  ["FORCE_COLOR", "Colours also if the output is not a terminal."],
  ["CI", "Progress is printed as plain lines; there are no confirmation prompts."],
  ["TERM=dumb", "Progress is printed as plain lines, without colours."],
];

type Row = readonly [title: string, term: string, text: string];

/** The help of a command, or of the program. @param args Those of the command: the help of an operation begins with it */
export function helpOf(command: Command | undefined, args: readonly string[], columns: number): string {
  const width = Math.max(60, Math.min(100, columns || 100));
  const wrapped = (text: string, indent = 0): string => {
    const lines = text.match(new RegExp(`.{1,${width - indent}}(?= |$)|\\S+`, "g")) ?? [];
    return lines.map((line) => line.trim()).join(`\n${" ".repeat(indent)}`);
  };
  // Rows with one title stand under it.
  const sections = (rows: readonly Row[]): string[] =>
    [...new Set(rows.map(([title]) => title))].map((title) => {
      const own = rows.filter((row) => row[0] === title);
      const room = Math.max(...own.map(([, term]) => term.length));
      const lines = own.map(([, term, text]) => `  ${term.padEnd(room)}  ${wrapped(text, room + 4)}`);
      return [`${title}:`, ...lines].join("\n");
    });
  const examplesOf = (shown: Command["examples"]): string =>
    ["Examples:", ...shown.map(([line, text]) => `  # ${text}\n  ${line}`)].join("\n");
  if (command === undefined) {
    const rows = commands.map(({ name, usage, summary }): Row => ["Commands", `${name} ${usage}`, summary]);
    const variables = environmentRows.map((row): Row => ["Environment", ...row]);
    const exits = exitCodeRows((name) => name).map((row): Row => ["Exit codes", ...row]);
    const examples = examplesOf(commands.flatMap((each) => each.examples.slice(0, 1)));
    const parts = [...sections(rows), examples, ...sections([...variables, ...exits]), `Guides: ${guides}`];
    return `Usage: tunerank COMMAND [OPTIONS]\n\n${[about, ...parts].join("\n\n")}\n`;
  }
  const { name, usage, description } = command;
  const rows = [
    ...command.arguments.map((each): Row => ["Arguments", each.name, each.description]),
    ...command.options.map(({ group, flags, description }): Row => [group, flags, description]),
  ];
  const parts = [wrapped(description), ...sections(rows), examplesOf(command.examples)];
  const [id = ""] = args;
  const operation = isOperation(id) ? `${operationLines(id).join("\n")}\n\n` : "";
  return `${operation}Usage: tunerank ${name} ${usage}\n\n${parts.join("\n\n")}\n`;
}
