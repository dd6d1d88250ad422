import { type Context, RunEnded, UsageError } from "./context.js";
import { exitCodes } from "./exitCodes.js";
import { type Input, openInput } from "./input.js";
import { counted } from "./terminal.js";

/** The rows of a file, how many lines are invalid, with the first five of them, and why the file as a whole is. */
type FileReport = Readonly<{ rows: number; problem?: string }> & {
  readonly invalid: Readonly<{ lines: number; first: readonly { line: number; reason: string }[] }>;
};

const mostShown = 5;
const note =
  "The format of a dataset is not documented: only whether each file is valid JSON Lines was checked.";

/** Checks that a file, or the standard input for `-`, is JSON Lines. Blank lines are no rows. */
export async function checkFile(file: string, signal: AbortSignal): Promise<FileReport> {
  const first: { line: number; reason: string }[] = [];
  let [rows, lines] = [0, 0];
  let input: Input | undefined;
  try {
    input = await openInput(file, "It", "JSON lines", signal);
    for await (const some of input.lines())
      for (const { number: line, text, problem } of some) {
        if (text?.trim() === "") continue;
        rows += 1;
        try {
          if (problem !== undefined) throw new Error(problem);
          JSON.parse(text as string);
        } catch (error) {
          lines += 1;
          if (first.length < mostShown) first.push({ line, reason: (error as Error).message });
        }
      }
    if (rows === 0) throw new UsageError("It is empty.");
    return { rows, invalid: { lines, first } };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return { rows, invalid: { lines, first }, problem: error.message };
  } finally {
    await input?.close();
  }
}

export async function run({ args, terminal, signal }: Context): Promise<void> {
  const files: (FileReport & { file: string; ok: boolean })[] = [];
  for (const [done, file] of args.entries()) {
    const report = await checkFile(file, signal).catch((error) => {
      const text = `${done} of ${counted(args.length, "file")} checked.`;
      if (!signal.aborted) throw error;
      throw new RunEnded(exitCodes.interrupted, { done, of: args.length, text }, "Interrupted");
    });
    files.push({ file, ok: report.problem === undefined && report.invalid.lines === 0, ...report });
  }
  const lines = files.flatMap(({ file, rows, problem, invalid: { lines, first } }) => [
    `${file}: ${counted(rows, "row")}.`,
    ...(problem === undefined ? [] : [`  Invalid: ${problem}`]),
    ...first.map(({ line, reason }) => `  Invalid: line ${line}: ${reason}`),
    ...(lines > mostShown ? [`  And ${counted(lines - mostShown, "line")} more.`] : []),
  ]);
  terminal.result({ files, note }, lines);
  if (!terminal.isSilent) terminal.note(note);
  if (!files.every(({ ok }) => ok)) throw new RunEnded(exitCodes.usage);
}
