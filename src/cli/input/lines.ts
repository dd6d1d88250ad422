export interface Line {
  /** The line's number, counted from 1. */
  readonly number: number;
  /** The bytes without the line end; undefined if the line is too long to be read. */
  readonly bytes: Buffer | undefined;
  /** Where the line begins in the decompressed input, in bytes. The first line begins after a byte order mark. */
  readonly offset: number;
  readonly end: number;
  /** Whether the line ends with a newline. A last line that was only partly written has none. */
  readonly hasEnd: boolean;
}

export const chunkBytes: number = 256 * 1024;
const newline = 10;
const markBytes = 3;
const longestLine = 64 * 1024 * 1024;

/**
 * Splits bytes into lines, and yields them as they are read, many at a time. A byte order mark at the beginning is
 * skipped.
 * @param longest The longest line to keep, in bytes. A longer line is counted, but its bytes are not kept
 */
export async function* linesOf(
  chunks: AsyncIterable<Buffer> | Iterable<Buffer>,
  longest: number = longestLine,
): AsyncGenerator<readonly Line[]> {
  let parts: Buffer[] = [];
  let partBytes = 0;
  let number = 0;
  let offset = 0;
  const lineOf = (hasEnd: boolean): Line => {
    const whole = partBytes > longest ? undefined : parts.length === 1 ? parts[0] : Buffer.concat(parts);
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
    if (partBytes <= longest) parts.push(chunk.subarray(from));
    else parts = [];
  }
  if (partBytes > 0) yield [lineOf(false)];
}

function hasMark(bytes: Buffer | undefined): boolean {
  return bytes?.[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}
