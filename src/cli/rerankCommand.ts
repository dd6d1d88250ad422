import type { StatusError } from "../index.js";
import { fieldsIn, namesIn, valueAt } from "./bulkLines.js";
import { type Context, namingFile, RunEnded, refuseOptions, UsageError } from "./context.js";
import { exitCodeOf } from "./exitCodes.js";
import { openInput } from "./input.js";
import { counted } from "./terminal.js";
import { withClient } from "./withClient.js";

/** A line that is ranked: its number, its text, and its whole content, which is a JSON object with `--field`. */
type DocumentLine = Readonly<{ line: number; text: string; document: unknown }>;

const mostTold = 5;

export async function run(context: Context): Promise<void> {
  const { terminal, signal, args, options } = context;
  const { query, field, model, task, topN, batchSize, concurrency, strict } = options;
  const [file = "-"] = args;
  const name = namingFile("FILE", file);
  if (query === undefined || args.length > 1)
    throw new UsageError("The query is an option: `tunerank rerank --query TEXT [FILE]`.");
  if (batchSize === undefined) refuseOptions(options, ["concurrency"], "has no effect without --batch-size.");
  const lines: DocumentLine[] = [];
  const invalid: { line: number; problem: string }[] = [];
  const input = await openInput(file, name, field === undefined ? "lines" : "JSON lines", signal);
  try {
    for await (const some of input.lines(true))
      for (const { number: line, text = "", problem } of some) {
        // If a line of a plain text file cannot be read, the whole file has another encoding.
        if (problem !== undefined && field === undefined)
          throw new UsageError(`${name}, line ${line}: ${problem}`);
        // An empty line is no document, but it counts in the line numbers.
        if (problem === undefined && text.trim() === "") continue;
        const document = problem ?? (field === undefined ? { text } : fieldsIn(text));
        const value = typeof document === "string" ? undefined : valueAt(document, field ?? "text");
        const wrong = "It has no string in the field that --field names.";
        if (typeof value === "string") lines.push({ line, text: value, document: field ? document : text });
        else if (typeof document === "string") invalid.push({ line, problem: document });
        else invalid.push({ line, problem: `${wrong} ${namesIn(document)}` });
      }
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
    if (options.allowEmpty) return terminal.json ? terminal.printJson({ results: [] }) : undefined;
    throw new UsageError(`${name} has no document: nothing was sent. If it may be empty, add --allow-empty.`);
  }
  const isJson = lines.slice(0, 2).every(({ text }) => typeof fieldsIn(text) === "object");
  if (field === undefined && isJson && !terminal.quiet) {
    const warning = `${name} has JSON objects, and each is ranked as it is written: --field PATH ranks a field of each.`;
    terminal.tell({ warning }, `Warning: ${warning}`);
  }
  await withClient(context, "rerankDocuments", async (client) => {
    const own = {
      text: (line: DocumentLine) => line.text,
      model,
      task,
      topN,
      batchSize,
      concurrency,
      signal,
    };
    const ranking = client.rerank.items(`${query}`, lines, own);
    const { data, usage } = await ranking.withResponse().catch((error: unknown) => {
      const { item = -1, attempts = [], text } = Object(error) as Partial<StatusError>;
      // The line of the file in place of the item.
      if (attempts.length > 0 || lines[item] === undefined) throw error;
      throw new UsageError(`${name}, line ${lines[item]?.line}: ${text}`);
    });
    if (terminal.json) {
      const results = data.map(({ item: { line, document }, score }) => ({ line, score, document }));
      const skipped = invalid.length > 0 ? { badLines: invalid.length } : {};
      return terminal.printJson({ results, usage, ...skipped });
    }
    for (const { item, score } of data)
      terminal.print((clean) => `${score.toFixed(3)}\t${item.line}\t${clean(item.text.trim())}`);
  });
  if (invalid.length === 0) return;
  const note = `Skipped: ${counted(invalid.length, "line")}.`;
  terminal.tell({ note }, note);
  throw new RunEnded(exitCodeOf.INVALID_ARGUMENT);
}
