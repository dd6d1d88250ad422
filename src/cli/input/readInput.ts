// Every input of a command, from a file or the standard input, is read here: gzip is decompressed, and an error names
// the format of an input that the command cannot read.
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { addAbortSignal, pipeline, Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { cannotRead, UsageError } from "../context.js";
import { FileContent, InputChanged } from "./fileContent.js";
import { type ForeignInput, foreignFormat, foreignText, isGzip } from "./formats.js";
import { chunkBytes, type Line, linesOf } from "./lines.js";

/** An input: its name, as of `namingFile`, and the format that the command expects. */
export interface InputRequest extends ForeignInput {
  /** Whether an empty input is allowed. */
  readonly allowEmpty: boolean;
}

// The most bytes that are read from a pipe, which may never end.
const mostPipedBytes = 64 * 1024 * 1024;
// The format is recognized once this many bytes are there: a pipe may deliver further bytes late.
const headBytes = 8;

/** The unchanged bytes of a file, or of the standard input for `-`. */
export function openInput(file: string, signal: AbortSignal): AsyncIterable<Buffer> {
  const stream = file === "-" ? process.stdin : createReadStream(file, { highWaterMark: chunkBytes });
  return addAbortSignal(signal, stream) as AsyncIterable<Buffer>;
}

/** An input that is read once. Of a file, it knows whether another program changed it meanwhile. */
export class WatchedInput {
  readonly #file: string;
  readonly #signal: AbortSignal;
  #content: FileContent | undefined;

  constructor(file: string, signal: AbortSignal) {
    this.#file = file;
    this.#signal = signal;
  }

  async *bytes(): AsyncGenerator<Buffer> {
    const size = await fileSize(this.#file);
    // A file of the system, such as one below /proc, says that it has no bytes, and is read as a pipe is.
    if (size) this.#content = new FileContent(this.#file);
    yield* this.#content?.see(this.#signal) ?? openInput(this.#file, this.#signal);
  }

  /** Whether the file was changed other than by appending. False for a pipe, which can be read only once. */
  async hasChanged(): Promise<boolean> {
    return !this.#signal.aborted && (await this.#content?.hasChanged(this.#signal)) === true;
  }
}

/** How many bytes a file has; undefined for a pipe or a folder, or if there is none. */
export async function fileSize(file: string): Promise<number | undefined> {
  const found = file === "-" ? undefined : await stat(file).catch(() => undefined);
  return found?.isFile() ? found.size : undefined;
}

/**
 * The lines of an input.
 * @param longest The longest line to keep, in bytes
 * @throws UsageError if the input is in another format, or empty
 */
export function rowsOf(
  bytes: AsyncIterable<Buffer>,
  request: InputRequest,
  longest?: number,
): AsyncGenerator<readonly Line[]> {
  return linesOf(textOf(bytes, request), longest);
}

/** Reads a whole file, or the standard input for `-`, then yields its lines. @throws UsageError if it cannot be read */
export async function* readLines(
  file: string,
  request: InputRequest,
  signal: AbortSignal,
): AsyncGenerator<readonly Line[]> {
  const input = new WatchedInput(file, signal);
  const chunks = await allOf(file, textOf(input.bytes(), request), request.name, input);
  yield* linesOf(chunks, Number.POSITIVE_INFINITY);
}

/**
 * Reads all bytes of an input; JSON is decompressed.
 * @param wanted Undefined: the bytes are sent unchanged.
 * @throws UsageError
 */
export async function readBody(
  file: string,
  {
    name,
    wanted,
    advice,
  }: { readonly name: string; readonly wanted: "JSON" | undefined; readonly advice?: string | undefined },
  signal: AbortSignal,
): Promise<Buffer> {
  const input = new WatchedInput(file, signal);
  const bytes = input.bytes();
  const read = wanted === undefined ? bytes : textOf(bytes, { name, wanted, advice, allowEmpty: true });
  return Buffer.concat(await allOf(file, read, name, input));
}

async function allOf(
  file: string,
  bytes: AsyncIterable<Buffer>,
  name: string,
  input: WatchedInput,
): Promise<readonly Buffer[]> {
  const chunks: Buffer[] = [];
  let count = 0;
  let failure: unknown;
  try {
    const most = (await fileSize(file)) === undefined ? mostPipedBytes : Number.POSITIVE_INFINITY;
    for await (const chunk of bytes) {
      count += chunk.byteLength;
      if (count > most)
        throw new UsageError("The input is larger than 64 MiB: name a file, or send it in parts.");
      chunks.push(chunk);
    }
  } catch (error) {
    failure = error;
  }
  // A change of the file is reported instead of a failure to read it, because the change may be the cause.
  if (await input.hasChanged())
    throw new InputChanged(
      `${name}: the input changed while it was read. Nothing was sent: run the same command again, once nothing writes the input any more.`,
    );
  if (failure !== undefined) throw cannotRead(name, failure, " Nothing was sent.");
  return chunks;
}

/** The text of an input, in UTF-8. @throws UsageError before it yields anything, if the input is in another format */
async function* textOf(bytes: AsyncIterable<Buffer>, request: InputRequest): AsyncGenerator<Buffer> {
  const { name, wanted, allowEmpty } = request;
  const [packed, all] = await begun(bytes);
  const isPacked = isGzip(packed);
  const [head, text] = isPacked ? await begun(unpacked(all)) : [packed, all];
  const format = foreignFormat(head, wanted);
  let isEmpty = true;
  for await (const chunk of text) {
    // Thrown in the loop, so that the file is closed.
    if (format !== undefined) throw new UsageError(foreignText(request, format, isPacked));
    isEmpty &&= /^[\s\u00ef\u00bb\u00bf]*$/.test(chunk.toString("latin1"));
    yield chunk;
  }
  if (isEmpty && !allowEmpty)
    throw new UsageError(`${name} is empty: nothing was sent. If it may be empty, add --allow-empty.`);
}

async function* unpacked(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const gunzip = createGunzip();
  // An error of any stream here is also thrown by gunzip, which is read below.
  pipeline(Readable.from(bytes, { objectMode: false }), gunzip, () => {});
  try {
    yield* gunzip as AsyncIterable<Buffer>;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (!code?.startsWith("Z_")) throw error;
    const what = code === "Z_BUF_ERROR" ? "is cut short" : "is damaged";
    throw Object.assign(new Error(`the gzip data ${what}`, { cause: error }), { code });
  }
}

// The first bytes of an input, and an iterator over all of it, the first bytes included.
async function begun(bytes: AsyncIterable<Buffer>): Promise<[head: Buffer, all: AsyncGenerator<Buffer>]> {
  const chunks = bytes[Symbol.asyncIterator]();
  let head: Buffer = Buffer.alloc(0);
  while (head.length < headBytes) {
    const next = await chunks.next();
    if (next.done) break;
    head = head.length === 0 ? next.value : Buffer.concat([head, next.value]);
  }
  return [head, startingWith(head, chunks)];
}

async function* startingWith(head: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  try {
    if (head.length > 0) yield head;
    for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}
