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
  const styled = (style: "bold" | "dim", text: string): string =>
    [terminal.style(style, text)].map((part) => (typeof part === "string" ? part : part(String))).join("");
  const title = (text: string): string => styled("bold", text);
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
        writeOut: (text) => terminal.write(`${text.trimEnd()}\n`),
        writeErr: () => {},
        // Else Commander would remove colours by its own rules. The styles of `terminal` already decide about them.
        getOutHasColors: () => true,
      });
    // `tunerank request ID --help` begins with a description of the operation.
    command.addHelpText("before", () => {
      const [id = ""] = command.args;
      return isOperation(id) ? `${operationLines(id).join("\n")}\n` : "";
    });
    // The help of the program has one example for each command.
    const examples =
      command === program
        ? Object.values(helpExamples).flatMap((all) => all.slice(0, 1))
        : helpExamples[command.name()];
    const lines = examples?.flatMap(([line, text]) => [`  ${styled("dim", `# ${text}`)}`, `  ${line}`]);
    command.addHelpText("after", `\n${[title("Examples:"), ...(lines ?? [])].join("\n")}`);
  }
  const exits = exitCodeRows((name) => name).map(([code, meaning]) => `  ${code.padEnd(4)} ${meaning}`);
  const width = Math.max(...environmentRows.map(([names]) => names.length)) + 2;
  const variables = environmentRows.map(([names, meaning]) => `  ${names.padEnd(width)}${meaning}`);
  const sections = [title("Environment:"), ...variables, "", title("Exit codes:"), ...exits];
  program.addHelpText("after", `\n${sections.join("\n")}\n\nGuides: ${guides}`);
}

// The examples: command lines, each with a comment that says what it does.
const examples = `
tunerank rerank --query "how do I reset my password" articles.txt # rank the lines of a file
tunerank rerank --query refund --field text --top-n 5 faq.jsonl # rank a field of JSON Lines, keep five
ls docs | tunerank rerank --query invoices - # rank what another program prints
tunerank bulk requests.jsonl --output results.jsonl # rank many queries; run it again to continue
tunerank bulk batch.jsonl --output results.jsonl --max-requests 1000 # send some requests of a Batch API at a time
tunerank upload reviews train.jsonl # upload a file to the dataset reviews
tunerank upload reviews *.jsonl --checkpoint uploads.log # upload several; run it again to continue
zcat train.jsonl.gz | tunerank upload reviews - --name train.jsonl # upload what another program prints
tunerank check train.jsonl test.jsonl.gz # check files before they are uploaded
tunerank scale prod 2 # run two replicas
tunerank scale prod 0 # scale to zero
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
tunerank conformance --only retry-after --json # run only some test cases, and print one JSON value
tunerank completion bash > ~/.local/share/bash-completion/completions/tunerank # install it for bash
tunerank completion fish > ~/.config/fish/completions/tunerank.fish # install it for fish
tunerank version # print the version`;

/** The examples in the help of each command: a command line, and what it does. */
export const helpExamples: Readonly<Record<string, readonly (readonly [line: string, text: string])[]>> =
  examplesIn(examples);

function examplesIn(text: string): Record<string, [string, string][]> {
  const found: Record<string, [string, string][]> = {};
  for (const [, line = "", name = "", does = ""] of text.matchAll(/^(.*?tunerank (\w+).*) # (.*)$/gm))
    found[name] = [...(found[name] ?? []), [line, does]];
  return found;
}
