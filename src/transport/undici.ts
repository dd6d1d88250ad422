// Sends through undici's `dispatch`, if a client has a dispatcher or a mock replaces the network.
import { subscribe } from "node:diagnostics_channel";
import type { IncomingHttpHeaders } from "node:http";
import { types } from "node:util";
import { FormBytes } from "../files/multipart.js";
import type { DispatcherLike } from "../options/types.js";
import { isInstance, memberOf, ownValue, textFor, valueOr, WithoutPrototype } from "../values.js";
import {
  Exchange,
  networkCode,
  type Phase,
  respondedEarly,
  type SeenDetails,
  sourceFailed,
  type TransportRequest,
} from "./exchange.js";
import { acceptEncodings, cutShort, DecodedResponse, type Flow } from "./node/body.js";
import { isBeforeConnection, refusedByAlert, refusedByProxy, textOf } from "./node/networkErrors.js";
import { holdErrorsOf } from "./node/quirks.js";

/** Aborts and pauses a request. undici passes this object to the handler. */
interface Controller extends Flow {
  abort(reason: Error): void;
}

// Whether each dispatcher was seen to announce the start of a request: an interceptor may keep that back.
const announces = new WeakMap<DispatcherLike, boolean>();

// Connect errors: a reset in a TLS handshake would otherwise count as one of a sent request.
const neverConnected = new WeakSet<object>();
subscribe("undici:client:connectError", (message) => {
  const error = memberOf(message, "error");
  if (typeof error === "object" && error !== null) neverConnected.add(error);
});

/** The message of the error that undici and interceptors receive when this client ends a request. */
const endedText = "The request was ended.";

/** One request in flight, and its handler of undici 7 and 8. */
export class DispatcherExchange extends Exchange<DecodedResponse> {
  readonly #dispatcher: DispatcherLike;
  declare protected body: FormBytes | undefined;
  #controller: Controller | undefined;
  protected heard = 0;
  // `#isEarly`: `dispatch` has not yet returned. `#isTold`: undici has reported an error of the request.
  #isEarly = false;
  #isTold = false;

  constructor(dispatcher: DispatcherLike, request: TransportRequest) {
    super(request);
    this.#dispatcher = dispatcher;
    this.#begin(request);
  }

  // Until a request starts, undici may be opening a connection or waiting for a free one: it does not say which.
  get phase(): Phase {
    if (this.response) return "body";
    if (this.#controller) return "headers";
    // undici's own dispatchers announce starts. One with interceptors (a Proxy) counts as one that announces them only
    // after it has done so once.
    const isPlain = "compose" in this.#dispatcher && !types.isProxy(this.#dispatcher);
    return (announces.get(this.#dispatcher) ?? isPlain) ? "connect" : "headers";
  }

  #begin({ url, method, headers, body, form }: TransportRequest): void {
    acceptEncodings(headers, body);
    if (form) {
      this.body = new FormBytes(form, holdErrorsOf(form.contentType), heldBytes);
      if (form.size !== undefined) headers["content-length"] = String(form.size);
    }
    // Without a prototype: undici would read other options from a polluted one.
    const options = Object.assign(new WithoutPrototype(), {
      origin: url.origin,
      path: url.pathname + url.search,
      method,
      headers,
      body: this.body ? { [Symbol.asyncIterator]: () => this.#readForm() } : body,
      // 0 turns off undici's own timeouts: the call sets the deadlines.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    this.#isEarly = true;
    try {
      const taken: unknown = this.#dispatcher.dispatch(options as never, this as never);
      // An async interceptor returns a promise, which may reject.
      if (typeof taken === "object") Promise.resolve(taken).catch((thrown) => this.#broke(thrown, true));
    } catch (thrown) {
      this.#broke(thrown, true);
    }
    this.#isEarly = false;
  }

  async *#readForm(): AsyncGenerator<Uint8Array> {
    const { body } = this;
    try {
      // undici reads a form a second time if it retries by itself: it would lack the bytes read so far.
      if (body?.begun)
        throw new Error("The dispatcher sends the request again by itself; a file is sent once.");
      if (body) yield* body.chunks;
    } catch (cause) {
      this.failed(sourceFailed(cause), { reason: "source", cause });
      throw cause;
    }
  }

  onRequestStart(controller: Controller): void {
    const { request } = this;
    const isFirst = this.#controller === undefined;
    this.#controller = controller;
    this.heard += 1;
    // The request ended while it was queued, and undici cannot remove a queued request. None of it is sent.
    if (request === undefined) {
      const ended = new Error(endedText);
      controller.abort(ended);
      // Interceptors such as `dump` do not pass an abort on to undici, but a thrown error reaches undici itself.
      if (!this.#isTold) throw ended;
    }
    // undici starts a request again if HTTP/2 refused its stream: only the first start counts.
    else if (isFirst) request.lifetime.started();
    if (!announces.has(this.#dispatcher)) announces.set(this.#dispatcher, true);
  }

  onResponseStart(_controller: Controller, status: number, headers: IncomingHttpHeaders): void {
    // Interim responses, such as 103, are ignored.
    if (this.request === undefined || status < 200) return;
    if (this.#controller === undefined) announces.set(this.#dispatcher, false);
    this.heard += 1;
    this.response = dispatchedResponse(status, this.request.maxResponseBytes, headers);
  }

  onResponseData(controller: Controller, chunk: Uint8Array): void {
    if (this.request !== undefined) this.response?.take(chunk, controller, this);
  }

  onResponseEnd(): void {
    if (this.request !== undefined) this.response?.end(this);
  }

  onResponseError(_controller: Controller | null, error: Error): void {
    this.#isTold = true;
    this.#broke(error, false);
  }

  protected override deliver(response: DecodedResponse): void {
    if (response.ok) this.body?.responded();
    super.deliver(response);
  }

  protected early(): void {
    this.failed(respondedEarly, {});
  }

  protected stop(): void {
    this.#controller?.abort(new Error(endedText));
  }

  #broke(thrown: unknown, isThrown: boolean): void {
    if (this.request === undefined) return;
    const cause = isInstance(thrown, Error)
      ? thrown
      : new Error(textFor(thrown ?? "The dispatcher does not say why."));
    const before = this.response;
    this.response ??= responseIn(cause, this);
    if (before) this.cut(cutShort(cause), { cause });
    else if (this.response) this.ended();
    else this.failed(...meaningOf(cause, this.#phaseAt(cause), isThrown));
  }

  // The phase in which an error happened.
  #phaseAt(error: Error): Phase {
    if (this.#controller) return "headers";
    if (neverConnected.has(error) || isBeforeConnection(error)) return "connect";
    const isLost = /^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/.test(networkCode(error));
    if (isLost || /^(read|write)/.test(String(memberOf(error, "syscall")))) return "headers";
    return this.#isEarly ? "connect" : this.phase;
  }
}

const noFlow: Flow = { pause() {}, resume() {} };

function dispatchedResponse(status: number, limit: number, headers: IncomingHttpHeaders): DecodedResponse {
  // Names in lower case, and one string for each name.
  const readHeaders = () =>
    Object.fromEntries(
      Object.keys(headers).map((name) => [name.toLowerCase(), firstHeader(headers, name) ?? ""]),
    );
  return new DecodedResponse(status, limit, firstHeader(headers, "content-encoding"), readHeaders);
}

/** The response that an error stands for. Interceptors, such as those that retry, turn a response into an error. */
function responseIn(error: Error, exchange: Exchange): DecodedResponse | undefined {
  const status = memberOf(error, "statusCode");
  const isResponse = /^UND_ERR_(REQ_RETRY|RESPONSE)$/.test(networkCode(error));
  if (!isResponse || typeof status !== "number" || status < 300) return undefined;
  const { "content-encoding": _undone, ...headers } = (memberOf(error, "headers") ??
    {}) as IncomingHttpHeaders;
  const response = dispatchedResponse(status, 0, headers);
  const body = memberOf(error, "body");
  const text = typeof body === "string" ? body : valueOr(() => JSON.stringify(body), "");
  if (text) response.take(Buffer.from(text), noFlow, exchange);
  return response;
}

function firstHeader(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = ownValue(headers, name);
  return typeof value === "object" ? value.join(", ") : value;
}

// Chunks of a file with fewer bytes than this are copied: undici's socket may hold one while the next is read into the same memory.
const heldBytes = 256 * 1024;

// undici's codes for a request that it does not accept, or for a dispatcher that accepts none.
const notTaken = /^UND_ERR_(INVALID_ARG|NOT_SUPPORTED|CLOSED|DESTROYED|BPL_MISSING_UPSTREAM)$/;

/**
 * The message and the details of a failure, from a dispatcher's error.
 * @param isThrown Whether `dispatch` threw the error: without a code it is then an interceptor's, not undici's
 */
function meaningOf(error: Error, phase: Phase, isThrown: boolean): [text: string, details: SeenDetails] {
  const code = networkCode(error);
  // The proxy's own certificate is invalid: the cause of the error says why.
  const cause = code === "UND_ERR_PRX_TLS" ? memberOf(error, "cause") : error;
  const text = textOf(error);
  // The server ended the TLS handshake, or refused the HTTP/2 stream before it processed any of the request.
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
