import { checkFile, type FileReport } from "./check/checkFile.js";
import { type Finding, faultLine, mostCompared } from "./check/rows.js";
import { type Context, hasKey, namingFile, Reported, RunEnded, UsageError } from "./context.js";
import { exitCodes } from "./exitCodes.js";
import { counted, isSilent, jsonLine, named, oneLine, type Terminal } from "./terminal.js";

interface CheckOptions {
  readonly strict?: boolean;
}

const note =
  "The format of a dataset is not documented: only whether each file is valid JSON Lines was checked.";

/** `tunerank check FILE...` */
export async function run({ args, options, terminal, signal }: Context<CheckOptions>): Promise<void> {
  if (args.filter((file) => file === "-").length > 1)
    throw new UsageError("The standard input can be read only once.");
  const told: object[] = [];
  let [isGood, isAnyRead] = [true, false];
  for (const [index, file] of args.entries()) {
    const name = !hasKey(file) ? file : args.length > 1 ? `FILE ${index + 1}` : "FILE";
    const { isRead, problem, ...others } = await checkFile(file, signal).catch((error) => {
      throw signal.aborted ? interruptedAfter(index, args.length) : error;
    });
    // Of a file that cannot be read, only the problem is printed, so it has to name the file.
    const shown = hasKey(file) ? name : namingFile("FILE", file);
    const said = isRead ? problem : problem?.replace(/^It/, () => shown);
    const report = said === undefined ? others : { ...others, problem: said };
    isAnyRead ||= isRead;
    const ok = isValid(report) && !(options.strict && report.warnings.length > 0);
    isGood &&= ok;
    if (terminal.json) told.push({ file: name, ok, ...report });
    else if (!isRead) terminal.print(oneLine(said ?? ""));
    else show(name, report, terminal);
  }
  if (terminal.json) terminal.print(jsonLine({ files: told, note }));
  else if (isAnyRead && !isSilent(terminal)) terminal.note(note);
  if (!isGood) throw new Reported(exitCodes.usage);
}

// The error of an interrupted check. A check never sends anything, so the error does not say what was sent.
function interruptedAfter(done: number, of: number): RunEnded {
  const text = `${done} of ${counted(of, "file")} ${of === 1 ? "was" : "were"} checked.`;
  return new RunEnded("Interrupted", exitCodes.interrupted, { done, of, text });
}

type Checked = Omit<FileReport, "isRead">;

function isValid({ problem, invalid }: Checked): boolean {
  return problem === undefined && invalid === undefined;
}

function show(name: string, report: Checked, terminal: Terminal): void {
  const { rows, bytes, keys, moreKeys, problem, invalid, warnings } = report;
  const print = (line: string): void => terminal.print(line);
  const size = bytes === undefined ? "" : `, ${counted(bytes, "byte")}`;
  print(oneLine(`${name}: ${counted(rows, "row")}${size}.`));
  const listed = keys.map((key) => `${named(key.name)} (${counted(key.rows, "row")})`);
  const others = moreKeys ? ", and others that were not counted" : "";
  if (listed.length > 0) print(`  Keys: ${listed.join(", ")}${others}.`);
  if (problem !== undefined) print(`  Invalid: ${oneLine(problem)}`);
  if (invalid !== undefined) for (const line of linesOf(invalid)) print(`  Invalid: ${line}`);
  for (const warning of warnings) for (const line of linesOf(warning)) print(`  Warning: ${line}`);
  if (rows > mostCompared) print(`  Lines were compared with the first ${mostCompared} different ones.`);
}

function linesOf({ lines, first }: Finding): readonly string[] {
  const shown = first.map(faultLine);
  const more = lines - first.length;
  return more > 0 ? [...shown, `and ${counted(more, "line")} more.`] : shown;
}
