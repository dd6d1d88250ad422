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

/** What can be uploaded: a path or `file:` URL (Node), a Blob, a File, or bytes. */
export type UploadFile = string | UrlLike | BlobLike | Uint8Array;

/** @internal A file ready to be sent, from wherever it comes. */
export interface FileSource {
  readonly name: string;
  readonly size: number | undefined;
  /** The media type it names for itself, or "". */
  readonly type: string;
  /** The same content as a Blob, for `fetch`. */
  blob(): Promise<Blob>;
  /** The content from its beginning, each time it is asked for. */
  chunks(): AsyncIterable<Uint8Array>;
  close(): Promise<void>;
}
