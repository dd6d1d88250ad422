import { filePartOf } from "../../engine.js";
import { cannotRead, UsageError } from "../context.js";
import { isGzip } from "../input/formats.js";
import { fileSize, type InputRequest, rowsOf, WatchedInput } from "../input/readInput.js";
import { requestRules } from "../operations.js";
import { counted, grouped } from "../terminal.js";
import type { KeyCount } from "./keys.js";
import { Collector } from "./memory.js";
import { type Finding, longestChecked, Rows, type WarningKind } from "./rows.js";

// How many bytes are split into lines at once: lines take more memory than their bytes.
const atOnce = 16 * 1024;

/** The result of checking a file. */
export interface FileReport {
  readonly rows: number;
  /** Undefined for a pipe that was not read to its end. */
  readonly bytes?: number;
  readonly keys: readonly KeyCount[];
  /** Present if there are keys that were not counted. */
  readonly moreKeys?: true;
  /** Why the file does not hold JSON lines. */
  readonly problem?: string;
  /** Whether any of the file could be read. */
  readonly isRead: boolean;
  /** Lines that no reader of JSON lines accepts. */
  readonly invalid?: Finding;
  /** Lines that only some readers accept. */
  readonly warnings: readonly (Finding & { readonly kind: WarningKind })[];
}

/** Checks a file, or the standard input for `-`. @param name What the problem calls the file */
export async function checkFile(file: string, signal: AbortSignal, name: string = "It"): Promise<FileReport> {
  const rows = new Rows(file);
  const input = new SeenInput(file, signal);
  let problem: string | undefined;
  let isRead = true;
  let isWhole = true;
  try {
    await addAll(input, rows, { name, file });
    if (rows.count === 0) problem = `${name} is empty.`;
  } catch (error) {
    const failure = cannotRead(name, error);
    if (!(failure instanceof UsageError)) throw failure;
    problem = failure.message;
    isRead = input.seen > 0;
    isWhole = !isRead;
  }
  const bytes = isWhole ? input.seen : await fileSize(file);
  // A change of the file is reported instead of a failure to read the rest, because the change may be the cause.
  if (isRead && (await input.hasChanged())) problem = changedText(name);
  if (input.isGzip && problem === undefined && file !== "-" && !/\.gz$/i.test(file))
    rows.warnOfFile("gzip", "the file is gzip, and its name does not end in .gz");
  const { keys, invalid } = rows;
  return {
    rows: rows.count,
    ...(bytes !== undefined && { bytes }),
    keys: keys.counts(),
    ...(keys.hasOthers && { moreKeys: true }),
    ...(problem !== undefined && { problem }),
    ...(invalid.lines > 0 && { invalid: { lines: invalid.lines, first: invalid.first } }),
    warnings: [...rows.warnings(), ...sizeWarning(bytes ?? 0)],
    isRead,
  };
}

/** The problem of a file that another program changed while it was checked. */
export function changedText(name: string): string {
  return `${name} changed while it was checked.`;
}

/** The largest file that an upload takes, in bytes. */
export function largestFile(): number {
  return filePartOf(requestRules("uploadDatasetFile")).maxFileBytes;
}

/** The warning about a file that the service may refuse for its size, if it may. */
export function sizeWarning(bytes: number): FileReport["warnings"] {
  const largest = largestFile();
  // The service does not say which MB it means: `largest` counts 1,048,576 bytes for each, `surest` 1,000,000.
  const surest = (largest / 2 ** 20) * 1e6;
  if (bytes <= surest) return [];
  const most =
    bytes > largest
      ? `an upload takes at most ${grouped(largest)}`
      : `the service may refuse more than ${grouped(surest)}, as it does not say which ${surest / 1e6} MB it means`;
  const reason = `the file has ${counted(bytes, "byte")}: ${most}`;
  return [{ kind: "size", lines: 1, first: [{ reason }] }];
}

async function addAll(
  input: SeenInput,
  rows: Rows,
  named: Pick<InputRequest, "name" | "file">,
): Promise<void> {
  const collector = new Collector();
  const request = { ...named, wanted: "JSON lines", allowEmpty: true } as const;
  for await (const lines of rowsOf(input.parts(), request, longestChecked)) {
    for (const line of lines) rows.add(line);
    const [first, last] = [lines[0], lines.at(-1)];
    collector.seen(lines.length, (last?.end ?? 0) - (first?.offset ?? 0));
  }
}

/** Reads an input in small parts, counts its bytes, and notes whether it is gzip. */
class SeenInput extends WatchedInput {
  seen = 0;
  isGzip = false;

  async *parts(): AsyncGenerator<Buffer> {
    for await (const chunk of this.bytes()) {
      const isFirst = this.seen === 0;
      this.seen += chunk.length;
      if (isFirst) this.isGzip = isGzip(chunk);
      // The first chunk stays whole: the input's format is recognized by it.
      if (isFirst) yield chunk;
      else for (let at = 0; at < chunk.length; at += atOnce) yield chunk.subarray(at, at + atOnce);
    }
  }
}
