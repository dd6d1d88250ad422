// The check of a file that is about to be uploaded, where its name says that it holds JSON lines.
import { stat } from "node:fs/promises";
import type { Context } from "../context.js";
import { requestRules } from "../operations.js";
import { isSilent, oneLine } from "../terminal.js";
import { checkFile, type FileReport } from "./checkFile.js";
import { faultLine } from "./rows.js";

const saysJsonLines = /\.(jsonl|ndjson)(\.gz)?$/i;

/** What the options of `upload` say about it. */
export interface CheckBefore {
  /** False with `--no-check`. */
  readonly check?: boolean;
}

/**
 * Why no reader of JSON lines takes a file; undefined for one that may be sent. What only some take is told.
 * @param name What it is sent as
 */
export async function whyInvalid(
  file: string,
  name: string,
  { options, terminal, signal }: Pick<Context<CheckBefore>, "options" | "terminal" | "signal">,
): Promise<string | undefined> {
  if (options.check === false || !saysJsonLines.test(name) || !(await isSendable(file))) return undefined;
  const report = await checkFile(file, signal);
  // What cannot be read at all the upload says in its own words.
  if (!report.isRead) return undefined;
  const reason = reasonOf(report);
  if (reason === undefined && !isSilent(terminal))
    for (const { lines, first } of report.warnings)
      terminal.note(oneLine(`Warning: ${file}: ${firstOf(lines, first.map(faultLine))}`));
  return reason;
}

function reasonOf({ problem, invalid }: FileReport): string | undefined {
  if (problem !== undefined) return problem;
  return invalid && firstOf(invalid.lines, invalid.first.map(faultLine));
}

function firstOf(lines: number, [first = ""]: readonly string[]): string {
  const more = lines - 1;
  return more > 0 ? `${first}, and ${more} line${more === 1 ? "" : "s"} more.` : `${first}.`;
}

// A pipe can be read only once, and what is too large is refused without being read.
async function isSendable(file: string): Promise<boolean> {
  const { body, file: field = "" } = requestRules("uploadDatasetFile");
  const most = body?.properties?.[field]?.["x-max-bytes"] ?? Number.POSITIVE_INFINITY;
  const found = await stat(file).catch(() => undefined);
  return found?.isFile() === true && found.size <= most;
}
