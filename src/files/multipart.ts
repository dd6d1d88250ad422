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
    // Not crypto.randomUUID: pages on plain http do not have it.
    const boundary = `tunerank-${crypto.getRandomValues(new Uint8Array(16)).join("")}`;
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
