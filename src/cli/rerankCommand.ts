import { isStatusError, type RankedItem, type RerankItemsError, StatusError } from "../index.js";
import type { BulkOptions } from "./bulk/bulkSettings.js";
import { type Context, namingFile, Reported, RunEnded, refuseOptions, UsageError } from "./context.js";
import { exitCodeOf, exitCodeOfError, exitCodes } from "./exitCodes.js";
import { linesWarning } from "./input/formats.js";
import { type BadLine, InvalidLines } from "./input/invalidLines.js";
import { isObject, lineJson, lineText, namesIn } from "./input/lineContent.js";
import type { Line } from "./input/lines.js";
import { readLines } from "./input/readInput.js";
import { splitOf } from "./input/splitText.js";
import { inFlags } from "./reportFailure.js";
import { bar, clip, counted, grouped, jsonLine, oneLine, scoreShares, type Terminal } from "./terminal.js";
import { withClient } from "./withClient.js";

interface DocumentLine {
  /** The line's number, counted from 1. */
  readonly line: number;
  readonly text: string;
  /** The whole content of the line: its text, or its JSON object with `--field`. */
  readonly document: unknown;
}

interface RerankCommandOptions extends BulkOptions {
  readonly query?: string;
  readonly field?: string;
  readonly maxBatchBytes?: number;
}

/** Runs `tunerank rerank --query TEXT [FILE]`. */
export async function run(context: Context<RerankCommandOptions>): Promise<void> {
  const { terminal, signal } = context;
  if (context.options.bulk !== undefined) return (await import("./bulk/runBulk.js")).runBulk(context);
  const { model, task, topN, batchSize, maxBatchBytes, concurrency } = context.options;
  const split = splitOf(context.options.split);
  const query = oneQuery(context.options);
  const invalid = new InvalidLines(terminal.tell, context.options.strict);
  const { lines, bad } = await documentsOf(context);
  if (lines.length === 0) return noDocuments(context, bad[0]);
  for (const line of bad) invalid.add(line);
  invalid.refuse();
  warnOfLines(context, lines);
  await withClient(context, "rerankDocuments", async (client) => {
    const text = (line: DocumentLine) => line.text;
    const limits = { split, batchSize, maxBatchBytes, concurrency };
    const options = { text, model, task, topN, ...limits, signal };
    const ranking = client.rerank.items(query, lines, options);
    const { data, usage } = await ranking.withResponse().catch((error) => {
      throw endOfBatches(error, lines, signal.aborted);
    });
    const results = data.map(({ item: { line, document }, score }) => ({ line, score, document }));
    const leftOut = bad.length > 0 ? { badLines: bad.length } : {};
    if (terminal.json) terminal.print(jsonLine({ results, usage, ...leftOut }));
    else print(data, terminal);
  });
  if (bad.length === 0) return;
  invalid.note(invalid.summary);
  throw new Reported(exitCodeOf.INVALID_ARGUMENT);
}

const documentOptions = ["documentsField", "textField", "documentIdField"] as const;
const fieldOptions = ["id", "idField", "queryField", ...documentOptions, "ignoreFields"] as const;
const rateOptions = ["rate", "tokensPerMinute"] as const;
const limitOptions = ["totalTimeout", "maxHold", ...rateOptions, "maxRequests", "maxTokens"] as const;
const onlyBulk = [
  "output",
  "errors",
  "wait",
  "resendPaid",
  "dedupe",
  "shard",
  ...fieldOptions,
  ...limitOptions,
] as const;

function oneQuery(options: RerankCommandOptions): string {
  const { query, batchSize, maxBatchBytes } = options;
  if (query === undefined) throw new UsageError("Required option '--query <TEXT>' not specified.");
  refuseOptions(options, onlyBulk, "has no effect without --bulk.");
  if (batchSize === undefined && maxBatchBytes === undefined)
    refuseOptions(
      options,
      ["concurrency"],
      "has no effect without --batch-size, --max-batch-bytes or --bulk.",
    );
  return query;
}

// Names lines of the file instead of the client's indices: the client counts documents from 0, a file's lines count from
// 1, empty ones included.
function inLines(error: unknown, lines: readonly DocumentLine[]): unknown {
  if (!isStatusError(error)) return error;
  const text = error.text.replace(/\bitems\[(\d+)\]/g, (found, index, at) => {
    const line = lines[index]?.line;
    return line === undefined ? found : `${at === 0 ? "Line" : "line"} ${line}`;
  });
  if (error.item !== undefined) return new UsageError(inFlags(text));
  return text === error.text ? error : new StatusError(text, { ...error, cause: error.cause });
}

// Says how much of a call in batches was ranked, and so paid for, before it ended.
function endOfBatches(thrown: unknown, lines: readonly DocumentLine[], interrupted: boolean): unknown {
  const { partial } = Object(thrown) as Partial<RerankItemsError<DocumentLine>>;
  const error = inLines(thrown, lines);
  const of = lines.length;
  // Without `partial` no request was made. If the failed batch has all documents, there was no other batch.
  if (!isStatusError(error) || partial === undefined || partial.failed.count === of) return error;
  const done = partial.data.length;
  if (done === 0 && !interrupted) return error;
  const ranked = `${grouped(done)} of ${counted(of, "document")} were ranked`;
  const text =
    done === 0
      ? `${ranked}; a batch under way may have been paid for.`
      : `${ranked}, and their batches were paid for; a batch under way may have been, too. They are not kept: the same command ranks all again. For a run that keeps results, use --bulk with --output.`;
  const [why, exit] = interrupted
    ? ["Interrupted", exitCodes.interrupted]
    : [undefined, exitCodeOfError(error)];
  return new RunEnded(why, exit, { done, of, text }, error);
}

interface SkippedLine extends BadLine {
  /** The names of its fields, if it is an object without the one that `--field` names; empty if it cannot be read. */
  readonly has?: string;
}

interface ReadDocuments {
  readonly lines: DocumentLine[];
  readonly bad: SkippedLine[];
}

async function documentsOf({
  args: [file = "-"],
  options,
  signal,
}: Context<RerankCommandOptions>): Promise<ReadDocuments> {
  const { field } = options;
  if (file === "-" && process.stdin.isTTY) {
    throw new UsageError("FILE is missing: name a file, or send documents to the standard input.");
  }
  const wanted = field === undefined ? "lines" : "JSON lines";
  const found: ReadDocuments = { lines: [], bad: [] };
  // An empty input is allowed here: it is reported later, like an input of blank lines.
  const request = { name: namingFile("FILE", file), wanted, allowEmpty: true } as const;
  for await (const lines of readLines(file, request, signal)) {
    for (const line of lines) {
      const document = documentOf(line, field, file);
      if (document === undefined) continue;
      if ("problem" in document) found.bad.push(document);
      else found.lines.push(document);
    }
  }
  return found;
}

// Warns of lines that look like JSON or a web page. Any text can be a document, so they are ranked all the same.
function warnOfLines(
  { args: [file = "-"], options, terminal }: Context<RerankCommandOptions>,
  lines: readonly DocumentLine[],
): void {
  if (options.field !== undefined || terminal.quiet) return;
  const head = lines.slice(0, 2).map(({ text }) => text);
  const warning = linesWarning(namingFile("FILE", file), head.join("\n"));
  if (warning !== undefined) terminal.tell({ warning }, `Warning: ${warning}`);
}

// An empty line is no document, but it counts in the line numbers.
function documentOf(
  whole: Line,
  field: string | undefined,
  file: string,
): DocumentLine | SkippedLine | undefined {
  const { number: line } = whole;
  const { value: text, problem } = lineText(whole, field === undefined ? "lines" : "JSON lines", file);
  // If a line of a plain text file is not UTF-8, the whole file has another encoding.
  if (problem !== undefined && field === undefined)
    throw new UsageError(`Line ${line} cannot be read. ${problem}`);
  if (problem !== undefined) return { line, problem, has: "" };
  if (text.trim() === "") return undefined;
  return field === undefined ? { line, text, document: text } : fromJson(text, line, field);
}

function noDocuments(
  { options, terminal }: Context<RerankCommandOptions>,
  bad: SkippedLine | undefined,
): void {
  if (bad !== undefined) {
    const { line, problem, has } = bad;
    const more =
      has === undefined ? " Without --field each line is a document." : has && ` Its fields: ${has}.`;
    throw new UsageError(
      `No line can be ranked with --field; nothing was sent. Line ${line}: ${problem}${more}`,
    );
  }
  if (options.allowEmpty !== true)
    throw new UsageError(
      "There is no document in the input: nothing was sent. If it may be empty, add --allow-empty.",
    );
  if (terminal.json) terminal.print(jsonLine({ results: [] }));
}

function fromJson(text: string, line: number, field: string): DocumentLine | SkippedLine {
  const { value: document, problem } = lineJson(text);
  if (problem !== undefined) return { line, problem };
  const value = Object.entries(Object(document)).find(([name]) => name === field)?.[1];
  if (typeof value !== "string") {
    const has = isObject(document) ? namesIn(document) : "";
    return { line, problem: "It has no string in the field that --field names.", ...(has && { has }) };
  }
  return { line, text: value, document };
}

const barColumns = 12;

function print(ranked: readonly RankedItem<DocumentLine>[], terminal: Terminal): void {
  const shares = scoreShares(ranked.map(({ score }) => score));
  for (const [index, { item, score }] of ranked.entries()) {
    const shown = oneLine(item.text);
    const figure = score.toFixed(3);
    if (!terminal.draws) terminal.print(`${figure}\t${item.line}\t${shown}`);
    else {
      const room = Math.max(20, terminal.columns - barColumns - figure.length - 3);
      terminal.print(
        `${terminal.style("cyan", bar(shares[index] ?? 0, barColumns))} ${figure}  ${clip(shown, room)}`,
      );
    }
  }
}
