import type http from "node:http";
import type { Duplex } from "node:stream";
import { nextTurn } from "../time.js";
import {
  answeredEarly,
  type Exchange,
  type FailureReason,
  isForm,
  networkCode,
  type Phase,
  refusedByAlert,
  sourceFailed,
  TransportFailure,
  type TransportRequest,
  type TransportResponse,
  textOf,
} from "../transport.js";
import { type BodyListener, Content, NodeAnswer } from "./body.js";
import {
  Connecting,
  type ConnectListener,
  hearErrors,
  idleMsLeft,
  idleSinceOf,
  isQueued,
  markIdle,
  notBegun,
  type PoolCall,
  type PooledSocket,
  tunnelStatusOf,
} from "./connect.js";
import type { Pool } from "./pool.js";

type SendDetails = Partial<Pick<TransportFailure, "reason" | "status" | "cause">>;

// Over TLS Node confirms a write at the end of the turn in which its response may be read already, and some turns later
// through a proxy that speaks TLS itself.
const turnsToConfirm = 8;

/** One request under way over node:http or node:https. */
export class NodeExchange implements Exchange, PoolCall, ConnectListener, BodyListener {
  readonly response: Promise<TransportResponse>;
  readonly #pool: Pool;
  // Undefined once it has ended: an agent may hold on to what waits for a socket, but not to the body.
  #request: TransportRequest | undefined;
  #content: Content | undefined;
  #message: http.ClientRequest | undefined;
  #socket: PooledSocket | undefined;
  #reused = false;
  #connecting: Connecting | undefined;
  #connected = false;
  #resolve!: (response: TransportResponse) => void;
  #reject!: (failure: TransportFailure) => void;
  #answer: NodeAnswer | undefined;

  constructor(request: TransportRequest, pool: Pool) {
    this.#request = request;
    this.#pool = pool;
    this.response = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    pool.enter(this);
  }

  get fresh(): boolean {
    return this.#request?.freshSocket === true;
  }

  get answer(): NodeAnswer | undefined {
    return this.#answer;
  }

  get phase(): Phase {
    if (this.#answer) return "body";
    if (!this.#connected) return "connect";
    return this.#message?.writableFinished ? "headers" : "send";
  }

  get arrived(): number | undefined {
    // Its response is there, and handed on within a few turns.
    if (this.#request === undefined) return Number.NaN;
    if (!this.#connected) return undefined;
    return (this.#socket?.bytesRead ?? 0) + (this.#answer?.arrived ?? 0);
  }

  abort(reason: FailureReason): void {
    this.failed("The request was ended.", { reason });
  }

  start(): void {
    const request = this.#request;
    if (request === undefined) return;
    const { headers, lifetime, freshSocket } = request;
    const content = new Content(request);
    this.#content = content;
    content.describe(headers);
    lifetime.started();
    this.#open(request, content, freshSocket);
  }

  connected(): void {
    this.#connected = true;
  }

  failed(text: string, details: SendDetails): void {
    if (this.#request === undefined) return;
    const { phase } = this;
    const status = this.#answer?.status;
    const reusedSocket = this.#reused && details.reason === undefined && phase !== "body";
    this.#settle();
    if (reusedSocket) this.#pool.endIdleAs(this.#socket);
    const { advice } = this.#pool;
    this.#reject(new TransportFailure(text, { phase, status, reusedSocket, advice, ...details }));
    this.#pool.release(this, this.#message);
  }

  broken(cause: Error, undecodable = false): void {
    // Bytes behind a whole answer: it counts, and its connection has ended.
    if (this.#answer?.complete && this.#message?.writableFinished && networkCode(cause).startsWith("HPE_"))
      return;
    const tunnelStatus = tunnelStatusOf(cause);
    if (tunnelStatus !== undefined) this.#connecting?.refused(tunnelStatus);
    // The server has ended the handshake, which for the client seemed over.
    if (!this.#answer && refusedByAlert.test(networkCode(cause))) this.#connected = false;
    const why = undecodable ? "cannot be decoded" : "was cut short";
    if (this.#answer?.ok && this.#answer.complete && !undecodable) this.failed(answeredEarly, { cause });
    else if (this.#answer) this.#cut(`The answer's body ${why}: ${textOf(cause)}`, { cause });
    else this.failed(this.#connecting?.textOf(cause) ?? textOf(cause), { cause });
  }

  tooLarge(limit: number): void {
    this.#cut(`The answer is larger than ${limit} bytes.`, { reason: "too-large" });
  }

  ended(): void {
    const request = this.#request;
    const message = this.#message;
    const answer = this.#answer;
    if (request === undefined || message === undefined || answer === undefined) return;
    // A file that is not there whole was not taken, whatever the answer says.
    if (answer.ok && isForm(request.body) && !message.writableFinished) {
      message.once("finish", () => this.ended());
      // Its socket may close in silence: Node hears no more of it once the response is read.
      message.once("close", () => this.failed(answeredEarly, {}));
      this.#content?.form?.waitForRest(() => this.failed(answeredEarly, {}));
      return;
    }
    this.#settle();
    if (this.#socket) markIdle(this.#socket, this.#pool.keepMs(answer.keepAliveMs));
    this.#handOn(answer, message, turnsToConfirm);
  }

  // Once its request has left, so that the next call finds this connection free.
  #handOn(answer: NodeAnswer, message: http.ClientRequest, turns: number): void {
    if (message.writableFinished) this.#pool.leave(this);
    else if (message.writableEnded && turns > 0) {
      nextTurn(() => this.#handOn(answer, message, turns - 1));
      return;
    } else this.#pool.leaveWhenSent(this, message);
    this.#resolve(answer);
  }

  #open(request: TransportRequest, content: Content, fresh: boolean): void {
    try {
      const message = this.#pool.request(request, fresh);
      this.#message = message;
      message.on("error", (cause) => this.broken(cause));
      message.on("response", (answer) => this.#receive(answer));
      // Nobody asked for it; unheard, it would end the request in silence.
      message.on("upgrade", (answer, socket) => this.#upgraded(answer, socket));
      message.on("socket", (socket) => this.#take(socket));
      const queued = !message.reusedSocket && isQueued(message, this.#pool.agent);
      content.begin(message, queued);
      if (message.reusedSocket) return;
      this.#connecting = new Connecting(message, request, this);
      this.#connecting.begin(queued);
    } catch (cause) {
      const { text, reason } = notBegun(cause, request.url.protocol);
      this.failed(text, { reason, cause });
    }
  }

  #take(socket: PooledSocket): void {
    const request = this.#request;
    const message = this.#message;
    const content = this.#content;
    if (request === undefined || message === undefined || content === undefined) return;
    this.#reused = message.reusedSocket || idleSinceOf(socket) !== undefined;
    if (this.#reused && (request.freshSocket || idleMsLeft(socket) <= 0)) {
      // Nothing has been written yet: the stale socket goes, and the request takes a new one.
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
    if (this.#request === undefined) return;
    this.#answer = new NodeAnswer(message, this.#request.maxResponseBytes);
    this.#answer.read(this);
  }

  #upgraded(message: http.IncomingMessage, socket: Duplex): void {
    socket.destroy();
    this.#answer = new NodeAnswer(message, 0);
    this.ended();
  }

  // An error answer is understood from what came of it; a 2xx must be whole.
  #cut(text: string, details: SendDetails): void {
    if (this.#answer && !this.#answer.ok) this.ended();
    else this.failed(text, details);
    this.#message?.destroy();
  }

  #settle(): void {
    this.#content?.end();
    this.#request = this.#content = undefined;
    this.#connecting?.end();
  }
}
