// Every option of the command: the client's argument that it sets, how its value is parsed, and what the help says. The
// client checks the values. Help and completion load this file, so it imports nothing that only a running command needs.
import { type OperationId, operations } from "../generated/contract.js";
import { descriptions } from "../generated/descriptions.js";
import { UsageError } from "./context.js";

type CallingCommand = "rerank" | "bulk" | "scale" | "resume" | "upload";

export const operationOfCommand: Readonly<Record<CallingCommand, OperationId>> = {
  rerank: "rerankDocuments",
  bulk: "rerankDocuments",
  scale: "scaleDeployment",
  resume: "resumeReinforcementFineTuningJob",
  upload: "uploadDatasetFile",
};

const { fields } = descriptions.rerankDocuments;

// Option | the client's arguments | help. The word in brackets says how a value is parsed; with dots it may be repeated.
const rowsOfCommand: Readonly<Record<string, string>> = {
  rerank: `
--query <TEXT> | query | ${fields.query} Required.
--field <PATH> | | Read JSON Lines, and rank this field of each object, such as text or body.text. Without it, each line is a document.
--allow-empty | | An input without any documents is not an error: nothing is sent, and the exit code is 0.
--strict | | With --field, fail at an invalid line, before anything is sent. Without it, such lines are reported and skipped, and the exit code is 5.
--model <NAME> | model | ${fields.model}
--task <TEXT> | task | ${fields.task}
--top-n <N> | topN | ${fields.top_n}
--batch-size <N> | batchSize | Maximum number of documents in one request. Default: all. Without --timeout, each batch has 60 seconds of its own. Retries end then, or after --max-retries.
--concurrency <N|auto> | concurrency | Maximum number of requests at the same time, with --batch-size. Default: auto: as many as the service accepts, at most 256. With --max-retries: 4.`,
  bulk: `
--output <FILE> | | The file for the results. Required. It has one row (a line of JSON) for each id, with its response or its error. It is the checkpoint: run the same command again to continue.
--shard <I/N> | | For several machines: rank only the I-th of N parts of the ids, counted from 0: 0/N to (N-1)/N. Each part needs its own --output.
--id-field <PATH> | | The field that holds the id. Default: id, or custom_id.
--query-field <PATH> | | The field that holds the query, such as body.query. Default: query, or body.query in a line of a Batch API.
--documents-field <PATH> | | The field that holds the documents, such as body.documents or passages[].text. Default: documents, or body.documents in a line of a Batch API.
--model <NAME> | model | ${fields.model}
--task <TEXT> | task | ${fields.task}
--top-n <N> | top_n | ${fields.top_n}
--batch-size <N> | batchSize | Maximum number of documents in one request. Default: all.
--concurrency <N|auto> | concurrency | Maximum number of requests at the same time. Default: auto: as many as the service accepts, at most 256.
--rate <N/UNIT> | rate.requestsPerMinute | Send no more requests than this, evenly: 600/min, 10/s or 36000/h. Use about 95 % of the service's rate limit. Default: no limit.
--tokens-per-minute <N> | rate.tokensPerMinute | Send no more tokens than this in a minute, as the responses count them. Default: no limit.
--max-requests <N> | maxRequests | Maximum number of requests of this run, retries included. The run then ends with exit code 11, and the same command continues it. Default: no limit.
--max-tokens <N> | maxTokens | Maximum number of tokens of this run, as the responses count them. The run then ends as with --max-requests. Default: no limit.
--total-timeout <TIME> | totalTimeoutMs | The time limit of the whole run. It starts after the input was checked. Default: no limit.
--max-pause <TIME|none> | maxPauseMs | Maximum Retry-After for which the run pauses; a longer one ends the run, and the same command continues it later. 0: never pause. The word none: no limit. Default: 60 seconds.
--update | | Rank ids again whose request has changed. Without it, such an id ends the run before anything is sent.
--retry-final | | Send requests again whose row has a final error: rejected as invalid, or they ran, and so were paid for, but their response could not be used.
--strict | | Fail at an invalid line, before anything is sent. Without it, such a line has a row with its error, and the exit code is 5.
--allow-empty | | An input without any requests is not an error: nothing is sent, and the exit code is 0.`,
  upload: `
--name <NAME> | name | The file's name to send, for one file. Required for the standard input.
--no-check | | Send files without a check. By default, a file named .jsonl or .ndjson (also with .gz) is sent only if it is valid JSON Lines.
--verify | verifyBytes | Fail if the field \`bytes\` of the response is not the number of bytes sent.
--checkpoint <FILE> | | Record the outcome of each file here. Run the same command again to continue: a file that may be stored is not sent again.
--concurrency <N> | concurrency | Maximum number of files uploaded at the same time. Default: 1.
--resend-unknown | | With --checkpoint, also send the files whose earlier upload may have succeeded. They may then be stored twice.`,
  scale: "--yes | | Do not ask before scaling to zero. Only a person at a terminal is asked.",
  mcp: `
--tools <NAMES> | | The tools to offer: all, or some of rerank, scale, resume, upload and the ids of other operations (A,B). Default: rerank.
--root <DIR> | | The folder whose files may be uploaded. Without it, upload is not offered.`,
  request: `
--list | | Print the operations of the OpenAPI document, or the one with this ID, with their parameters, and call nothing.
--param <NAME=VALUE>... | | A parameter of the operation: of its path, query or headers. Repeat it for each parameter, and for each value of a list.
--query <NAME=VALUE>... | query | A query parameter, with METHOD PATH. May be given more than once.
--body <JSON> | body | The body, as JSON.
--body-file <FILE> | file | The file with the body, or - for the standard input. For an upload, the file to upload.
--content-type <TYPE> | contentType | The media type of the body, or of an upload's file. Default: application/json; for an upload's file application/octet-stream.
--accept <TYPE> | accept | The media type of the response, with METHOD PATH. Default: application/json.
--idempotent | idempotent | Sending the request twice is harmless, so it is retried. Default with METHOD PATH: GET, HEAD, PUT and DELETE are idempotent, other methods are not. Default with an ID: as the OpenAPI document says.
--max-bytes <N> | maxResponseBytes | Maximum size of the response in bytes, with METHOD PATH. Default: 1048576.`,
  mock: `
--port <N> | port | The port; 0 chooses a free one. Default: 4010.
--host <ADDRESS> | host | The address to listen on; 0.0.0.0 in a container. Anybody who can reach it can call it. Default: 127.0.0.1.
--allow-origin <ORIGIN>... | allowOrigins | An origin whose web pages may call it, in addition to those of this machine. May be given more than once.
--delay <TIME> | delayMs | Send each response this much later.
--fail <SCRIPT>... | status,code,times,retryAfter | Make the next requests fail: OPERATION:FAILURE, with xN for N requests and retry-after=SECONDS, such as rerank:503x2, upload:reset or rerank:429x2,retry-after=5. OPERATION is rerank, upload, scale, resume or an operation's id. FAILURE is a code, reset, stall, truncate, or a status from 200 to 599; even with 200 the body is an error. May be given more than once.
--strict | | Reject fields and query parameters that the OpenAPI document does not have, with 400.`,
  skill: "--install <DIR> | | Write it to DIR/tunerank. A file there that is not from tunerank is kept.",
  conformance: `
--port <N> | port | The port on this machine; 0 chooses a free one. Default: 4020.
--only <TEXT>... | | Run only test cases with TEXT in their id. May be given more than once.
--except <TEXT>... | | Skip test cases with TEXT in their id. May be given more than once.
--large | | Also run the test cases with a file of 150,000,000 bytes.
--list | | Print the ids of the test cases, with a description, and run nothing.
--timeout <TIME> | timeoutMs | End the run if the client sends nothing for this time. Default: 120 seconds.
--badge <FILE> | | Write a badge (SVG) with the revision of the OpenAPI document and the numbers of passed, failed and skipped test cases.
--junit <FILE> | | Write the results as JUnit XML, which CI systems read.`,
};

const ofOutput = `
--json | | Print one JSON value for programs; errors too, on stderr.
-q, --quiet | | Print only results and errors.
--no-color | | Print no colours. The variable NO_COLOR does the same.
-h, --help | | Show this help.`;

function ofService(command: string): string {
  return `
--base-url <URL> | baseUrl | The service's address. Default: TUNERANK_BASE_URL.
--api-key-file <FILE> | apiKey | The file with the API key. Default: TUNERANK_API_KEY. The key itself is not an option: other users of a machine can read arguments.
--account <ID> | accountId | The account. Default: TUNERANK_ACCOUNT_ID.
--env-file <FILE> | | A file that sets environment variables, as \`node --env-file\` reads it. Variables that are already set take precedence.
--timeout <TIME> | timeoutMs | The time for ${command === "bulk" ? "each request" : "the whole call"}, retries included: seconds, or with a unit, such as 500ms or 2min. Default: ${defaultTimeout(command)}.
${command === "bulk" ? "" : "--max-retries <N> | maxRetries | Maximum number of retries: 0, 1 or 2. It can lower the number that a failure has, not raise it. Default: 2.\n"}--allow-insecure-http | allowInsecureHttp | Allow plain http to another machine.
--proxy <URL> | proxy | Use this proxy. Default: the variables https_proxy, http_proxy, all_proxy and no_proxy.
--noproxy <HOSTS> | | Reach these hosts (A,B) without a proxy. Replaces no_proxy.
--debug | | Log each attempt to stderr, without the key. TUNERANK_LOG=debug does the same.
${command === "mcp" ? "" : "--dry-run | | Send nothing, and print the method, the URL and the size in bytes of each request; for rankings also the number of documents and of estimated tokens, and of a checkpoint what is left to do. Needs no API key."}`;
}

function defaultTimeout(command: string): string {
  if (command === "request") return "with an ID, the default of that operation; with METHOD PATH, 30 seconds";
  if (command === "mcp") return "the default of each operation";
  const { timeoutMs, bytesPerSecond } = operations[operationOfCommand[command as CallingCommand]];
  const more = bytesPerSecond ? `, and a second more for each ${bytesPerSecond / 1024} KiB of the file` : "";
  return `${timeoutMs / 1000} seconds${more}`;
}

/**
 * An option of a command: `flags` as the help shows it, such as `-q, --quiet`; the word for its value, empty if it takes
 * none; the client's arguments that it `sets`; and its title in the help (`group`).
 */
export type CommandOption = Readonly<Record<"flags" | "long" | "value" | "description" | "group", string>> &
  Readonly<{ short: string | undefined; isMany: boolean; sets: readonly string[] }>;

/** The options of a command. A command that calls the service has those of every such command, too. */
export function optionsOf(name: string): CommandOption[] {
  const own = rowsOfCommand[name] ?? "";
  const callsService = name in operationOfCommand || /^(mcp|request)$/.test(name);
  const groups = { Options: own, "The service": callsService ? ofService(name) : "", Output: ofOutput };
  const row = /^((?:(-\w), )?(--[\w-]+)(?: <(.*)>)?)(\.\.\.)? \| (?:([\w,.]+) )?\| (.*)$/gm;
  return Object.entries(groups).flatMap(([group, text]) =>
    [...text.matchAll(row)].map(
      ([, flags = "", short, long = "", value = "", dots, sets = "", description = ""]) => ({
        ...{ flags, short, long, value, description, group },
        ...{ isMany: dots !== undefined, sets: sets.split(",") },
      }),
    ),
  );
}

// How the value of an option is parsed, by the word that stands for it. All other values are texts.
export const parsers: Readonly<Record<string, (value: string, option: string) => number | string>> = {
  N: numberIn,
  "N|auto": (value, option) => (value === "auto" ? value : numberIn(value, option)),
  "N/UNIT": (value, option) => {
    const [, count = "", unit = "s"] = /^(\d+(?:\.\d+)?)\/(s|min|h)$/.exec(value) ?? [];
    if (Number(count) > 0) return (Number(count) * units.min) / units[unit as keyof typeof units];
    throw new UsageError(`${option} must be like 600/min, 10/s or 36000/h.`);
  },
  TIME: millisecondsIn,
  "TIME|none": (value, option) =>
    value === "none" ? Number.POSITIVE_INFINITY : millisecondsIn(value, option),
};

function numberIn(value: string, option: string): number {
  // `Number("")` and `Number(" ")` are 0, so blank text is checked first.
  if (value.trim() !== "" && Number.isFinite(Number(value))) return Number(value);
  throw new UsageError(`${option} must be a number.`);
}

const units = { ms: 1, s: 1000, m: 60_000, min: 60_000, h: 3_600_000 } as const;

function millisecondsIn(value: string, option: string): number {
  const [, number = "", unit = "s"] = /^(.*?)(ms|s|m|min|h)?$/.exec(value) ?? [];
  const ms = Number(number.trim() || "none") * units[unit as keyof typeof units];
  if (Number.isFinite(ms)) return ms;
  throw new UsageError(`${option} must be a number of seconds, or a time such as 500ms, 5s or 2min.`);
}

// Arguments of commands, by the client's names.
const argumentNames: Readonly<Record<string, string>> = {
  ...{ datasetId: "DATASET", deploymentId: "DEPLOYMENT", jobId: "JOB", replicaCount: "REPLICAS" },
  ...{ file: "FILE", documents: "FILE", items: "FILE", path: "PATH" },
};

/** What sets an argument of the client in a command: an option such as `--timeout`, or an argument such as DATASET. */
export function optionOf(argument: string, command: string): string | undefined {
  // The argument may be a part of one, such as documents[3].
  const [whole = ""] = argument.split("[");
  const last = whole.slice(whole.lastIndexOf(".") + 1);
  const option = optionsOf(command).find(({ sets }) => sets.includes(whole) || sets.includes(last));
  if (option !== undefined) return option.long;
  if (command !== "request" || whole === "path") return argumentNames[whole];
  const isId = /^[a-zA-Z]+Id$/.test(argument);
  return isId ? `--param ${argument.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}` : undefined;
}

/** Options of earlier versions, after their command, and what is said of each. */
export const formerOptions: Readonly<Record<string, string>> = {
  "rerank --bulk": "is now `tunerank bulk FILE --output OUT`.",
  "bulk --errors": "is gone: OUT has one row for each id, also with its error.",
  "bulk --max-hold": "is now --max-pause.",
  "bulk --max-retries": "does not apply: each request is retried until --timeout.",
  "bulk --resend-paid": "is now --retry-final.",
  "request --repeatable": "is now --idempotent.",
};
