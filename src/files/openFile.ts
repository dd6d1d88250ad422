import { openPath } from "#platform";
import { memberOf } from "../errors/memberOf.js";
import { invalid } from "../errors/statusError.js";
import { checkFileName, checkInteger } from "../options/arguments.js";
import type { FileSource, ReadableStreamLike, UrlLike } from "./fileSource.js";

const chunkBytes = 1024 * 1024;

/** Opens what the caller gave. @throws StatusError when it is no file, or has no name. */
export async function openFile(
  file: unknown,
  name: string | undefined,
  size: number | undefined,
): Promise<FileSource> {
  const given = name === undefined ? undefined : checkFileName(name, "name");
  if (size !== undefined) checkInteger(size, "size", 0);
  if (typeof file === "string" || isUrl(file)) return sized(await openPath(file, given), size);
  if (file instanceof Uint8Array) return sized(fromBytes(file, needName(given, "a Uint8Array")), size);
  if (isBlob(file)) return sized(fromBlob(file, given ?? nameOfBlob(file)), size);
  if (isStream(file)) return fromStream(file, needName(given, "a stream"), size);
  throw invalid("file must be a path, a file: URL, a Blob, a File, a Uint8Array or a stream of bytes.");
}

/** A Readable that fails before it is read would otherwise end the process; reading it tells of the failure. */
export function hearErrors(file: unknown): void {
  if (typeof file !== "object" || file === null) return;
  const { on } = file as { on?: (event: string, listener: () => void) => void };
  if (typeof on === "function") on.call(file, "error", () => {});
}

function fromBytes(bytes: Uint8Array, name: string): FileSource {
  return {
    name,
    size: bytes.byteLength,
    type: "",
    replayable: true,
    blob: async () => new Blob([bytes as Uint8Array<ArrayBuffer>]),
    async *chunks() {
      for (let at = 0; at < bytes.byteLength; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
    },
    close: async () => {},
  };
}

function fromBlob(blob: Blob, name: string): FileSource {
  return {
    name,
    size: blob.size,
    type: blob.type,
    replayable: true,
    blob: async () => blob,
    chunks: () => chunksOf(blob.stream()),
    close: async () => {},
  };
}

function fromStream(stream: Stream, name: string, size: number | undefined): FileSource {
  let read = false;
  if (sent.has(stream)) {
    throw invalid("file is a stream that was sent already: make another of the same content.");
  }
  return {
    name,
    size,
    type: "",
    get replayable() {
      return !read;
    },
    blob: undefined,
    chunks() {
      read = true;
      if (isOneWay(stream)) sent.add(stream);
      return chunksOf(stream);
    },
    async close() {
      if (read) letGo(stream);
    },
  };
}

// Iterating over these a second time gives nothing, without saying so.
const sent = new WeakSet<object>();
const readers = new WeakMap<object, ReadableStreamDefaultReader<unknown>>();

function isOneWay(stream: Stream): boolean {
  return "getReader" in stream || "destroy" in stream;
}

// Ended half-way it would keep what is behind it open.
function letGo(stream: Stream): void {
  if ("destroy" in stream) (stream as { destroy(): void }).destroy();
  else
    void readers
      .get(stream)
      ?.cancel()
      .catch(() => {});
}

async function* chunksOf(stream: Stream): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for await (const chunk of iterable(stream)) {
    if (chunk instanceof Uint8Array) yield chunk;
    else if (typeof chunk === "string") yield encoder.encode(chunk);
    else throw new TypeError(`The stream gave ${chunk === null ? "null" : `a ${typeof chunk}`}, not bytes.`);
  }
}

// Safari's streams are not iterable.
async function* iterable(stream: Stream): AsyncGenerator<unknown> {
  if (!("getReader" in stream)) return yield* stream;
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

function sized(source: FileSource, size: number | undefined): FileSource {
  if (size === undefined || size === source.size) return source;
  void source.close();
  throw invalid(`size is ${size}, but the file has ${source.size} bytes: size is for streams.`);
}

function nameOfBlob(blob: Blob): string {
  const name = memberOf(blob, "name");
  return typeof name === "string" ? checkFileName(name, "the file's name") : needName(undefined, "a Blob");
}

function needName(name: string | undefined, what: string): string {
  if (name !== undefined) return name;
  throw invalid(`${what} has no name of its own: pass {name: "train.jsonl"}.`);
}

type Stream = AsyncIterable<unknown> | ReadableStreamLike;

function isStream(value: unknown): value is Stream {
  return (
    typeof value === "object" &&
    value !== null &&
    (Symbol.asyncIterator in value || typeof (value as ReadableStreamLike).getReader === "function")
  );
}

function isBlob(value: unknown): value is Blob {
  return typeof Blob !== "undefined" && value instanceof Blob;
}

function isUrl(value: unknown): value is UrlLike {
  if (typeof value !== "object" || value === null) return false;
  const { href, protocol } = value as Partial<UrlLike>;
  if (typeof href !== "string" || typeof protocol !== "string") return false;
  if (protocol === "file:") return true;
  throw invalid("file is a URL of another kind: only file: URLs can be read.");
}
