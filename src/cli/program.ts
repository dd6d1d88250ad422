// Every command with its arguments. Parsing, help, shell completion and the docs use this one definition.
import { descriptions } from "../generated/descriptions.js";
import { type CommandOption, operationOfCommand as operation, optionsOf } from "./options.js";

/** A command as its help describes it; `usage` is what follows its name, such as `[options] [FILE]`. */
export interface Command extends Readonly<Record<"name" | "usage" | "summary" | "description", string>> {
  /** Its arguments, such as `FILE...`. */
  readonly arguments: readonly Readonly<{ name: string; isRequired: boolean; description: string }>[];
  readonly options: readonly CommandOption[];
  /** Command lines, each with what it does. */
  readonly examples: readonly (readonly [line: string, text: string])[];
}

export const shells = ["bash", "zsh", "fish"] as const;

// Name | usage, if it is not made of the arguments | summary | description, if they are not the operation's; below it its
// arguments with their meanings, and examples.
const table = `
rerank | | |
[FILE] | A file with a document on each line, also gzipped. Without it, or with -, the standard input is read. The columns of the output are the score, the number of the line in the input (from 1), and the document.
$ tunerank rerank --query "how do I reset my password" articles.txt # rank the lines of a file
$ tunerank rerank --query refund --field text --top-n 5 faq.jsonl # rank a field of JSON Lines, keep five
bulk | | Rerank documents for many queries | Sends a rerank for each line of FILE, and writes one row for each id to --output. Run the same command again to continue: what is finished is not sent again.
[FILE] | A file of JSON Lines, also gzipped, or - for the standard input. Each line is a request: id, query and documents, and optionally model, top_n, task and return_documents; or a line of a Batch API, with custom_id and body.
$ tunerank bulk requests.jsonl --output results.jsonl # rank many queries; run it again to continue
upload | | |
<DATASET> | The dataset's ID.
<FILE...> | One file or several, or - for the standard input.
$ tunerank upload reviews train.jsonl # upload a file to the dataset reviews
$ tunerank upload reviews *.jsonl --checkpoint uploads.log # upload several; run it again to continue
$ zcat train.jsonl.gz | tunerank upload reviews - --name train.jsonl # upload what another program prints
scale | | |
<DEPLOYMENT> | The deployment's ID.
<REPLICAS> | ${descriptions.scaleDeployment.fields.replicaCount}
$ tunerank scale prod 2 # run two replicas
resume | | |
<JOB> | The job's ID.
$ tunerank resume answer-quality # resume a job, and print its state
mcp | | Serve tools to an agent | Serves operations as tools of the Model Context Protocol (MCP), until stdin ends. Each call but a rerank asks a person first.
$ tunerank mcp # offer rerank; an agent's client starts this program
$ tunerank mcp --tools all --root ./datasets # offer every operation; uploads are of files below this folder
request | [options] ID or METHOD PATH | Call any operation of the service | Calls an operation of the OpenAPI document by its ID, and checks its parameters and body; or sends a METHOD to a PATH unchecked. Prints the response: JSON, text, or bytes unchanged.
[ID] | An operation of the OpenAPI document (\`request --list\` shows all; \`request ID --help\` shows one), or the METHOD before a PATH: GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS.
[PATH] | The path after the base URL. It begins with a slash; do not percent-encode it.
$ tunerank request --list # show the operations with their parameters
$ tunerank request scaleDeployment --param deployment_id=prod --body '{"replicaCount": 2}' # call one of them by its id
$ tunerank request POST /inference/v1/rerank --body '{"query": "refund", "documents": ["Refunds take a week."]}' # send JSON to any path
check | | Check JSON Lines files | Checks that each file is valid JSON Lines, sends nothing, and prints how many rows it has, and the first five invalid lines. The exit code is 0 if every file is valid; 2 if one is not. The format of a dataset is not documented, and is not checked.
<FILE...> | One file or several, also gzipped, or - for the standard input.
$ tunerank check train.jsonl test.jsonl.gz # check files before they are uploaded
mock | | Run a mock server | Serves every operation of the OpenAPI document from memory until you stop it, and writes a line to stderr for each request. Its data is mock data: scores count shared words, and nothing is trained.
$ tunerank mock --port 4010 # start it; then set TUNERANK_BASE_URL=http://127.0.0.1:4010 and TUNERANK_API_KEY=test-key
$ tunerank mock --fail rerank:429x2,retry-after=5 --delay 500ms # respond to two reranks with 429, to all requests half a second late
skill | | Print a skill for coding agents | Prints SKILL.md, which teaches an agent this command and package.
$ tunerank skill --install .claude/skills # install it for an agent that reads skills from this folder
conformance | | Test a client in any language | Runs the conformance test cases against your client: counts its requests, measures its waits, and prints how the result of each failed test case differs from the expected one. The client asks for a test case with GET /next and reports its result with POST /outcome. The exit code is 0 if every test case that was not skipped passed; 1 if one failed, the run was interrupted or all were skipped; 2 if the command line is invalid.
$ tunerank conformance --port 4020 # start it; then start the client under test, which asks http://127.0.0.1:4020/next
completion | | Print a completion script | Prints a script that completes commands and options in bash, zsh or fish.
<SHELL> | One of ${shells.join(", ")}.
$ tunerank completion bash > ~/.local/share/bash-completion/completions/tunerank # install it for bash
$ tunerank completion fish > ~/.config/fish/completions/tunerank.fish # install it for fish
version | | Print the version | Prints the version.
$ tunerank version # print the version`;

const rows = table.matchAll(/^(\w+) \| (?:(.*?) )?\| (?:(.*?) )?\|(?: (.*))?((?:\n[[<$].*)*)/gm);

export const commands: readonly Command[] = [...rows].map(
  ([, name = "", usage = "", summary, description, rest = ""]) => {
    const told = descriptions[operation[name as keyof typeof operation]] ?? {};
    const all = [...rest.matchAll(/^([[<](.*?)[\]>]) \| (.*)$/gm)];
    return {
      ...{ name, summary: summary ?? told.summary, description: description ?? told.description },
      options: optionsOf(name),
      usage: usage.replace(" or ", " | ") || ["[options]", ...all.map(([, term]) => term)].join(" "),
      arguments: all.map(([, term = "", argument = "", meaning = ""]) => ({
        ...{ name: argument, isRequired: term.startsWith("<"), description: meaning },
      })),
      examples: [...rest.matchAll(/^\$ (.*) # (.*)$/gm)].map(([, line = "", text = ""]) => [line, text]),
    };
  },
);
