import type { QueuingStrategy, UnderlyingSource } from "node:stream/web";
import type { FetchForm, FileForm } from "./fileSource.js";

/** A form whose file is on disk, as a stream for the `fetch` of Node and Bun: it is never held in memory. */
export class FormStream implements FetchForm {
  readonly duplex = "half";
  failed: { readonly cause: unknown } | undefined;
  // Whether fetch has begun to read it, and whether it has read all of it.
  #begun = false;
  #complete = false;
  #closed = false;
  readonly #form: FileForm;
  readonly #chunks: AsyncGenerator<Uint8Array>;

  constructor(form: FileForm) {
    this.#form = form;
    this.#chunks = this.#read(form);
  }

  get incomplete(): boolean {
    return this.#begun && !this.#complete;
  }

  async toBody(headers: Record<string, string>): Promise<ReadableStream<Uint8Array>> {
    headers["content-length"] = String(this.#form.size);
    return new ReadableStream(
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

  /** A stream that was never asked for was sent by no real fetch. */
  answered(): void {
    const { file, onSent } = this.#form.part;
    if (!this.#begun) onSent(file.size ?? 0, true);
  }

  close(): void {
    this.#closed = true;
    void this.#chunks.return(undefined).catch(() => {});
  }

  async #pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    this.#begun = true;
    const { done, value } = await this.#chunks.next().catch((cause: unknown) => {
      this.failed = { cause };
      throw cause;
    });
    // enqueue throws once fetch has cancelled the stream.
    if (this.#closed) return;
    if (done) controller.close();
    else controller.enqueue(value);
  }

  async *#read(form: FileForm): AsyncGenerator<Uint8Array> {
    const taken = () => {
      this.#complete = true;
    };
    // Copied: fetch requests the next chunk before the last is sent, and the buffer is reused.
    for await (const chunk of form.bytes(taken)) yield new Uint8Array(chunk);
  }
}
