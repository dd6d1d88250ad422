import type http from "node:http";
import type { Duplex } from "node:stream";
import { memberOf } from "../../errors/memberOf.js";
import { fileChunks, Multipart } from "../../files/multipart.js";
import { longestTimerMs } from "../../options/arguments.js";
import {
  answeredEarly,
  type Exchange,
  type FailureReason,
  networkCode,
  type Phase,
  sourceFailed,
  TransportFailure,
  type TransportRequest,
  type TransportResponse,
} from "../transport.js";
import { holdWriteErrors } from "./holdWriteErrors.js";
import { Answer } from "./receive.js";
import { requestOptions } from "./requestOptions.js";
import { isConnected, isFresh, markIdle, type PooledSocket } from "./sockets.js";

// An answer may come while the rest of a file is on its way: it is waited for as long as it is taken.
const restMs = 1000;

// How node:http names an agent that is none, or that is for the other protocol.
const refusedAgents: ReadonlySet<string> = new Set(["ERR_INVALID_ARG_TYPE", "ERR_INVALID_PROTOCOL"]);

/** One request under way over node:http or node:https. */
export class NodeExchange implements Exchange {
  readonly response: Promise<TransportResponse>;
  readonly #request: TransportRequest;
  readonly #module: typeof http;
  readonly #agent: http.Agent;
  #message: http.ClientRequest | undefined;
  #socket: PooledSocket | undefined;
  #connected = false;
  #connectTimer: NodeJS.Timeout | undefined;
  #restTimer: NodeJS.Timeout | undefined;
  #large = false;
  #letWritesFail: (() => void) | undefined;
  #resolve!: (response: TransportResponse) => void;
  #reject!: (failure: TransportFailure) => void;
  #settled = false;
  #answer: Answer | undefined;

  constructor(request: TransportRequest, module: typeof http, agent: http.Agent) {
    this.#request = request;
    this.#module = module;
    this.#agent = agent;
    this.response = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    try {
      this.#start();
    } catch (cause) {
      if (refusedAgents.has(networkCode(cause))) {
        const why = textOf(cause as Error);
        this.#fail(`agent cannot be used for an ${request.url.protocol} address: ${why}`, {
          reason: "agent",
          cause,
        });
      }
      // An agent that cannot connect may say so at once.
      this.#fail(textOf(cause as Error), { cause });
    }
  }

  get status(): number | undefined {
    return this.#answer?.status;
  }

  get phase(): Phase {
    if (this.#answer) return "body";
    if (!this.#connected) return "connect";
    return this.#message?.writableFinished ? "headers" : "send";
  }

  abort(reason: FailureReason): void {
    this.#fail("The request was ended.", { reason });
  }

  #start(): void {
    const { headers, body } = this.#request;
    headers["accept-encoding"] = "gzip, deflate, br";
    const content = typeof body === "string" ? encode(body) : body;
    this.#large = typeof content === "object";
    const length = content instanceof Multipart ? content.size : Buffer.byteLength(content ?? "");
    if (length !== undefined) headers["content-length"] = String(length);
    const message = this.#module.request(requestOptions(this.#request, this.#agent));
    this.#message = message;
    message.on("error", (cause) => this.#broken(cause));
    message.on("response", (answer) => this.#receive(answer));
    // Nobody asked for it; unheard, it would end the request in silence.
    message.on("upgrade", (answer, socket) => this.#upgraded(answer, socket));
    message.on("socket", (socket) => this.#take(socket));
    // A file waits until there is a connection.
    if (!(content instanceof Multipart)) message.end(content);
  }

  #take(socket: PooledSocket): void {
    this.#socket = socket;
    this.#letWritesFail?.();
    this.#letWritesFail = this.#large ? holdWriteErrors(socket) : undefined;
    this.#request.lifetime.connected();
    if (!this.#message?.reusedSocket) this.#connect(socket);
    else if (this.#request.freshSocket && !isFresh(socket)) {
      this.#again(socket);
      return;
    } else this.#connected = true;
    const { body } = this.#request;
    if (this.#message && typeof body === "object") void this.#stream(this.#message, body);
  }

  #connect(socket: PooledSocket): void {
    const { connectTimeoutMs, url } = this.#request;
    const secure = url.protocol === "https:";
    if (isConnected(socket, secure)) {
      this.#connected = true;
      return;
    }
    // A longer time is as good as none.
    if (connectTimeoutMs <= longestTimerMs) {
      this.#connectTimer = setTimeout(
        () => this.#fail(`No connection within ${connectTimeoutMs} ms.`, { reason: "connect-timeout" }),
        connectTimeoutMs,
      );
    }
    socket.once(secure ? "secureConnect" : "connect", () => {
      clearTimeout(this.#connectTimer);
      this.#connected = true;
    });
  }

  // Nothing has been written yet: the stale socket goes, and the request takes the next one.
  #again(stale: PooledSocket): void {
    this.#message?.removeAllListeners("error").on("error", () => {});
    stale.destroy();
    this.#start();
  }

  async #stream(message: http.ClientRequest, body: Multipart): Promise<void> {
    try {
      // Written when there is a connection: until then nothing of the file is read.
      if ((await written(message, body.head)) || message.destroyed) return;
      for await (const chunk of fileChunks(body.part)) {
        if (message.destroyed) return;
        await written(message, chunk);
        if (!this.#settled) this.#restTimer?.refresh();
      }
      message.end(body.tail);
    } catch (cause) {
      this.#fail(sourceFailed, { reason: "source", cause });
    }
  }

  #receive(message: http.IncomingMessage): void {
    const answer = new Answer(message, this.#request.maxResponseBytes);
    this.#answer = answer;
    answer.read({
      ended: () => this.#succeed(answer),
      broken: (cause, undecodable) => this.#broken(cause, undecodable),
      tooLarge: (limit) => this.#cut(`The answer is larger than ${limit} bytes.`, { reason: "too-large" }),
    });
  }

  #upgraded(message: http.IncomingMessage, socket: Duplex): void {
    socket.destroy();
    this.#answer = new Answer(message, 0);
    this.#succeed(this.#answer);
  }

  #broken(cause: Error, undecodable = false): void {
    const why = undecodable ? "cannot be decoded" : "was cut short";
    if (this.#answer?.ok && this.#answer.complete && !undecodable) this.#fail(answeredEarly, { cause });
    else if (this.#answer) this.#cut(`The answer's body ${why}: ${textOf(cause)}`, { cause });
    else this.#fail(textOf(cause), { cause });
  }

  // An error answer is understood from what came of it; a 2xx must be whole.
  #cut(text: string, details: { reason?: FailureReason; cause?: unknown }): void {
    if (this.#answer && !this.#answer.ok) this.#succeed(this.#answer);
    else this.#fail(text, details);
    this.#message?.destroy();
  }

  #succeed(answer: Answer): void {
    if (this.#settled) return;
    // A file that is not there whole was not taken, whatever the answer says.
    if (answer.ok && typeof this.#request.body === "object" && !this.#message?.writableFinished) {
      this.#message?.once("finish", () => this.#succeed(answer));
      this.#restTimer = setTimeout(() => this.#fail(answeredEarly, {}), restMs);
      return;
    }
    this.#settled = true;
    clearTimeout(this.#connectTimer);
    clearTimeout(this.#restTimer);
    this.#letWritesFail?.();
    if (this.#socket) markIdle(this.#socket);
    // An answer that came before the upload ended leaves a connection nobody can use again.
    if (!this.#message?.writableFinished) this.#message?.destroy();
    this.#resolve(answer);
  }

  #fail(text: string, details: { reason?: FailureReason; cause?: unknown }): void {
    if (this.#settled) return;
    this.#settled = true;
    clearTimeout(this.#connectTimer);
    clearTimeout(this.#restTimer);
    this.#letWritesFail?.();
    this.#reject(new TransportFailure(text, { phase: this.phase, status: this.status, ...details }));
    this.#message?.destroy();
  }
}

// A short text leaves in one write together with the headers; a long one is better not copied behind them.
function encode(text: string): string | Buffer {
  return text.length < 16_384 ? text : Buffer.from(text);
}

// Until it has gone, a chunk may not be overwritten by the next one read.
function written(message: http.ClientRequest, chunk: Uint8Array | string): Promise<unknown> {
  return new Promise((resolve) => message.write(chunk, resolve));
}

// Trying every address of a name leaves one error for each and no message of its own.
function textOf(error: Error): string {
  const [first] = (memberOf(error, "errors") ?? []) as Error[];
  return error.message || first?.message || networkCode(error) || "the connection failed";
}
