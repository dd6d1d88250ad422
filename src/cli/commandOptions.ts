// The options that several commands share, and how their values are parsed. Help and completion load this file too, so
// it imports nothing that only a running command needs.
import type { Command } from "commander";
import { type OperationId, operations } from "../generated/contract.js";
import { UsageError } from "./context.js";

type CallingCommand = "rerank" | "scale" | "resume" | "upload";

/** The operation that each of these commands calls. */
export const operationOfCommand: Readonly<Record<CallingCommand, OperationId>> = {
  rerank: "rerankDocuments",
  scale: "scaleDeployment",
  resume: "resumeReinforcementFineTuningJob",
  upload: "uploadDatasetFile",
};

/**
 * Joins names for a sentence: "a, b and c". Intl.ListFormat gives the same text, but loading its data took a quarter of
 * every start.
 */
export function listed(names: readonly string[]): string {
  return names.join(", ").replace(/, ([^,]*)$/, " and $1");
}

// The default of --timeout in the help. The default of `request` depends on the operation that it calls.
function defaultTimeout(command: string): string {
  if (!Object.hasOwn(operationOfCommand, command))
    return "with an ID, the default of that operation; with METHOD PATH, 30 seconds";
  const { timeoutMs, bytesPerSecond } = operations[operationOfCommand[command as CallingCommand]];
  const more = bytesPerSecond && `, and a second more for each ${bytesPerSecond / 1024} KiB of the file`;
  return `${timeoutMs / 1000} seconds${more ?? ""}`;
}

const plans: Readonly<Record<string, string>> = {
  rerank:
    "the method, the URL and the size in bytes of the requests, and the number of documents and of estimated tokens; with --bulk also how many requests are left to do",
  upload:
    "the method, the URL and the size in bytes of the requests; with --checkpoint also which files are left to upload",
};

export function addServiceOptions(command: Command): Command {
  return command
    .optionsGroup("The service:")
    .option("--base-url <URL>", "The service's address. Default: TUNERANK_BASE_URL.")
    .option(
      "--api-key-file <FILE>",
      "The file with the API key. Default: TUNERANK_API_KEY. The key itself is not an option: other users of a machine can read arguments.",
    )
    .option("--account <ID>", "The account. Default: TUNERANK_ACCOUNT_ID.")
    .option(
      "--env-file <FILE>",
      "A file that sets environment variables, as `node --env-file` reads it. Variables that are already set take precedence.",
    )
    .option(
      "--timeout <TIME>",
      `The time for the whole call, retries included: seconds, or with a unit, such as 500ms or 2min. Default: ${defaultTimeout(command.name())}.`,
      secondsOf("--timeout"),
    )
    .option(
      "--max-retries <N>",
      "Maximum number of retries, where a retry is safe. Default: 2.",
      numberOf("--max-retries"),
    )
    .option("--allow-insecure-http", "Allow plain http to another machine.")
    .option(
      "--proxy <URL>",
      "Use this proxy. Default: the variables https_proxy, http_proxy, all_proxy and no_proxy.",
    )
    .option("--noproxy <HOSTS>", "Reach these hosts (A,B) without a proxy. Replaces no_proxy.")
    .option("--debug", "Log each attempt to stderr, without the key. TUNERANK_LOG=debug does the same.")
    .option(
      "--dry-run",
      `Send nothing, and print ${plans[command.name()] ?? "the method, the URL and the size in bytes of the request"}. Needs no API key.`,
    );
}

export function addOutputOptions(command: Command): Command {
  return command
    .optionsGroup("Output:")
    .option("--json", "Print one JSON value for programs; errors too, on stderr.")
    .option("-q, --quiet", "Print only results and errors.")
    .option("--no-color", "Print no colours. The variable NO_COLOR does the same.")
    .helpOption("-h, --help", "Show this help.");
}

/** Collects the values of an option that may be given more than once. */
export function collectValues(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

export function numberOf(option: string): (value: string) => number {
  return (value) => {
    // `Number("")` and `Number(" ")` are 0, so blank text is checked first.
    if (value.trim() !== "" && Number.isFinite(Number(value))) return Number(value);
    throw new UsageError(`${option} must be a number.`);
  };
}

const units = { ms: 1 / 1000, s: 1, m: 60, min: 60, h: 3600 } as const;

/** Parses a time into seconds: a number, or one with a unit. */
export function secondsOf(option: string, orNone = ""): (value: string) => number {
  return (value) => {
    const [, number = "", unit = "s"] = /^(.*?)(ms|s|m|min|h)?$/.exec(value) ?? [];
    const seconds = Number(number.trim() || "none") * units[unit as keyof typeof units];
    if (Number.isFinite(seconds)) return seconds;
    throw new UsageError(
      `${option} must be a number of seconds, or a time such as 500ms, 5s or 2min${orNone}.`,
    );
  };
}

export function addRequestOptions(command: Command): Command {
  return command
    .option(
      "--list",
      "Print the operations of the OpenAPI document, or the one with this ID, with their parameters, and call nothing.",
    )
    .option(
      "--param <NAME=VALUE>",
      "A parameter of the operation: of its path, query or headers. Repeat it for each parameter, and for each value of a list.",
      collectValues,
    )
    .option(
      "--query <NAME=VALUE>",
      "A query parameter, with METHOD PATH. May be given more than once.",
      collectValues,
    )
    .option("--body <JSON>", "The body, as JSON.")
    .option(
      "--body-file <FILE>",
      "The file with the body, or - for the standard input. For an upload, the file to upload.",
    )
    .option(
      "--content-type <TYPE>",
      "The media type of the body, or of an upload's file. Default: application/json; for an upload's file application/octet-stream.",
    )
    .option("--accept <TYPE>", "The media type of the response, with METHOD PATH. Default: application/json.")
    .option(
      "--repeatable",
      "The request is idempotent: sending it twice is harmless, so it is retried. Default with METHOD PATH: GET, HEAD, PUT and DELETE are idempotent, other methods are not. Default with an ID: as the OpenAPI document says.",
    )
    .option(
      "--max-bytes <N>",
      "Maximum size of the response in bytes, with METHOD PATH. Default: 1048576.",
      numberOf("--max-bytes"),
    );
}

const minutes = { s: 1 / 60, min: 1, h: 60 } as const;

// Parses a rate, such as "600/min", into requests per minute.
function perMinute(text: string): number {
  const [, count = "", unit = ""] = /^(\d+(?:\.\d+)?)\/(s|min|h)$/.exec(text) ?? [];
  if (!(Number(count) > 0)) throw new UsageError("--rate must be like 600/min, 10/s or 36000/h.");
  return Number(count) / minutes[unit as keyof typeof minutes];
}

/** Adds the options that only `rerank --bulk` takes. */
export function addBulkOptions(command: Command): Command {
  return addLimits(addFields(addFiles(command.optionsGroup("Many queries:"))));
}

function addFiles(command: Command): Command {
  return command
    .option(
      "--bulk <FILE>",
      "A file of JSON Lines, also gzipped, or - for the standard input. Each line is a request: id, query and documents, and optionally model, top_n, task and return_documents. Requests are retried until --timeout, so --max-retries is not allowed.",
    )
    .option(
      "--output <FILE>",
      "The file for the results: one row (a line of JSON) for each id. It is the checkpoint: run the same command again to continue.",
    )
    .option(
      "--errors <FILE>",
      "The file for errors. Without it, errors of requests that are not sent again go to --output; others are only shown.",
    )
    .option(
      "--resend-paid",
      "Send requests again that ran, and so were paid for, but whose response could not be used.",
    )
    .option(
      "--dedupe",
      "Send equal requests with different ids once; each id has its row. Needs about 60 bytes of memory for each different request.",
    )
    .option(
      "--shard <I/N>",
      "For several machines: rank only the I-th of N parts of the ids, counted from 0: 0/N to (N-1)/N. Each part needs its own --output.",
    )
    .option(
      "--wait",
      "Wait while another run writes to --output or --errors, instead of ending with an error.",
    );
}

// Adds the options that say how a line of the input is read.
function addFields(command: Command): Command {
  return command
    .option("--id-field <NAME>", "The field that holds the id. Default: id.")
    .option(
      "--id <line>",
      "Use the line number, counted from 1, as the id. The only value is the word line: --id line.",
    )
    .option("--query-field <NAME>", "The field that holds the query. Default: query.")
    .option(
      "--documents-field <NAMES>",
      "The field that holds the documents, or several fields, such as pos,neg: their documents are joined into one list. Default: documents.",
    )
    .option("--text-field <NAME>", "If documents are objects: the field that holds their text.")
    .option(
      "--document-id-field <NAME>",
      "With --text-field, the field that holds a document's id. The ids are in the row, as document_ids, best first.",
    )
    .option(
      "--ignore-fields <NAMES>",
      "Ignore these fields of the lines, such as task or model,top_n, so that --task, --model and --top-n apply to all lines. Without it, a line's own field applies.",
    );
}

function addLimits(command: Command): Command {
  return command
    .option(
      "--rate <N/UNIT>",
      "Send no more requests than this, evenly: 600/min, 10/s or 36000/h. Use about 95 % of the service's rate limit. Default: no limit.",
      perMinute,
    )
    .option(
      "--tokens-per-minute <N>",
      "Send no more tokens than this in a minute, as the responses count them. Default: no limit.",
      numberOf("--tokens-per-minute"),
    )
    .option(
      "--max-requests <N>",
      "Maximum number of requests of this run, retries included. The run then ends with exit code 11, and the same command continues it. Default: no limit.",
      numberOf("--max-requests"),
    )
    .option(
      "--max-tokens <N>",
      "Maximum number of tokens of this run, as the responses count them. The run then ends as with --max-requests. Default: no limit.",
      numberOf("--max-tokens"),
    )
    .option(
      "--total-timeout <TIME>",
      "The time limit of the whole run. It starts after the input file was checked. With --bulk, --timeout is the time for each request. Default: no limit.",
      secondsOf("--total-timeout"),
    )
    .option(
      "--max-hold <TIME>",
      "Maximum Retry-After for which the run pauses; a longer one ends the run, and the same command continues it later. 0: never pause. The word none: no limit. Default: 60 seconds.",
      (value) => (value === "none" ? Number.POSITIVE_INFINITY : secondsOf("--max-hold", ", or none")(value)),
    );
}
