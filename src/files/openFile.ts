import { invalid } from "../errors/statusError.js";
import { checkInteger } from "../options/arguments.js";
import { memberOf, valueOr } from "../values.js";
import { type BlobLike, checkFileName, type FileSource, type UrlLike, unusable } from "./fileSource.js";
import { bytesIn, bytesOf, fromStream, isDetached, isStream, type Stream } from "./streamSource.js";

const chunkBytes = 1024 * 1024;

export interface Disk {
  /** How `fetch` sends what is in memory or a stream, where that differs. */
  readonly sent?: FileSource["streamed"];
  /** Opens a path or `file:` URL. @throws StatusError */
  openPath(path: string | UrlLike, name: string | undefined): Promise<FileSource>;
  /** The source of a Blob whose bytes may be on disk. @throws StatusError */
  openBlob?(blob: Blob, source: FileSource, size: number | undefined): Promise<FileSource>;
}

/** Opens what the caller gave. @throws StatusError when it is no file, or has no name. */
export async function openFile(
  file: unknown,
  { name, size }: { readonly name?: string | undefined; readonly size?: number | undefined },
  disk: Disk,
): Promise<FileSource> {
  const given = name === undefined ? undefined : checkFileName(name, "name");
  if (size !== undefined) checkInteger(size, "size", 0);
  if (typeof file === "string" || isUrl(file)) return sized(await disk.openPath(file, given), size);
  const { sent } = disk;
  const bytes = bytesIn(file);
  if (bytes) return sized(fromBytes(bytes, needName(given, "a Uint8Array"), sent), size);
  if (isBlob(file)) {
    const source = fromBlob(file, given ?? nameOfBlob(file), sent);
    return sized(disk.openBlob && isNative(file) ? await disk.openBlob(file, source, size) : source, size);
  }
  if (isStream(file)) return fromStream(file, needName(given, "a stream"), size, sent);
  throw invalid("file must be a path, a file: URL, a Blob, a File, a Uint8Array or a stream of bytes.");
}

function fromBytes(bytes: Uint8Array, name: string, sent: FileSource["streamed"]): FileSource {
  return {
    name,
    size: bytes.byteLength,
    type: "",
    replayable: true,
    blob: () => new Blob([bytes as Uint8Array<ArrayBuffer>]),
    streamed: sent,
    async check() {
      if (isDetached(bytes)) throw unusable("a Uint8Array whose buffer was transferred or resized");
    },
    async *chunks() {
      for (let at = 0; at < bytes.byteLength; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
    },
    close: async () => {},
  };
}

function fromBlob(blob: BlobLike, name: string, sent: FileSource["streamed"]): FileSource {
  return {
    name,
    size: blob.size,
    type: blob.type,
    replayable: true,
    // A Blob made of others has the bytes of the platform's own alone.
    blob: isNative(blob) ? () => blob : undefined,
    streamed: sent,
    check: async () => {},
    chunks: () => bytesOf(blob.stream() as Stream),
    close: async () => {},
  };
}

async function sized(source: FileSource, size: number | undefined): Promise<FileSource> {
  if (size === undefined || size === source.size) return source;
  await source.close();
  throw invalid(`size is ${size}, but the file has ${source.size} bytes: size is for streams.`);
}

function nameOfBlob(blob: BlobLike): string {
  const name = memberOf(blob, "name");
  return typeof name === "string" ? checkFileName(name, "the file's name") : needName(undefined, "a Blob");
}

function needName(name: string | undefined, what: string): string {
  if (name !== undefined) return name;
  throw invalid(`${what} has no name: pass {name: "train.jsonl"}.`);
}

// By its shape: packages and other realms have classes of their own.
function isBlob(value: unknown): value is BlobLike {
  const has = (name: string): boolean => typeof memberOf(value, name) === "function";
  return isNative(value) || (Number.isInteger(memberOf(value, "size")) && has("stream") && has("slice"));
}

function isNative(value: unknown): value is Blob {
  return valueOr(() => value instanceof Blob, false);
}

function isUrl(value: unknown): value is UrlLike {
  const href = memberOf(value, "href");
  const protocol = memberOf(value, "protocol");
  if (typeof href !== "string" || typeof protocol !== "string") return false;
  if (protocol === "file:") return true;
  throw invalid("file is a URL of another kind: only file: URLs can be read.");
}
