import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { maxErrorBytes, type TransportResponse } from "../transport.js";

// A server announces the same time with every answer.
let lastHint: string | undefined;
let lastHintMs = Number.POSITIVE_INFINITY;

/** Hears what becomes of an answer's body. */
export interface BodyListener {
  ended(): void;
  /** It broke off, or is not what its content encoding says. */
  broken(cause: Error, undecodable: boolean): void;
  tooLarge(limit: number): void;
}

/** One answer over node:http, while its body arrives and after. */
export class Answer implements TransportResponse {
  readonly status: number;
  /** Whether it is a 2xx. */
  readonly ok: boolean;
  readonly #message: IncomingMessage;
  readonly #limit: number;
  #chunks: Buffer[] = [];
  #received = 0;
  #text: string | undefined;

  constructor(message: IncomingMessage, maxResponseBytes: number) {
    this.#message = message;
    this.status = message.statusCode ?? 0;
    this.ok = this.status >= 200 && this.status < 300;
    this.#limit = this.ok ? maxResponseBytes : maxErrorBytes;
  }

  /** Collects the decoded body, up to the limit. */
  read(listener: BodyListener): void {
    const body = decoderFor(this.#message);
    body.on("data", (chunk: Buffer) => {
      this.#received += chunk.byteLength;
      if (this.#received <= this.#limit) this.#chunks.push(chunk);
      else listener.tooLarge(this.#limit);
    });
    body.on("end", () => listener.ended());
    if (body === this.#message) body.on("error", (cause) => listener.broken(cause, false));
    else this.#readEncoded(body, listener);
  }

  // Bytes that decode to nothing cost time all the same.
  #readEncoded(body: Readable, listener: BodyListener): void {
    let received = 0;
    this.#message.on("data", (chunk: Buffer) => {
      received += chunk.byteLength;
      if (received > this.#limit) listener.tooLarge(this.#limit);
    });
    body.on("error", (cause) => {
      // An empty body, such as that of a HEAD, has an encoding in its header only.
      if (received === 0 && this.complete) listener.ended();
      else listener.broken(cause, true);
    });
    this.#message.on("error", (cause) => listener.broken(cause, false));
  }

  /** Whether all of it arrived, decoded or not. */
  get complete(): boolean {
    return this.#message.complete;
  }

  get bytes(): Uint8Array {
    // Not the Buffer itself, which may be a part of a larger one.
    return new Uint8Array(Buffer.concat(this.#chunks));
  }

  /** For how long the server announced to keep the connection (`Keep-Alive: timeout=5`), less a second to be safe. */
  get keepAliveMs(): number {
    const hint = rawHeader(this.#message.rawHeaders, "keep-alive");
    if (hint !== lastHint) {
      const seconds = /^timeout=(\d+)/.exec(hint ?? "")?.[1];
      lastHint = hint;
      lastHintMs = seconds === undefined ? Number.POSITIVE_INFINITY : Number(seconds) * 1000 - 1000;
    }
    return lastHintMs;
  }

  // Decoded once, when asked: the chunks are then released.
  get text(): string {
    if (this.#text === undefined) {
      const [only] = this.#chunks;
      const bytes = this.#chunks.length === 1 && only ? only : Buffer.concat(this.#chunks);
      this.#text = bytes.toString("utf8");
      this.#chunks = [];
    }
    return this.#text;
  }

  // Node makes them of the raw list when asked; few calls ask.
  get headers(): Readonly<Record<string, string>> {
    const { rawHeaders } = this.#message;
    if (rawHeaders.some((name, i) => i % 2 === 0 && name.toLowerCase() in Object.prototype)) {
      return fromRaw(rawHeaders);
    }
    const { headers } = this.#message;
    const cookies = Object.hasOwn(headers, "set-cookie") ? headers["set-cookie"] : undefined;
    return (cookies ? { ...headers, "set-cookie": cookies.join(", ") } : headers) as Record<string, string>;
  }
}

// Node takes what Object.prototype has under a header's name for one that came before.
function fromRaw(rawHeaders: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]?.toLowerCase() ?? "";
    const value = rawHeaders[i + 1] ?? "";
    headers[name] = Object.hasOwn(headers, name) ? `${headers[name]}, ${value}` : value;
  }
  return headers;
}

/** The answer's body with its content encoding undone. */
export function decoderFor(answer: IncomingMessage): Readable {
  const encoding = rawHeader(answer.rawHeaders, "content-encoding");
  if (encoding === undefined) return answer;
  // Loaded on first use: most answers are too small to be compressed.
  const zlib = process.getBuiltinModule("node:zlib");
  switch (encoding.trim().toLowerCase()) {
    case "gzip":
    case "x-gzip":
      return answer.pipe(zlib.createGunzip());
    case "deflate":
      return inflated(answer);
    case "br":
      return answer.pipe(zlib.createBrotliDecompress());
    default:
      return answer;
  }
}

// "deflate" means the zlib format, but some servers send raw deflate: the first byte tells them apart.
function inflated(answer: IncomingMessage): Readable {
  const zlib = process.getBuiltinModule("node:zlib");
  const { PassThrough } = process.getBuiltinModule("node:stream");
  const body = new PassThrough();
  const end = () => body.end();
  answer.once("end", end);
  answer.once("data", (first: Buffer) => {
    answer.off("end", end);
    const wrapped = ((first[0] ?? 0) & 0x0f) === 8;
    const decoder = wrapped ? zlib.createInflate() : zlib.createInflateRaw();
    decoder.on("error", (error) => body.destroy(error)).pipe(body);
    decoder.write(first);
    answer.pipe(decoder);
  });
  return body;
}

/** A header of an answer. Searched in rawHeaders: building the headers object costs more than the rest of a small answer. */
export function rawHeader(rawHeaders: readonly string[], name: string): string | undefined {
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const header = rawHeaders[i];
    if (header?.length === name.length && header.toLowerCase() === name) return rawHeaders[i + 1];
  }
  return undefined;
}
