// A request's body as it is sent, and an answer's as it comes.
import type { ClientRequest, IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Transform } from "node:stream";
import { fileChunks, type Multipart } from "../../files/multipart.js";
import { longestTimerMs } from "../../options/arguments.js";
import { type BodyListener, ReceivedResponse } from "../exchange.js";
import { isLate, nextTurn, readOn } from "../time.js";
import {
  acceptEncodings,
  type Body,
  isForm,
  networkCode,
  type TransportRequest,
  textOf,
} from "../transport.js";
/** A request's body as node:http takes it, until it has been sent. */
export class Content {
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

  /** Says its size, unless that of a file is unknown. Without a body node:http knows which methods say so. */
  describe(headers: Record<string, string>): void {
    const value = this.#value;
    acceptEncodings(headers, value);
    const length = isForm(value) ? value.size : value === undefined ? undefined : Buffer.byteLength(value);
    if (length !== undefined) headers["content-length"] = String(length);
  }

  /** Sends a text at once. What is queued for a socket holds no copy of its body, and of a file nothing is read. */
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

  /** Lets it go: an agent may hold on to a request that has ended. */
  close(): void {
    this.#value = undefined;
    this.form?.end();
    this.#letWritesFail?.();
  }
}

/** A response that is decoded here. */
export abstract class Answer extends ReceivedResponse {
  #encoding: string | undefined;
  #decoder: Transform | undefined;
  // Bytes as they came.
  #received = 0;
  #text: string | undefined;
  // Set with the first bytes of an encoding that nothing undoes; no byte of it is kept.
  unread: string | undefined;

  constructor(status: number, maxResponseBytes: number, encoding: string | undefined) {
    super(status, maxResponseBytes);
    this.#encoding = encoding;
  }

  override get arrived(): number {
    const { writableLength = 0, writableEnded } = this.#decoder ?? {};
    return writableLength > 0 || writableEnded ? Number.NaN : this.#received + this.kept;
  }

  /** Takes the next bytes, up to the limit. */
  take(chunk: Uint8Array, flow: Flow, listener: BodyListener): void {
    if (this.#encoding === undefined) this.keep(chunk, listener);
    else this.#decode(chunk, flow, listener);
  }

  /** All of them were taken. */
  end(listener: BodyListener): void {
    if (this.#decoder) this.#decoder.end();
    else listener.ended();
  }

  #decode(chunk: Uint8Array, flow: Flow, listener: BodyListener): void {
    if (this.#received === 0) this.#open(chunk, listener);
    if (this.#encoding === undefined) {
      this.keep(chunk, listener);
      return;
    }
    const decoder = this.#decoder;
    this.#received += chunk.byteLength;
    // Bytes that decode to nothing cost time all the same.
    if (this.#received > this.limit) {
      this.tooLarge(listener);
    } else if (decoder?.write(chunk) === false) {
      flow.pause();
      decoder.once("drain", () => flow.resume());
    }
  }

  // With the first bytes: an empty body, such as that of a HEAD, has an encoding in its header only.
  #open(first: Uint8Array, listener: BodyListener): void {
    const encodings = encodingsIn(this.#encoding ?? "");
    if (encodings.length === 0) {
      this.#encoding = undefined;
      return;
    }
    const decoder = createDecoder(encodings, first[0]);
    this.#decoder = decoder
      ?.on("data", (chunk: Uint8Array) => this.keep(chunk, listener))
      .on("end", () => this.#decoded(decoder, encodings, listener))
      .on("error", (cause) => notDecoded(cause, listener));
    if (decoder === undefined)
      this.unread = `The response is encoded as "${this.#encoding}", which this client does not undo.`;
  }

  // Of several zstd frames Node 22 and 24 read the first.
  #decoded(
    decoder: Transform & { readonly bytesWritten?: number },
    [encoding]: readonly string[],
    listener: BodyListener,
  ): void {
    const { bytesWritten = 0 } = decoder;
    if (encoding !== "zstd" || bytesWritten === this.#received) listener.ended();
    else notDecoded(new Error("bytes follow the first zstd frame"), listener);
  }

  // Decoded once, when asked: the chunks are then released.
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

export class NodeAnswer extends Answer {
  readonly #message: IncomingMessage;

  constructor(message: IncomingMessage, maxResponseBytes: number) {
    super(message.statusCode ?? 0, maxResponseBytes, rawHeader(message.rawHeaders, "content-encoding"));
    this.#message = message;
  }

  read(listener: BodyListener & { broken(cause: Error): void }): void {
    const message = this.#message;
    message.on("data", (chunk: Buffer) => this.take(chunk, message, listener));
    message.on("end", () => this.end(listener));
    message.on("error", (cause) => listener.broken(cause));
  }

  /** Whether all of it arrived, decoded or not. */
  get complete(): boolean {
    return this.#message.complete;
  }

  /** For how long the server announced to keep the connection, less a second to be safe. */
  get keepAliveMs(): number {
    return announcedMs(rawHeader(this.#message.rawHeaders, "keep-alive"));
  }

  // Made when asked; few calls ask.
  get headers(): Readonly<Record<string, string>> {
    return headersOf(this.#message);
  }
}

// It is not what its content encoding says.
function notDecoded(cause: Error, listener: BodyListener): void {
  listener.cut(`The answer's body cannot be decoded: ${textOf(cause)}`, { cause });
}

/** What is said of a body that broke off. */
export function cutShort(cause: Error): string {
  return `The answer's body was cut short: ${textOf(cause)}`;
}

/** What brings an answer's bytes: a message of node:http, or a dispatcher. */
export interface Flow {
  pause(): unknown;
  resume(): unknown;
}

/** The encodings that a header lists, but those that change nothing. */
function encodingsIn(header: string): readonly string[] {
  const names = header.split(",").map((name) => name.trim().toLowerCase());
  return names.filter((name) => name !== "" && name !== "identity");
}

/** What undoes content encodings; undefined where nothing does. @param first The first byte of the body. */
function createDecoder(
  [encoding, ...more]: readonly string[],
  first: number | undefined,
): Transform | undefined {
  // Loaded on first use: most answers are too small to be compressed.
  const zlib = process.getBuiltinModule("node:zlib");
  switch (more.length === 0 && encoding) {
    case "gzip":
    case "x-gzip":
      return zlib.createGunzip();
    case "deflate":
      // It means the zlib format, but some servers send raw deflate: the first byte tells them apart.
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

/** An answer's headers. Node makes them of the raw list when asked. */
export function headersOf(message: IncomingMessage): Readonly<Record<string, string>> {
  const { rawHeaders } = message;
  // Node takes what Object.prototype has under a header's name for one that came before.
  if (rawHeaders.some((name, i) => i % 2 === 0 && name.toLowerCase() in Object.prototype)) {
    return headersFrom(rawHeaders);
  }
  const { headers } = message;
  const cookies = Object.hasOwn(headers, "set-cookie") ? headers["set-cookie"] : undefined;
  return (cookies ? { ...headers, "set-cookie": cookies.join(", ") } : headers) as Record<string, string>;
}

/** A header of a raw list; one that comes again is one list. Building the object costs more than the rest of a small answer. */
function rawHeader(rawHeaders: readonly string[], name: string): string | undefined {
  let value: string | undefined;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const header = rawHeaders[i];
    if (header?.length === name.length && header.toLowerCase() === name)
      value = value === undefined ? rawHeaders[i + 1] : `${value}, ${rawHeaders[i + 1]}`;
  }
  return value;
}

// A server announces the same time with every answer.
let lastHint: string | undefined;
let lastHintMs = Number.POSITIVE_INFINITY;

/** For how long a server keeps a connection (`Keep-Alive: max=100, timeout=5`), less a second. */
export function announcedMs(hint: string | undefined): number {
  if (hint !== lastHint) {
    const seconds = /(?:^|[\s,;])timeout\s*=\s*"?(\d+)/i.exec(hint ?? "")?.[1];
    lastHint = hint;
    lastHintMs = seconds === undefined ? Number.POSITIVE_INFINITY : Number(seconds) * 1000 - 1000;
  }
  return lastHintMs;
}

/** Headers of a list of names and values, one after another. */
export function headersFrom(raw: readonly (string | Uint8Array)[]): Record<string, string> {
  // Not by assignment to an object, which fails for a name that Object.prototype has where a program has frozen it.
  const headers = new Map<string, string>();
  for (let i = 0; i < raw.length; i += 2) {
    const name = headerText(raw[i]).toLowerCase();
    const value = headerText(raw[i + 1]);
    headers.set(name, headers.has(name) ? `${headers.get(name)}, ${value}` : value);
  }
  return Object.fromEntries(headers);
}

// undici 6 has bytes.
function headerText(value: string | Uint8Array | undefined): string {
  return typeof value === "string" ? value : Buffer.from(value ?? []).toString("latin1");
}

const closed: ReadonlySet<string> = new Set(["EPIPE", "ECONNRESET"]);

type Done = (error?: Error | null) => void;

/**
 * Lets a failed write be known only when what the server sent before it closed has been read: one that refuses a
 * large body may answer and close at once, and Node drops an unread answer with the first write that fails.
 * @returns Ends it.
 */
function holdWriteErrors(socket: Socket): () => void {
  const { _write, _writev } = socket;
  socket._write = (chunk, encoding, done) => _write.call(socket, chunk, encoding, held(done));
  if (_writev) socket._writev = (chunks, done) => _writev.call(socket, chunks, held(done));
  return () => {
    socket._write = _write;
    if (_writev) socket._writev = _writev;
  };
}

// Between two turns of the loop everything that has arrived is read. What TLS says of itself is known at once.
function held(done: Done): Done {
  return (error) => {
    if (closed.has(networkCode(error))) nextTurn(() => nextTurn(() => done(error)));
    else done(error);
  };
}

// More than a socket's buffers and one chunk hold: so much may be taken before any of it is seen to be.
const bufferedBytes = 4 * 1024 * 1024;
const shortestMs = 1000;

/** A form with a file, on its way over node:http. */
class SentForm {
  readonly #form: Multipart;
  readonly #timeoutMs: number;
  #restTimer: NodeJS.Timeout | undefined;
  #stalled: (() => void) | undefined;
  // Chunks that have gone.
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

  /** Waits for its rest when its response is there already, for as long as any of it is taken. */
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
        // Where any of it was taken since, another timer has been set.
        if (this.#restTimer === timer) this.#stalled?.();
      };
      readOn(isLate(dueAt, performance.now()), () => this.#written, end);
    }, ms);
    this.#restTimer = timer;
  }
}

// Without progress for so long, the server takes no more: what the buffers need at the slowest rate that still meets
// the deadline.
function stalledMs({ size, part }: Multipart, timeoutMs: number): number {
  return Math.max(shortestMs, (timeoutMs * bufferedBytes) / (size ?? part.maxFileBytes));
}

// Until it has gone, a chunk may not be overwritten by the next one read.
function written(message: ClientRequest, chunk: Uint8Array | string): Promise<unknown> {
  return new Promise((resolve) => message.write(chunk, resolve));
}
