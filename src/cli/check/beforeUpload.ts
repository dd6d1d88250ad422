// Checks a file before its upload, if the file's name says that it holds JSON lines.
import { stat } from "node:fs/promises";
import { filePartOf } from "../../engine.js";
import type { Context } from "../context.js";
import { requestRules } from "../operations.js";
import { counted } from "../terminal.js";
import { checkFile, type FileReport } from "./checkFile.js";
import { faultLine } from "./rows.js";

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
  if (options.check === false || !saysJsonLines.test(name) || !(await isSendable(file))) return undefined;
  const report = await checkFile(file, signal, "it");
  // The upload itself reports a file that cannot be read at all.
  if (!report.isRead) return undefined;
  const reason = reasonOf(report);
  if (reason === undefined && !terminal.quiet)
    for (const { kind, lines, first } of report.warnings) {
      const text = firstOf(lines, first.map(faultLine));
      terminal.tell({ warning: { file, kind, lines, first } }, `Warning: ${file}: ${text}`);
    }
  return reason;
}

function reasonOf({ problem, invalid }: FileReport): string | undefined {
  if (problem !== undefined) return problem;
  return invalid && firstOf(invalid.lines, invalid.first.map(faultLine));
}

function firstOf(lines: number, [first = ""]: readonly string[]): string {
  const more = lines - 1;
  return more > 0 ? `${first}, and ${counted(more, "line")} more.` : `${first}.`;
}

// Whether a file is worth checking: a pipe can be read only once, and the upload rejects too large a file unread.
async function isSendable(file: string): Promise<boolean> {
  const { maxFileBytes } = filePartOf(requestRules("uploadDatasetFile"));
  const found = await stat(file).catch(() => undefined);
  return found?.isFile() === true && found.size <= maxFileBytes;
}
