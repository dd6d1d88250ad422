import type { QueuingStrategy, UnderlyingSource } from "node:stream/web";
import { fileChunks, type Multipart } from "./multipart.js";

/** A form whose file is on disk, as a stream for Node's `fetch`: it is never held in memory. */
export class FormStream {
  readonly stream: ReadableStream<Uint8Array>;
  /** Whether fetch has begun to read it. */
  begun = false;
  /** Whether fetch has read all of it. */
  complete = false;
  /** Why it ended before that, when reading the file or reporting its progress failed. */
  failed: { readonly cause: unknown } | undefined;
  #closed = false;
  readonly #chunks: AsyncGenerator<Uint8Array>;

  constructor(form: Multipart) {
    this.#chunks = this.#read(form);
    this.stream = new ReadableStream(
      // No prototype: a polluted Object.prototype could add `type` or `size`.
      {
        __proto__: null,
        pull: (controller) => this.#pull(controller),
        cancel: () => this.close(),
      } as UnderlyingSource<Uint8Array>,
      // highWaterMark 0: nothing is read before fetch has a connection.
      { __proto__: null, highWaterMark: 0 } as QueuingStrategy<Uint8Array>,
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
    // enqueue throws once fetch has cancelled the stream.
    if (this.#closed) return;
    if (done) controller.close();
    else controller.enqueue(value);
  }

  async *#read({ head, tail, part }: Multipart): AsyncGenerator<Uint8Array> {
    const encoder = new TextEncoder();
    yield encoder.encode(head);
    // Copied: fetch requests the next chunk before the last is sent, and the buffer is reused.
    for await (const chunk of fileChunks(part)) yield new Uint8Array(chunk);
    this.complete = true;
    yield encoder.encode(tail);
  }
}
