// How the `fetch` functions of Node and Bun send a form.
import type { QueuingStrategy, UnderlyingSource } from "node:stream/web";
import { type FetchForm, type FileForm, SourceError } from "./fileSource.js";

const sliceBytes = 256 * 1024;

/**
 * A form as a Blob, which any `fetch` function takes. Node's reads it by its method `stream`, so that it is seen how
 * far it got; where another does not, it is a Blob like any other.
 */
export class FormBlob implements FetchForm {
  readonly duplex = undefined;
  readonly failed = undefined;
  readonly #form: FileForm & FetchForm;
  #isMade = false;
  #reads = 0;
  #leftBytes = 0;

  constructor(form: FileForm & FetchForm) {
    this.#form = form;
  }

  /** Never for a mock: it makes its response itself (MSW), or asks for the first slice alone (MockAgent). */
  get incomplete(): boolean {
    return !this.#isMade && this.#reads > 1 && this.#leftBytes > 0;
  }

  async toBody(headers: Record<string, string>): Promise<Blob> {
    const blob = (await this.#form.toBody(headers)) as Blob;
    const { stream } = blob;
    blob.stream = () => this.#watched(slicesOf(stream.call(blob)), blob.size) as ReturnType<Blob["stream"]>;
    return blob;
  }

  answered(type: unknown): void {
    // The network's are "basic".
    this.#isMade = type === "default";
    if (!this.incomplete) this.#form.answered(type);
  }

  close(): void {}

  #watched(slices: AsyncGenerator<Uint8Array>, size: number): ReadableStream<Uint8Array> {
    this.#reads = 0;
    this.#leftBytes = size;
    const pull = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
      this.#reads += 1;
      const { done, value } = await slices.next();
      if (done) return controller.close();
      this.#leftBytes -= value.byteLength;
      if (this.#leftBytes === 0) this.#form.answered(undefined);
      controller.enqueue(value);
    };
    return new ReadableStream(
      // No prototype: a polluted Object.prototype could add `type` or `size`.
      { __proto__: null, pull, cancel: () => void slices.return(undefined) } as UnderlyingSource<Uint8Array>,
      { __proto__: null, highWaterMark: 0 } as QueuingStrategy<Uint8Array>,
    );
  }
}

// Node gives each part of a Blob as one chunk, however large. Copied: Node 26 copies all of a chunk's buffer again.
async function* slicesOf(stream: ReturnType<Blob["stream"]>): AsyncGenerator<Uint8Array> {
  for await (const chunk of stream as AsyncIterable<Uint8Array>)
    for (let at = 0; at < chunk.byteLength; at += sliceBytes) yield chunk.slice(at, at + sliceBytes);
}

/** A form as a stream, where its length is known. */
export function streamed(form: FileForm & FetchForm): FetchForm {
  return form.size === undefined ? form : new FormStream(form);
}

/** The bytes of a form as they are taken by a sender that does not say how far it got. */
export class FormBytes {
  protected readonly form: FileForm;
  // Whether the sender has begun to read them, and whether it has taken all of the file.
  protected begun = false;
  #complete = false;
  protected readonly chunks: AsyncGenerator<Uint8Array>;

  /** @param copiedBelow A chunk of fewer bytes is copied: the next one may be read into its place before it has gone */
  constructor(form: FileForm, copiedBelow: number = Number.POSITIVE_INFINITY) {
    this.form = form;
    this.chunks = this.#read(copiedBelow);
  }

  /** Whether the response came before all of the file was taken. */
  get incomplete(): boolean {
    return this.begun && !this.#complete;
  }

  /** Called with a response. What was never asked for was sent by no network: to a mock all of it was. */
  answered(): void {
    const { file, onSent } = this.form.part;
    if (!this.begun) onSent(file.size ?? 0, true);
  }

  /** Ends the reading, however far it got. */
  close(): void {
    void this.chunks.return(undefined).catch(() => {});
  }

  async *#read(copiedBelow: number): AsyncGenerator<Uint8Array> {
    const taken = () => {
      this.#complete = true;
    };
    for await (const chunk of this.form.bytes(taken))
      yield chunk.byteLength < copiedBelow ? new Uint8Array(chunk) : chunk;
  }
}

// For the `fetch` of Node and Bun: its file is never held in memory.
class FormStream extends FormBytes implements FetchForm {
  readonly duplex = "half";
  failed: FetchForm["failed"];
  #closed = false;

  async toBody(headers: Record<string, string>): Promise<ReadableStream<Uint8Array>> {
    headers["content-length"] = String(this.form.size);
    const stream = new ReadableStream(
      // No prototype: a polluted Object.prototype could add `type` or `size`.
      {
        __proto__: null,
        pull: (controller) => this.#pull(controller),
        cancel: () => this.close(),
      } as UnderlyingSource<Uint8Array>,
      // highWaterMark 0: nothing is read before fetch has a connection.
      { __proto__: null, highWaterMark: 0 } as QueuingStrategy<Uint8Array>,
    );
    // node-fetch would send "[object ReadableStream]" in its place.
    return Object.defineProperty(stream, "toString", { value: () => this.#refuse() });
  }

  #refuse(): never {
    const hint = "Pass its bytes or a Blob, or leave out the option fetch.";
    const cause = new SourceError(
      "FAILED_PRECONDITION",
      "The fetch function cannot send a file as a stream.",
      hint,
    );
    this.failed = { cause, isUnsent: true };
    throw cause;
  }

  override close(): void {
    this.#closed = true;
    super.close();
  }

  async #pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    this.begun = true;
    const { done, value } = await this.chunks.next().catch((cause: unknown) => {
      this.failed = { cause };
      throw cause;
    });
    // enqueue throws once fetch has cancelled the stream.
    if (this.#closed) return;
    if (done) controller.close();
    else controller.enqueue(value);
  }
}
