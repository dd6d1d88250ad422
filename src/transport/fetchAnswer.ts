import type { TransportResponse } from "./transport.js";

/** One answer of a `fetch` function, whole. */
export class FetchAnswer implements TransportResponse {
  declare readonly status: number;
  declare readonly headers: Readonly<Record<string, string>>;
  readonly #chunks: readonly Uint8Array<ArrayBuffer>[];

  constructor(
    status: number,
    headers: Readonly<Record<string, string>>,
    chunks: readonly Uint8Array<ArrayBuffer>[],
  ) {
    this.status = status;
    this.headers = headers;
    this.#chunks = chunks;
  }

  get text(): string {
    return new TextDecoder().decode(this.bytes);
  }

  get bytes(): Uint8Array {
    const bytes = new Uint8Array(this.#chunks.reduce((total, { byteLength }) => total + byteLength, 0));
    let at = 0;
    for (const chunk of this.#chunks) {
      bytes.set(chunk, at);
      at += chunk.byteLength;
    }
    return bytes;
  }
}
