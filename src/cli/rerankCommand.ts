import { isStatusError, type RerankItemsError } from "../index.js";
import { valueAt } from "./bulkLines.js";
import { type Context, namingFile, Reported, RunEnded, refuseOptions, UsageError } from "./context.js";
import { exitCodeOf, exitCodeOfError, exitCodes } from "./exitCodes.js";
import { Input, isObject } from "./input.js";
import { bar, clip, counted, grouped, scoreShares, tab } from "./terminal.js";
import { withClient } from "./withClient.js";

type RerankOptions = Partial<
  Record<"query" | "field" | "model" | "task", string> &
    Record<"allowEmpty" | "strict", boolean> &
    Record<"topN" | "batchSize", number> & { concurrency: number | "auto" }
>;

/** A line that is ranked: its number, its text, and its whole content, which is a JSON object with `--field`. */
type DocumentLine = Readonly<{ line: number; text: string; document: unknown }>;

const mostTold = 5;
const barColumns = 12;

/** Runs `tunerank rerank --query TEXT [FILE]`. */
export async function run(context: Context<Readonly<RerankOptions>>): Promise<void> {
  const { terminal, signal, args, options } = context;
  const { query, field, model, task, topN, batchSize, concurrency, strict } = options;
  const [file = "-"] = args;
  const name = namingFile("FILE", file);
  if (query === undefined || args.length > 1)
    throw new UsageError(
      `The query is an option: \`tunerank rerank --query TEXT [FILE]\`.${terminal.quiet ? " -q means --quiet." : ""}`,
    );
  if (batchSize === undefined) refuseOptions(options, ["concurrency"], "has no effect without --batch-size.");
  if (file === "-" && process.stdin.isTTY)
    throw new UsageError("FILE is missing: name a file, or send documents to the standard input.");
  const lines: DocumentLine[] = [];
  const invalid: { line: number; problem: string }[] = [];
  const input = await Input.open(file, name, field === undefined ? "lines" : "JSON lines", signal);
  try {
    for await (const some of input.lines(true))
      for (const { number: line, text = "", problem } of some) {
        // If a line of a plain text file cannot be read, the whole file has another encoding.
        if (problem !== undefined && field === undefined)
          throw new UsageError(`${name}, line ${line}: ${problem}`);
        // An empty line is no document, but it counts in the line numbers.
        if (problem === undefined && text.trim() === "") continue;
        const found = problem ?? (field === undefined ? { text, document: text } : fieldIn(text, field));
        if (typeof found === "string") invalid.push({ line, problem: found });
        else lines.push({ line, ...found });
      }
    if (await input.hasChanged())
      throw new Error(`${name} changed while it was read. Nothing was sent: run the same command again.`);
  } finally {
    await input.close();
  }
  const refusesAll = invalid.length > 0 && (strict === true || lines.length === 0);
  for (const { line, problem } of invalid.slice(0, mostTold)) {
    const row = { line, error: { code: "INVALID_ARGUMENT", message: problem } };
    terminal.tell(row, `${name}, line ${line}${refusesAll ? "" : " (skipped)"}: ${problem}`);
  }
  if (refusesAll) throw new UsageError(`Nothing was sent: ${counted(invalid.length, "invalid line")}.`);
  if (lines.length === 0) {
    if (options.allowEmpty !== true)
      throw new UsageError(
        `${name} has no document: nothing was sent. If it may be empty, add --allow-empty.`,
      );
    return terminal.json ? terminal.printJson({ results: [] }) : undefined;
  }
  const isJson =
    field === undefined &&
    lines.slice(0, 2).every(({ text }) => typeof fieldIn(text, undefined) !== "string");
  if (isJson && !terminal.quiet) {
    const warning = `${name} has JSON objects, and each is ranked as it is written: --field PATH ranks a field of each.`;
    terminal.tell({ warning }, `Warning: ${warning}`);
  }
  await withClient(context, "rerankDocuments", async (client) => {
    const text = (line: DocumentLine): string => line.text;
    const own = { text, model, task, topN, batchSize, concurrency, signal };
    const ranking = client.rerank.items(query, lines, own);
    const { data, usage } = await ranking.withResponse().catch((error) => {
      throw endOf(error, lines, name, signal.aborted);
    });
    if (terminal.json) {
      const results = data.map(({ item: { line, document }, score }) => ({ line, score, document }));
      const skipped = invalid.length > 0 ? { badLines: invalid.length } : {};
      return terminal.printJson({ results, usage, ...skipped });
    }
    const shares = scoreShares(data.map(({ score }) => score));
    for (const [index, { item, score }] of data.entries()) {
      const figure = score.toFixed(3);
      const shown = item.text.trim();
      const room = Math.max(20, terminal.columns - barColumns - figure.length - 3);
      const drawn = terminal.style("cyan", bar(shares[index] ?? 0, barColumns));
      if (terminal.draws) terminal.print(drawn, ` ${figure}  ${clip(shown, room)}`);
      else terminal.print(figure, tab, `${item.line}`, tab, shown);
    }
  });
  if (invalid.length === 0) return;
  const note = `Skipped: ${counted(invalid.length, "line")}.`;
  terminal.tell({ note }, note);
  throw new Reported(exitCodeOf.INVALID_ARGUMENT);
}

// The document in a line of JSON, or why there is none. @param field Undefined: none is needed
function fieldIn(line: string, field: string | undefined): Omit<DocumentLine, "line"> | string {
  let document: unknown;
  try {
    document = JSON.parse(line);
  } catch (error) {
    return `it is not JSON: ${(error as Error).message}.`;
  }
  if (!isObject(document)) return "it is no JSON object.";
  const text = field === undefined ? "" : valueAt(document, field);
  if (typeof text === "string") return { text, document };
  const names = clip(Object.keys(document).join(", "), 200);
  return `it has no string in the field that --field names. Its fields: ${names}.`;
}

// The error of a call: it names the line of the file in place of the item, and says how much was ranked, and so paid for.
function endOf(error: unknown, lines: readonly DocumentLine[], name: string, interrupted: boolean): unknown {
  if (!isStatusError(error)) return error;
  const isUnsent = error.item !== undefined && error.attempts.length === 0;
  const line = isUnsent ? lines[error.item ?? 0]?.line : undefined;
  if (line !== undefined) return new UsageError(`${name}, line ${line}: ${error.text}`);
  const { partial } = error as Partial<RerankItemsError<DocumentLine>>;
  const of = lines.length;
  const done = partial?.data.length ?? 0;
  // Without `partial` no request was made. If the failed batch has all documents, there was no other batch.
  if (partial === undefined || partial.failed.count === of || (done === 0 && !interrupted)) return error;
  const text = `${grouped(done)} of ${counted(of, "document")} were ranked and paid for; a batch in flight may have been, too. They are not kept: the same command ranks all again. \`tunerank bulk\` keeps results.`;
  const exit = interrupted ? exitCodes.interrupted : exitCodeOfError(error);
  return new RunEnded(interrupted ? "Interrupted" : undefined, exit, { done, of, text }, error);
}
