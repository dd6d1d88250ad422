import type { FileSource } from "./fileSource.js";

/** A multipart/form-data body with one file part. */
export interface Multipart {
  readonly contentType: string;
  readonly head: string;
  readonly file: FileSource;
  readonly tail: string;
  /** The whole body's size in bytes; undefined when the file's is unknown. */
  readonly size: number | undefined;
  /** Called with the number of file bytes handed to the network so far. */
  readonly onSent: ((sentBytes: number) => void) | undefined;
}

/** Frames a file as the one part `field`, its name escaped as browsers do. */
export function frameMultipart(
  field: string,
  file: FileSource,
  contentType: string,
  onSent?: (sentBytes: number) => void,
): Multipart {
  const boundary = `tunerank-${crypto.randomUUID()}`;
  const name = file.name.replace(/"/g, "%22");
  const head =
    `--${boundary}\r\nContent-Disposition: form-data; name="${field}"; filename="${name}"\r\n` +
    `Content-Type: ${contentType}\r\n\r\n`;
  const tail = `\r\n--${boundary}--\r\n`;
  const framing = new TextEncoder().encode(head + tail).byteLength;
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    head,
    file,
    tail,
    size: file.size === undefined ? undefined : framing + file.size,
    onSent,
  };
}
