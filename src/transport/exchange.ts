// One request under way and its response: what holds whichever way it is sent. A way of sending says how bytes leave and
// arrive, and nothing else.
import {
  type Exchange,
  type FailureReason,
  isSuccess,
  type Phase,
  type TransportFailure,
  type TransportRequest,
  type TransportResponse,
} from "./transport.js";

export type SeenDetails = Partial<Omit<TransportFailure, "message">>;

export const answeredEarly = "The answer came before the whole file was sent.";

/** The most decoded bytes that are taken of an error response; what comes behind them is left. */
export const maxErrorBytes: number = 64 * 1024;

/** What hears of a response's body. */
export type BodyListener = Pick<BaseExchange<ReceivedResponse>, "cut" | "ended">;

/** A response, while its body arrives and after. */
export abstract class ReceivedResponse implements TransportResponse {
  readonly status: number;
  readonly ok: boolean;
  abstract readonly headers: Readonly<Record<string, string>>;
  /** The most bytes to take, decoded or not. */
  protected readonly limit: number;
  protected chunks: Uint8Array[] = [];
  protected kept = 0;

  constructor(status: number, maxResponseBytes: number) {
    this.status = status;
    this.ok = isSuccess(status);
    this.limit = this.ok ? maxResponseBytes : maxErrorBytes;
  }

  /** Changes with what arrives; NaN while something is decoded unseen. */
  get arrived(): number {
    return this.kept;
  }

  /** Keeps decoded bytes, up to the limit. */
  keep(chunk: Uint8Array, exchange: BodyListener): void {
    this.kept += chunk.byteLength;
    if (this.kept <= this.limit) this.chunks.push(chunk);
    else this.tooLarge(exchange);
  }

  protected tooLarge(exchange: BodyListener): void {
    exchange.cut(`The answer is larger than ${this.limit} bytes.`, { reason: "too-large" });
  }

  // A copy: a chunk may be a part of a larger buffer.
  get bytes(): Uint8Array {
    const bytes = new Uint8Array(this.chunks.reduce((total, { byteLength }) => total + byteLength, 0));
    let at = 0;
    for (const chunk of this.chunks) {
      bytes.set(chunk, at);
      at += chunk.byteLength;
    }
    return bytes;
  }

  get text(): string {
    return new TextDecoder().decode(this.bytes);
  }
}

/** One request under way. It ends once: with its response, or with a failure. */
export abstract class BaseExchange<Received extends ReceivedResponse> implements Exchange {
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

  abstract readonly phase: Phase;
  /** Changes with what is heard of the request besides the response's body. */
  protected abstract readonly heard: number;
  /** Has no more bytes leave or arrive. */
  protected abstract stop(): void;

  get arrived(): number | undefined {
    // Its response is there, and handed on within a few turns.
    if (this.request === undefined) return Number.NaN;
    return this.phase === "connect" ? undefined : this.heard + (this.answer ? 1 + this.answer.arrived : 0);
  }

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

  /** Its body comes to no end. An error response is understood from what came of it; a 2xx must be whole. */
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
