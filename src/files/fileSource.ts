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
 * What can be uploaded: a path or `file:` URL (Node), a Blob, a File, bytes, or a stream of bytes: a Node
 * Readable, a web ReadableStream, or any async iterable. A stream needs `name`, and can be sent only once.
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
  /** The same content as a Blob, for `fetch`; a stream has none. */
  readonly blob: (() => Promise<Blob>) | undefined;
  /** Whether its content can still be had from its beginning. */
  readonly replayable: boolean;
  /** The content from its beginning; a chunk is good until the next is asked for. */
  chunks(): AsyncIterable<Uint8Array>;
  close(): Promise<void>;
}
