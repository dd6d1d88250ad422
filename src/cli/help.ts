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
  const examplesOf = (shown: readonly Example[]): string =>
    ["Examples:", ...shown.map(([line, text]) => `  # ${text}\n  ${line}`)].join("\n");
  if (command === undefined) {
    const rows = commands.map(({ name, usage, summary }): Row => ["Commands", `${name} ${usage}`, summary]);
    const variables = environmentRows.map((row): Row => ["Environment", ...row]);
    const exits = exitCodeRows((name) => name).map((row): Row => ["Exit codes", ...row]);
    const examples = examplesOf(Object.values(helpExamples).flatMap((all) => all.slice(0, 1)));
    const parts = [...sections(rows), examples, ...sections([...variables, ...exits]), `Guides: ${guides}`];
    return `Usage: tunerank COMMAND [OPTIONS]\n\n${[about, ...parts].join("\n\n")}\n`;
  }
  const { name, usage, description } = command;
  const rows = [
    ...command.arguments.map((each): Row => ["Arguments", each.name, each.description]),
    ...command.options.map(({ group, flags, description }): Row => [group, flags, description]),
  ];
  const parts = [wrapped(description), ...sections(rows), examplesOf(helpExamples[name] ?? [])];
  const [id = ""] = args;
  const operation = isOperation(id) ? `${operationLines(id).join("\n")}\n\n` : "";
  return `${operation}Usage: tunerank ${name} ${usage}\n\n${parts.join("\n\n")}\n`;
}

const examples = `
tunerank rerank --query "how do I reset my password" articles.txt # rank the lines of a file
tunerank rerank --query refund --field text --top-n 5 faq.jsonl # rank a field of JSON Lines, keep five
tunerank bulk requests.jsonl --output results.jsonl # rank many queries; run it again to continue
tunerank upload reviews train.jsonl # upload a file to the dataset reviews
tunerank upload reviews *.jsonl --checkpoint uploads.log # upload several; run it again to continue
zcat train.jsonl.gz | tunerank upload reviews - --name train.jsonl # upload what another program prints
tunerank check train.jsonl test.jsonl.gz # check files before they are uploaded
tunerank scale prod 2 # run two replicas
tunerank resume answer-quality # resume a job, and print its state
tunerank mcp # offer rerank; an agent's client starts this program
tunerank mcp --tools all --root ./datasets # offer every operation; uploads are of files below this folder
tunerank request --list # show the operations with their parameters
tunerank request scaleDeployment --param deployment_id=prod --body '{"replicaCount": 2}' # call one of them by its id
tunerank request POST /inference/v1/rerank --body '{"query": "refund", "documents": ["Refunds take a week."]}' # send JSON to any path
tunerank mock --port 4010 # start it; then set TUNERANK_BASE_URL=http://127.0.0.1:4010 and TUNERANK_API_KEY=test-key
tunerank mock --fail rerank:429x2,retry-after=5 --delay 500ms # respond to two reranks with 429, to all requests half a second late
tunerank skill --install .claude/skills # install it for an agent that reads skills from this folder
tunerank conformance --port 4020 # start it; then start the client under test, which asks http://127.0.0.1:4020/next
tunerank completion bash > ~/.local/share/bash-completion/completions/tunerank # install it for bash
tunerank completion fish > ~/.config/fish/completions/tunerank.fish # install it for fish
tunerank version # print the version`;

type Example = readonly [line: string, text: string];

/** The examples in the help of each command: a command line, and what it does. */
export const helpExamples: Readonly<Record<string, readonly Example[]>> = Object.fromEntries(
  commands.map(({ name }) => {
    const own = new RegExp(`^(.*?tunerank ${name}\\b.*) # (.*)$`, "gm");
    return [name, [...examples.matchAll(own)].map(([, line = "", text = ""]): Example => [line, text])];
  }),
);
