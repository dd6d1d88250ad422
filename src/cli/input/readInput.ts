// The one reader of whatever a command reads from a file or from the standard input: it unpacks, and says what an input is
// that cannot be read.
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { addAbortSignal, pipeline, Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { cannotRead, UsageError } from "../context.js";
import { foreignFormat, foreignText, type Wanted } from "./formats.js";
import { chunkBytes, type Line, linesOf } from "./lines.js";

/** What a command reads, and as what. */
export interface InputRequest {
  /** What the command line calls it. */
  readonly name: string;
  readonly wanted: Wanted;
  /** Whether nothing at all is an input, too. */
  readonly allowEmpty: boolean;
}

// A pipe may never end.
const mostPipedBytes = 64 * 1024 * 1024;
// No format is known by more bytes, and a pipe may bring the next ones late.
const headBytes = 8;

/** The bytes of a file, or of the standard input for `-`, as they are. */
export function openInput(file: string, signal: AbortSignal): AsyncIterable<Buffer> {
  const stream = file === "-" ? process.stdin : createReadStream(file, { highWaterMark: chunkBytes });
  return addAbortSignal(signal, stream) as AsyncIterable<Buffer>;
}

/** The lines of an input. @throws UsageError when it is in another format, or empty */
export function rowsOf(bytes: AsyncIterable<Buffer>, request: InputRequest): AsyncGenerator<readonly Line[]> {
  return linesOf(textOf(bytes, request));
}

/** The lines of a file, or of the standard input for `-`, once all of it has been read. @throws UsageError */
export async function* readLines(
  file: string,
  request: InputRequest,
  signal: AbortSignal,
): AsyncGenerator<readonly Line[]> {
  const read = textOf(openInput(file, signal), request);
  yield* linesOf(await allOf(file, read, request.name), Number.POSITIVE_INFINITY);
}

/** All bytes of an input; those of JSON unpacked. @param wanted Undefined for bytes that are sent as they are. @throws UsageError */
export async function readBody(
  file: string,
  { name, wanted }: { readonly name: string; readonly wanted: "JSON" | undefined },
  signal: AbortSignal,
): Promise<Buffer> {
  const bytes = openInput(file, signal);
  const read = wanted === undefined ? bytes : textOf(bytes, { name, wanted, allowEmpty: true });
  return Buffer.concat(await allOf(file, read, name));
}

async function allOf(file: string, bytes: AsyncIterable<Buffer>, name: string): Promise<readonly Buffer[]> {
  const chunks: Buffer[] = [];
  let count = 0;
  try {
    const most = await mostBytesOf(file);
    for await (const chunk of bytes) {
      count += chunk.byteLength;
      if (count > most)
        throw new UsageError("The input is larger than 64 MiB: name a file, or send it in parts.");
      chunks.push(chunk);
    }
  } catch (error) {
    throw cannotRead(name, error);
  }
  return chunks;
}

async function mostBytesOf(file: string): Promise<number> {
  return file !== "-" && (await stat(file)).isFile() ? Number.POSITIVE_INFINITY : mostPipedBytes;
}

/** The text of an input, in UTF-8. @throws UsageError before any of it, when it is in another format */
async function* textOf(bytes: AsyncIterable<Buffer>, request: InputRequest): AsyncGenerator<Buffer> {
  const { name, wanted, allowEmpty } = request;
  const [packed, all] = await begun(bytes);
  // No text begins with these two bytes.
  const isPacked = packed[0] === 0x1f && packed[1] === 0x8b;
  const [head, text] = isPacked ? await begun(unpacked(all)) : [packed, all];
  const format = foreignFormat(head, wanted);
  if (format !== undefined) throw new UsageError(foreignText(name, format, wanted, isPacked));
  let isEmpty = true;
  for await (const chunk of text) {
    isEmpty &&= /^[\s\u00ef\u00bb\u00bf]*$/.test(chunk.toString("latin1"));
    yield chunk;
  }
  if (isEmpty && !allowEmpty)
    throw new UsageError(`${name} is empty: nothing was sent. If it may be, add --allow-empty.`);
}

async function* unpacked(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const gunzip = createGunzip();
  // What fails on the way is an error of the last stream, which is read.
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

// The first bytes of an input, and all of them.
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
