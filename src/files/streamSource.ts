import { memberOf } from "../values.js";
import { type FileSource, type ReadableStreamLike, SourceError, unusable } from "./fileSource.js";

export type Stream = AsyncIterable<unknown> | ReadableStreamLike;

// Streams and iterators that were read here: a second read would yield less, without an error.
const used = new WeakSet<object>();
const readers = new WeakMap<object, ReadableStreamDefaultReader<unknown>>();

export function isStream(value: unknown): value is Stream {
  return typeof value === "object" && value !== null && (Symbol.asyncIterator in value || isWebStream(value));
}

/** A stream as a file: it can be read once, and must have at least one byte. */
export function fromStream(
  stream: Stream,
  name: string,
  size: number | undefined,
  sent?: FileSource["streamed"],
): FileSource {
  let readWeb = false;
  return {
    name,
    size,
    type: "",
    get replayable() {
      return !readWeb;
    },
    blob: undefined,
    streamed: sent,
    async check() {
      const problem = problemOf(stream);
      if (problem) throw problem;
    },
    async *chunks() {
      const problem = problemOf(stream);
      if (problem) throw problem.cause ?? problem;
      readWeb = true;
      yield* notEmpty(bytesOf(stream));
    },
    async close() {
      if (readWeb) release(stream);
    },
  };
}

/** The bytes of a stream, whose chunks may be text. */
export async function* bytesOf(stream: Stream): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for await (const chunk of chunksOf(stream)) {
    const bytes = bytesIn(chunk);
    if (bytes) yield bytes;
    else if (typeof chunk === "string") yield encoder.encode(chunk);
    else throw new TypeError(`The stream gave ${chunk === null ? "null" : `a ${typeof chunk}`}, not bytes.`);
  }
}

/** A Uint8Array of any realm, such as that of Jest or `node:vm`, as one of this realm; undefined for anything else. */
export function bytesIn(value: unknown): Uint8Array | undefined {
  if (value instanceof Uint8Array) return value;
  if (!ArrayBuffer.isView(value) || Reflect.get(value, Symbol.toStringTag) !== "Uint8Array") return undefined;
  const { buffer, byteOffset, byteLength } = value;
  // A buffer that was transferred makes no array: the other realm's is refused as this one's would be.
  return isDetached(value as Uint8Array)
    ? (value as Uint8Array)
    : new Uint8Array(buffer, byteOffset, byteLength);
}

/** Whether a buffer was transferred. Such an array has length 0, like an empty one; only its methods throw. */
export function isDetached(bytes: Uint8Array): boolean {
  try {
    bytes.keys();
    return false;
  } catch {
    return true;
  }
}

async function* notEmpty(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let empty = true;
  for await (const chunk of chunks) {
    empty &&= chunk.byteLength === 0;
    yield chunk;
  }
  if (!empty) return;
  throw new SourceError(
    "FAILED_PRECONDITION",
    "The stream ended without a byte: it was probably read elsewhere. For an empty file pass an empty Uint8Array, Blob or path.",
  );
}

function problemOf(stream: Stream): SourceError | undefined {
  if (used.has(stream)) return unusable("a stream that was sent already");
  return isWebStream(stream) ? problemOfWebStream(stream) : problemOfReadable(stream);
}

// Older streams and others tell less of themselves.
function problemOfReadable(stream: object): SourceError | undefined {
  if (!isReadable(stream)) return undefined;
  const errored = memberOf(stream, "errored");
  if (errored) return unusable("a stream that failed before it was sent", errored);
  if (memberOf(stream, "readableDidRead"))
    return unusable("a stream that was read already, at least in part");
  if (memberOf(stream, "readableEnded")) return unusable("a stream that has ended already");
  return memberOf(stream, "destroyed") ? unusable("a stream that was destroyed") : undefined;
}

function problemOfWebStream(stream: ReadableStreamLike): SourceError | undefined {
  if (memberOf(stream, "locked") === true) return unusable("a stream that is locked to a reader");
  return isDisturbed(stream) ? unusable("a stream that was read or cancelled already") : undefined;
}

// A web stream does not expose that it was read, but the Response constructor refuses such a body. Where there are no such
// classes, nothing is known.
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

// A Readable returns a new iterator each time; any other single-use stream returns itself.
function markUsed(stream: object, iterator: object): void {
  if (isReadable(stream)) used.add(stream);
  if (used.has(iterator)) throw unusable("a stream that was sent already");
  used.add(iterator);
}

// Safari's streams are not iterable.
async function* chunksOf(stream: Stream): AsyncGenerator<unknown> {
  if (isWebStream(stream)) return yield* read(stream);
  const iterator = stream[Symbol.asyncIterator]();
  markUsed(stream, iterator);
  yield* { [Symbol.asyncIterator]: () => iterator };
}

async function* read(stream: ReadableStreamLike): AsyncGenerator<unknown> {
  used.add(stream);
  const reader = stream.getReader() as ReadableStreamDefaultReader<unknown>;
  readers.set(stream, reader);
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

// A stream abandoned half-way would keep its file or socket open.
function release(stream: Stream): void {
  if (isReadable(stream)) stream.destroy();
  else
    void readers
      .get(stream)
      ?.cancel()
      .catch(() => {});
}
