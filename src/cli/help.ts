import type { Command } from "commander";
import { exitCodeRows } from "./exitCodes.js";
import { isOperation, linesOf } from "./operations.js";
import type { Terminal } from "./terminal.js";

const widest = 100;

/** Sets how a program shows its help, and that it never ends the process. */
export function setUpHelp(program: Command, terminal: Terminal): void {
  const title = (text: string) => terminal.style("bold", text);
  for (const command of [program, ...program.commands]) {
    command
      .exitOverride()
      .configureHelp({
        styleTitle: title,
        helpWidth: Math.max(60, Math.min(widest, terminal.columns || widest)),
      })
      .configureOutput({
        writeOut: (text) => terminal.print(text.trimEnd()),
        writeErr: () => {},
        // The terminal's own styles know whether there are colours.
        getOutHasColors: () => true,
      });
    const lines = (examples[command.name()] ?? []).flatMap(([line, text]) => [
      `  ${terminal.style("dim", `# ${text}`)}`,
      `  ${line}`,
    ]);
    command.addHelpText("before", () => aboutOperation(command, title));
    if (lines.length > 0) command.addHelpText("after", `\n${[title("Examples:"), ...lines].join("\n")}`);
  }
  program.addHelpText("after", `\n${[title("Exit codes:"), ...exitCodeLines()].join("\n")}`);
}

// `tunerank request ID --help` begins with the operation.
function aboutOperation({ args }: Command, title: (text: string) => string): string {
  const [id = ""] = args;
  return isOperation(id) ? `${linesOf(id, title).join("\n")}\n` : "";
}

function exitCodeLines(): string[] {
  return exitCodeRows((name) => name).map(([code, meaning]) => `  ${`${code}`.padEnd(5)}${meaning}`);
}

/** Command lines that the help of each command shows, each with what it does. */
export const examples: Readonly<Record<string, readonly (readonly [line: string, text: string])[]>> = {
  rerank: [
    ['tunerank rerank --query "how do I reset my password" articles.txt', "rank the lines of a file"],
    [
      "tunerank rerank --query refund --field text --top-n 5 faq.jsonl",
      "rank a field of JSON Lines, keep five",
    ],
    ["ls docs | tunerank rerank --query invoices -", "rank what another program prints"],
    [
      "tunerank rerank --bulk requests.jsonl --output results.jsonl --errors errors.jsonl",
      "rank many queries; run it again to continue",
    ],
  ],
  upload: [
    ["tunerank upload reviews train.jsonl", "upload a file to the dataset reviews"],
    [
      "tunerank upload reviews *.jsonl --checkpoint uploads.jsonl",
      "upload several; run it again to continue",
    ],
    [
      "zcat train.jsonl.gz | tunerank upload reviews - --name train.jsonl",
      "upload what another program prints",
    ],
  ],
  scale: [
    ["tunerank scale prod 2", "run two replicas"],
    ["tunerank scale prod 0", "scale to zero"],
  ],
  resume: [["tunerank resume answer-quality", "resume a job, and print its state"]],
  request: [
    ["tunerank request --list", "show the operations of the contract with their parameters"],
    [
      `tunerank request scaleDeployment --param deployment_id=prod --body '{"replicaCount": 2}'`,
      "call one of them by its id",
    ],
    [
      "tunerank request GET /v1/accounts/acme/datasets/reviews",
      "look at a dataset before you repeat an upload",
    ],
    [
      `tunerank request POST /v1/accounts/acme/deployments --body '{"displayName": "prod"}'`,
      "send JSON to any path",
    ],
  ],
  mock: [
    [
      "tunerank mock --port 4010",
      "then: TUNERANK_BASE_URL=http://127.0.0.1:4010 TUNERANK_API_KEY=test-key tunerank ...",
    ],
    ["tunerank mock --fail rerank:503x2", "answer 503 to the next two reranks"],
  ],
  conformance: [
    [
      "tunerank conformance --port 4020",
      "then start the client under test, which asks http://127.0.0.1:4020/next",
    ],
    ["tunerank conformance --only retry-after --json", "test only some rows, and print one JSON value"],
  ],
  completion: [
    ["tunerank completion bash > ~/.local/share/bash-completion/completions/tunerank", "install it for bash"],
    ["tunerank completion fish > ~/.config/fish/completions/tunerank.fish", "install it for fish"],
  ],
};
