import { invalid } from "../errors/statusError.js";
import { checkCharacters, checkInteger, checkString } from "../options/arguments.js";
import { isInstance, memberOf, valueOr, wordsOf } from "../values.js";
import {
  type BlobLike,
  type FileSource,
  type ReadableStreamLike,
  SourceError,
  type UrlLike,
} from "./fileSource.js";

const chunkBytes = 1024 * 1024;

/** The files that a platform can open: by their paths, or as Blobs whose bytes are on disk. */
export interface Disk {
  /** Opens a path or `file:` URL. @throws StatusError */
  openPath(path: string | UrlLike, name: string | undefined): Promise<FileSource>;
  /** Returns the file source of a Blob whose bytes may be on disk. @throws StatusError */
  openBlob?(blob: Blob, source: FileSource, size: number | undefined): Promise<FileSource>;
}

/** Opens the file that the caller gave. @throws StatusError when the value is not a file, or has no name. */
export async function openFile(
  file: unknown,
  { name, size }: { readonly name?: string | undefined; readonly size?: number | undefined },
  disk: Disk | undefined,
): Promise<FileSource> {
  const given = name === undefined ? undefined : checkFileName(name, "name");
  if (size !== undefined) checkInteger(size, "size", 0);
  if (typeof file === "string" || isUrl(file)) {
    if (disk) return sized(await disk.openPath(file, given), size);
    const text = "file is a path, which cannot be opened here: pass a Blob, a File or a Uint8Array.";
    throw invalid("file", text);
  }
  const bytes = bytesIn(file);
  if (bytes) return sized(fromBytes(bytes, needName(given, "a Uint8Array")), size);
  if (isBlob(file)) {
    const own = memberOf(file, "name");
    const called = given ?? (typeof own === "string" ? checkFileName(own, "file.name") : undefined);
    const source = fromBlob(file, needName(called, "a Blob"));
    const opened = isInstance(file, globalThis.Blob) && disk?.openBlob?.(file, source, size);
    return sized((await opened) || source, size);
  }
  if (isStream(file)) return fromStream(file, needName(given, "a stream"), size);
  const kinds = "a path, a file: URL, a Blob, a File, a Uint8Array or a stream of bytes";
  throw invalid("file", `file must be ${kinds}.`);
}

function fromBytes(bytes: Uint8Array, name: string): FileSource {
  return {
    name,
    size: bytes.byteLength,
    type: "",
    replayable: true,
    blob: () => new Blob([bytes as Uint8Array<ArrayBuffer>]),
    async check() {
      if (isDetached(bytes)) throw unusable("a Uint8Array whose buffer was transferred or resized");
    },
    async *chunks() {
      for (let at = 0; at < bytes.byteLength; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
    },
    close: async () => {},
  };
}

function fromBlob(blob: BlobLike, name: string): FileSource {
  return {
    name,
    size: blob.size,
    type: blob.type,
    replayable: true,
    // `blob` is undefined for a package's own Blob class: `new Blob([...])` takes only the bytes of the platform's Blobs.
    blob: isInstance(blob, globalThis.Blob) ? () => blob : undefined,
    check: async () => {},
    chunks: () => bytesOf(blob.stream() as Stream),
    close: async () => {},
  };
}

async function sized(source: FileSource, size: number | undefined): Promise<FileSource> {
  if (size === undefined || size === source.size) return source;
  await source.close();
  throw invalid("size", `size is ${size}, but the file has ${source.size} bytes: size is for streams.`);
}

/** The base name of a path with "/" or "\". @throws StatusError when a multipart header cannot hold it */
export function checkFileName(value: unknown, what: string): string {
  checkString(value, what);
  const name = value.slice(Math.max(value.lastIndexOf("/"), value.lastIndexOf("\\")) + 1);
  if (/^\.{0,2}$/.test(name)) throw invalid(what, `${what} must end with a file name.`);
  return checkCharacters(name, what);
}

function needName(name: string | undefined, what: string): string {
  if (name !== undefined) return name;
  throw invalid("name", `${what} has no name: pass {name: "train.jsonl"}.`);
}

// Checks the shape, not the class: packages and other realms have their own Blob classes.
function isBlob(value: unknown): value is BlobLike {
  const has = (name: string): boolean => typeof memberOf(value, name) === "function";
  return Number.isInteger(memberOf(value, "size")) && has("stream") && has("slice");
}

function isUrl(value: unknown): value is UrlLike {
  const href = memberOf(value, "href");
  const protocol = memberOf(value, "protocol");
  if (typeof href !== "string" || typeof protocol !== "string") return false;
  if (protocol === "file:") return true;
  throw invalid("file", "file is a URL of another kind: only file: URLs can be read.");
}

type Stream = AsyncIterable<unknown> | ReadableStreamLike;

// Streams and iterators that any client has read. A second read would yield fewer bytes without an error.
const used = new WeakSet<object>();

function isStream(value: unknown): value is Stream {
  return typeof value === "object" && value !== null && (Symbol.asyncIterator in value || isWebStream(value));
}

const emptyStream =
  "The stream ended without a byte: it was probably read elsewhere. For an empty file pass its path or an empty Uint8Array.";

/** Returns the file source of a stream, which can be read once and must have at least one byte. */
export function fromStream(stream: Stream, name: string, size: number | undefined): FileSource {
  let isRead = false;
  let reader: ReturnType<typeof lockedReader>;
  return {
    name,
    size,
    type: "",
    get replayable() {
      return !isRead;
    },
    blob: undefined,
    async check() {
      const problem = problemOf(stream);
      if (problem) throw problem;
    },
    async *chunks() {
      const problem = problemOf(stream);
      if (problem) throw problem.cause ?? problem;
      isRead = true;
      reader = lockedReader(stream);
      let isEmpty = true;
      for await (const chunk of bytesOf(stream, reader)) {
        isEmpty &&= chunk.byteLength === 0;
        yield chunk;
      }
      if (isEmpty) throw new SourceError("FAILED_PRECONDITION", emptyStream);
    },
    async close() {
      // A stream abandoned half-way would keep its file or socket open.
      if (isRead && isReadable(stream)) stream.destroy();
      else void reader?.cancel().catch(() => {});
    },
  };
}

// The bytes of a stream, whose chunks may be text.
async function* bytesOf(stream: Stream, reader = lockedReader(stream)): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for await (const chunk of reader ? chunksRead(reader) : chunksOf(stream as AsyncIterable<unknown>)) {
    const bytes = bytesIn(chunk);
    if (bytes) yield bytes;
    else if (typeof chunk === "string") yield encoder.encode(chunk);
    else throw new TypeError(`The stream gave ${chunk === null ? "null" : typeof chunk}, not bytes.`);
  }
}

/** A Uint8Array of any realm, such as Jest's, as one of this realm; undefined for other values. */
function bytesIn(value: unknown): Uint8Array | undefined {
  if (value instanceof Uint8Array) return value;
  if (!ArrayBuffer.isView(value) || Reflect.get(value, Symbol.toStringTag) !== "Uint8Array") return undefined;
  // A transferred buffer cannot back a new array: the other realm's array is returned, and rejected later.
  if (isDetached(value as Uint8Array)) return value as Uint8Array;
  return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
}

/** Whether an array's buffer was transferred. The array then has length 0, like an empty one, but its methods throw. */
function isDetached(bytes: Uint8Array): boolean {
  return valueOr(() => bytes.keys()) === undefined;
}

// The error for a file that cannot be read from the beginning.
function unusable(what: string, cause?: unknown): SourceError {
  const hint = "Make a new stream or array of the same content for each call, or pass a path or a Blob.";
  return new SourceError("FAILED_PRECONDITION", `file is ${what}.`, hint, cause);
}

// Why a stream cannot be sent; undefined if it can. Older streams, and other libraries', lack some members.
function problemOf(stream: Stream): SourceError | undefined {
  const errored = memberOf(stream, "errored");
  if (errored) return unusable(`a stream that failed before it was sent: ${wordsOf(errored)}`, errored);
  if (used.has(stream)) return unusable("a stream that was sent already");
  if (isWebStream(stream)) {
    if (memberOf(stream, "locked") === true) return unusable("a stream that is locked to a reader");
    return isDisturbed(stream) ? unusable("a stream that was read or cancelled already") : undefined;
  }
  if (!isReadable(stream)) return undefined;
  if (memberOf(stream, "readableDidRead"))
    return unusable("a stream that was read already, at least in part");
  if (memberOf(stream, "readableEnded")) return unusable("a stream that has ended already");
  return memberOf(stream, "destroyed") ? unusable("a stream that was destroyed") : undefined;
}

// Whether a web stream was read: the Response constructor throws for one. False in a runtime without these classes.
function isDisturbed(stream: ReadableStreamLike): boolean {
  try {
    if (stream instanceof ReadableStream) void new Response(stream);
    return false;
  } catch (error) {
    return (error as Error).name === "TypeError";
  }
}

function isWebStream(stream: object): stream is ReadableStreamLike {
  return typeof memberOf(stream, "getReader") === "function";
}

function isReadable(stream: object): stream is { destroy(): void } {
  return typeof memberOf(stream, "destroy") === "function";
}

// The reader of a web stream, which is not iterable in Safari; undefined for other streams.
function lockedReader(stream: Stream): ReadableStreamDefaultReader<unknown> | undefined {
  if (!isWebStream(stream)) return undefined;
  used.add(stream);
  return stream.getReader() as ReadableStreamDefaultReader<unknown>;
}

async function* chunksRead(reader: ReadableStreamDefaultReader<unknown>): AsyncGenerator<unknown> {
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    void reader.cancel().catch(() => {});
  }
}

// A stream's chunks, once: a Readable makes a new iterator each time, so the stream itself is marked as used, too.
function chunksOf(stream: AsyncIterable<unknown>): AsyncIterable<unknown> {
  const iterator = stream[Symbol.asyncIterator]();
  if (isReadable(stream)) used.add(stream);
  if (used.has(iterator)) throw unusable("a stream that was sent already");
  used.add(iterator);
  return { [Symbol.asyncIterator]: () => iterator };
}
