// Reads the rows of checkpoint files. A row is a line with a JSON object: an id, a fingerprint, and a result or an
// error.
import { createReadStream, lstatSync, readlinkSync, realpathSync, type Stats } from "node:fs";
import path from "node:path";
import { namingFile, orUndefined, reasonOf, UsageError } from "../context.js";
import { isObject } from "../input/lineContent.js";
import { chunkBytes, type Line, linesOf } from "../input/lines.js";
import type { Shard } from "./ids.js";
import type { CheckpointKind } from "./runFile.js";

/** The fields of a row that a later run reads. */
export interface Row {
  readonly id: string | number;
  readonly fingerprint: string;
  readonly response?: unknown;
  readonly error?: unknown;
  /** In a row with a response: the documents that the service rejected, which were not ranked. */
  readonly rejected?: unknown;
  /** In a row of an upload checkpoint: the upload has begun. */
  readonly sending?: true;
  /** In a row with an error: whether the request does not run again, because it is invalid or was paid for. */
  readonly final?: boolean;
  /** In a final row of a request that was paid for: how often it was sent again (`--resend-paid`). */
  readonly resent?: number;
  /** In an errors file: the number of the input line. If that line is no request, the row has no id. */
  readonly line?: number;
}

export interface RowsEnd {
  /** The offset in bytes at which the next row is written. Anything after it is a partly written row. */
  readonly end: number;
  /** Whether the last row has no newline after it. */
  readonly lacksEnd: boolean;
}

export interface RowSource {
  readonly path: string;
  readonly kind: CheckpointKind;
  /** The option that names the file, such as `--output`. */
  readonly option: string;
  /** The shard whose ids the file has; undefined: all ids. */
  readonly shard?: Shard | undefined;
}

type Fields = Readonly<Record<string, unknown>>;

const isError = (value: unknown): boolean => isObject(value) && typeof value.code === "string";

// Checks what a row of each kind of file has besides its id and its fingerprint.
const isOfKind: Readonly<Record<CheckpointKind, (row: Fields) => boolean>> = {
  "rerank output": ({ response, error, final }) =>
    error === undefined ? isObject(response) : isError(error) && final === true,
  "rerank errors": ({ response, error, final }) =>
    response === undefined && isError(error) && typeof final === "boolean",
  "upload checkpoint": ({ id, response, error, sending }) =>
    isUploadId(id) && (sending === true || isObject(response) || isError(error)),
};

const names: Readonly<Record<CheckpointKind, string>> = {
  "rerank output": "a bulk run",
  "rerank errors": "a bulk run",
  "upload checkpoint": "an upload's checkpoint",
};

/**
 * Calls `note` for each row of a file. Blank lines and a partly written last row are skipped.
 * @param isKnown Whether a run is known to have written the file; otherwise its rows have to show it
 * @returns Where the rows end
 * @throws UsageError for any other line that is no row
 */
export async function readRows(
  source: RowSource,
  isKnown: boolean,
  note: (line: Line, row: Row) => void,
): Promise<RowsEnd> {
  let [end, lacksEnd, rows] = [0, false, 0];
  const see = (line: Line): void => {
    const row = rowOf(line, source.kind);
    const mayBeTorn = !line.hasEnd && (isKnown || rows > 0);
    if (row === undefined && mayBeTorn && isTorn(line)) return;
    const isFit = row === undefined ? isBlank(line) && (isKnown || rows > 0) : line.hasEnd || mayBeTorn;
    if (!isFit) throw refusalOf(line, source);
    if (row !== undefined) {
      rows += 1;
      note(line, row);
    }
    end = line.end;
    lacksEnd = !line.hasEnd;
  };
  const bytes = createReadStream(source.path, { highWaterMark: chunkBytes });
  for await (const lines of linesOf(bytes)) for (const line of lines) see(line);
  return { end, lacksEnd };
}

function refusalOf({ number }: Line, { option, kind }: RowSource): UsageError {
  return new UsageError(
    `${option}, line ${number}, is not a row of ${names[kind]}. If this is the wrong file, name another; if not, remove the line. Nothing was changed.`,
  );
}

function rowOf({ bytes }: Line, kind: CheckpointKind): Row | undefined {
  const row = parse(bytes);
  if (!isObject(row)) return undefined;
  const { id, fingerprint, line, error } = row;
  // In an errors file, the row of an input line that is no request has the line's number, and no id.
  if (kind === "rerank errors" && id === undefined && fingerprint === undefined)
    return Number.isInteger(line) && isError(error) ? (row as unknown as Row) : undefined;
  const hasId = typeof id === "string" || Number.isSafeInteger(id);
  const isWhole = typeof fingerprint === "string" && /^[\w-]{22}$/.test(fingerprint);
  return hasId && isWhole && isOfKind[kind](row) ? (row as unknown as Row) : undefined;
}

function parse(bytes: Buffer | undefined): unknown {
  return orUndefined(() => JSON.parse(bytes?.toString("utf8") ?? ""));
}

// The id of an upload is a text: a JSON array of the dataset and the file's path.
function isUploadId(id: unknown): boolean {
  const parts = parse(Buffer.from(`${id}`));
  return Array.isArray(parts) && parts.length === 2 && parts.every((part) => typeof part === "string");
}

// Whether a last line is a partly written row: the beginning of a row, or the zero bytes that a disk may leave when it
// loses power. Complete JSON is not torn, and any other text belongs to another program.
function isTorn({ bytes }: Line): boolean {
  const text = bytes?.toString("latin1") ?? "";
  if (parse(bytes) !== undefined) return false;
  const begins = ['{"id":', '{"line":'].some((start) => text.startsWith(start) || start.startsWith(text));
  return begins || /^\0*$/.test(text);
}

function isBlank({ bytes }: Line): boolean {
  return bytes !== undefined && /^[ \t\r]*$/.test(bytes.toString("latin1"));
}

/**
 * The absolute path of the file of an option without links, so that two names of one file are equal. The file may not exist yet.
 * @throws UsageError if its folder cannot be found
 */
export function realName(file: string, option: string): string {
  let stats: Stats | undefined;
  try {
    stats = lstatSync(file, { throwIfNoEntry: false });
    if (stats === undefined) return path.join(realpathSync(path.dirname(file)), path.basename(file));
    return realpathSync(file);
  } catch (error) {
    const failure = error as NodeJS.ErrnoException;
    // `realpathSync` cannot follow a symbolic link to a file that does not exist yet, so the link itself is read.
    if (stats?.isSymbolicLink() && failure.code === "ENOENT")
      return realName(path.resolve(path.dirname(file), readlinkSync(file)), option);
    throw new UsageError(
      `The folder of ${namingFile(option, file)} cannot be found: ${reasonOf(failure)}. Nothing was sent.`,
    );
  }
}
