import type { StatusCode } from "../errors/codes.js";
import { invalid } from "../errors/statusError.js";
import { checkCharacters, checkString } from "../options/arguments.js";

/** Any `URL`. */
export interface UrlLike {
  /** The whole address: `file:` and the path of a file on this machine. */
  readonly href: string;
  /** Must be `file:`. */
  readonly protocol: string;
}

/** Any `Blob` or `File`. */
export interface BlobLike {
  /** How many bytes it has. */
  readonly size: number;
  /** Its media type, or an empty string. */
  readonly type: string;
  /** Its content as a web `ReadableStream`. */
  stream(): unknown;
  /**
   * A part of it, as another Blob.
   *
   * @param start The position of its first byte.
   * @param end The position after its last byte.
   */
  slice(start?: number, end?: number): unknown;
}

/** Any web `ReadableStream`. */
export interface ReadableStreamLike {
  /** Locks the stream to one reader. */
  getReader(): unknown;
  /**
   * Ends the stream before all of it is read.
   *
   * @param reason Why it is not read on; passed to its source.
   */
  cancel(reason?: unknown): Promise<void>;
}

/**
 * What can be uploaded.
 *
 * - A path or `file:` URL (Node, Bun, Deno), read from disk while it is sent. When its size or modification time changes
 *   between the start of the call and the last bytes, the request is broken off before its end:
 *   `FAILED_PRECONDITION`. A write within one tick of the file system's clock, or after which the old time is set
 *   again, cannot be seen. A file replaced by a rename is sent whole as it was when the call opened it.
 * - A Blob, a File, or bytes. Bytes whose buffer was transferred are `FAILED_PRECONDITION`; nothing is sent.
 * - A stream of bytes: a Node Readable, a web ReadableStream, or any async iterable. It needs `name` and at least
 *   one byte. It is single use, unless it makes a new iterator each time: one that was read, ended, destroyed,
 *   cancelled or locked before is `FAILED_PRECONDITION`; nothing is sent.
 *
 * An empty file is an empty path, Blob or Uint8Array.
 */
export type UploadFile =
  | string
  | UrlLike
  | BlobLike
  | Uint8Array
  | ReadableStreamLike
  | AsyncIterable<Uint8Array>;

/** @internal A form as a `fetch` function sends it: as a Blob, or on Node and Bun as a stream. */
export interface FetchForm {
  /** "half" for a stream. */
  readonly duplex: "half" | undefined;
  /** Why reading the file or reporting its progress failed; unsent where it could not even begin. */
  readonly failed: { readonly cause: unknown; readonly isUnsent?: boolean } | undefined;
  /** Whether the answer came before all of it was sent. */
  readonly incomplete: boolean;
  /** The body that it is. @param headers What may be added to. */
  toBody(headers: Record<string, string>): Promise<Blob | ReadableStream>;
  /** Called once the answer begins. @param type What `fetch` calls its kind. */
  answered(type: unknown): void;
  /** Ends the reading, however far it got. */
  close(): void;
}

/** @internal A file ready to be sent, from wherever it comes. */
export interface FileSource {
  readonly name: string;
  readonly size: number | undefined;
  /** Its own media type, or "". */
  readonly type: string;
  /** The same content as a Blob, for `fetch`; a file on disk and a stream have none. */
  readonly blob: (() => Blob) | undefined;
  /** The whole form as the `fetch` of this runtime sends it best; undefined for a Blob, which every one takes. */
  readonly streamed: ((form: FileForm & FetchForm) => FetchForm) | undefined;
  /** Whether its content can be read again from the beginning; false for a stream once it is read. */
  readonly replayable: boolean;
  /** Called before each request. Rejects with a SourceError when the content cannot be read from the beginning. */
  check(): Promise<void>;
  /** The content from the beginning; a chunk is valid until the next is requested. */
  chunks(): AsyncIterable<Uint8Array>;
  close(): Promise<void>;
}

/** @internal A file as a multipart body's one part takes it. */
export interface FilePart {
  readonly file: FileSource;
  /** The most bytes the file may have. */
  readonly maxFileBytes: number;
  /** Called with the number of file bytes handed to the network; `done` when there are no more. */
  readonly onSent: (sentBytes: number, done: boolean) => void;
}

/** @internal A form with one file, in the parts that are sent. */
export interface FileForm {
  readonly head: string;
  readonly part: FilePart;
  readonly tail: string;
  /** The whole form's size in bytes; undefined when the file's is unknown. */
  readonly size: number | undefined;
  /** All of its bytes; a chunk is valid until the next is requested. @param taken Called once the file's all were. */
  bytes(taken: () => void): AsyncGenerator<Uint8Array>;
}

/** The base name of a file's path, for either separator, as it may stand in a multipart header. */
export function checkFileName(value: unknown, what: string): string {
  checkString(value, what);
  const name = value.slice(Math.max(value.lastIndexOf("/"), value.lastIndexOf("\\")) + 1);
  if (name === "" || name === "." || name === "..") {
    throw invalid(`${what} has no base name: pass {name}.`);
  }
  return checkCharacters(name, what);
}

/** A file that cannot be sent: it changed, or cannot be read from the beginning. */
export class SourceError extends Error {
  declare readonly code: StatusCode;
  /** What to do now, instead of the code's own hint. */
  declare readonly hint: string | undefined;

  constructor(code: StatusCode, message: string, hint?: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.hint = hint;
  }
}

/** The error of a source that cannot be read from the beginning. */
export function unusable(what: string, cause?: unknown): SourceError {
  const hint = "Make a new stream or array of the same content for each call, or pass a path or a Blob.";
  return new SourceError("FAILED_PRECONDITION", `file is ${what}.`, hint, cause);
}
