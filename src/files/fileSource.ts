import type { FormStream } from "./formStream.js";
import type { Multipart } from "./multipart.js";

/** Any `URL`. */
export interface UrlLike {
  readonly href: string;
  readonly protocol: string;
}

/** Any `Blob` or `File`. */
export interface BlobLike {
  readonly size: number;
  readonly type: string;
  stream(): unknown;
  slice(start?: number, end?: number): unknown;
}

/** Any web `ReadableStream`. */
export interface ReadableStreamLike {
  getReader(): unknown;
  cancel(reason?: unknown): Promise<void>;
}

/**
 * What can be uploaded.
 *
 * - A path or `file:` URL (Node), read from disk while it is sent. A file whose size or modification time changes
 *   between the call's begin and its last byte is not stored: the request is broken off, `FAILED_PRECONDITION`. A
 *   write within one tick of the file system's clock, or one after which the time is set back, is not noticed.
 * - A Blob, a File, or bytes.
 * - A stream of bytes: a Node Readable, a web ReadableStream, or any async iterable. It needs `name` and at least
 *   one byte, and is read once: what gives itself as its iterator cannot be sent a second time. A stream that was
 *   read, ended, destroyed or locked before is `FAILED_PRECONDITION`, as are bytes whose buffer was transferred;
 *   nothing is sent then.
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
  /** The media type it names for itself, or "". */
  readonly type: string;
  /** The same content as a Blob, for `fetch`; a file on disk and a stream have none. */
  readonly blob: (() => Blob) | undefined;
  /** The form around a file on disk as a stream, for Node's `fetch`. Anything else has none. */
  readonly streamed: ((form: Multipart) => FormStream) | undefined;
  /** Whether its content can still be had from its beginning. */
  readonly replayable: boolean;
  /** Asked before each request. Rejects with a SourceError when the content cannot be had from its beginning. */
  check(): Promise<void>;
  /** The content from its beginning; a chunk is good until the next is asked for. */
  chunks(): AsyncIterable<Uint8Array>;
  close(): Promise<void>;
}
