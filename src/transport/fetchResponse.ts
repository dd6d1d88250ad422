// What a `fetch` function gives, and how it is read.
import type { FetchResponse } from "../options/clientOptions.js";
import { memberOf } from "../values.js";
import type { TransportResponse } from "./transport.js";

export type BodyChunk = Uint8Array<ArrayBuffer>;
type Headers = Record<string, string>;

/** The reader of a web stream, or the same for another body. */
export interface Reader {
  read(): Promise<{ readonly done?: boolean | undefined; readonly value?: BodyChunk | undefined }>;
  cancel(): Promise<unknown>;
}

/** A response's headers; undefined for what is no response. */
export function fetchedHeaders(response: FetchResponse | undefined): Headers | undefined {
  const given = memberOf(response, "headers") as Partial<FetchResponse["headers"]> | undefined;
  if (!Number.isInteger(memberOf(response, "status")) || typeof given?.forEach !== "function")
    return undefined;
  const headers: Headers = {};
  given.forEach((value, name) => {
    headers[name] = value;
  });
  return headers;
}

/** What reads a response's body; undefined when nothing can. */
export function readerOf(response: FetchResponse, headers: Headers, limit: number): Reader | undefined {
  const body = (response.body ?? undefined) as ReadableStream<BodyChunk> | undefined;
  if (typeof body?.getReader === "function") return body.getReader();
  const isStream = typeof body === "object" && Symbol.asyncIterator in body;
  if (body && !isStream && !response.arrayBuffer && !response.text) return undefined;
  const source = isStream ? (body as AsyncIterable<BodyChunk>) : wholeOf(response, headers, limit);
  const chunks = source[Symbol.asyncIterator]();
  return { read: () => chunks.next(), cancel: async () => chunks.return?.() };
}

// The whole body at once, as in React Native. Of text as text: its older versions give no bytes.
async function* wholeOf(response: FetchResponse, headers: Headers, limit: number): AsyncGenerator<BodyChunk> {
  // Not even read: as good as more than may be taken.
  if (Number(headers["content-length"]) > limit) yield { byteLength: limit + 1 } as BodyChunk;
  const isText = /json|text/.test(headers["content-type"] ?? "") || !response.arrayBuffer;
  if (isText && response.text) yield new TextEncoder().encode(await response.text());
  else if (response.arrayBuffer) yield new Uint8Array(await response.arrayBuffer());
}

/** One answer, whole. */
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
