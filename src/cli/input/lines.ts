import { createReadStream } from "node:fs";
import { addAbortSignal, pipeline, Readable } from "node:stream";
import { createGunzip } from "node:zlib";

export interface Line {
  /** 1 for the first. */
  readonly number: number;
  /** Without its end; undefined when it is too long to be read. */
  readonly bytes: Buffer | undefined;
  /** Where it begins, in bytes, once unpacked: behind a byte order mark. */
  readonly offset: number;
  readonly end: number;
  /** Whether the file goes on behind it; the last line of a file that was torn has no end. */
  readonly hasEnd: boolean;
}

export const chunkBytes: number = 256 * 1024;
const newline = 10;
const markBytes = 3;
const longestLine = 64 * 1024 * 1024;

/** The bytes of a file, or of the standard input for `-`, unpacked when they are gzip. */
export function openInput(file: string, signal: AbortSignal): AsyncIterable<Buffer> {
  const stream = file === "-" ? process.stdin : createReadStream(file, { highWaterMark: chunkBytes });
  return unpacked(addAbortSignal(signal, stream) as AsyncIterable<Buffer>);
}

/** Bytes, unpacked when they are gzip: that begins with two bytes which no JSON begins with. */
export async function* unpacked(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const chunks = bytes[Symbol.asyncIterator]();
  let head = Buffer.alloc(0);
  while (head.length < 2) {
    const next = await chunks.next();
    if (next.done) break;
    head = Buffer.concat([head, next.value]);
  }
  const all = { [Symbol.asyncIterator]: () => startingWith(head, chunks) };
  if (head[0] !== 0x1f || head[1] !== 0x8b) return yield* all;
  const gunzip = createGunzip();
  // What fails on the way is an error of the last stream, which is read.
  pipeline(Readable.from(all, { objectMode: false }), gunzip, () => {});
  return yield* gunzip as AsyncIterable<Buffer>;
}

async function* startingWith(head: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  if (head.length > 0) yield head;
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
}

/** Splits bytes into lines, handed out as they are read, many at once; a byte order mark at the beginning is left out. */
export async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<readonly Line[]> {
  let parts: Buffer[] = [];
  let partBytes = 0;
  let number = 0;
  let offset = 0;
  const lineOf = (hasEnd: boolean): Line => {
    const whole = partBytes > longestLine ? undefined : parts.length === 1 ? parts[0] : Buffer.concat(parts);
    const mark = ++number === 1 && hasMark(whole) ? markBytes : 0;
    const end = offset + partBytes + (hasEnd ? 1 : 0);
    const bytes = mark === 0 ? whole : whole?.subarray(mark);
    const line = { number, bytes, offset: offset + mark, end, hasEnd };
    offset = end;
    parts = [];
    partBytes = 0;
    return line;
  };
  for await (const chunk of chunks) {
    const lines: Line[] = [];
    let from = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, from)) {
      parts.push(chunk.subarray(from, end));
      partBytes += end - from;
      lines.push(lineOf(true));
      from = end + 1;
    }
    if (lines.length > 0) yield lines;
    if (from === chunk.length) continue;
    partBytes += chunk.length - from;
    // What is too long is counted and not kept.
    if (partBytes <= longestLine) parts.push(chunk.subarray(from));
    else parts = [];
  }
  if (partBytes > 0) yield [lineOf(false)];
}

function hasMark(bytes: Buffer | undefined): boolean {
  return bytes?.[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}
