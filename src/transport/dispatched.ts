// What undici's dispatchers are given, and what they give.
import type { Multipart } from "../files/multipart.js";
import { isInstance, memberOf, textFor, valueOr } from "../values.js";
import { Answer } from "./node/bodies.js";
import type { BodyListener, Flow } from "./node/decode.js";
import {
  networkCode,
  type Phase,
  refusedByAlert,
  refusedByProxy,
  sourceFailed,
  type TransportFailure,
  textOf,
} from "./transport.js";

export type Details = Partial<Pick<TransportFailure, "phase" | "reason" | "status" | "advice" | "cause">>;

/** What ends and slows a request: undici 7 and 8 have an object for it. */
export interface Controller extends Flow {
  abort(reason: Error): void;
}

export class DispatchOptions {
  readonly origin: string;
  readonly path: string;
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body: unknown;
  // The deadlines are the call's.
  readonly headersTimeout = 0;
  readonly bodyTimeout = 0;

  constructor(url: URL, method: string, headers: Record<string, string>, body: unknown) {
    this.origin = url.origin;
    this.path = url.pathname + url.search;
    this.method = method;
    this.headers = headers;
    this.body = body;
  }
}
// undici reads its other options from a polluted Object.prototype. An object made without one would be twice as slow.
Object.setPrototypeOf(DispatchOptions.prototype, null);

/** An answer's headers, as undici 7 and 8 have them. */
export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

const noFlow: Flow = { pause() {}, resume() {} };

export class DispatcherAnswer extends Answer {
  readonly #headers: Headers;

  constructor(status: number, maxResponseBytes: number, headers: Headers) {
    super(status, maxResponseBytes, own(headers, "content-encoding"));
    this.#headers = headers;
  }

  get headers(): Record<string, string> {
    const names = Object.keys(this.#headers);
    return Object.fromEntries(names.map((name) => [name.toLowerCase(), own(this.#headers, name) ?? ""]));
  }
}

/** The answer that an error stands for: interceptors, such as those that retry, make one of the other. */
export function answerIn(error: Error, listener: BodyListener): DispatcherAnswer | undefined {
  const status = memberOf(error, "statusCode");
  const isAnswer = /^UND_ERR_(REQ_RETRY|RESPONSE)$/.test(networkCode(error));
  if (!isAnswer || typeof status !== "number" || status < 300) return undefined;
  const { "content-encoding": _undone, ...headers } = (memberOf(error, "headers") ?? {}) as Headers;
  const answer = new DispatcherAnswer(status, 0, headers);
  const body = memberOf(error, "body");
  const text = typeof body === "string" ? body : valueOr(() => JSON.stringify(body), "");
  if (text) answer.take(Buffer.from(text), noFlow, listener);
  return answer;
}

function own(headers: Headers, name: string): string | undefined {
  const value = Object.hasOwn(headers, name) ? headers[name] : undefined;
  return typeof value === "object" ? value.join(", ") : value;
}

// A smaller chunk may wait in a socket while the next one is read into its place.
const heldBytes = 256 * 1024;

/** A form with a file, as undici reads a body: on, once its socket has taken what came before. */
export class FormBytes implements AsyncIterable<Uint8Array> {
  readonly #form: Multipart;
  readonly #bytes: AsyncGenerator<Uint8Array>;
  readonly #failed: (text: string, cause: unknown) => void;
  // Whether undici has begun to read it, and whether it has taken all of the file.
  #begun = false;
  #complete = false;

  constructor(form: Multipart, failed: (text: string, cause: unknown) => void) {
    this.#form = form;
    this.#failed = failed;
    this.#bytes = this.#read();
  }

  // undici begins anew where it repeats a request: of what has been read, nothing would be sent.
  [Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    if (this.#begun) {
      const cause = new Error("The dispatcher sends the request again by itself; a file is sent once.");
      this.#failed(cause.message, cause);
      throw cause;
    }
    this.#begun = true;
    return this.#bytes;
  }

  /** Whether the answer came before all of it was sent. Where none of it was asked for, a mock has answered. */
  get incomplete(): boolean {
    return this.#begun && !this.#complete;
  }

  /** Called with a good answer: to a mock all of it was sent. */
  answered(): void {
    const { file, onSent } = this.#form.part;
    if (!this.#begun) onSent(file.size ?? 0, true);
  }

  /** Ends the reading, however far it got. */
  end(): void {
    void this.#bytes.return(undefined).catch(() => {});
  }

  async *#read(): AsyncGenerator<Uint8Array> {
    try {
      const taken = () => {
        this.#complete = true;
      };
      for await (const chunk of this.#form.bytes(taken)) {
        yield chunk.byteLength < heldBytes ? new Uint8Array(chunk) : chunk;
      }
    } catch (cause) {
      this.#failed(sourceFailed, cause);
      throw cause;
    }
  }
}

// What undici calls a request that it does not take, or a dispatcher that takes none.
const notTaken = /^UND_ERR_(INVALID_ARG|NOT_SUPPORTED|CLOSED|DESTROYED|BPL_MISSING_UPSTREAM)$/;

/** What came out of a dispatcher, as an error. */
export function errorOf(thrown: unknown): Error {
  return isInstance(thrown, Error)
    ? thrown
    : new Error(textFor(thrown ?? "The dispatcher does not say why."));
}

/**
 * What an error says.
 * @param phase How far the request got.
 * @param isThrown Whether `dispatch` threw it: undici names what it refuses by a code, and all else is an interceptor's.
 */
export function meaningOf(error: Error, phase: Phase, isThrown: boolean): [text: string, details: Details] {
  const code = networkCode(error);
  // The proxy's own certificate: what is wrong with it is in the cause.
  const cause = code === "UND_ERR_PRX_TLS" ? memberOf(error, "cause") : error;
  const text = textOf(error);
  // The server has ended the handshake, or refused the stream before it processed any of it.
  if (refusedByAlert.test(code) || /NGHTTP2_REFUSED_STREAM/.test(text))
    return [text, { phase: "connect", cause }];
  const [, status] = /^Proxy (?:response|Authentication Required) \((\d+)\)/.exec(text) ?? [];
  const [refusal, details] = refusedByProxy(Number(status));
  if (status) return [refusal, { ...details, phase: "connect", cause }];
  if (isThrown && code === "") {
    const what = phase === "connect" ? "does not take the request" : "failed";
    const advice = "Correct the dispatcher or its interceptors.";
    return [`The dispatcher ${what}: ${text}`, { phase, reason: "foreign", advice, cause }];
  }
  if (phase !== "connect") return [text, { phase, cause }];
  if (notTaken.test(code)) {
    const open = "Make a client with a dispatcher that is open, and call again.";
    const advice = /CLOSED|DESTROYED/.test(code) ? open : undefined;
    return [`The dispatcher does not take the request: ${text}`, { phase, reason: "agent", advice, cause }];
  }
  return [text, { phase, reason: code === "UND_ERR_CONNECT_TIMEOUT" ? "connect-timeout" : "network", cause }];
}
