// A form with a file: how it is written, how `fetch` functions and undici send it, and how a server reads it.
import type { QueuingStrategy, UnderlyingSource } from "node:stream/web";
import type { RequestRules } from "../options/validate.js";
import { memberOf, valueOr } from "../values.js";
import { type FileSource, SourceError } from "./fileSource.js";

/** The form part of an operation that holds the file, as the contract has it. */
export function filePartOf({ file: name = "file", body }: RequestRules): {
  name: string;
  maxFileBytes: number;
} {
  return { name, maxFileBytes: body?.properties?.[name]?.["x-max-bytes"] ?? Number.POSITIVE_INFINITY };
}

/** A form as a `fetch` function sends it: as a Blob, or as a stream on Node and Bun. */
export interface FetchForm {
  /** The `duplex` option of `fetch`: "half" if the body is a stream. */
  readonly duplex: "half" | undefined;
  /** Why reading the file failed, if that caused an error of `fetch`. `isUnsent`: sending never began. */
  failedBy(error: unknown): { readonly cause: unknown; readonly isUnsent?: boolean } | undefined;
  /** Whether the response came before all of the form was sent. */
  readonly incomplete: boolean;
  /** Makes the body for `fetch`. @param headers The request's headers, to which the form may add. */
  toBody(headers: Record<string, string>): Promise<Blob | ReadableStream>;
  /** Called once the response begins. @param type The `type` of the `fetch` response. */
  responded(type: unknown): void;
  /** Stops reading the file, even if only a part was read. */
  close(): void;
}

/** A multipart/form-data body whose one part, named `field`, holds a file. */
export class Multipart implements FetchForm {
  /** `onSent` receives the number of bytes that the network has taken so far; `done` is true when no more follow. */
  declare readonly part: {
    readonly file: FileSource;
    readonly maxFileBytes: number;
    readonly onSent: (sentBytes: number, done: boolean) => void;
  };
  declare readonly contentType: string;
  declare readonly head: string;
  declare readonly tail: string;
  /** The size of the whole body in bytes; undefined if the file's size is unknown. */
  declare readonly size: number | undefined;
  // `fetch` itself reads this form, as a Blob, so this class cannot see whether all of it was sent.
  readonly duplex = undefined;
  readonly incomplete = false;
  // The file's chunks while they are read into memory.
  #collected: AsyncGenerator<Uint8Array> | undefined;

  constructor(field: string, type: string, part: Multipart["part"]) {
    const { name, size } = part.file;
    // Escaped as browsers do.
    const fileName = name.replaceAll('"', "%22");
    // Not crypto.randomUUID: pages on plain http lack it. Each byte becomes three digits, so the length is fixed.
    const digits = crypto.getRandomValues(new Uint8Array(16)).map((byte) => 100 + (byte % 100));
    const boundary = `tunerank-${digits.join("")}`;
    this.part = part;
    this.contentType = `multipart/form-data; boundary=${boundary}`;
    this.head =
      `--${boundary}\r\nContent-Disposition: form-data; name="${field}"; filename="${fileName}"\r\n` +
      `Content-Type: ${type}\r\n\r\n`;
    this.tail = `\r\n--${boundary}--\r\n`;
    const framing = encode(this.head + this.tail).byteLength;
    this.size = size === undefined ? undefined : framing + size;
  }

  /** The platform reports no progress while it sends a Blob, which counts as sent once the response begins. */
  responded(): void {
    const { file, onSent } = this.part;
    if (file.blob) onSent(file.size ?? 0, true);
  }

  /** A Blob of a file on disk reports a change of the file only when it is read: then `fetch` fails with this error. */
  failedBy(error: unknown): ReturnType<FetchForm["failedBy"]> {
    const names = [memberOf(error, "name"), memberOf(memberOf(error, "cause"), "name")];
    if (!names.includes("NotReadableError")) return undefined;
    return { cause: new SourceError("FAILED_PRECONDITION", "The file changed while it was read.") };
  }

  close(): void {
    void this.#collected?.return(undefined).catch(() => {});
  }

  /** The whole form as a Blob of Blobs: its length is known, and the platform streams it. */
  async toBody(): Promise<Blob> {
    const { head, tail } = this;
    const { file } = this.part;
    const form = new Blob([head, ...(file.blob ? [file.blob()] : await this.#collect()), tail]);
    const found = form.size - new Blob([head, tail]).size;
    if (file.size !== undefined && found !== file.size) throw changed(file, `${found}`);
    return form;
  }

  // Reads the file whole before it is sent, because few runtimes can send a stream.
  async #collect(): Promise<Uint8Array<ArrayBuffer>[]> {
    const parts: Uint8Array<ArrayBuffer>[] = [];
    this.#collected = fileChunks(this.part);
    // Each chunk is copied, because a stream may fill the same buffer again.
    for await (const chunk of this.#collected) parts.push(new Uint8Array(chunk));
    return parts;
  }
}

/** Yields the file's bytes and checks their count. Each chunk counts as sent when the next is requested. */
export async function* fileChunks({
  file,
  maxFileBytes,
  onSent,
}: Multipart["part"]): AsyncGenerator<Uint8Array> {
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
  const message = replayable
    ? `The file changed while it was read: it had ${size} bytes, then ${found}.`
    : `The stream had ${found} bytes, but size is ${size}.`;
  return new SourceError("FAILED_PRECONDITION", message);
}

// The size in bytes of the slices in which Node's `fetch` receives a Blob.
const sliceBytes = 256 * 1024;

/** A form as a Blob. Node's `fetch` reads it with its method `stream`, which here records how much was read. */
export class FormBlob implements FetchForm {
  readonly duplex = undefined;
  readonly #form: Multipart;
  #isMade = false;
  #reads = 0;
  #leftBytes = 0;

  constructor(form: Multipart) {
    this.#form = form;
  }

  /** False for mocks, which send nothing: MSW makes the response itself, MockAgent reads only the first slice. */
  get incomplete(): boolean {
    return !this.#isMade && this.#reads > 1 && this.#leftBytes > 0;
  }

  async toBody(): Promise<Blob> {
    const blob = await this.#form.toBody();
    const { stream } = blob;
    blob.stream = () => this.#watched(slicesOf(stream.call(blob)), blob.size) as ReturnType<Blob["stream"]>;
    return blob;
  }

  responded(type: unknown): void {
    // A response from the network has the type "basic"; one that a program constructs has "default".
    this.#isMade = type === "default";
    if (!this.incomplete) this.#form.responded();
  }

  failedBy(error: unknown): ReturnType<FetchForm["failedBy"]> {
    return this.#form.failedBy(error);
  }

  close(): void {
    this.#form.close();
  }

  #watched(slices: AsyncGenerator<Uint8Array>, size: number): ReadableStream<Uint8Array> {
    this.#reads = 0;
    this.#leftBytes = size;
    return pulledStream(
      async (controller) => {
        this.#reads += 1;
        const { done, value } = await slices.next();
        if (done) return controller.close();
        this.#leftBytes -= value.byteLength;
        if (this.#leftBytes === 0) this.#form.responded();
        controller.enqueue(value);
      },
      () => void slices.return(undefined),
    );
  }
}

// Node yields each part of a Blob as one chunk, however large. The slices are copies: for each view of a chunk, Node 26
// would copy the chunk's whole buffer.
async function* slicesOf(stream: ReturnType<Blob["stream"]>): AsyncGenerator<Uint8Array> {
  for await (const chunk of stream as AsyncIterable<Uint8Array>)
    for (let at = 0; at < chunk.byteLength; at += sliceBytes) yield chunk.slice(at, at + sliceBytes);
}

// Makes a stream that reads nothing before its reader asks for bytes: `fetch` asks once it has a connection.
function pulledStream(
  pull: (controller: ReadableStreamDefaultController<Uint8Array>) => Promise<void>,
  cancel: () => void,
): ReadableStream<Uint8Array> {
  return new ReadableStream(
    // No prototype: a polluted Object.prototype could add `type` or `size`.
    { __proto__: null, pull, cancel } as UnderlyingSource<Uint8Array>,
    { __proto__: null, highWaterMark: 0 } as QueuingStrategy<Uint8Array>,
  );
}

/** The bytes of a form, for a sender that does not report how far it got: records what the sender has read. */
export class FormBytes {
  protected readonly form: Multipart;
  /** Whether the sender has begun to read the bytes. */
  begun = false;
  #complete = false;
  readonly chunks: AsyncGenerator<Uint8Array>;
  readonly #onClose: (() => void) | undefined;

  /**
   * @param onClose Called when the form is no longer sent.
   * @param copiedBelow Chunks of fewer bytes are copied: the next may be read into a chunk's buffer before it is sent
   */
  constructor(form: Multipart, onClose?: () => void, copiedBelow: number = Number.POSITIVE_INFINITY) {
    this.form = form;
    this.#onClose = onClose;
    this.chunks = this.#read(copiedBelow);
  }

  get incomplete(): boolean {
    return this.begun && !this.#complete;
  }

  /** If nothing was read when a response arrives, a mock responded, and the whole file counts as sent. */
  responded(): void {
    const { file, onSent } = this.form.part;
    if (!this.begun) onSent(file.size ?? 0, true);
  }

  close(): void {
    void this.chunks.return(undefined).catch(() => {});
    this.#onClose?.();
  }

  async *#read(copiedBelow: number): AsyncGenerator<Uint8Array> {
    this.begun = true;
    yield encode(this.form.head);
    for await (const chunk of fileChunks(this.form.part))
      yield chunk.byteLength < copiedBelow ? new Uint8Array(chunk) : chunk;
    this.#complete = true;
    yield encode(this.form.tail);
  }
}

/** A form of known length as a stream, for the `fetch` of Node and Bun: the whole file is never held in memory. */
export class FormStream extends FormBytes implements FetchForm {
  readonly duplex = "half";
  #failed: ReturnType<FetchForm["failedBy"]>;
  #closed = false;

  failedBy(error: unknown): ReturnType<FetchForm["failedBy"]> {
    return this.#failed ?? this.form.failedBy(error);
  }

  async toBody(headers: Record<string, string>): Promise<ReadableStream<Uint8Array>> {
    headers["content-length"] = String(this.form.size);
    const stream = pulledStream(
      (controller) => this.#pull(controller),
      () => this.close(),
    );
    // node-fetch would send the stream as the text "[object ReadableStream]". With this `toString`, it throws instead.
    return Object.defineProperty(stream, "toString", { value: () => this.#refuse() });
  }

  #refuse(): never {
    const hint = "Pass its bytes or a Blob, or leave out the option fetch.";
    const text = "The fetch function cannot send a file as a stream.";
    const cause = new SourceError("FAILED_PRECONDITION", text, hint);
    this.#failed = { cause, isUnsent: true };
    throw cause;
  }

  override close(): void {
    this.#closed = true;
    super.close();
  }

  async #pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    const { done, value } = await this.chunks.next().catch((cause: unknown) => {
      this.#failed = { cause };
      throw cause;
    });
    // enqueue throws once fetch has cancelled the stream.
    if (this.#closed) return;
    if (done) controller.close();
    else controller.enqueue(value);
  }
}

/** The parts of a multipart/form-data body, whose contents are not copied; undefined if it is not well formed. */
export function parseMultipart(
  body: Uint8Array,
  contentType: string,
): (ReturnType<typeof readHead> & { readonly content: Uint8Array })[] | undefined {
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]+)"|([^\s;]+))/i.exec(contentType) ?? [];
  const boundary = quoted ?? plain;
  if (boundary === undefined) return undefined;
  const delimiter = encode(`\r\n--${boundary}`);
  // The first delimiter has no line break before it.
  if (!startsWith(body, delimiter.subarray(2), 0)) return undefined;
  const parts: ReturnType<typeof parseMultipart> = [];
  for (let start = delimiter.length - 2; !startsWith(body, encode("--"), start); ) {
    const headEnd = find(body, encode("\r\n\r\n"), start);
    const end = find(body, delimiter, headEnd + 4);
    if (headEnd === -1 || end === -1 || !startsWith(body, encode("\r\n"), start)) return undefined;
    const head = new TextDecoder().decode(body.subarray(start, headEnd));
    parts.push({ ...readHead(head), content: body.subarray(headEnd + 4, end) });
    start = end + delimiter.length;
  }
  return parts;
}

function readHead(head: string): Readonly<Record<"name" | "filename" | "contentType", string | undefined>> {
  const header = (name: string): string =>
    new RegExp(`^${name}:[ \\t]*(.*)$`, "im").exec(head)?.[1]?.trim() ?? "";
  const disposition = header("content-disposition");
  // A quote in the value is written \" or %22: clients differ.
  const parameter = (name: string): string | undefined =>
    new RegExp(`;\\s*${name}="((?:\\\\"|[^"])*)"(?=\\s*(?:;|$))`, "i")
      .exec(disposition)?.[1]
      ?.replaceAll('\\"', '"')
      .replace(/%(22|0D|0A)/gi, decodeURIComponent);
  const [, extended] = /;\s*filename\*=utf-8'[^']*'([^;\s]+)/i.exec(disposition) ?? [];
  return {
    name: parameter("name"),
    filename:
      extended === undefined ? parameter("filename") : valueOr(() => decodeURIComponent(extended), extended),
    contentType: header("content-type") || undefined,
  };
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function startsWith(body: Uint8Array, wanted: Uint8Array, start: number): boolean {
  return wanted.every((byte, offset) => body[start + offset] === byte);
}

function find(body: Uint8Array, wanted: Uint8Array, from: number): number {
  const head = wanted[0] as number;
  for (let at = body.indexOf(head, from); at !== -1; at = body.indexOf(head, at + 1)) {
    if (startsWith(body, wanted, at)) return at;
  }
  return -1;
}
