// Every input of a command, a file or the standard input, is read here: once to plan, and a file once more, over the
// same handle, to send. gzip is decompressed, and an input in another format is named.
import type { Stats } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { addAbortSignal, pipeline, Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { cannotRead, UsageError } from "./context.js";

/** What a command expects to read: lines of JSON, lines of text, or one JSON value. */
export type Wanted = "JSON lines" | "lines" | "JSON";

/** A line of an input, without its line end: its text, or why it cannot be read. Lines are counted from 1. */
export type Line =
  | { readonly number: number; readonly text: string; readonly problem?: undefined }
  | { readonly number: number; readonly text?: undefined; readonly problem: string };

/** A line as bytes, if it is not too long, where it begins, and whether it has a newline: a last line may have none. */
export type RawLine = Readonly<{ bytes: Buffer | undefined; start: number; hasEnd: boolean }>;

export const chunkBytes: number = 256 * 1024;
const headBytes = 16;
const longestLine = 64 * 1024 * 1024;
const mostPipedBytes = 150 * 1024 * 1024;

export interface Input {
  /** Whether it can be read only once. */
  readonly isPipe: boolean;
  /**
   * The lines, many at a time. A byte order mark at the beginning is skipped.
   * @param isKept Whether all lines are kept: a pipe, which may never end, is then read by `bytes` first
   */
  lines(isKept?: boolean): AsyncGenerator<readonly Line[]>;
  /** All bytes; of a pipe at most 150 MiB. @throws UsageError if they cannot be read */
  bytes(): Promise<Buffer>;
  close(): Promise<void>;
}

/** Opens a file, or the standard input for `-`. @param name Names it in messages @param wanted Undefined: unchanged bytes */
export async function openInput(
  path: string,
  name: string,
  wanted: Wanted | undefined,
  signal: AbortSignal,
): Promise<Input> {
  let file: FileHandle | undefined;
  let stats: Stats | undefined;
  if (path === "-" && process.stdin.isTTY)
    throw new UsageError(`${name} is missing: name a file, or send it to the standard input.`);
  try {
    file = path === "-" ? undefined : await open(path);
    stats = await file?.stat();
    // Some systems open a folder as a file, which then cannot be read.
    if (stats?.isDirectory()) throw Object.assign(new Error(), { code: "EISDIR" });
  } catch (error) {
    await file?.close();
    throw cannotRead(name, error, " Nothing was sent.");
  }
  const isPipe = !stats?.isFile();
  const refuseChange = async (): Promise<void> => {
    const now = isPipe ? stats : await file?.stat();
    // A file that is replaced by another is still the same here.
    if (now?.size !== stats?.size || now?.mtimeMs !== stats?.mtimeMs)
      throw new Error(
        `${name} changed while it was read. What is done is kept: run the same command again, once nothing writes it any more.`,
      );
  };
  const chunks = async function* (): AsyncGenerator<Buffer> {
    const place = isPipe ? {} : { start: 0 };
    const options = { ...place, autoClose: false, highWaterMark: chunkBytes };
    for await (const chunk of addAbortSignal(signal, file?.createReadStream(options) ?? process.stdin)) {
      await refuseChange();
      yield chunk as Buffer;
    }
    await refuseChange();
  };
  // The bytes, decompressed unless they are read unchanged. An input in another format is refused before it yields any.
  const contents = async function* (): AsyncGenerator<Buffer> {
    try {
      let [head, all] = await peeked(chunks());
      if (wanted && head[0] === 0x1f && head[1] === 0x8b) [head, all] = await peeked(unpacked(all));
      const format = wanted && foreignFormat(head, wanted);
      if (format !== undefined)
        throw new UsageError(
          `${name} is ${format}, not ${wanted === "lines" ? "text" : wanted} in UTF-8. See the guide "Prepare data" (prepare-data.md). Nothing was sent.`,
        );
      yield* all;
    } catch (error) {
      throw cannotRead(name, error);
    }
  };
  const bytes = async (): Promise<Buffer> => {
    const read: Buffer[] = [];
    let size = 0;
    for await (const chunk of contents()) {
      size += chunk.length;
      if (isPipe && size > mostPipedBytes)
        throw new UsageError("The input is larger than 150 MiB: name a file, or send it in parts.");
      read.push(chunk);
    }
    return Buffer.concat(read);
  };
  const lines = async function* (isKept = false): AsyncGenerator<readonly Line[]> {
    let number = 0;
    for await (const some of splitLines(isKept && isPipe ? [await bytes()] : contents()))
      yield some.map((line) => decoded(++number, line.bytes, wanted));
  };
  return { isPipe, lines, bytes, close: async () => file?.close() };
}

export async function* splitLines(
  chunks: AsyncIterable<Buffer> | Iterable<Buffer>,
): AsyncGenerator<readonly RawLine[]> {
  let parts: Buffer[] = [];
  let size = 0;
  let start = 0;
  const take = (hasEnd: boolean): RawLine => {
    const bytes = size > longestLine ? undefined : parts.length === 1 ? parts[0] : Buffer.concat(parts);
    const line = { bytes, start, hasEnd };
    [parts, size, start] = [[], 0, start + size + (hasEnd ? 1 : 0)];
    return line;
  };
  for await (const chunk of chunks) {
    const lines: RawLine[] = [];
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      if (end > from || parts.length === 0) parts.push(chunk.subarray(from, end));
      size += end - from;
      lines.push(take(true));
      from = end + 1;
    }
    if (lines.length > 0) yield lines;
    size += chunk.length - from;
    // The bytes of a line that is too long are not kept.
    if (size > longestLine) parts = [];
    else if (from < chunk.length) parts.push(chunk.subarray(from));
  }
  if (size > 0) yield [take(false)];
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function decoded(number: number, bytes: Buffer | undefined, wanted: Wanted | undefined): Line {
  if (bytes === undefined) return { number, problem: "It is longer than 64 MiB." };
  if (wanted === "lines" && bytes.includes(0))
    return { number, problem: "It has a NUL byte, so it is not text." };
  try {
    const text = decoder.decode(bytes);
    const start = number === 1 && text[0] === "\ufeff" ? 1 : 0;
    return { number, text: text.slice(start, text.endsWith("\r") ? -1 : undefined) };
  } catch {
    return { number, problem: 'It is not UTF-8: the guide "Prepare data" (prepare-data.md) converts it.' };
  }
}

async function* unpacked(packed: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const gunzip = createGunzip();
  let size = 0;
  const counted = Readable.from(packed, { objectMode: false }).on("data", (chunk: Buffer) => {
    size += chunk.length;
  });
  // An error of any stream here is also thrown by gunzip, which is read below.
  pipeline(counted, gunzip, () => {});
  try {
    yield* gunzip as AsyncIterable<Buffer>;
    // Node ends without an error at bytes that are no gzip member, such as zeros: what follows them would be lost.
    if (gunzip.bytesWritten < size)
      throw Object.assign(new Error("what follows a member is not gzip"), { code: "Z_DATA_ERROR" });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code?.startsWith("Z_")) (error as Error).message = `gzip: ${message}`;
    throw error;
  }
}

// The first bytes, by which a format is recognized, and then all bytes: a pipe may deliver the next ones late.
async function peeked(chunks: AsyncGenerator<Buffer>): Promise<[head: Buffer, all: AsyncGenerator<Buffer>]> {
  let head: Buffer = Buffer.alloc(0);
  for (let next = await chunks.next(); !next.done; next = await chunks.next()) {
    head = Buffer.concat([head, next.value]);
    if (head.length >= headBytes) break;
  }
  const all = async function* (): AsyncGenerator<Buffer> {
    if (head.length > 0) yield head;
    yield* chunks;
  };
  return [head, all()];
}

// Formats that people have in place of lines: binary ones by their first bytes in hexadecimal. Text formats are looked for
// only where JSON lines are wanted: any line of text can be a document.
const binaryFormats: Readonly<Record<string, RegExp>> = {
  "UTF-16 text": /^(fffe|feff)/,
  zstd: /^28b52ffd/,
  xz: /^fd377a585a00/,
  bzip2: /^425a68..314159/,
  "a zip or Excel file": /^504b0304/,
  Parquet: /^5041523115/,
  "an SQLite database": /^53514c69746520666f726d6174203300/,
  Arrow: /^(4152524f57310000|ffffffff)/,
  "a Git LFS pointer (`git lfs pull` gets the file)": /^76657273696f6e2068747470733a2f2f/,
};
const textFormats: Readonly<Record<string, RegExp>> = {
  "CSV as pandas writes it": /^,[^\n]*[^\s\]}][^\n]*\n/,
  "one JSON object of columns (pandas: write orient='records', lines=True)":
    /^\s*\{"(?:[^"\\]|\\.)*":\s*\{"0":/,
  "one JSON array": /^\s*\[(?:\s*\n|[^\n]*\n?$|[^\n]*[^\]\s]\s*\n)/,
};

function foreignFormat(head: Buffer, wanted: Wanted): string | undefined {
  const bytes = head.toString("hex", 0, headBytes);
  const text = head.toString("utf8", 0, 65_536).replace(/^\ufeff/, "");
  const isOf = (formats: Readonly<Record<string, RegExp>>, start: string): string | undefined =>
    Object.keys(formats).find((name) => formats[name]?.test(start));
  return isOf(binaryFormats, bytes) ?? (wanted === "JSON lines" ? isOf(textFormats, text) : undefined);
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
