// Reports why a command failed, with the option names of the command line instead of those of the client.

import type { RerankAllOptions } from "../bulk/index.js";
import { camelCase } from "../engine.js";
import {
  type ClientOptions,
  isStatusError,
  type RequestOptions,
  type RerankItemsOptions,
  type StatusCode,
  type StatusError,
  type UploadOptions,
} from "../index.js";
import { Reported, RunEnded, UsageError } from "./context.js";
import { exitCodeOfError, exitCodes } from "./exitCodes.js";
import { idsOf, operationIds } from "./operations.js";
import { jsonLine, oneLine, type Terminal, Unwritable } from "./terminal.js";

/** Prints why a command failed, as text or as JSON. @returns The exit code */
export function reportFailure(error: unknown, terminal: Terminal, command: string | undefined): number {
  if (error instanceof Reported) return error.exitCode;
  if (error instanceof RunEnded) return reportEnd(error, terminal, command);
  if (isStatusError(error)) {
    const said = inWords(error, command);
    if (terminal.json) terminal.note(failureLine({ ...error.toJSON(), ...wholeOf(said) }));
    else explain(said, error, terminal);
    return exitCodeOfError(error);
  }
  const message = oneLine(error instanceof Error ? error.message : String(error));
  if (error instanceof Error && error.name === "AbortError") {
    const cancelled = "Cancelled before anything was sent.";
    terminal.tell({ error: { name: "AbortError", ...notSent("CANCELLED"), message: cancelled } }, cancelled);
    return exitCodes.interrupted;
  }
  const usage = error instanceof UsageError;
  const help = `Run \`tunerank ${command === undefined ? "" : `${command} `}--help\` for help.`;
  const facts = usage ? { name: "UsageError", ...notSent("INVALID_ARGUMENT") } : { name: "Error" };
  if (terminal.json) terminal.note(jsonLine({ error: { ...facts, message } }));
  else terminal.note(`${terminal.errorStyle("red", "tunerank:")} ${message}${usage ? `\n${help}` : ""}`);
  return usage ? exitCodes.usage : exitCodes.fault;
}

// An error as JSON. If its body, a part of the response, cannot be written as JSON, the body is left out.
function failureLine({ body, ...fields }: Record<string, unknown>): string {
  try {
    return jsonLine({ error: { ...fields, body } });
  } catch (error) {
    if (!(error instanceof Unwritable)) throw error;
    return jsonLine({ error: fields });
  }
}

// The fields that a StatusError has after a call that sent nothing, for errors of other classes.
function notSent(code: StatusCode): object {
  return { code, executed: "no", executedBecause: "nothing-sent" };
}

function reportEnd(ended: RunEnded, terminal: Terminal, command: string | undefined): number {
  const { message: why, error, progress, exitCode } = ended;
  const said = error && inWords(error, command);
  if (terminal.json) {
    // Leaves out `notDone`, which lists every request that is left: they are in the input anyway.
    const { notDone: _, ...fields } = error?.toJSON() ?? {};
    const words = said ? wholeOf(said) : { message: `${why}.` };
    terminal.note(jsonLine({ error: { ...fields, ...words, progress } }));
  } else if (why !== "" || said === undefined) {
    terminal.note(`${terminal.errorStyle("red", "tunerank:")} ${why}: ${progress.text}`);
  } else {
    terminal.note(`${terminal.errorStyle("red", "tunerank:")} ${oneLine(said.message + requestOf(error))}`);
    terminal.note(oneLine(`${progress.text} ${said.hint}`));
  }
  return exitCode;
}

const ran: Readonly<Record<StatusError["executedBecause"], string>> = {
  "nothing-sent": "The request was not sent.",
  refused: "The service rejected the request: we assume that it did not run.",
  "no-answer": "The operation may have run.",
  "unclear-answer": "The operation may have run.",
  "success-began": "The operation has run.",
};

interface Said {
  readonly message: string;
  readonly hint: string;
}

// Splits an error into its message and its hint, which is shown apart. A message of the service is left unchanged.
function inWords({ code, text, hint, codeSource }: StatusError, command: string | undefined): Said {
  const own = codeSource === "client" || codeSource === "transport";
  return { message: `[${code}] ${own ? inFlags(text, command) : text}`, hint: inFlags(hint, command) };
}

/** The message and hint of an error of one of many calls, with the option names of the command line. */
export function messageOf(error: StatusError, command: string): string {
  return wholeOf(inWords(error, command)).message;
}

function wholeOf({ message, hint }: Said): Said {
  return { message: `${message} ${hint}`.trimEnd(), hint };
}

function requestOf({ requestId }: Partial<StatusError> = {}): string {
  return requestId === undefined ? "" : ` (request id ${requestId})`;
}

function explain({ message, hint }: Said, error: StatusError, terminal: Terminal): void {
  const { executedBecause } = error;
  terminal.note(`${terminal.errorStyle("red", "tunerank:")} ${oneLine(message + requestOf(error))}`);
  // Some hints, such as that of an upload, already say in their own words that the operation may have run.
  const isSaid = /^(no|unclear)-answer$/.test(executedBecause) && hint.includes(" may have ");
  terminal.note(oneLine(isSaid ? hint : `${ran[executedBecause]} ${hint}`));
}

// Phrases in the client's messages and hints, and the phrases that replace them on the command line.
const adviceForms: readonly (readonly [ofClient: string, ofCommand: string])[] = [
  ["pass size, or a path, a Blob or bytes", "name a file instead of the standard input"],
  ["a stream can be read only once", "the standard input can be read only once"],
  ["attemptTimeoutMs, by default half of timeoutMs", "half of --timeout"],
  ["pass the path of one file", "name one file"],
  ["pass a Uint8Array or a Blob", "name another --content-type"],
  ["Send the rest after that time, or allow", "Run the same command again after that time, or allow"],
  ["rerank.items with batchSize", "--batch-size"],
  ["Rank objects with rerank.items", "Rank objects with `tunerank rerank --bulk` and --text-field"],
  [
    "with the service's other operations",
    "with the service's other operations (`tunerank request GET PATH`)",
  ],
  ["Name the model in options", "Name the model with --model"],
  ["pass allowInsecureHttp: true", "add --allow-insecure-http"],
  ["pass it to createClient or to the call", "add --account"],
  ["proxy must be", "--proxy must be"],
  [', or "env".', "."],
  ['pass proxy: "env"', "see --proxy and --noproxy"],
];

type AllOptions = ClientOptions &
  UploadOptions &
  RequestOptions &
  RerankItemsOptions<unknown> &
  RerankAllOptions;

const optionNames = {
  accountId: "--account",
  apiKey: "--api-key-file",
  attemptTimeoutMs: "--timeout",
  baseUrl: "--base-url",
  batchSize: "--batch-size",
  concurrency: "--concurrency",
  contentType: "--content-type",
  maxBatchBytes: "--max-batch-bytes",
  maxPauseMs: "--max-hold",
  maxRequests: "--max-requests",
  maxResponseBytes: "--max-bytes",
  maxRetries: "--max-retries",
  maxTokens: "--max-tokens",
  timeoutMs: "--timeout",
  topN: "--top-n",
  totalTimeoutMs: "--total-timeout",
  verifyBytes: "--verify",
} as const satisfies Partial<Record<keyof AllOptions, `--${string}`>>;

// Names of the client's arguments, and of the arguments of `upload`, `scale` and `resume`.
const commandArguments: Readonly<Record<string, string>> = {
  datasetId: "DATASET",
  deploymentId: "DEPLOYMENT",
  jobId: "JOB",
  replicaCount: "REPLICAS",
};

// The ids in a path, and the options that give them to `tunerank request ID`.
const parameters: Readonly<Record<string, string>> = Object.fromEntries(
  operationIds.flatMap((id) => idsOf(id).map((name) => [camelCase(name), `--param ${name}`])),
);

// Matches the names to replace, and also quoted text and a body's fields, which stay unchanged: the caller wrote them.
const quotedOrWord = new RegExp(
  `"(?:[^"\\\\]|\\\\.)*"|\\bbody has \\w+|\\b(?:${Object.keys({ ...optionNames, ...commandArguments, ...parameters }).join("|")})\\b`,
  "g",
);

// Text that is removed from messages of a command to which it does not apply: `request` sends its input in one request,
// and a bulk run retries until --timeout.
const unfitFor = {
  request: " (--batch-size)",
  "rerank --bulk": " (maxRetries, or fewer for this failure)",
} as const;

/**
 * Rewrites a message or hint of the client with the option names of the command line.
 * @param command The command that was run
 */
export function inFlags(text: string, command?: string): string {
  const replaced = adviceForms.reduce((all, [ofClient, ofCommand]) => all.replace(ofClient, ofCommand), text);
  const unfit = Object.entries(unfitFor).find(([name]) => name === command)?.[1];
  const fit = unfit === undefined ? replaced : replaced.replace(unfit, "");
  const own: Readonly<Record<string, string>> = {
    ...optionNames,
    ...(command === "request" ? parameters : commandArguments),
  };
  return fit.replace(quotedOrWord, (found) => own[found] ?? found);
}
