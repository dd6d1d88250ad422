// A request's body as node:http sends it, and a response's as it is decoded.
import type { ClientRequest } from "node:http";
import type { Socket } from "node:net";
import type { Transform } from "node:stream";
import { fileChunks, type Multipart } from "../../files/multipart.js";
import { longestTimerMs } from "../../options/arguments.js";
import { type Exchange, TransportResponse } from "../exchange.js";
import { isLate, readOn } from "../time.js";
import { type Body, isForm, type TransportRequest } from "../transport.js";
import { textOf } from "./networkErrors.js";
import { holdWriteErrors } from "./quirks.js";

// Characters of a JSON body whose response fits a packet or two: compressing that costs more than it saves.
const shortBody = 2_000;

/** Says in a request's headers how its response may be encoded; where that is short nothing, unless a caller did. */
export function acceptEncodings(headers: Record<string, string>, body: Body): void {
  const isShort = typeof body === "string" && body.length <= shortBody;
  if (isShort && headers["accept-encoding"] === undefined) return;
  headers["accept-encoding"] = "gzip, deflate, br";
}

/** A request's body as node:http takes it, until it has been sent. */
export class RequestBody {
  /** A form with a file, on its way. */
  form: SentForm | undefined;
  readonly #timeoutMs: number;
  #value: Body;
  #queued = false;
  #message: ClientRequest | undefined;
  #letWritesFail: (() => void) | undefined;

  constructor({ body, timeoutMs }: TransportRequest) {
    this.#timeoutMs = timeoutMs;
    // A short text leaves in one write together with the headers; a long one is better not copied behind them.
    this.#value = typeof body === "string" && body.length >= 16_384 ? Buffer.from(body) : body;
  }

  /** Adds the headers of the body: its size, unless that is unknown. Without a body node:http knows what its method needs. */
  describe(headers: Record<string, string>): void {
    const value = this.#value;
    acceptEncodings(headers, value);
    const length = isForm(value) ? value.size : value === undefined ? undefined : Buffer.byteLength(value);
    if (length !== undefined) headers["content-length"] = String(length);
  }

  /** Sends a text at once. A request that is queued for a socket holds no copy of its body, and of a file nothing is read. */
  begin(message: ClientRequest, queued: boolean): void {
    this.#queued = queued;
    this.#message = message;
    if (!queued && !isForm(this.#value)) message.end(this.#value);
  }

  /** Goes on with the request's socket. @param connected Whether the socket has been made safe already. */
  take(message: ClientRequest, socket: Socket, connected: boolean, failed: (cause: unknown) => void): void {
    const value = this.#value;
    if (!connected || typeof value === "object") this.#letWritesFail = holdWriteErrors(socket);
    if (isForm(value)) {
      this.form = new SentForm(value, this.#timeoutMs);
      this.form.send(message).catch(failed);
    }
    // Node would announce the start of a request twice that ends inside of this event.
    else if (this.#queued) process.nextTick(() => message.end(value));
  }

  /** Whether some of a file has not been sent. */
  get incomplete(): boolean {
    return isForm(this.#value) && !this.#message?.writableFinished;
  }

  /** Lets the body go: an agent may hold on to a request that has ended. */
  close(): void {
    this.#value = undefined;
    this.form?.end();
    this.#letWritesFail?.();
  }
}

/** A response that is decoded here. */
export class DecodedResponse extends TransportResponse {
  #encoding: string | undefined;
  #decoder: Transform | undefined;
  // Bytes of the body before decoding.
  #received = 0;
  #text: string | undefined;
  /** Why nothing was made of the body: set with the first bytes of an encoding that nothing undoes. No byte of it is kept. */
  unread: string | undefined;

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

  /** Takes the next bytes, up to the limit. */
  take(chunk: Uint8Array, flow: Flow, exchange: Exchange): void {
    if (this.#encoding === undefined) this.keep(chunk, exchange);
    else this.#decode(chunk, flow, exchange);
  }

  /** Notes that all bytes of the body were taken. */
  end(exchange: Exchange): void {
    if (this.#decoder) this.#decoder.end();
    else exchange.ended();
  }

  #decode(chunk: Uint8Array, flow: Flow, exchange: Exchange): void {
    if (this.#received === 0) this.#open(chunk, exchange);
    if (this.#encoding === undefined) {
      this.keep(chunk, exchange);
      return;
    }
    const decoder = this.#decoder;
    this.#received += chunk.byteLength;
    // Bytes that decode to nothing cost time all the same.
    if (this.#received > this.limit) {
      this.tooLarge(exchange);
    } else if (decoder?.write(chunk) === false) {
      flow.pause();
      decoder.once("drain", () => flow.resume());
    }
  }

  // Makes the decoder with the first bytes: an empty body, such as that of a HEAD, has an encoding in its header only.
  #open(first: Uint8Array, exchange: Exchange): void {
    const encodings = encodingsIn(this.#encoding ?? "");
    if (encodings.length === 0) {
      this.#encoding = undefined;
      return;
    }
    const decoder = createDecoder(encodings, first[0]);
    this.#decoder = decoder
      ?.on("data", (chunk: Uint8Array) => this.keep(chunk, exchange))
      .on("end", () => this.#decoded(decoder, encodings, exchange))
      .on("error", (cause) => notDecoded(cause, exchange));
    if (decoder === undefined)
      this.unread = `The response is encoded as "${this.#encoding}", which this client does not undo.`;
  }

  // Of several zstd frames Node 22 and 24 read the first.
  #decoded(
    decoder: Transform & { readonly bytesWritten?: number },
    [encoding]: readonly string[],
    exchange: Exchange,
  ): void {
    const { bytesWritten = 0 } = decoder;
    if (encoding !== "zstd" || bytesWritten === this.#received) exchange.ended();
    else notDecoded(new Error("bytes follow the first zstd frame"), exchange);
  }

  // The text is decoded once, when asked: the chunks are then released.
  override get text(): string {
    if (this.#text === undefined) {
      const [only] = this.chunks;
      const bytes = this.chunks.length === 1 && only ? (only as Buffer) : Buffer.concat(this.chunks);
      this.#text = bytes.toString("utf8");
      this.chunks = [];
    }
    return this.#text;
  }
}

// Ends an exchange whose response is not what its content encoding says.
function notDecoded(cause: Error, exchange: Exchange): void {
  exchange.cut(`The answer's body cannot be decoded: ${textOf(cause)}`, { cause });
}

/** The message for a response's body that broke off. */
export function cutShort(cause: Error): string {
  return `The answer's body was cut short: ${textOf(cause)}`;
}

/** What brings a response's bytes: a message of node:http, or a dispatcher. */
export interface Flow {
  pause(): unknown;
  resume(): unknown;
}

/** The content encodings that a header lists, but those that change nothing. */
function encodingsIn(header: string): readonly string[] {
  const names = header.split(",").map((name) => name.trim().toLowerCase());
  return names.filter((name) => name !== "" && name !== "identity");
}

/** The stream that undoes content encodings; undefined where nothing does. @param first The first byte of the body. */
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
      // The name means the zlib format, but some servers send raw deflate: the first byte tells them apart.
      return ((first ?? 0) & 0x0f) === 8 ? zlib.createInflate() : zlib.createInflateRaw();
    case "br":
      return zlib.createBrotliDecompress();
    case "zstd":
      // Node 22.15, 23.8 and newer.
      return (zlib as { createZstdDecompress?: () => Transform }).createZstdDecompress?.();
    default:
      return undefined;
  }
}

// More than a socket's buffers and one chunk hold: so much of a form may have been taken by the server before that is seen.
const bufferedBytes = 4 * 1024 * 1024;
// The shortest time without progress after which a form counts as stalled.
const shortestMs = 1000;

/** A form with a file, on its way over node:http. */
class SentForm {
  readonly #form: Multipart;
  readonly #timeoutMs: number;
  #restTimer: NodeJS.Timeout | undefined;
  #stalled: (() => void) | undefined;
  // The number of chunks that have gone.
  #written = 0;

  constructor(form: Multipart, timeoutMs: number) {
    this.#form = form;
    this.#timeoutMs = timeoutMs;
  }

  /** Sends it, each chunk once the one before has gone. */
  async send(message: ClientRequest): Promise<void> {
    const { head, part, tail } = this.#form;
    if ((await written(message, head)) || message.destroyed) return;
    for await (const chunk of fileChunks(part)) {
      if (message.destroyed) return;
      await written(message, chunk);
      this.#written += 1;
      if (this.#stalled) this.#startRest();
    }
    message.end(tail);
  }

  /** Waits for the rest of a form whose response is there already, for as long as any of it is taken. */
  waitForRest(stalled: () => void): void {
    this.#stalled = stalled;
    this.#startRest();
  }

  end(): void {
    clearTimeout(this.#restTimer);
    this.#restTimer = this.#stalled = undefined;
  }

  #startRest(): void {
    clearTimeout(this.#restTimer);
    const ms = Math.min(stalledMs(this.#form, this.#timeoutMs), longestTimerMs);
    const dueAt = performance.now() + ms;
    const timer = setTimeout(() => {
      const end = (): void => {
        // Where any of the form was taken since, another timer has been set.
        if (this.#restTimer === timer) this.#stalled?.();
      };
      readOn(isLate(dueAt, performance.now()), () => this.#written, end);
    }, ms);
    this.#restTimer = timer;
  }
}

// The time without progress after which the server takes no more of a form: what the buffers need at the slowest rate that
// still meets the deadline.
function stalledMs({ size, part }: Multipart, timeoutMs: number): number {
  return Math.max(shortestMs, (timeoutMs * bufferedBytes) / (size ?? part.maxFileBytes));
}

// Writes a chunk of a form, and waits until it has gone: before, the next one may not be read into its place.
function written(message: ClientRequest, chunk: Uint8Array | string): Promise<unknown> {
  return new Promise((resolve) => message.write(chunk, resolve));
}
