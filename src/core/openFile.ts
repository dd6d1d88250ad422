import { openPath } from "#platform";
import { checkFileName } from "./arguments.js";
import type { FileSource, UrlLike } from "./fileSource.js";
import { refusal } from "./status.js";

/** Opens what the caller gave. @throws StatusError when it is no file, or has no name. */
export async function openFile(file: unknown, name: string | undefined): Promise<FileSource> {
  const given = name === undefined ? undefined : checkFileName(name, "name");
  if (typeof file === "string") return await openPath(file, given);
  if (file instanceof Uint8Array) {
    return fromBlobLike(new Blob([file as Uint8Array<ArrayBuffer>]), needName(given, "a Uint8Array"));
  }
  if (isBlob(file)) {
    const own = (file as { name?: unknown }).name;
    return fromBlobLike(
      file,
      given ??
        (typeof own === "string" ? checkFileName(own, "the file's name") : needName(undefined, "a Blob")),
    );
  }
  if (isUrl(file)) {
    if (file.protocol !== "file:") {
      throw refusal("INVALID_ARGUMENT", "file is a URL of another kind: only file: URLs can be read.");
    }
    return await openPath(file, given);
  }
  throw refusal("INVALID_ARGUMENT", "file must be a path, a file: URL, a Blob, a File or a Uint8Array.");
}

function fromBlobLike(blob: Blob, name: string): FileSource {
  return {
    name,
    size: blob.size,
    type: blob.type,
    blob: async () => blob,
    chunks: () => blob.stream() as unknown as AsyncIterable<Uint8Array>,
    close: async () => {},
  };
}

function needName(name: string | undefined, what: string): string {
  if (name !== undefined) return name;
  throw refusal("INVALID_ARGUMENT", `${what} has no name of its own: pass {name: "train.jsonl"}.`);
}

function isBlob(value: unknown): value is Blob {
  return typeof Blob !== "undefined" && value instanceof Blob;
}

function isUrl(value: unknown): value is UrlLike {
  return (
    typeof value === "object" &&
    value !== null &&
    typeof (value as UrlLike).href === "string" &&
    typeof (value as UrlLike).protocol === "string"
  );
}
