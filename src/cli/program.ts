// Every command with its arguments. Parsing, help, shell completion and the docs use this one definition.
import { descriptions } from "../generated/descriptions.js";
import { type CommandOption, operationOfCommand as operation, optionsOf } from "./options.js";

/** A command as its help describes it; `usage` is what follows its name, such as `[options] [FILE]`. */
export interface Command extends Readonly<Record<"name" | "usage" | "summary" | "description", string>> {
  /** Its arguments, such as `FILE...`. */
  readonly arguments: readonly Readonly<{ name: string; isRequired: boolean; description: string }>[];
  readonly options: readonly CommandOption[];
}

export const shells = ["bash", "zsh", "fish"] as const;

// Name | usage, if it is not made of the arguments | summary | description, if they are not the operation's; below it its
// arguments, each with its meaning.
const calling = `
rerank | | |
[FILE] | A file with a document on each line, also gzipped. Without it, or with -, the standard input is read. If the output goes to a pipe or a file, its columns are the score, the number of the line in the input (from 1), and the document.
bulk | | Rerank documents for many queries | Sends a rerank for each line of FILE, and writes one row for each id to --output. Run the same command again to continue: what is finished is not sent again.
[FILE] | A file of JSON Lines, also gzipped, or - for the standard input. Each line is a request: id, query and documents, and optionally model, top_n, task and return_documents; or a line of a Batch API, with custom_id and body.
upload | | |
<DATASET> | The dataset's ID.
<FILE...> | One file or several, or - for the standard input.
scale | | |
<DEPLOYMENT> | The deployment's ID.
<REPLICAS> | ${descriptions.scaleDeployment.fields.replicaCount}
resume | | |
<JOB> | The job's ID.
mcp | | Serve tools to an agent | Serves operations as tools of the Model Context Protocol (MCP), until stdin ends. Each call but a rerank asks a person first.
request | [options] ID or METHOD PATH | Call any operation of the service | Calls an operation of the OpenAPI document by its ID, and checks its parameters and body; or sends a METHOD to a PATH unchecked. Prints the response: JSON, text, or bytes unchanged.
[ID] | An operation of the OpenAPI document (\`request --list\` shows all; \`request ID --help\` shows one), or the METHOD before a PATH: GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS.
[PATH] | The path after the base URL. It begins with a slash; do not percent-encode it.`;

const others = `
check | | Check JSON Lines files | Checks that each file is valid JSON Lines, sends nothing, and prints how many rows it has, and the first five invalid lines. The exit code is 0 if every file is valid; 2 if one is not. The format of a dataset is not documented, and is not checked.
<FILE...> | One file or several, also gzipped, or - for the standard input.
mock | | Run a mock server | Serves every operation of the OpenAPI document from memory until you stop it, and writes a line to stderr for each request. Its data is mock data: scores count shared words, and nothing is trained.
skill | | Print a skill for coding agents | Prints SKILL.md, which teaches an agent this command and package.
conformance | | Test a client in any language | Runs the conformance test cases against your client: counts its requests, measures its waits, and prints how the result of each failed test case differs from the expected one. The client asks for a test case with GET /next and reports its result with POST /outcome. The exit code is 0 if every test case that was not skipped passed; 1 if one failed, the run was interrupted or all were skipped; 2 if the command line is invalid.
completion | | Print a completion script | Prints a script that completes commands and options in bash, zsh or fish.
<SHELL> | One of ${shells.join(", ")}.
version | | Print the version | Prints the version.`;

function commandsIn(text: string, callsService: boolean): Command[] {
  const rows = text.matchAll(/^(\w+) \| (?:(.*?) )?\| (?:(.*?) )?\|(?: (.*))?((?:\n[[<].*)*)/gm);
  return [...rows].map(([, name = "", usage = "", summary, description, rest = ""]) => {
    const told = descriptions[operation[name as keyof typeof operation]] ?? {};
    const all = [...rest.matchAll(/^([[<](.*?)[\]>]) \| (.*)$/gm)];
    return {
      ...{ name, summary: summary ?? told.summary, description: description ?? told.description },
      options: optionsOf(name, callsService),
      usage: usage.replace(" or ", " | ") || ["[options]", ...all.map(([, term]) => term)].join(" "),
      arguments: all.map(([, term = "", argument = "", meaning = ""]) => ({
        ...{ name: argument, isRequired: term.startsWith("<"), description: meaning },
      })),
    };
  });
}

export const commands: readonly Command[] = [...commandsIn(calling, true), ...commandsIn(others, false)];
