import { changed, type FilePart, fileChunks, type Multipart } from "../files/multipart.js";

/** A form whose file is on disk, as a stream for `fetch`: neither is ever held in memory. Node's fetch sends streams. */
export class FormStream {
  readonly stream: ReadableStream<Uint8Array>;
  /** Whether fetch has asked for anything. */
  begun = false;
  /** Whether all of it was given to fetch. */
  complete = false;
  /** Why it ended before that, when reading the file or reporting its progress failed. */
  failed: { readonly cause: unknown } | undefined;
  #closed = false;
  readonly #chunks: AsyncGenerator<Uint8Array>;

  constructor(form: Multipart) {
    this.#chunks = this.#read(form);
    this.stream = new ReadableStream(
      { pull: (controller) => this.#pull(controller), cancel: () => this.close() },
      // Nothing is read before fetch has a connection.
      { highWaterMark: 0 },
    );
  }

  /** Ends the reading, however far it got. */
  close(): void {
    this.#closed = true;
    void this.#chunks.return(undefined).catch(() => {});
  }

  async #pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    this.begun = true;
    const { done, value } = await this.#chunks.next().catch((cause: unknown) => {
      this.failed = { cause };
      throw cause;
    });
    // A stream that fetch has cancelled takes nothing more.
    if (this.#closed) return;
    if (done) controller.close();
    else controller.enqueue(value);
  }

  async *#read({ head, tail, part }: Multipart): AsyncGenerator<Uint8Array> {
    const encoder = new TextEncoder();
    yield encoder.encode(head);
    // Copied: fetch asks for the next chunk before the last has left, and its buffer is filled again.
    for await (const chunk of fileChunks(part)) yield new Uint8Array(chunk);
    this.complete = true;
    yield encoder.encode(tail);
  }
}

/** A form as a Blob of Blobs: its length is known, and the platform reads it without keeping it. */
export async function blobOf({ head, tail, part }: Multipart): Promise<Blob> {
  const { blob, size } = part.file;
  const form = new Blob([head, ...(blob ? [blob()] : await collect(part)), tail]);
  const found = form.size - new Blob([head, tail]).size;
  if (size !== undefined && found !== size) throw changed(part.file, `${found}`);
  return form;
}

// Few runtimes can send a stream: it is read whole first.
async function collect(part: FilePart): Promise<Uint8Array<ArrayBuffer>[]> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  // Copied: a stream may fill the same buffer again.
  for await (const chunk of fileChunks(part)) parts.push(new Uint8Array(chunk));
  return parts;
}
