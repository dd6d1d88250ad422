import { memberOf } from "../errors/memberOf.js";
import { invalid } from "../errors/statusError.js";
import { checkInteger } from "../options/arguments.js";
import { openPath } from "./diskFile.js";
import { checkFileName } from "./fileName.js";
import type { FileSource, UrlLike } from "./fileSource.js";
import { FormStream } from "./formStream.js";
import { bytesOf, fromStream, isStream } from "./streamSource.js";
import { unusable } from "./unusable.js";

const chunkBytes = 1024 * 1024;

/** How a file on disk is sent through `fetch`: as a stream, or read whole before; undefined where there are none. */
export type DiskFiles = "streamed" | "whole" | undefined;

/** Opens what the caller gave. @throws StatusError when it is no file, or has no name. */
export async function openFile(
  file: unknown,
  { name, size }: { readonly name?: string | undefined; readonly size?: number | undefined },
  diskFiles: DiskFiles,
): Promise<FileSource> {
  const given = name === undefined ? undefined : checkFileName(name, "name");
  if (size !== undefined) checkInteger(size, "size", 0);
  if (typeof file === "string" || isUrl(file)) return sized(await fromDisk(file, given, diskFiles), size);
  if (file instanceof Uint8Array) return sized(fromBytes(file, needName(given, "a Uint8Array")), size);
  if (isBlob(file)) return await openBlob(file, given ?? nameOfBlob(file), size);
  if (isStream(file)) return fromStream(file, needName(given, "a stream"), size);
  throw invalid("file must be a path, a file: URL, a Blob, a File, a Uint8Array or a stream of bytes.");
}

function fromDisk(
  path: string | UrlLike,
  name: string | undefined,
  diskFiles: DiskFiles,
): Promise<FileSource> {
  if (diskFiles !== undefined) return openPath(path, name, diskFiles === "streamed");
  throw invalid("file is a path, which this runtime cannot open: pass a Blob, a File or a Uint8Array.");
}

function fromBytes(bytes: Uint8Array, name: string): FileSource {
  return {
    name,
    size: bytes.byteLength,
    type: "",
    replayable: true,
    blob: () => new Blob([bytes as Uint8Array<ArrayBuffer>]),
    streamed: undefined,
    async check() {
      if (isDetached(bytes)) throw unusable("a Uint8Array whose buffer was transferred or resized");
    },
    async *chunks() {
      for (let at = 0; at < bytes.byteLength; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
    },
    close: async () => {},
  };
}

// A detached array has length 0, like an empty one; only its methods throw.
function isDetached(bytes: Uint8Array): boolean {
  try {
    bytes.keys();
    return false;
  } catch {
    return true;
  }
}

async function openBlob(blob: Blob, name: string, size: number | undefined): Promise<FileSource> {
  // Bun tells no size of a pipe (Bun.stdin) or of what is stored elsewhere.
  if (!Number.isFinite(blob.size)) return fromStream(blob.stream(), name, size);
  // Bun.file of what is not there has size 0, too.
  if (blob.size === 0) await blob.arrayBuffer().catch(refuseToRead);
  return sized(fromBlob(blob, name), size);
}

function refuseToRead(cause: unknown): never {
  throw invalid(`file cannot be read: ${memberOf(cause, "message")}.`, { cause });
}

// Bun makes a Blob of several parts without those that are on disk (Bun.file).
function isLeftOut(blob: Blob): boolean {
  return blob.size > 0 && new Blob(["-", blob.slice(0, 1)]).size !== 2;
}

function fromBlob(blob: Blob, name: string): FileSource {
  return {
    name,
    size: blob.size,
    type: blob.type,
    replayable: true,
    blob: () => blob,
    streamed: isLeftOut(blob) ? (form) => new FormStream(form) : undefined,
    check: async () => {},
    chunks: () => bytesOf(blob.stream()),
    close: async () => {},
  };
}

async function sized(source: FileSource, size: number | undefined): Promise<FileSource> {
  if (size === undefined || size === source.size) return source;
  await source.close();
  throw invalid(`size is ${size}, but the file has ${source.size} bytes: size is for streams.`);
}

function nameOfBlob(blob: Blob): string {
  const name = memberOf(blob, "name");
  return typeof name === "string" ? checkFileName(name, "the file's name") : needName(undefined, "a Blob");
}

function needName(name: string | undefined, what: string): string {
  if (name !== undefined) return name;
  throw invalid(`${what} has no name: pass {name: "train.jsonl"}.`);
}

function isBlob(value: unknown): value is Blob {
  return typeof Blob !== "undefined" && value instanceof Blob;
}

function isUrl(value: unknown): value is UrlLike {
  const href = memberOf(value, "href");
  const protocol = memberOf(value, "protocol");
  if (typeof href !== "string" || typeof protocol !== "string") return false;
  if (protocol === "file:") return true;
  throw invalid("file is a URL of another kind: only file: URLs can be read.");
}
