// What the lines of a file are that runs write.
import { createReadStream, lstatSync, readlinkSync, realpathSync, type Stats } from "node:fs";
import path from "node:path";
import { orUndefined, reasonOf, UsageError } from "../context.js";
import { chunkBytes, type Line, linesOf } from "../input/lines.js";
import type { Shard } from "./ids.js";
import type { CheckpointKind } from "./runFile.js";

/** A row, as far as it is read again. */
export interface Row {
  readonly id: string | number;
  readonly fingerprint: string;
  readonly response?: unknown;
  readonly error?: unknown;
  /** Of an upload: it began. */
  readonly sending?: true;
  /** Of an error: whether the request is wrong, so that it does not run again. */
  readonly final?: boolean;
  /** Of a line that is no request: its number. Then there is no id. */
  readonly line?: number;
}

export interface RowsEnd {
  /** Where the next row goes: what is behind is a torn one. */
  readonly end: number;
  /** Whether the last row lacks the end of its line. */
  readonly lacksEnd: boolean;
}

export interface RowSource {
  readonly path: string;
  readonly kind: CheckpointKind;
  /** What the command line calls it. */
  readonly option: string;
  /** Whose ids it has; without it all. */
  readonly shard?: Shard | undefined;
}

type Fields = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isError = (value: unknown): boolean => isObject(value) && typeof value.code === "string";

// What a row of each kind has besides its id and its fingerprint.
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
 * Calls `note` for each row of a file, and says where they end. Blank lines are passed over, and so is a torn last row;
 * any other line that is no row is refused.
 * @param isKnown Whether it is known that runs wrote it; otherwise its rows have to show it. @throws UsageError
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
    `${option}, line ${number}, is not a row of ${names[kind]}. Is it another file? Name a new one, or remove the line. Nothing was changed.`,
  );
}

function rowOf({ bytes }: Line, kind: CheckpointKind): Row | undefined {
  const row = parse(bytes);
  if (!isObject(row)) return undefined;
  const { id, fingerprint, line, error } = row;
  // The row of a line that is no request has no id.
  if (kind === "rerank errors" && id === undefined && fingerprint === undefined)
    return Number.isInteger(line) && isError(error) ? (row as unknown as Row) : undefined;
  const hasId = typeof id === "string" || Number.isSafeInteger(id);
  const isWhole = typeof fingerprint === "string" && /^[\w-]{22}$/.test(fingerprint);
  return hasId && isWhole && isOfKind[kind](row) ? (row as unknown as Row) : undefined;
}

function parse(bytes: Buffer | undefined): unknown {
  return orUndefined(() => JSON.parse(bytes?.toString("utf8") ?? ""));
}

// The dataset and the file.
function isUploadId(id: unknown): boolean {
  const parts = parse(Buffer.from(`${id}`));
  return Array.isArray(parts) && parts.length === 2 && parts.every((part) => typeof part === "string");
}

// The beginning of a row, or what a disk leaves of one when it loses power. Anything else is somebody's. Whole JSON is no
// beginning.
function isTorn({ bytes }: Line): boolean {
  const text = bytes?.toString("latin1") ?? "";
  if (parse(bytes) !== undefined) return false;
  const begins = ['{"id":', '{"line":'].some((start) => text.startsWith(start) || start.startsWith(text));
  return begins || /^\0*$/.test(text);
}

function isBlank({ bytes }: Line): boolean {
  return bytes !== undefined && /^[ \t\r]*$/.test(bytes.toString("latin1"));
}

/** The one name of a file, also of one that is not there yet: two names may mean one file. @throws UsageError */
export function realName(file: string): string {
  let stats: Stats | undefined;
  try {
    stats = lstatSync(file, { throwIfNoEntry: false });
    if (stats === undefined) return path.join(realpathSync(path.dirname(file)), path.basename(file));
    return realpathSync(file);
  } catch (error) {
    const failure = error as NodeJS.ErrnoException;
    // A link to what is not there yet.
    if (stats?.isSymbolicLink() && failure.code === "ENOENT")
      return realName(path.resolve(path.dirname(file), readlinkSync(file)));
    throw new UsageError(`The folder of a file cannot be found: ${reasonOf(failure)}.`);
  }
}
