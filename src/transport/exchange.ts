// What sends requests, one request under way and its response: what holds for every transport. Each transport adds how bytes
// leave and arrive, and nothing else.
import type { FetchLike } from "../options/types.js";
import {
  type FailureReason,
  isSuccess,
  type Phase,
  type TransportFailure,
  type TransportRequest,
} from "./transport.js";

export interface TransportOptions {
  readonly maxConnections: number;
  /** Milliseconds that an idle socket is kept. */
  readonly keepAliveMs: number;
  /** An agent of node:http or node:https of the caller's. */
  readonly agent: object | undefined;
  /** A dispatcher of undici's, of the caller's. */
  readonly dispatcher?: unknown;
  /** The URL of a proxy, or "env". */
  readonly proxy: string | undefined;
  /** A fetch function of the caller's. */
  readonly fetch?: FetchLike | undefined;
}

/** Sends requests. Follows no redirect and retries nothing. */
export interface Transport {
  /** Loads what sending to an address needs; undefined when nothing is missing. @throws TransportFailure */
  ready?(url: URL): Promise<void> | undefined;
  /** What has to be redacted besides the key. */
  readonly secrets?: readonly string[];
  /** The most connections at once, where it is this client that keeps to a number. */
  readonly maxConnections?: number | undefined;
  send(request: TransportRequest): Exchange;
  /** For a client made of this one's, where each counts for itself. It need not be closed. */
  derive?(): Transport;
  /** Ends idle sockets, unless other clients use them; of the first client also those of clients made of it. */
  close(): void;
}

export type SeenDetails = Partial<Omit<TransportFailure, "message">>;

export const answeredEarly = "The answer came before the whole file was sent.";

/** The most decoded bytes that are taken of an error response; what comes behind them is left. */
export const maxErrorBytes: number = 64 * 1024;

/** A response, while its body arrives and after. An error response cut short still counts, with what came of it. */
export class TransportResponse {
  readonly status: number;
  readonly ok: boolean;
  /** The most bytes to take, decoded or not. */
  protected readonly limit: number;
  protected chunks: Uint8Array[] = [];
  protected kept = 0;
  readonly #headers: () => Readonly<Record<string, string>>;

  /** @param headers Gives its headers, which few calls ask for */
  constructor(status: number, maxResponseBytes: number, headers: () => Readonly<Record<string, string>>) {
    this.#headers = headers;
    this.status = status;
    this.ok = isSuccess(status);
    this.limit = this.ok ? maxResponseBytes : maxErrorBytes;
  }

  get headers(): Readonly<Record<string, string>> {
    return this.#headers();
  }

  /** Changes with what arrives; NaN while something may be decoded unseen, as by `fetch`. */
  get arrived(): number {
    return this.headers["content-encoding"] === undefined ? this.kept : Number.NaN;
  }

  /** Keeps decoded bytes, up to the limit. */
  keep(chunk: Uint8Array, exchange: Exchange): void {
    this.kept += chunk.byteLength;
    if (this.kept <= this.limit) this.chunks.push(chunk);
    else this.tooLarge(exchange);
  }

  protected tooLarge(exchange: Exchange): void {
    exchange.cut(`The answer is larger than ${this.limit} bytes.`, { reason: "too-large" });
  }

  /** The decoded body. A copy: a chunk may be a part of a larger buffer. Asked for before the text, if at all. */
  get bytes(): Uint8Array {
    const bytes = new Uint8Array(this.chunks.reduce((total, { byteLength }) => total + byteLength, 0));
    let at = 0;
    for (const chunk of this.chunks) {
      bytes.set(chunk, at);
      at += chunk.byteLength;
    }
    return bytes;
  }

  /** The decoded body. */
  get text(): string {
    return new TextDecoder().decode(this.bytes);
  }
}

/** One request under way. It ends once: with its response, or with a failure. */
export abstract class Exchange<Received extends TransportResponse = TransportResponse> {
  readonly response: Promise<TransportResponse>;
  /** The response, once its headers came. */
  answer: Received | undefined;
  /** Undefined once it has ended: what still waits for a connection holds on to no body. */
  protected request: TransportRequest | undefined;
  /** The request's body as it leaves, where it is seen how far that got. */
  protected body: { readonly incomplete: boolean; close(): void } | undefined;
  protected resolve!: (response: TransportResponse) => void;
  #reject!: (failure: TransportFailure) => void;

  constructor(request: TransportRequest) {
    this.request = request;
    this.response = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.#reject = reject;
    });
  }

  /** How far it got. */
  abstract readonly phase: Phase;
  /** Changes with what is heard of the request besides the response's body. */
  protected abstract readonly heard: number;
  /** Has no more bytes leave or arrive. */
  protected abstract stop(): void;

  /** Changes with whatever arrives, NaN while that cannot be known; undefined while nothing of the request has been sent. */
  get arrived(): number | undefined {
    // The request has ended: its response is handed on within a few turns.
    if (this.request === undefined) return Number.NaN;
    return this.phase === "connect" ? undefined : this.heard + (this.answer ? 1 + this.answer.arrived : 0);
  }

  /** Ends it: `response` rejects at once. */
  abort(reason: FailureReason): void {
    // Why a call ended is told by what ended it.
    this.failed(reason, { reason });
  }

  failed(text: string, details: SeenDetails): void {
    if (this.request === undefined) return;
    const { phase, answer } = this;
    const seen = { message: text, phase, reason: "network", status: answer?.status };
    // Nothing is inherited: it is what was seen.
    const failure: TransportFailure = Object.assign(Object.create(null), seen, details);
    this.settle();
    this.#reject(failure);
    this.stop();
  }

  ended(): void {
    const { answer } = this;
    if (this.request === undefined || answer === undefined) return;
    // A file that is not there whole was not taken, whatever the response says.
    if (answer.ok && this.body?.incomplete) this.early();
    else this.deliver(answer);
  }

  /** Ends it with half a response body. An error response is understood from what came of it; a 2xx must be whole. */
  cut(text: string, details: SeenDetails): void {
    if (this.answer === undefined || this.answer.ok) this.failed(text, details);
    else {
      this.ended();
      this.stop();
    }
  }

  /** A 2xx came before the whole file was sent. */
  protected abstract early(): void;

  protected deliver(answer: Received): void {
    this.settle();
    this.resolve(answer);
  }

  /** Lets go of all that it holds. */
  protected settle(): void {
    this.request = undefined;
    this.body?.close();
  }
}
