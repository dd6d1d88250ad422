// How node:http sends a request's body, and how a response's body is decoded.
import type { ClientRequest } from "node:http";
import type { Transform } from "node:stream";
import { fileChunks, type Multipart } from "../../files/multipart.js";
import { valueOr } from "../../values.js";
import { type Exchange, TransportResponse } from "../exchange.js";
import { after, readOn } from "../time.js";
import { textOf } from "./networkErrors.js";

// A JSON body of at most this many characters asks for no compression: its response has one or two packets.
const shortBody = 2_000;

/** Sets `accept-encoding`, in place of the caller's; with a short body, only if the caller gave one. */
export function acceptEncodings(headers: Record<string, string>, body: unknown): void {
  const isShort = typeof body === "string" && body.length <= shortBody;
  if (isShort && headers["accept-encoding"] === undefined) return;
  headers["accept-encoding"] = "gzip, deflate, br";
}

/** A response whose body this client decodes. */
export class DecodedResponse extends TransportResponse {
  #encoding: string | undefined;
  #decoder: Transform | undefined;
  // The chunks of a gzipped body that seems short, until all have arrived or the body proves to be long.
  #zipped: Uint8Array[] | undefined;
  // The number of bytes of the body that were received, before decoding.
  #received = 0;
  #text: string | undefined;

  constructor(
    status: number,
    maxResponseBytes: number,
    encoding: string | undefined,
    headers: () => Readonly<Record<string, string>>,
  ) {
    super(status, maxResponseBytes, headers);
    this.#encoding = encoding;
  }

  override get arrived(): number {
    const { writableLength = 0, writableEnded } = this.#decoder ?? {};
    return writableLength > 0 || writableEnded ? Number.NaN : this.#received + this.kept;
  }

  /** Takes the next bytes of the body, and ends the exchange if they exceed the limit. */
  take(chunk: Uint8Array, flow: Flow, exchange: Exchange): void {
    if (this.#encoding !== undefined && this.#received === 0) this.#open(chunk, exchange);
    if (this.#encoding === undefined) {
      this.keep(chunk, exchange);
      return;
    }
    this.#received += chunk.byteLength;
    // The limit applies before decoding too, because bytes that decode to nothing still cost time.
    if (this.#received > this.limit) {
      this.tooLarge(exchange);
      return;
    }
    this.#zipped?.push(chunk);
    if (this.#zipped) {
      if (this.#received > shortZipped) this.#stream(["gzip"], exchange);
      return;
    }
    const decoder = this.#decoder;
    if (decoder?.write(chunk) === false) {
      flow.pause();
      decoder.once("drain", () => flow.resume());
    }
  }

  /** Called when all bytes of the body have arrived. */
  end(exchange: Exchange): void {
    const zipped = this.#zipped;
    if (zipped) {
      const { gunzipSync } = process.getBuiltinModule("node:zlib");
      const options = { maxOutputLength: Math.min(shortDecoded, this.limit) };
      const whole = valueOr(() => gunzipSync(Buffer.concat(zipped), options));
      if (whole === undefined) this.#stream(["gzip"], exchange);
      else this.keep(whole, exchange);
      this.#zipped = undefined;
    }
    if (this.#decoder) this.#decoder.end();
    else exchange.ended();
  }

  // With the first bytes: an empty body, such as that of a HEAD, has nothing to decode whatever its header names.
  #open(first: Uint8Array, exchange: Exchange): void {
    const names = (this.#encoding ?? "").split(",").map((name) => name.trim().toLowerCase());
    const encodings = names.filter((name) => name !== "" && name !== "identity");
    if (encodings.length === 0) {
      this.#encoding = undefined;
      return;
    }
    // Only 2xx bodies are decoded in one step: of an error response that is cut short, a stream decodes what arrived.
    if (this.ok && encodings.length === 1 && encodings[0] === "gzip") this.#zipped = [];
    else this.#stream(encodings, exchange, first[0]);
  }

  // Decodes the body in a stream, which begins with the bytes that were kept while the body seemed short.
  #stream(encodings: readonly string[], exchange: Exchange, first?: number): void {
    const decoder = createDecoder(encodings, first);
    this.#decoder = decoder
      ?.on("data", (chunk: Uint8Array) => this.keep(chunk, exchange))
      .on("end", () => exchange.ended())
      .on("error", (cause) =>
        exchange.cut(`The response's body cannot be decoded: ${textOf(cause)}`, { cause }),
      );
    if (decoder === undefined)
      this.unread = `The response is encoded as "${this.#encoding}", which this client does not undo.`;
    for (const chunk of this.#zipped ?? []) decoder?.write(chunk);
    this.#zipped = undefined;
  }

  override flush(done: () => void): void {
    if (this.#decoder?.writable) this.#decoder.write("", () => done());
    else done();
  }

  // The text is decoded once, on first use, and the bytes are then released.
  override get text(): string {
    if (this.#text === undefined) {
      const { buffer, byteOffset } = this.buffer;
      this.#text = Buffer.from(buffer, byteOffset, this.kept).toString("utf8");
      this.buffer = new Uint8Array();
    }
    return this.#text;
  }
}

// A gzipped body of at most this many bytes is decoded in one step once it is whole: a zlib stream costs some 100 µs.
const shortZipped = 16_384;
// A body that decodes to more bytes is decoded in a stream, which does not block the event loop and reports errors.
const shortDecoded = 262_144;

/** The message for a response's body that broke off. */
export function cutShort(cause: Error): string {
  return `The response's body was cut short: ${textOf(cause)}`;
}

/** The source of a response's bytes, which can be paused: a message of node:http, or a dispatcher. */
export interface Flow {
  pause(): unknown;
  resume(): unknown;
}

/** Creates the stream that decodes a content encoding; undefined if it is unknown. @param first The body's first byte */
function createDecoder(
  [encoding, ...more]: readonly string[],
  first: number | undefined,
): Transform | undefined {
  // Loaded on first use: most responses are too small to be compressed.
  const zlib = process.getBuiltinModule("node:zlib");
  switch (more.length === 0 && encoding) {
    case "gzip":
    case "x-gzip":
      return zlib.createGunzip();
    case "deflate":
      // The name `deflate` means the zlib format, but some servers send raw deflate: the first byte tells them apart.
      return ((first ?? 0) & 0x0f) === 8 ? zlib.createInflate() : zlib.createInflateRaw();
    case "br":
      return zlib.createBrotliDecompress();
    default:
      return undefined;
  }
}

// More bytes than a socket's buffers and one chunk hold: this many may reach the server before Node reports progress.
const bufferedBytes = 4 * 1024 * 1024;
// The shortest time in milliseconds without progress after which a form counts as stalled.
const shortestMs = 1000;

/** A form with a file while node:http sends it. */
export class SentForm {
  readonly #form: Multipart;
  readonly #timeoutMs: number;
  #message: ClientRequest | undefined;
  #stopWaiting: (() => void) | undefined;
  // The number of chunks that were sent.
  #written = 0;

  constructor(form: Multipart, timeoutMs: number) {
    this.#form = form;
    this.#timeoutMs = timeoutMs;
  }

  /** Whether a part of the form has not been sent. */
  get incomplete(): boolean {
    return !this.#message?.writableFinished;
  }

  /** Sends the form, each chunk once the previous one was sent. */
  async send(message: ClientRequest): Promise<void> {
    this.#message = message;
    const { head, part, tail } = this.#form;
    if ((await written(message, head)) || message.destroyed) return;
    for await (const chunk of fileChunks(part)) {
      if (message.destroyed) return;
      await written(message, chunk);
      this.#written += 1;
    }
    message.end(tail);
  }

  /** Waits for the rest of a form whose response has arrived. Calls `stalled` when the server takes no more of it. */
  waitForRest(stalled: () => void): void {
    const { size, part } = this.#form;
    const { maxFileBytes } = part;
    // How long the buffers need at the slowest rate that still meets the deadline.
    const ms = Math.max(shortestMs, (this.#timeoutMs * bufferedBytes) / (size ?? maxFileBytes));
    const before = this.#written;
    const look = (): void => {
      if (this.#stopWaiting === undefined) return;
      if (this.#written > before) this.waitForRest(stalled);
      else stalled();
    };
    // What was taken while the event loop was busy counts.
    this.#stopWaiting = after(ms, () => readOn(true, () => this.#written, look));
  }

  close(): void {
    this.#stopWaiting?.();
    this.#stopWaiting = undefined;
  }
}

// Writes a chunk of a form and waits until it is sent. Only then may the next chunk be read into the same buffer.
function written(message: ClientRequest, chunk: Uint8Array | string): Promise<unknown> {
  return new Promise((resolve) => message.write(chunk, resolve));
}
