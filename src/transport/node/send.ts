import type http from "node:http";
import type { Duplex } from "node:stream";
import {
  Exchange,
  networkCode,
  type Phase,
  respondedEarly,
  type SeenDetails,
  sourceFailed,
  type TransportRequest,
} from "../exchange.js";
import { nextTurn } from "../time.js";
import { cutShort, DecodedResponse, RequestBody } from "./body.js";
import { Connecting, notBegun, tunnelStatusOf } from "./connect.js";
import { refusedByAlert, textOf } from "./networkErrors.js";
import { idleMsLeft, idleSinceOf, markIdle, type Pool, type PoolCall, type PooledSocket } from "./pool.js";
import { headersOf, hearErrors, isQueued, rawHeader, turnsToConfirm } from "./quirks.js";

/** One request in flight over node:http or node:https. */
export class NodeExchange extends Exchange<DecodedResponse> implements PoolCall {
  readonly #pool: Pool;
  declare protected body: RequestBody | undefined;
  #message: http.ClientRequest | undefined;
  #incoming: http.IncomingMessage | undefined;
  #socket: PooledSocket | undefined;
  #reused = false;
  #connecting: Connecting | undefined;
  #connected = false;

  constructor(request: TransportRequest, pool: Pool) {
    super(request);
    this.#pool = pool;
    pool.enter(this);
  }

  get fresh(): boolean {
    return this.request?.freshSocket === true;
  }

  get phase(): Phase {
    if (this.response) return "body";
    if (!this.#connected) return "connect";
    return this.#message?.writableFinished ? "headers" : "send";
  }

  protected get heard(): number {
    return this.#socket?.bytesRead ?? 0;
  }

  start(): void {
    const { request } = this;
    if (request === undefined) return;
    const { headers, lifetime, freshSocket } = request;
    const content = new RequestBody(request);
    this.body = content;
    content.describe(headers);
    lifetime.started();
    this.#open(request, content, freshSocket);
  }

  connected(): void {
    this.#connected = true;
  }

  override failed(text: string, details: SeenDetails): void {
    if (this.request === undefined) return;
    const reusedSocket = this.#reused && details.reason === undefined && this.phase !== "body";
    if (reusedSocket) this.#pool.endIdleAs(this.#socket);
    super.failed(text, { reusedSocket, advice: this.#pool.advice, ...details });
    this.#pool.release(this, this.#message);
  }

  broken(cause: Error): void {
    const { response } = this;
    // Bytes after a complete response: the response counts, and its connection has ended.
    if (this.#incoming?.complete && this.#message?.writableFinished && networkCode(cause).startsWith("HPE_"))
      return;
    const tunnelStatus = tunnelStatusOf(cause);
    if (tunnelStatus !== undefined) this.#connecting?.refused(tunnelStatus);
    // The server rejected the TLS handshake, which had seemed complete to the client.
    if (!response && refusedByAlert.test(networkCode(cause))) this.#connected = false;
    if (!response) this.failed(this.#connecting?.textOf(cause) ?? textOf(cause), { cause });
    else if (response.ok && this.#incoming?.complete) this.failed(respondedEarly, { cause });
    else this.cut(cutShort(cause), { cause });
  }

  protected early(): void {
    const message = this.#message;
    message?.once("finish", () => this.ended());
    // The request's socket may close without an error: Node stops reporting on it once the response is read.
    message?.once("close", () => this.failed(respondedEarly, {}));
    this.body?.form?.waitForRest(() => this.failed(respondedEarly, {}));
  }

  protected override deliver(response: DecodedResponse): void {
    this.settle();
    if (this.#socket)
      markIdle(this.#socket, this.#pool.keepMs(rawHeader(this.#incoming?.rawHeaders ?? [], "keep-alive")));
    this.#handOn(response, this.#message as http.ClientRequest, turnsToConfirm);
  }

  // Delivers the response once its request was sent, so that the next call finds this connection free.
  #handOn(response: DecodedResponse, message: http.ClientRequest, turns: number): void {
    if (message.writableFinished) this.#pool.leave(this);
    else if (message.writableEnded && turns > 0) {
      nextTurn(() => this.#handOn(response, message, turns - 1));
      return;
    } else this.#pool.leaveWhenSent(this, message);
    this.resolve(response);
  }

  #open(request: TransportRequest, content: RequestBody, fresh: boolean): void {
    try {
      const message = this.#pool.request(request, fresh);
      this.#message = message;
      message.on("error", (cause) => this.broken(cause));
      message.on("response", (response) => this.#receive(response));
      // The client asked for no upgrade. Without a listener, an upgrade would end the request without an error.
      message.on("upgrade", (response, socket) => this.#upgraded(response, socket));
      message.on("socket", (socket) => this.#take(socket));
      const queued = !message.reusedSocket && isQueued(message, this.#pool.agent);
      content.begin(message, queued);
      if (message.reusedSocket) return;
      this.#connecting = new Connecting(message, request, this.#pool, this);
      this.#connecting.begin(queued);
    } catch (cause) {
      const { text, reason } = notBegun(cause, request.url.protocol);
      this.failed(text, { reason, cause });
    }
  }

  #take(socket: PooledSocket): void {
    const { request } = this;
    const message = this.#message;
    const content = this.body;
    if (request === undefined || message === undefined || content === undefined) return;
    this.#reused = message.reusedSocket || idleSinceOf(socket) !== undefined;
    if (this.#reused && (request.freshSocket || idleMsLeft(socket) <= 0)) {
      // Nothing has been written yet: the stale socket is closed, and the request takes a new one.
      message.removeAllListeners("error").on("error", () => {});
      this.#connecting?.end();
      socket.destroy();
      this.#open(request, content, true);
      return;
    }
    this.#socket = socket;
    if (idleSinceOf(socket) === undefined) hearErrors(socket);
    if (this.#connecting) this.#connecting.take(socket);
    else this.#connected = true;
    const connected = this.#reused || request.url.protocol === "http:";
    content.take(message, socket, connected, (cause) =>
      this.failed(sourceFailed, { reason: "source", cause }),
    );
  }

  #receive(message: http.IncomingMessage): void {
    if (this.request === undefined) return;
    const response = this.#begun(message, this.request.maxResponseBytes);
    message.on("data", (chunk: Buffer) => response.take(chunk, message, this));
    message.on("end", () => response.end(this));
    message.on("error", (cause) => this.broken(cause));
  }

  #begun(message: http.IncomingMessage, maxResponseBytes: number): DecodedResponse {
    const encoding = rawHeader(message.rawHeaders, "content-encoding");
    const headers = (): Readonly<Record<string, string>> => headersOf(message);
    this.#incoming = message;
    this.response = new DecodedResponse(message.statusCode ?? 0, maxResponseBytes, encoding, headers);
    return this.response;
  }

  #upgraded(message: http.IncomingMessage, socket: Duplex): void {
    socket.destroy();
    this.#begun(message, 0);
    this.ended();
  }

  protected stop(): void {
    this.#message?.destroy();
  }

  protected override settle(): void {
    super.settle();
    this.body = undefined;
    this.#connecting?.end();
  }
}
