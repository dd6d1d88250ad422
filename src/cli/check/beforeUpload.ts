// Checks a file before its upload, if the file's name says that it holds JSON lines.
import { statSync } from "node:fs";
import { StatusError } from "../../index.js";
import { type Context, orUndefined } from "../context.js";
import { counted } from "../terminal.js";
import { changedText, checkFile, type FileReport, largestFile, sizeWarning } from "./checkFile.js";
import { type Finding, faultLine } from "./rows.js";

const saysJsonLines = /\.(jsonl|ndjson)(\.gz)?$/i;

/** The options of `upload` that concern the check. */
export interface CheckBefore {
  /** False with `--no-check`. */
  readonly check?: boolean;
}

/**
 * Returns why a file is not valid JSON Lines, such as "it is empty."; undefined if the file may be sent. Prints its warnings.
 * @param name The name under which the file is sent
 */
export async function whyInvalid(
  file: string,
  name: string,
  { options, terminal, signal }: Pick<Context<CheckBefore>, "options" | "terminal" | "signal">,
): Promise<string | undefined> {
  if (options.check === false) return undefined;
  const found = orUndefined(() => statSync(file));
  // Neither a pipe, which can be read only once, nor too large a file, which the upload rejects unread, is checked.
  if (!found?.isFile() || found.size > largestFile()) return undefined;
  const state = fileVersion(file);
  const tell = (warning: FileReport["warnings"][number]): void => {
    if (!terminal.quiet) terminal.tell({ warning: { file, ...warning } }, textOf(file, warning));
  };
  if (!saysJsonLines.test(name)) {
    sizeWarning(found.size).forEach(tell);
    return undefined;
  }
  const report = await checkFile(file, signal, "it");
  // The upload itself reports a file that cannot be read at all.
  if (!report.isRead) return undefined;
  // A file that only grew counts as changed: the upload would send lines that were not checked.
  if (fileVersion(file) !== state) return changedText("it");
  const reason = reasonOf(report);
  if (reason === undefined) report.warnings.forEach(tell);
  return reason;
}

function textOf(file: string, { lines, first }: Finding): string {
  return `Warning: ${file}: ${firstOf(lines, first.map(faultLine))}`;
}

function reasonOf({ problem, invalid }: FileReport): string | undefined {
  if (problem !== undefined) return problem;
  return invalid && firstOf(invalid.lines, invalid.first.map(faultLine));
}

function firstOf(lines: number, [first = ""]: readonly string[]): string {
  const more = lines - 1;
  return more > 0 ? `${first}, and ${counted(more, "line")} more.` : `${first}.`;
}

/** Identifies a state of a file, so that `changedSince` can compare it with a later one. Undefined without a file. */
export function fileVersion(file: string): string | undefined {
  const found = orUndefined(() => statSync(file, { bigint: true }));
  return found && `${found.dev} ${found.ino} ${found.size} ${found.mtimeNs}`;
}

/** The error if a file changed since `before`; undefined also if it is gone, which the upload itself reports. */
export function changedSince(file: string, before: string | undefined): StatusError | undefined {
  const now = fileVersion(file);
  if (now === undefined || now === before) return undefined;
  return new StatusError("The file changed after the command began, and was not sent.", {
    code: "FAILED_PRECONDITION",
    executed: "no",
    codeSource: "client",
    operation: "uploadDatasetFile",
    hint: "Upload it again once no other program writes to it.",
  });
}
