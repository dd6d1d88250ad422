import { type Context, cannotRead, namingFile, Reported, RunEnded, UsageError } from "./context.js";
import { exitCodes } from "./exitCodes.js";
import { Input } from "./input.js";
import { counted, isSilent } from "./terminal.js";

/** What a check found in a file. */
export interface FileReport {
  readonly rows: number;
  /** The lines that are invalid, and the first five of them. */
  readonly invalid: { readonly lines: number; readonly first: readonly { line: number; reason: string }[] };
  /** Why the file as a whole is invalid: it cannot be read, is in another format, is empty, or has changed. */
  readonly problem?: string;
}

const mostShown = 5;
const note =
  "The format of a dataset is not documented: only whether each file is valid JSON Lines was checked.";

/** Checks that a file, or the standard input for `-`, is JSON Lines. Blank lines are no rows. */
export async function checkFile(file: string, signal: AbortSignal): Promise<FileReport> {
  const name = namingFile("FILE", file);
  const first: { line: number; reason: string }[] = [];
  let [rows, lines] = [0, 0];
  const found = (problem?: string): FileReport => ({
    ...{ rows, invalid: { lines, first } },
    ...(problem !== undefined && { problem }),
  });
  let input: Input | undefined;
  try {
    input = await Input.open(file, name, "JSON lines", signal);
    for await (const some of input.lines()) {
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
    }
    if (await input.hasChanged()) return found(`${name} changed while it was checked.`);
    return found(rows === 0 ? `${name} is empty.` : undefined);
  } catch (error) {
    const failure = cannotRead(name, error);
    if (!(failure instanceof UsageError)) throw failure;
    return found(failure.message);
  } finally {
    await input?.close();
  }
}

/** `tunerank check FILE...` */
export async function run({ args, terminal, signal }: Context): Promise<void> {
  if (args.filter((file) => file === "-").length > 1)
    throw new UsageError("The standard input can be read only once.");
  const files: object[] = [];
  let isGood = true;
  for (const [done, file] of args.entries()) {
    const report = await checkFile(file, signal).catch((error) => {
      const of = args.length;
      const text = `${done} of ${counted(of, "file")} ${of === 1 ? "was" : "were"} checked.`;
      throw signal.aborted ? new RunEnded("Interrupted", exitCodes.interrupted, { done, of, text }) : error;
    });
    const { rows, invalid, problem } = report;
    const ok = problem === undefined && invalid.lines === 0;
    isGood &&= ok;
    files.push({ file, ok, ...report });
    if (terminal.json) continue;
    terminal.print(`${file}: ${counted(rows, "row")}.`);
    if (problem !== undefined) terminal.print(`  Invalid: ${problem}`);
    for (const { line, reason } of invalid.first) terminal.print(`  Invalid: line ${line}: ${reason}`);
    if (invalid.lines > mostShown)
      terminal.print(`  And ${counted(invalid.lines - mostShown, "line")} more.`);
  }
  if (terminal.json) terminal.printJson({ files, note });
  else if (!isSilent(terminal)) terminal.note(note);
  if (!isGood) throw new Reported(exitCodes.usage);
}
