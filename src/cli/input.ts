// Every input of a command, a file or the standard input, is read here: once to plan, and a file once more, over the
// same handle, to send. gzip is decompressed, and an input in another format is named.
import * as fs from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import path from "node:path";
import { addAbortSignal, pipeline, Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { cannotRead, reasonOf, UsageError } from "./context.js";

/** What a command expects to read: lines of JSON, lines of text, or one JSON value. */
export type Wanted = "JSON lines" | "lines" | "JSON";

/** A line of an input, without its line end: its text, or why it cannot be read. Lines are counted from 1. */
export type Line =
  | { readonly number: number; readonly text: string; readonly problem?: undefined }
  | { readonly number: number; readonly text?: undefined; readonly problem: string };

/** A line as bytes. */
export interface RawLine {
  /** Undefined if the line is too long to be read. */
  readonly bytes: Buffer | undefined;
  /** Where the line begins and ends, its newline included. */
  readonly start: number;
  readonly end: number;
  /** Whether the line ends with a newline. A last line that was only partly written has none. */
  readonly hasEnd: boolean;
}

export const chunkBytes: number = 256 * 1024;
const longestLine = 64 * 1024 * 1024;
const mostPipedBytes = 64 * 1024 * 1024;

/** The error if an input changes while it is read. What is done so far is kept. */
export class InputChanged extends Error {}

/** What an input is: its name in messages, what is wanted, and the open file; none for the standard input. */
interface InputParts {
  readonly name: string;
  readonly wanted: Wanted | undefined;
  readonly signal: AbortSignal;
  readonly file?: FileHandle;
  readonly version?: string;
}

export class Input {
  /** Whether the input can be read only once. */
  readonly isPipe: boolean;
  readonly #parts: InputParts;

  private constructor(parts: InputParts, isPipe: boolean) {
    this.#parts = parts;
    this.isPipe = isPipe;
  }

  /**
   * Opens a file, or the standard input for `-`.
   * @param name The argument or option that names it, for messages
   * @param wanted Undefined: the bytes are read unchanged
   * @throws UsageError if it cannot be opened
   */
  static async open(
    path: string,
    name: string,
    wanted: Wanted | undefined,
    signal: AbortSignal,
  ): Promise<Input> {
    if (path === "-") return new Input({ name, wanted, signal }, true);
    try {
      const file = await open(path);
      const stats = await file.stat();
      const parts = { name, wanted, signal, file, version: versionOf(stats) };
      if (!stats.isDirectory()) return new Input(parts, !stats.isFile());
      await file.close();
      throw Object.assign(new Error(), { code: "EISDIR" });
    } catch (error) {
      throw cannotRead(name, error, " Nothing was sent.");
    }
  }

  /**
   * The lines, many at a time. A byte order mark at the beginning is skipped.
   * @param isKept Whether all lines are kept: a pipe, which may never end, is then read by {@link bytes} first
   */
  async *lines(isKept = false): AsyncGenerator<readonly Line[]> {
    let number = 0;
    for await (const lines of splitLines(isKept && this.isPipe ? [await this.bytes()] : this.#text()))
      yield lines.map(({ bytes }) => decoded(++number, bytes, this.#parts.wanted));
  }

  /** All bytes; of a pipe at most 64 MiB. @throws UsageError if they cannot be read */
  async bytes(): Promise<Buffer> {
    const chunks: Buffer[] = [];
    let size = 0;
    try {
      for await (const chunk of this.#text()) {
        size += chunk.length;
        if (this.isPipe && size > mostPipedBytes)
          throw new UsageError("The input is larger than 64 MiB: name a file, or send it in parts.");
        chunks.push(chunk);
      }
    } catch (error) {
      throw cannotRead(this.#parts.name, error, " Nothing was sent.");
    }
    return Buffer.concat(chunks);
  }

  /** Whether the size or the time of the open file is another than when it was opened. */
  async hasChanged(): Promise<boolean> {
    const { file, version } = this.#parts;
    return file !== undefined && !this.isPipe && versionOf(await file.stat()) !== version;
  }

  async close(): Promise<void> {
    await this.#parts.file?.close();
  }

  async *#chunks(): AsyncGenerator<Buffer> {
    const { name, signal, file } = this.#parts;
    if (file === undefined || this.isPipe) {
      const stream = file?.createReadStream({ autoClose: false }) ?? process.stdin;
      yield* addAbortSignal(signal, stream) as AsyncIterable<Buffer>;
      return;
    }
    for (let at = 0, read = 1; read > 0; at += read) {
      signal.throwIfAborted();
      const block = Buffer.allocUnsafe(chunkBytes);
      read = (await file.read(block, 0, chunkBytes, at)).bytesRead;
      if (await this.hasChanged())
        throw new InputChanged(
          `${name} changed while it was read. What was ranked is kept: run the same command again, once nothing writes it any more.`,
        );
      if (read > 0) yield block.subarray(0, read);
    }
  }

  // The bytes, decompressed unless they are read unchanged. An input in another format is refused before it yields any.
  async *#text(): AsyncGenerator<Buffer> {
    const { name, wanted } = this.#parts;
    const chunks = this.#chunks();
    try {
      let bytes = chunks;
      let head = await readHead(bytes);
      if (wanted !== undefined && head[0] === 0x1f && head[1] === 0x8b) {
        bytes = unpacked(startingWith(head, chunks));
        head = await readHead(bytes);
      }
      const format = wanted && foreignFormat(head, wanted);
      if (format !== undefined)
        throw new UsageError(
          `${name} is ${format}, not ${wanted === "lines" ? "text" : wanted} in UTF-8. The guide "Prepare data" (prepare-data.md) converts it. Nothing was sent.`,
        );
      yield* startingWith(head, bytes);
    } finally {
      await chunks.return(undefined);
    }
  }
}

function versionOf({ size, mtimeMs }: { readonly size: number; readonly mtimeMs: number }): string {
  return `${size} ${mtimeMs}`;
}

/** Splits bytes into lines, and yields them as they are read. */
export async function* splitLines(
  chunks: AsyncIterable<Buffer> | Iterable<Buffer>,
): AsyncGenerator<readonly RawLine[]> {
  let parts: Buffer[] = [];
  let size = 0;
  let start = 0;
  const take = (hasEnd: boolean): RawLine => {
    const bytes = size > longestLine ? undefined : parts.length === 1 ? parts[0] : Buffer.concat(parts);
    const end = start + size + (hasEnd ? 1 : 0);
    const line = { bytes, start, end, hasEnd };
    [parts, size, start] = [[], 0, end];
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
    return {
      number,
      text: text.slice(number === 1 && text[0] === "\ufeff" ? 1 : 0, text.endsWith("\r") ? -1 : undefined),
    };
  } catch {
    return { number, problem: 'It is not UTF-8: the guide "Prepare data" (prepare-data.md) converts it.' };
  }
}

async function* unpacked(packed: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const gunzip = createGunzip();
  let size = 0;
  const counted = async function* (): AsyncGenerator<Buffer> {
    for await (const chunk of packed) {
      size += chunk.length;
      yield chunk;
    }
  };
  const damaged = (what: string, cause?: unknown): Error =>
    Object.assign(new Error(`the gzip data ${what}`, { cause }), { code: "Z_DATA_ERROR" });
  // An error of any stream here is also thrown by gunzip, which is read below.
  pipeline(Readable.from(counted(), { objectMode: false }), gunzip, () => {});
  try {
    yield* gunzip as AsyncIterable<Buffer>;
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    throw code.startsWith("Z_")
      ? damaged(code === "Z_BUF_ERROR" ? "is cut short" : "is damaged", error)
      : error;
  }
  // Node ends without an error at bytes that are no gzip member, such as zeros: what follows them would be lost.
  if (gunzip.bytesWritten < size) throw damaged("has bytes that are not gzip after a member");
}

// The first bytes, by which a format is recognized: a pipe may deliver the next ones late.
const headBytes = 16;

async function readHead(chunks: AsyncGenerator<Buffer>): Promise<Buffer> {
  let head: Buffer = Buffer.alloc(0);
  while (head.length < headBytes) {
    const next = await chunks.next();
    if (next.done) break;
    head = head.length === 0 ? next.value : Buffer.concat([head, next.value]);
  }
  return head;
}

async function* startingWith(head: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  if (head.length > 0) yield head;
  yield* rest;
}

// Formats that people have in place of lines: binary ones by their first bytes in hexadecimal. Text formats are looked for
// only where JSON lines are wanted: any line of text can be a document.
const binaryFormats: readonly (readonly [name: string, head: RegExp])[] = [
  ["UTF-16 text", /^(fffe|feff)/],
  ["zstd", /^28b52ffd/],
  ["xz", /^fd377a585a00/],
  ["bzip2", /^425a68..314159/],
  ["a zip or Excel file", /^504b0304/],
  ["Parquet", /^5041523115/],
  ["an SQLite database", /^53514c69746520666f726d6174203300/],
  ["Arrow", /^(4152524f57310000|ffffffff)/],
  ["a Git LFS pointer (`git lfs pull` gets the file)", /^76657273696f6e2068747470733a2f2f/],
];
const textFormats: readonly (readonly [name: string, head: RegExp])[] = [
  ["CSV as pandas writes it", /^,[^\n]*[^\s\]}][^\n]*\n/],
  [
    "one JSON object of columns (pandas: write orient='records', lines=True)",
    /^\s*\{"(?:[^"\\]|\\.)*":\s*\{"0":/,
  ],
  ["one JSON array", /^\s*\[(?:\s*\n|[^\n]*\n?$|[^\n]*[^\]\s]\s*\n)/],
];

function foreignFormat(head: Buffer, wanted: Wanted): string | undefined {
  const found = binaryFormats.find(([, start]) => start.test(head.toString("hex", 0, headBytes)));
  if (found !== undefined || wanted !== "JSON lines") return found?.[0];
  const text = head.toString("utf8", 0, 65_536).replace(/^\ufeff/, "");
  return textFormats.find(([, start]) => start.test(text))?.[0];
}

/** Whether a value of JSON is an object. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The absolute path of a file without links, also if the file does not exist yet. @throws UsageError */
export function realName(file: string, option: string): string {
  try {
    const stats = fs.lstatSync(file, { throwIfNoEntry: false });
    // realpath cannot follow a link to a file that does not exist yet, so that link itself is read.
    if (stats?.isSymbolicLink() && !fs.existsSync(file))
      return realName(path.resolve(path.dirname(file), fs.readlinkSync(file)), option);
    return stats
      ? fs.realpathSync(file)
      : path.join(fs.realpathSync(path.dirname(file)), path.basename(file));
  } catch (error) {
    throw new UsageError(
      `The folder of ${option} cannot be found: ${reasonOf(error as NodeJS.ErrnoException)}. Nothing was sent.`,
    );
  }
}
