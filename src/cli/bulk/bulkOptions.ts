// The options of `rerank` for many queries. Help and completion read them too: nothing here loads the client.
import { statSync } from "node:fs";
import type { Command } from "commander";
import type { RerankAllOptions } from "../../bulk/index.js";
import type { RerankRequest } from "../../index.js";
import { shardOf } from "../checkpoints/ids.js";
import { realName } from "../checkpoints/readRows.js";
import { numberOf } from "../commonOptions.js";
import { type Context, refuseOptions, UsageError, unreadable } from "../context.js";
import type { InputFormat } from "./bulkRequest.js";

/** The options of `rerank` that a bulk run takes or refuses. */
export interface BulkOptions {
  readonly bulk?: string;
  readonly output?: string;
  readonly errors?: string;
  readonly wait?: boolean;
  readonly shard?: string;
  readonly idField?: string;
  readonly queryField?: string;
  readonly documentsField?: string;
  readonly model?: string;
  readonly task?: string;
  readonly topN?: number;
  readonly concurrency?: number | "auto";
  /** Requests a minute. */
  readonly rate?: number;
  readonly tokensPerMinute?: number;
  /** In seconds. */
  readonly totalTimeout?: number;
  /** In seconds; infinite for no limit. */
  readonly maxHold?: number;
}

const onlyWithout = ["query", "field", "batchSize", "maxBatchBytes", "maxRetries"] as const;

/** What a bulk run works on. */
export interface BulkSettings {
  /** The input's name; `-` for the standard input. */
  readonly file: string;
  readonly isPipe: boolean;
  readonly output: string;
  readonly errors: string | undefined;
  readonly reading: InputFormat;
  readonly concurrency: number | "auto";
  readonly rate: RerankAllOptions["rate"];
  readonly timeoutMs: number | undefined;
  readonly totalTimeoutMs: number | undefined;
  readonly maxHoldMs: number | undefined;
}

/** Reads the options. @throws UsageError */
export function bulkSettings({ options, args }: Context<BulkOptions>): BulkSettings {
  const { bulk: file = "-", output, errors, concurrency = "auto", timeout } = options;
  refuseOptions(options as Readonly<Record<string, unknown>>, onlyWithout, "has no effect on --bulk.");
  if (args.length > 0) throw new UsageError("With --bulk there is no FILE: each line has its own documents.");
  if (output === undefined)
    throw new UsageError("--bulk needs --output FILE, from which a run can continue.");
  if (output === "-") throw new UsageError("--output must be a file, so that a run can continue from it.");
  if (concurrency !== "auto" && !(Number.isInteger(concurrency) && concurrency >= 1))
    throw new UsageError("--concurrency must be a whole number of at least 1, or auto.");
  const { rate: requestsPerMinute, tokensPerMinute } = options;
  if (tokensPerMinute !== undefined && tokensPerMinute <= 0)
    throw new UsageError("--tokens-per-minute must be greater than 0.");
  const totalTimeoutMs = msOf(options.totalTimeout);
  const { maxHold } = options;
  if (maxHold !== undefined && maxHold < 0) throw new UsageError("--max-hold must be at least 0, or none.");
  const files = [output, ...(errors === undefined ? [] : [errors])].map(realName);
  const isPipe = file === "-" || isNoFile(file);
  if (!isPipe) files.push(realName(file));
  if (new Set(files).size < files.length)
    throw new UsageError("--bulk, --output and --errors must be different files.");
  return {
    file,
    isPipe,
    output: files[0] as string,
    errors: errors === undefined ? undefined : files[1],
    reading: readingOf(options),
    concurrency,
    rate: { requestsPerMinute, tokensPerMinute },
    timeoutMs: timeout === undefined ? undefined : timeout * 1000,
    totalTimeoutMs,
    maxHoldMs: maxHold === undefined ? undefined : maxHold * 1000,
  };
}

// The run would refuse it too, but only once its files are there.
function msOf(seconds: number | undefined): number | undefined {
  if (seconds === undefined) return undefined;
  if (seconds <= 0) throw new UsageError("--total-timeout must be greater than 0.");
  return Math.min(seconds * 1000, Number.MAX_VALUE);
}

function readingOf(options: BulkOptions): InputFormat {
  const { idField = "id", queryField = "query", documentsField = "documents", task, topN } = options;
  const shard = options.shard === undefined ? undefined : shardOf(options.shard);
  const defaults: Partial<RerankRequest> = { return_documents: false };
  const model = options.model ?? (process.env.TUNERANK_RERANK_MODEL || undefined);
  if (model !== undefined) defaults.model = model;
  if (topN !== undefined) defaults.top_n = topN;
  if (task !== undefined) defaults.task = task;
  return { idField, queryField, documentsField, defaults, shard };
}

function isNoFile(file: string): boolean {
  try {
    return !statSync(file).isFile();
  } catch (error) {
    throw unreadable("--bulk", error);
  }
}

const minutes = { s: 1 / 60, min: 1, h: 60 } as const;

// "600/min" as requests a minute.
function perMinute(text: string): number {
  const [, count = "", unit = ""] = /^(\d+(?:\.\d+)?)\/(s|min|h)$/.exec(text) ?? [];
  if (!(Number(count) > 0)) throw new UsageError("--rate must be like 600/min, 10/s or 36000/h.");
  return Number(count) / minutes[unit as keyof typeof minutes];
}

/** What `rerank --bulk` takes besides. */
export function addBulkOptions(command: Command): Command {
  return addLimits(addFiles(command.optionsGroup("Many queries:")));
}

function addFiles(command: Command): Command {
  return command
    .option(
      "--bulk <FILE>",
      "JSON Lines of requests, also gzipped, or - for the standard input: each has an id, a query and documents, and may have the other fields of a request.",
    )
    .option(
      "--output <FILE>",
      "The file for the results, one line for each id. It is the checkpoint: run the same command again to continue.",
    )
    .option(
      "--errors <FILE>",
      "The file for errors. Without it, invalid requests go to --output, and other failures are only shown.",
    )
    .option(
      "--shard <I/N>",
      "Rank only the I-th of N parts of the ids, counted from 0, for several machines. Each part needs an output of its own.",
    )
    .option(
      "--wait",
      "Wait while another run writes to --output or --errors. Without this option, the command then ends with an error.",
    )
    .option("--id-field <NAME>", "The field that holds the id. Default: id.")
    .option("--query-field <NAME>", "The field that holds the query. Default: query.")
    .option("--documents-field <NAME>", "The field that holds the documents. Default: documents.");
}

function addLimits(command: Command): Command {
  return command
    .option(
      "--rate <N/UNIT>",
      "Send no more requests than this, evenly: 600/min, 10/s or 36000/h. Declare some 95 % of the service's rate. Default: no limit.",
      perMinute,
    )
    .option(
      "--tokens-per-minute <N>",
      "Send no more tokens than this in a minute, as the answers count them. Default: no limit.",
      numberOf("--tokens-per-minute"),
    )
    .option(
      "--total-timeout <SECONDS>",
      "With --bulk, the time for the whole run, which begins when the input file has been checked; --timeout is for each request. Default: no limit.",
      numberOf("--total-timeout"),
    )
    .option(
      "--max-hold <SECONDS>",
      "The longest time that the whole run waits when the service asks it to (Retry-After). 0 never waits, and none sets no limit. A longer wait ends the run, and the same command continues later. Default: 60.",
      (value) => (value === "none" ? Number.POSITIVE_INFINITY : numberOf("--max-hold")(value)),
    );
}
