import { type FetchForm, type FileForm, type FilePart, type FileSource, SourceError } from "./fileSource.js";

/** A multipart/form-data body with one part, `field`, that holds a file; its name is escaped as browsers do. */
export class Multipart implements FetchForm, FileForm {
  declare readonly part: FilePart;
  declare readonly contentType: string;
  declare readonly head: string;
  declare readonly tail: string;
  /** The whole body's size in bytes; undefined when the file's is unknown. */
  declare readonly size: number | undefined;
  // For `fetch` it is no stream, and nothing of it is read by us.
  readonly duplex = undefined;
  readonly failed = undefined;
  readonly incomplete = false;

  constructor(field: string, type: string, part: FilePart) {
    const { name, size } = part.file;
    // Not crypto.randomUUID: pages on plain http do not have it. Three digits for each byte, so that the length is always the same.
    const digits = crypto.getRandomValues(new Uint8Array(16)).map((byte) => 100 + (byte % 100));
    const boundary = `tunerank-${digits.join("")}`;
    this.part = part;
    this.contentType = `multipart/form-data; boundary=${boundary}`;
    this.head =
      `--${boundary}\r\nContent-Disposition: form-data; name="${field}"; filename="${name.replaceAll('"', "%22")}"\r\n` +
      `Content-Type: ${type}\r\n\r\n`;
    this.tail = `\r\n--${boundary}--\r\n`;
    const framing = new TextEncoder().encode(this.head + this.tail).byteLength;
    this.size = size === undefined ? undefined : framing + size;
  }

  /** All of its bytes; a chunk is valid until the next is requested. @param taken Called once the file's all were. */
  async *bytes(taken: () => void): AsyncGenerator<Uint8Array> {
    const encoder = new TextEncoder();
    yield encoder.encode(this.head);
    yield* fileChunks(this.part);
    taken();
    yield encoder.encode(this.tail);
  }

  get forFetch(): FetchForm {
    return this.part.file.streamed?.(this) ?? this;
  }

  /** The platform tells nothing on the way: once the answer begins, all of a Blob was sent. */
  answered(): void {
    const { file, onSent } = this.part;
    if (file.blob) onSent(file.size ?? 0, true);
  }

  close(): void {}

  /** The whole form as a Blob of Blobs: its length is known, and the platform streams it. */
  async toBody(): Promise<Blob> {
    const { head, tail } = this;
    const { file } = this.part;
    const form = new Blob([head, ...(file.blob ? [file.blob()] : await collect(this.part)), tail]);
    const found = form.size - new Blob([head, tail]).size;
    if (file.size !== undefined && found !== file.size) throw changed(file, `${found}`);
    return form;
  }
}

// Few runtimes can send a stream: it is read whole first.
async function collect(part: FilePart): Promise<Uint8Array<ArrayBuffer>[]> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  // Copied: a stream may fill the same buffer again.
  for await (const chunk of fileChunks(part)) parts.push(new Uint8Array(chunk));
  return parts;
}

/** The file's bytes, counted against its size and its limit. Each chunk counts as sent when the next is requested. */
export async function* fileChunks({ file, maxFileBytes, onSent }: FilePart): AsyncGenerator<Uint8Array> {
  let sent = 0;
  for await (const chunk of file.chunks()) {
    sent += chunk.byteLength;
    if (file.size !== undefined && sent > file.size) throw changed(file, "more");
    if (sent > maxFileBytes) {
      const message = `The stream has more than the ${maxFileBytes} bytes that one request takes.`;
      throw new SourceError("OUT_OF_RANGE", message);
    }
    yield chunk;
    onSent(sent, sent === file.size);
  }
  if (file.size !== undefined && sent < file.size) throw changed(file, `only ${sent}`);
  if (sent === 0 || file.size === undefined) onSent(sent, true);
}

// The error of a file whose size is not the expected one.
function changed({ size, replayable }: FileSource, found: string): SourceError {
  return new SourceError(
    "FAILED_PRECONDITION",
    replayable
      ? `The file changed while it was read: it had ${size} bytes, then ${found}.`
      : `The stream had ${found} bytes, not the ${size} of size.`,
  );
}

export interface Part {
  readonly name: string | undefined;
  readonly filename: string | undefined;
  readonly contentType: string | undefined;
  readonly content: Uint8Array;
}

/** The parts of a multipart/form-data body, their contents not copied; undefined when it is not well formed. */
export function parseMultipart(body: Uint8Array, contentType: string): Part[] | undefined {
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]+)"|([^\s;]+))/i.exec(contentType) ?? [];
  const boundary = quoted ?? plain;
  if (boundary === undefined) return undefined;
  const first = latin1Bytes(`--${boundary}`);
  const between = latin1Bytes(`\r\n--${boundary}`);
  const blankLine = latin1Bytes("\r\n\r\n");
  if (!startsWith(body, first, 0)) return undefined;
  const parts: Part[] = [];
  let start = first.length;
  while (!startsWith(body, latin1Bytes("--"), start)) {
    if (!startsWith(body, latin1Bytes("\r\n"), start)) return undefined;
    const headEnd = find(body, blankLine, start);
    const contentStart = headEnd + blankLine.length;
    const contentEnd = headEnd === -1 ? -1 : find(body, between, contentStart);
    if (contentEnd === -1) return undefined;
    const head = new TextDecoder().decode(body.subarray(start, headEnd));
    parts.push({ ...readHead(head), content: body.subarray(contentStart, contentEnd) });
    start = contentEnd + between.length;
  }
  return parts;
}

function readHead(head: string): Omit<Part, "content"> {
  const header = (name: string): string =>
    new RegExp(`^${name}:[ \\t]*(.*)$`, "im").exec(head)?.[1]?.trim() ?? "";
  const disposition = header("content-disposition");
  // A quote within is \" or %22: clients differ.
  const parameter = (name: string): string | undefined =>
    new RegExp(`;\\s*${name}="((?:\\\\"|[^"])*)"(?=\\s*(?:;|$))`, "i")
      .exec(disposition)?.[1]
      ?.replaceAll('\\"', '"')
      .replace(/%(22|0D|0A)/gi, decodeURIComponent);
  const [, extended] = /;\s*filename\*=utf-8'[^']*'([^;\s]+)/i.exec(disposition) ?? [];
  return {
    name: parameter("name"),
    filename: extended === undefined ? parameter("filename") : decodedName(extended),
    contentType: header("content-type") || undefined,
  };
}

function decodedName(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function latin1Bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function startsWith(body: Uint8Array, wanted: Uint8Array, start: number): boolean {
  return wanted.every((byte, offset) => body[start + offset] === byte);
}

// The search for one byte is the engine's own, and fast.
function find(body: Uint8Array, wanted: Uint8Array, from: number): number {
  const head = wanted[0] as number;
  for (let at = body.indexOf(head, from); at !== -1; at = body.indexOf(head, at + 1)) {
    if (startsWith(body, wanted, at)) return at;
  }
  return -1;
}
