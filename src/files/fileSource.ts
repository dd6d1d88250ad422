import type { StatusCode } from "../errors/codes.js";

/** A `URL`, or an object with these members. */
export interface UrlLike {
  /** The whole address: `file:` followed by the path of a file on this machine. */
  readonly href: string;
  /** The scheme, which must be `file:`. */
  readonly protocol: string;
}

/** A `Blob` or `File`, or an object with these members. */
export interface BlobLike {
  /** The number of bytes. */
  readonly size: number;
  /** The media type, or an empty string. */
  readonly type: string;
  /** Returns the content as a web `ReadableStream`. */
  stream(): unknown;
  /**
   * Returns a part of the Blob as another Blob.
   *
   * @param start The position of the part's first byte.
   * @param end The position after the part's last byte.
   */
  slice(start?: number, end?: number): unknown;
}

/** A web `ReadableStream`, or an object with these members. */
export interface ReadableStreamLike {
  /** Locks the stream to one reader. */
  getReader(): unknown;
  /**
   * Ends the stream before all of it is read.
   *
   * @param reason Why the stream is not read to its end; passed to its source.
   */
  cancel(reason?: unknown): Promise<void>;
}

/**
 * A file that can be uploaded.
 *
 * - A path or `file:` URL (Node, Bun, Deno), read from disk while it is sent. If its size or modification time changes
 *   during the call, the request is aborted before its end and the call rejects with `FAILED_PRECONDITION`. A file
 *   replaced by a rename is sent whole, as it was when the call opened it.
 * - A Blob, a File, or bytes whose buffer was not transferred.
 * - A stream of bytes: a Node Readable, a web ReadableStream, or any async iterable. It needs the option `name` and at
 *   least one byte. A stream is single use, unless it makes a new iterator each time. If it was read, ended, destroyed,
 *   cancelled or locked before, nothing is sent, and the call rejects with this code, too.
 *
 * To upload an empty file, pass the path of an empty file, or an empty Blob or Uint8Array.
 */
export type UploadFile =
  | string
  | UrlLike
  | BlobLike
  | Uint8Array
  | ReadableStreamLike
  | AsyncIterable<Uint8Array>;

/** @internal A file that is ready to be sent, whichever kind of {@link UploadFile} it was. */
export interface FileSource {
  readonly name: string;
  readonly size: number | undefined;
  /** The file's own media type, or "". */
  readonly type: string;
  /** Returns the same content as a Blob, for `fetch`; undefined for a file on disk and for a stream. */
  readonly blob: (() => Blob) | undefined;
  /** Set if the file was opened by its path. Read it with Object.hasOwn only: a polluted prototype may have it. */
  readonly isOnDisk?: true;
  /** Whether the content can be read again from the beginning; false for a stream once it was read. */
  readonly replayable: boolean;
  /** Called before each request. Rejects with a SourceError when the content cannot be read from the beginning. */
  check(): Promise<void>;
  /** The content from the beginning; a chunk is valid until the next chunk is requested. */
  chunks(): AsyncIterable<Uint8Array>;
  close(): Promise<void>;
}

/** A file that cannot be sent: it changed, or cannot be read from the beginning. */
export class SourceError extends Error {
  declare readonly code: StatusCode;
  /** Advice that replaces the default of `code`. */
  declare readonly hint: string | undefined;

  constructor(code: StatusCode, message: string, hint?: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.hint = hint;
  }
}
