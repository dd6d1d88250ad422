// What all transports share: a request in flight, its response and its failure. Each adds how bytes leave and arrive.
import type { RetryEvent, StatusCode } from "../errors/codes.js";
import type { Multipart } from "../files/multipart.js";
import { memberOf, textFor, valueOr, wordsOf } from "../values.js";
import type { Deadline } from "./time.js";

/** How far a request got. */
export type Phase = "connect" | "send" | "headers" | "body";

export interface TransportRequest {
  readonly method: string;
  readonly url: URL;
  /** Header names in lower case; with `content-type`, without `content-length`. The transport may add headers. */
  readonly headers: Record<string, string>;
  readonly body: string | Uint8Array | undefined;
  /** The body of an upload, in place of `body`. */
  readonly form: Multipart | undefined;
  /** The largest 2xx response to accept, in bytes after decoding. */
  readonly maxResponseBytes: number;
  /** Whether the request needs a new connection, because the server may just be closing one that was used before. */
  readonly freshSocket: boolean;
  /** Milliseconds to connect: name lookup, TCP, the tunnel through a proxy, TLS. */
  readonly connectTimeoutMs: number;
  /** The call: its end aborts `running`; `started` is called once the request waits for no other request to end. */
  readonly lifetime: Pick<Deadline, "running" | "started" | "timeoutMs">;
}

/** Whether a status says that the request succeeded. */
export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

/** A request without a complete response: the value that a transport rejects with. */
export interface TransportFailure {
  readonly message: string;
  readonly phase: Phase;
  /** Whether the phase is a guess: the cause may still prove that no connection was made. */
  readonly isGuessed?: boolean;
  /** "foreign": a fault of other code (a mock, an interceptor, a fetch function). */
  readonly reason:
    | "network"
    | "connect-timeout"
    | "attempt-timeout"
    | "too-large"
    | "aborted"
    | "agent"
    | "foreign"
    | "proxy"
    | "source";
  /** The status of the response, if its headers arrived; or of the proxy, if it opened no tunnel. */
  readonly status?: number | undefined;
  /** Whether the request was sent on a connection that had been idle, which the server may have closed. */
  readonly reusedSocket?: boolean | undefined;
  /** What to do, or another possible cause of a failed connection. */
  readonly advice?: string | undefined;
  readonly cause?: unknown;
  /** What the platform knows from the cause: the row of the decision table, the code of the error, and its hint. */
  readonly event?: RetryEvent | undefined;
  readonly code?: StatusCode | undefined;
  readonly hint?: string | undefined;
}

/** Whether a thrown value is a transport's failure. Looks only for `phase`, since the value may be any object. */
export function isTransportFailure(thrown: unknown): thrown is TransportFailure {
  return valueOr(() => Object.hasOwn(thrown as object, "phase"), false);
}

/** The message for a request whose file could not be read. */
export function sourceFailed(cause: unknown): string {
  return `Reading the file failed: ${wordsOf(cause)}`;
}

/** An error's network code, such as ECONNRESET, or "". That of Node's fetch is in its cause. */
export function networkCode(error: unknown): string {
  return textFor(memberOf(error, "code") ?? memberOf(memberOf(error, "cause"), "code") ?? "");
}

/** Sends requests. Follows no redirect and retries nothing. */
export interface Transport {
  /** Loads the modules that sending to an address needs; undefined if none is missing. */
  readonly ready?: ((url: URL) => Promise<void> | undefined) | undefined;
  /** The secrets to redact besides the API key. */
  readonly secrets?: readonly string[];
  /** How many connections may be open at one time; undefined if this client does not limit their number. */
  readonly maxConnections?: number | undefined;
  /** Starts to send a request. @throws TransportFailure if the proxy for its address cannot be used */
  send(request: TransportRequest): Exchange;
  /** The transport for a client made with `withOptions`, which need not be closed. Absent if it uses this one itself. */
  derive?(): Transport;
  /** Closes idle sockets that no other client uses; of a first client, also those of clients made with `withOptions`. */
  close(): void;
}

/** What a transport knows of a failure in addition to the message. */
export type SeenDetails = Partial<Omit<TransportFailure, "message">>;

export const respondedEarly = "The response came before the whole file was sent.";

/** How many decoded bytes of an error response are kept; the rest is ignored. */
export const maxErrorBytes: number = 64 * 1024;

const nothing = new Uint8Array();

/** A response, while its body arrives and afterwards. */
export class TransportResponse {
  declare readonly status: number;
  declare readonly ok: boolean;
  /** How many bytes of the body are accepted, counted after decoding. `DecodedResponse` also counts them before. */
  declare protected limit: number;
  // The only chunk, or a buffer with room for more. Chunks are not kept: each takes some 400 bytes, however short.
  declare protected buffer: Uint8Array;
  declare protected kept: number;
  /** Why no byte of the body is kept: its encoding is unknown. */
  declare unread: string | undefined;
  declare private readonly makeHeaders: () => Readonly<Record<string, string>>;

  /** @param makeHeaders Returns the response's headers, which few calls need */
  constructor(status: number, maxResponseBytes: number, makeHeaders: () => Readonly<Record<string, string>>) {
    this.status = status;
    this.ok = status >= 200 && status < 300;
    this.limit = this.ok ? maxResponseBytes : maxErrorBytes;
    this.buffer = nothing;
    this.kept = 0;
    this.unread = undefined;
    this.makeHeaders = makeHeaders;
  }

  get headers(): Readonly<Record<string, string>> {
    return this.makeHeaders();
  }

  /** A number that changes with each chunk; NaN if `fetch` may be decoding bytes that are not visible yet. */
  get arrived(): number {
    return this.headers["content-encoding"] === undefined ? this.kept : Number.NaN;
  }

  /** Keeps decoded bytes, up to the limit. */
  keep(chunk: Uint8Array, exchange: Exchange): void {
    const before = this.kept;
    if (before + chunk.byteLength > this.limit) {
      this.tooLarge(exchange);
      // What follows is not kept either: an error response counts with the bytes before.
      this.limit = 0;
      return;
    }
    this.kept += chunk.byteLength;
    const { buffer } = this;
    if (before === 0) this.buffer = chunk;
    else if (this.kept > buffer.byteLength) {
      this.buffer = new Uint8Array(Math.max(this.kept, 2 * before));
      this.buffer.set(buffer);
    }
    if (before > 0) this.buffer.set(chunk, before);
  }

  /** Calls `done` once all bytes that have arrived are decoded. */
  flush(done: () => void): void {
    done();
  }

  protected tooLarge(exchange: Exchange): void {
    exchange.cut(`The response is larger than ${this.limit} bytes.`, { reason: "too-large" });
  }

  /** A copy of the decoded body. Empty once a DecodedResponse gave `text`. */
  get bytes(): Uint8Array {
    return new Uint8Array(this.buffer.subarray(0, this.kept));
  }

  get text(): string {
    return new TextDecoder().decode(this.buffer.subarray(0, this.kept));
  }
}

/** One request in flight. It ends once: with its response, or with a failure. */
export abstract class Exchange<Received extends TransportResponse = TransportResponse> {
  declare readonly whole: Promise<TransportResponse>;
  /** The response, once its headers have arrived. */
  declare response: Received | undefined;
  /** The request; undefined once the exchange has ended: an agent that still queues it then keeps no body in memory. */
  declare protected request: TransportRequest | undefined;
  /** The request's body while it is sent, if the transport sees how far sending got. */
  declare protected body: { readonly incomplete: boolean; close(): void } | undefined;
  declare protected resolve: (response: TransportResponse) => void;
  declare private reject: (failure: TransportFailure) => void;

  constructor(request: TransportRequest) {
    this.request = request;
    this.response = undefined;
    this.body = undefined;
    // Set before anything of the caller is called (a fetch function, a dispatcher, an agent), which may end the call.
    request.lifetime.running = this;
    this.whole = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  abstract readonly phase: Phase;
  /** A number that changes when the request makes progress. Bytes of the response's body need not change it. */
  protected abstract readonly heard: number;
  /** Stops sending and receiving. */
  protected abstract stop(): void;

  /** A number that changes whenever something arrives, NaN if that is not known; undefined before anything is sent. */
  get arrived(): number | undefined {
    // NaN, because the response of an ended exchange may be delivered some turns of the event loop later.
    if (this.request === undefined) return Number.NaN;
    if (this.phase === "connect") return undefined;
    return this.heard + (this.response ? 1 + this.response.arrived : 0);
  }

  /** Ends the request: `whole` rejects at once. */
  abort(reason: TransportFailure["reason"]): void {
    // The message is only the reason, because the code that calls `abort` writes the message of the call's error.
    this.failed(reason, { reason });
  }

  failed(text: string, details: SeenDetails): void {
    if (this.request === undefined) return;
    const seen = { message: text, phase: this.phase, reason: "network", status: this.response?.status };
    // No prototype: the failure must hold only what was seen, nothing from a polluted Object.prototype.
    const failure: TransportFailure = Object.assign(Object.create(null), seen, details);
    this.request = undefined;
    this.body?.close();
    this.reject(failure);
    this.stop();
  }

  ended(): void {
    const { response } = this;
    if (this.request === undefined || response === undefined) return;
    // Until the rest of a file is sent, a 2xx response does not count: the service cannot have stored the whole file.
    if (response.ok && this.body?.incomplete) this.early();
    else this.deliver(response);
  }

  /** Ends a request whose response broke off. An error response still counts, but a 2xx response must be complete. */
  cut(text: string, details: SeenDetails): void {
    if (this.response === undefined || this.response.ok) this.failed(text, details);
    else
      this.response.flush(() => {
        this.ended();
        this.stop();
      });
  }

  /** Called when a 2xx response has arrived before the whole file was sent: waits for the rest, or fails. */
  protected abstract early(): void;

  protected deliver(response: Received): void {
    this.request = undefined;
    this.body?.close();
    this.resolve(response);
  }
}
