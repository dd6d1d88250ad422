// The settings of `rerank --bulk`, read from its options.
import { fstatSync, statSync } from "node:fs";
import type { RerankAllOptions } from "../../bulk/index.js";
import { lettersOf, variables } from "../../engine.js";
import type { RerankRequest } from "../../index.js";
import { shardOf } from "../checkpoints/ids.js";
import { realName } from "../checkpoints/readRows.js";
import { type Context, cannotRead, namingFile, refuseOptions, UsageError } from "../context.js";
import type { InputRequest } from "../input/readInput.js";
import { splitOf } from "../input/splitText.js";
import { type InputFormat, isOtherField, otherFields } from "./bulkRequest.js";

/** The options of `rerank` that a bulk run uses or rejects. */
export interface BulkOptions {
  readonly bulk?: string;
  readonly output?: string;
  readonly errors?: string;
  readonly wait?: boolean;
  readonly resendPaid?: boolean;
  readonly allowEmpty?: boolean;
  readonly strict?: boolean;
  readonly dedupe?: boolean;
  readonly ignoreFields?: string;
  readonly shard?: string;
  readonly id?: string;
  readonly idField?: string;
  readonly queryField?: string;
  readonly documentsField?: string;
  readonly textField?: string;
  readonly documentIdField?: string;
  readonly model?: string;
  readonly task?: string;
  readonly topN?: number;
  readonly batchSize?: number;
  /** Documents with more characters than this are cut into parts. */
  readonly split?: number;
  readonly concurrency?: number | "auto";
  /** The limit in requests per minute (`--rate`). */
  readonly rate?: number;
  readonly tokensPerMinute?: number;
  readonly maxRequests?: number;
  readonly maxTokens?: number;
  /** The time for the whole run, in seconds. */
  readonly totalTimeout?: number;
  /** The longest pause that the service may ask for, in seconds; infinite for no limit. */
  readonly maxHold?: number;
}

const onlyWithout = ["query", "field", "maxBatchBytes", "maxRetries"] as const;

export interface BulkSettings {
  /** The input's name; `-` for the standard input. */
  readonly file: string;
  readonly input: InputRequest;
  readonly isPipe: boolean;
  readonly output: string;
  readonly errors: string | undefined;
  /** Whether requests that ran without a usable result are sent again. */
  readonly resendPaid: boolean;
  /** Whether one invalid line is enough to reject the whole input. */
  readonly isStrict: boolean;
  /** Whether requests that ask the same under different ids are sent once. */
  readonly dedupe: boolean;
  readonly reading: InputFormat;
  readonly batchSize: number | undefined;
  readonly split: RerankAllOptions["split"];
  readonly concurrency: number | "auto";
  readonly rate: RerankAllOptions["rate"];
  readonly maxRequests: number | undefined;
  readonly maxTokens: number | undefined;
  readonly timeoutMs: number | undefined;
  readonly totalTimeoutMs: number | undefined;
  readonly maxPauseMs: number | undefined;
}

export function bulkSettings({ options, args, dryRun }: Context<BulkOptions>): BulkSettings {
  const { bulk: file = "-", output, errors, concurrency = "auto" } = options;
  refuseOptions(options as Readonly<Record<string, unknown>>, onlyWithout, "has no effect on --bulk.");
  if (args.length > 0) throw new UsageError("With --bulk there is no FILE: each line has its own documents.");
  if (output === undefined)
    throw new UsageError("--bulk needs --output FILE, from which a run can continue.");
  if (output === "-") throw new UsageError("--output must be a file, so that a run can continue from it.");
  if (concurrency !== "auto" && !(Number.isInteger(concurrency) && concurrency >= 1))
    throw new UsageError("--concurrency must be a whole number of at least 1, or auto.");
  const sending = sendingOf(options);
  const files = [realName(output, "--output")];
  if (errors !== undefined) files.push(realName(errors, "--errors"));
  const isPipe = isNoFile(file);
  const isStrict = options.strict === true;
  if (isStrict && isPipe)
    throw new UsageError(
      "--strict reads the whole input before anything is sent: --bulk must be a file, not a pipe.",
    );
  if (!isPipe) files.push(realName(file, "--bulk"));
  if (new Set(files).size < files.length)
    throw new UsageError("--bulk, --output and --errors must be different files.");
  return {
    file,
    input: {
      name: namingFile("--bulk", file),
      wanted: "JSON lines",
      allowEmpty: options.allowEmpty === true,
    },
    isPipe,
    output: files[0] as string,
    errors: errors === undefined ? undefined : files[1],
    resendPaid: options.resendPaid === true,
    isStrict,
    dedupe: options.dedupe === true,
    reading: readingOf(options),
    concurrency,
    ...sending,
    ...(dryRun === undefined ? {} : unlimited),
  };
}

// A dry run counts all that there is to send, so the limits on what a run sends do not apply.
const unlimited = {
  rate: undefined,
  maxRequests: undefined,
  maxTokens: undefined,
  totalTimeoutMs: undefined,
};

type Sending = Pick<
  BulkSettings,
  "batchSize" | "split" | "rate" | "maxRequests" | "maxTokens" | "timeoutMs" | "totalTimeoutMs" | "maxPauseMs"
>;

// The options that limit how much is sent, how fast, and for how long.
function sendingOf(options: Context<BulkOptions>["options"]): Sending {
  const { rate: requestsPerMinute, tokensPerMinute, maxHold, timeout } = options;
  if (tokensPerMinute !== undefined && tokensPerMinute <= 0)
    throw new UsageError("--tokens-per-minute must be greater than 0.");
  if (maxHold !== undefined && maxHold < 0) throw new UsageError("--max-hold must be at least 0, or none.");
  return {
    batchSize: countOf(options.batchSize, "--batch-size"),
    split: splitOf(options.split),
    rate: { requestsPerMinute, tokensPerMinute },
    maxRequests: countOf(options.maxRequests, "--max-requests"),
    maxTokens: countOf(options.maxTokens, "--max-tokens"),
    timeoutMs: timeout === undefined ? undefined : timeout * 1000,
    totalTimeoutMs: msOf(options.totalTimeout),
    maxPauseMs: maxHold === undefined ? undefined : maxHold * 1000,
  };
}

function countOf(count: number | undefined, option: string): number | undefined {
  if (count === undefined || (Number.isSafeInteger(count) && count >= 1)) return count;
  throw new UsageError(`${option} must be a whole number of at least 1.`);
}

// Checks --total-timeout. The bulk run would reject an invalid value too, but only after its files have been created.
function msOf(seconds: number | undefined): number | undefined {
  if (seconds === undefined) return undefined;
  if (seconds <= 0) throw new UsageError("--total-timeout must be greater than 0.");
  return Math.min(seconds * 1000, Number.MAX_VALUE);
}

function readingOf(options: BulkOptions): InputFormat {
  const { queryField = "query", documentsField = "documents", task, topN } = options;
  const { textField, documentIdField } = options;
  if (textField === undefined)
    refuseOptions({ documentIdField }, ["documentIdField"], "has no effect without --text-field.");
  const idField = idFieldOf(options);
  const shard = options.shard === undefined ? undefined : shardOf(options.shard);
  const defaults: Partial<RerankRequest> = { return_documents: false };
  const model = options.model ?? (process.env[variables.rerankModel] || undefined);
  if (model !== undefined) defaults.model = model;
  if (topN !== undefined) defaults.top_n = topN;
  if (task !== undefined) defaults.task = task;
  const given = Object.entries({ model: options.model, task, top_n: topN });
  return {
    ...{ idField, queryField, documentsField, defaults, shard },
    joinedFields: joinedFieldsOf(documentsField),
    ...{ textField, documentIdField, split: options.split },
    given: given.flatMap(([name, value]) => (value === undefined ? [] : [name])),
    ignored: ignoredOf(options.ignoreFields),
  };
}

function idFieldOf({ id, idField }: BulkOptions): string | undefined {
  if (id === undefined) return idField ?? "id";
  if (id !== "line")
    throw new UsageError(
      '--id takes only the word "line" (--id line): then the id is the line number. --id-field names the field that holds the id.',
    );
  refuseOptions({ idField }, ["idField"], "has no effect on --id line.");
  return undefined;
}

function joinedFieldsOf(documentsField: string): readonly string[] | undefined {
  const names = documentsField.split(",").map((name) => name.trim());
  if (names.length === 1) return undefined;
  if (names.every((name) => name !== "") && new Set(names).size === names.length) return names;
  throw new UsageError("--documents-field must name one field, or several, each once: pos,neg.");
}

function ignoredOf(names: string | undefined): ReadonlySet<string> {
  const ignored = names?.split(",").map((name) => name.trim()) ?? [];
  if (ignored.every(isOtherField)) return new Set(ignored.map(lettersOf));
  const known = otherFields.join(", ");
  throw new UsageError(`--ignore-fields must name fields of a request, such as task: ${known}.`);
}

function isNoFile(file: string): boolean {
  try {
    const stats = file === "-" ? fstatSync(0) : statSync(file);
    // Without this check, a folder would be noticed only after the files for the results have been created.
    if (stats.isDirectory()) throw Object.assign(new Error(), { code: "EISDIR" });
    return file === "-" || !stats.isFile();
  } catch (error) {
    throw cannotRead(namingFile("--bulk", file), error, " Nothing was sent.");
  }
}
