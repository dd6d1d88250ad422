import type { StatusCode } from "../errors/codes.js";

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

/** @internal A file ready to be sent, from wherever it comes. */
export interface FileSource {
  readonly name: string;
  readonly size: number | undefined;
  /** Its own media type, or "". */
  readonly type: string;
  /** The same content as a Blob, for `fetch`; a file on disk and a stream have none. */
  readonly blob: (() => Blob) | undefined;
  /** Own for a file that is opened by its path. */
  readonly isOnDisk?: true;
  /** Whether its content can be read again from the beginning; false for a stream once it is read. */
  readonly replayable: boolean;
  /** Called before each request. Rejects with a SourceError when the content cannot be read from the beginning. */
  check(): Promise<void>;
  /** The content from the beginning; a chunk is valid until the next is requested. */
  chunks(): AsyncIterable<Uint8Array>;
  close(): Promise<void>;
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
