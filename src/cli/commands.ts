// Every command as data: parsing, help and completion are read from here.
import type { OperationId } from "../generated/contract.js";
import { descriptions } from "../generated/descriptions.js";
import type { Context } from "./context.js";

/** One option of a command. */
export interface Option {
  readonly type: "string" | "boolean";
  readonly short?: string;
  /** What stands for its value in the help. */
  readonly value?: string;
  readonly text: string;
}

/** One command. */
export interface Command {
  /** The operation it calls; absent when it calls none. */
  readonly operation?: OperationId;
  readonly summary: string;
  readonly about: string;
  /** Names of what it takes, in order; one in brackets may be left out. */
  readonly positionals: readonly string[];
  readonly options: Readonly<Record<string, Option>>;
  /** Command lines without the program's name, each with what it does. */
  readonly examples: readonly (readonly [line: string, text: string])[];
  /** Loads what runs it. */
  readonly load: () => Promise<{ readonly run: (context: Context) => Promise<void> }>;
}

/** Options of every command. */
export const commonOptions: Readonly<Record<string, Option>> = {
  json: { type: "boolean", text: "Print one JSON value for machines; errors too, on stderr." },
  quiet: { type: "boolean", short: "q", text: "Print results and errors, nothing on the way." },
  "no-color": { type: "boolean", text: "No colours. The variable NO_COLOR does the same." },
  help: { type: "boolean", short: "h", text: "Show this help." },
};

/** Options of the commands that call the service. */
export const serviceOptions: Readonly<Record<string, Option>> = {
  "base-url": { type: "string", value: "URL", text: "The service's address. Else TUNERANK_BASE_URL." },
  "api-key-file": {
    type: "string",
    value: "FILE",
    text: "A file that holds the API key. Else TUNERANK_API_KEY. There is no option for the key itself: other users of a machine can read arguments.",
  },
  account: { type: "string", value: "ID", text: "The account. Else TUNERANK_ACCOUNT_ID." },
  timeout: {
    type: "string",
    value: "SECONDS",
    text: "The whole call's time, repeats included. Default: 60 for rerank, 30 for scale and resume, 60 and more by size for upload.",
  },
  "max-retries": {
    type: "string",
    value: "N",
    text: "The most repeats where repeating is allowed. Default: 2.",
  },
  "allow-insecure-http": { type: "boolean", text: "Allow plain http to another machine." },
};

const { rerankDocuments: rerank, uploadDatasetFile: upload } = descriptions;

/** The commands, in the order of the help. */
export const commands: Readonly<Record<string, Command>> = {
  rerank: {
    ...about("rerankDocuments"),
    positionals: ["[FILE]"],
    options: {
      query: { type: "string", value: "TEXT", text: `Required. ${rerank.fields.query}` },
      field: {
        type: "string",
        value: "NAME",
        text: "The input is JSON Lines, and this field of each object is the document. Else each line is one.",
      },
      model: { type: "string", value: "NAME", text: `${rerank.fields.model}` },
      task: { type: "string", value: "TEXT", text: `${rerank.fields.task}` },
      "top-n": { type: "string", value: "N", text: `${rerank.fields.top_n}` },
      "batch-size": { type: "string", value: "N", text: "The most documents in one request. Default: all." },
      concurrency: {
        type: "string",
        value: "N",
        text: "The most requests at once, with --batch-size. Default: 4.",
      },
    },
    examples: [
      ['rerank --query "how do I reset my password" articles.txt', "rank the lines of a file"],
      ["rerank --query refund --field text --top-n 5 faq.jsonl", "rank a field of JSON Lines, keep five"],
      ["ls docs | tunerank rerank --query invoices -", "rank what another program prints"],
    ],
    load: () => import("./rerank.js"),
  },
  upload: {
    ...about("uploadDatasetFile"),
    positionals: ["DATASET", "FILE"],
    options: {
      name: {
        type: "string",
        value: "NAME",
        text: "The name to send. Needed when FILE is -, the standard input.",
      },
      verify: { type: "boolean", text: "Fail when the answer's byte count is not the one that was sent." },
    },
    examples: [
      ["upload reviews train.jsonl", "upload a file to the dataset reviews"],
      [
        "zcat train.jsonl.gz | tunerank upload reviews - --name train.jsonl",
        "upload what another program prints",
      ],
    ],
    load: () => import("./upload.js"),
  },
  scale: {
    ...about("scaleDeployment"),
    positionals: ["DEPLOYMENT", "REPLICAS"],
    options: {},
    examples: [
      ["scale prod 2", "run two replicas"],
      ["scale prod 0", "run none, until it is scaled up again"],
    ],
    load: () => import("./scale.js"),
  },
  resume: {
    ...about("resumeReinforcementFineTuningJob"),
    positionals: ["JOB"],
    options: {},
    examples: [["resume answer-quality", "resume a job, and print its state"]],
    load: () => import("./resume.js"),
  },
  mock: {
    summary: "Serve a stand-in for the service",
    about:
      "Serves all four operations from memory until it is stopped. It is a stand-in: scores are lexical, nothing is trained or run.",
    positionals: [],
    options: { port: { type: "string", value: "N", text: "The port; 0 takes a free one. Default: 4010." } },
    examples: [
      [
        "mock --port 4010",
        "then: TUNERANK_BASE_URL=http://127.0.0.1:4010 TUNERANK_API_KEY=test-key tunerank ...",
      ],
    ],
    load: () => import("./mock.js"),
  },
  completion: {
    summary: "Print a completion script",
    about: "Prints a script that completes commands and options in bash, zsh or fish.",
    positionals: ["SHELL"],
    options: {},
    examples: [
      ["completion bash > ~/.local/share/bash-completion/completions/tunerank", "install it for bash"],
      ["completion fish > ~/.config/fish/completions/tunerank.fish", "install it for fish"],
    ],
    load: () => import("./completion.js"),
  },
};

/** Whether a command calls the service, and so takes its options. */
export function callsService(name: string): boolean {
  return commands[name]?.operation !== undefined;
}

/** Every option a command takes. */
export function optionsOf(name: string): Readonly<Record<string, Option>> {
  return { ...commands[name]?.options, ...(callsService(name) && serviceOptions), ...commonOptions };
}

function about(operation: OperationId): Pick<Command, "operation" | "summary" | "about"> {
  const { summary, description } = descriptions[operation];
  const limit = operation === "uploadDatasetFile" ? ` ${upload.fields.file}` : "";
  return { operation, summary, about: description + limit };
}
