import { fileURLToPath } from "node:url";
import type { Command } from "commander";
import { environmentRows } from "./environment.js";
import { exitCodeRows } from "./exitCodes.js";
import { isOperation, operationLines } from "./operations.js";
import type { Terminal } from "./terminal.js";

const widest = 100;

// The folder of the guides in the installed package, as Markdown.
const guides = fileURLToPath(new URL("../docs/", import.meta.url));

/** Configures the help of a program, and makes Commander throw instead of ending the process. */
export function setUpHelp(program: Command, terminal: Terminal): void {
  const title = (text: string) => terminal.style("bold", text);
  for (const command of [program, ...program.commands]) {
    command
      .exitOverride()
      .configureHelp({
        styleTitle: title,
        // Commander's list of all commands would leave out a command's own usage, such as `ID | METHOD PATH`.
        subcommandTerm: (each) => `${each.name()} ${each.usage()}`,
        helpWidth: Math.max(60, Math.min(widest, terminal.columns || widest)),
      })
      .configureOutput({
        writeOut: (text) => terminal.print(text.trimEnd()),
        writeErr: () => {},
        // Else Commander would remove colours by its own rules. The styles of `terminal` already decide about them.
        getOutHasColors: () => true,
      });
    const lines = (helpExamples[command.name()] ?? []).flatMap(([line, text]) => [
      `  ${terminal.style("dim", `# ${text}`)}`,
      `  ${line}`,
    ]);
    command.addHelpText("before", () => aboutOperation(command, title));
    if (lines.length > 0) command.addHelpText("after", `\n${[title("Examples:"), ...lines].join("\n")}`);
  }
  const exits = exitCodeRows((name) => name).map(([code, meaning]) => `  ${`${code}`.padEnd(5)}${meaning}`);
  const width = Math.max(...environmentRows.map(([names]) => names.length)) + 2;
  const variables = environmentRows.map(([names, meaning]) => `  ${names.padEnd(width)}${meaning}`);
  const sections = [title("Environment:"), ...variables, "", title("Exit codes:"), ...exits];
  program.addHelpText("after", `\n${sections.join("\n")}\n\nGuides: ${guides}`);
}

// `tunerank request ID --help` begins with a description of the operation.
function aboutOperation({ args }: Command, title: (text: string) => string): string {
  const [id = ""] = args;
  return isOperation(id) ? `${operationLines(id, title).join("\n")}\n` : "";
}

// Command lines, each below a comment that says what it does.
const lines = `
# rank the lines of a file
tunerank rerank --query "how do I reset my password" articles.txt
# rank a field of JSON Lines, keep five
tunerank rerank --query refund --field text --top-n 5 faq.jsonl
# rank what another program prints
ls docs | tunerank rerank --query invoices -
# rank many queries; run it again to continue
tunerank rerank --bulk requests.jsonl --output results.jsonl --errors errors.jsonl
# upload a file to the dataset reviews
tunerank upload reviews train.jsonl
# upload several; run it again to continue
tunerank upload reviews *.jsonl --checkpoint uploads.jsonl
# upload what another program prints
zcat train.jsonl.gz | tunerank upload reviews - --name train.jsonl
# check files before they are uploaded
tunerank check train.jsonl test.jsonl.gz
# fail at warnings too, and print one JSON value
tunerank check train.jsonl --strict --json
# run two replicas
tunerank scale prod 2
# scale to zero
tunerank scale prod 0
# resume a job, and print its state
tunerank resume answer-quality
# show the operations with their parameters
tunerank request --list
# call one of them by its id
tunerank request scaleDeployment --param deployment_id=prod --body '{"replicaCount": 2}'
# send JSON to this path, or to any other
tunerank request POST /inference/v1/rerank --body '{"query": "refund", "documents": ["Refunds take a week."]}'
# start it; then, in another terminal: TUNERANK_BASE_URL=http://127.0.0.1:4010 TUNERANK_API_KEY=test-key tunerank ...
tunerank mock --port 4010
# respond to the next two reranks with 503
tunerank mock --fail rerank:503x2
# start it; then start the client under test, which asks http://127.0.0.1:4020/next
tunerank conformance --port 4020
# run only some test cases, and print one JSON value
tunerank conformance --only retry-after --json
# install it for bash
tunerank completion bash > ~/.local/share/bash-completion/completions/tunerank
# install it for fish
tunerank completion fish > ~/.config/fish/completions/tunerank.fish
# install it for PowerShell
tunerank completion powershell >> $PROFILE
# print the version
tunerank version`;

/** The examples in the help of each command: a command line, and what it does. */
export const helpExamples: Readonly<Record<string, readonly (readonly [line: string, text: string])[]>> =
  examplesOf(lines);

function examplesOf(text: string): Record<string, [string, string][]> {
  const found: Record<string, [string, string][]> = {};
  for (const [, does = "", line = ""] of text.matchAll(/^# (.*)\n(.*)$/gm)) {
    const command = /tunerank (\w+)/.exec(line)?.[1] ?? "";
    found[command] = [...(found[command] ?? []), [line, does]];
  }
  return found;
}
