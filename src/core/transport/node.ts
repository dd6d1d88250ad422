import http from "node:http";
import type { Socket } from "node:net";
import type { Multipart } from "../multipart.js";
import { decoderFor } from "./decode.js";
import {
  type Exchange,
  maxErrorBytes,
  type Phase,
  type Transport,
  TransportFailure,
  type TransportRequest,
  type TransportResponse,
} from "./transport.js";

// A server about to close an idle connection does so after seconds: within one, the socket is safe to use.
const freshMs = 1000;

const idleSince: unique symbol = Symbol("idleSince");
type PooledSocket = Socket & { [idleSince]?: number };

/** Sends over node:http and node:https with keep-alive sockets. */
export function createNodeTransport(options: { maxConnections: number }): Transport {
  const agents: Partial<Record<string, http.Agent>> = {};
  // node:https loads TLS, which a client of a plain http address never needs.
  const protocolModule = (protocol: string): typeof http =>
    protocol === "https:" ? (process.getBuiltinModule("node:https") as unknown as typeof http) : http;
  const agentFor = (protocol: string): http.Agent => {
    agents[protocol] ??= new (protocolModule(protocol).Agent)({
      keepAlive: true,
      maxSockets: options.maxConnections,
      scheduling: "lifo",
      noDelay: true,
    });
    return agents[protocol];
  };
  return {
    send(request) {
      const { protocol } = request.url;
      return new NodeExchange(request, protocolModule(protocol), agentFor(protocol));
    },
    close() {
      for (const agent of Object.values(agents)) agent?.destroy();
    },
  };
}

class NodeExchange implements Exchange {
  phase: Phase = "connect";
  status: number | undefined;
  readonly response: Promise<TransportResponse>;
  readonly #request: TransportRequest;
  readonly #module: typeof http;
  readonly #agent: http.Agent;
  #message: http.ClientRequest | undefined;
  #socket: PooledSocket | undefined;
  #connectTimer: NodeJS.Timeout | undefined;
  #resolve!: (response: TransportResponse) => void;
  #reject!: (failure: TransportFailure) => void;
  #settled = false;

  constructor(request: TransportRequest, module: typeof http, agent: http.Agent) {
    this.#request = request;
    this.#module = module;
    this.#agent = agent;
    this.response = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#start();
  }

  abort(): void {
    this.#fail("The request was aborted.", { reason: "aborted" });
  }

  #start(): void {
    const { method, url, headers, body, freshSocket } = this.#request;
    const length = typeof body === "object" ? body.size : Buffer.byteLength(body ?? "");
    const message = this.#module.request({
      protocol: url.protocol,
      hostname: url.hostname.replace(/^\[|\]$/g, ""),
      port: url.port,
      path: url.pathname,
      method,
      agent: this.#agent,
      headers: {
        ...headers,
        "accept-encoding": "gzip, deflate, br",
        ...(length !== undefined && { "content-length": length }),
      },
    });
    this.#message = message;
    message.on("error", (cause) => this.#fail(`The connection failed: ${cause.message}`, { cause }));
    message.on("response", (answer) => this.#receive(answer));
    message.on("socket", (socket: PooledSocket) => {
      this.#socket = socket;
      if (!message.reusedSocket) return this.#connecting(socket);
      if (freshSocket && performance.now() - (socket[idleSince] ?? 0) > freshMs) return this.#again(socket);
      this.phase = "send";
    });
    message.on("finish", () => {
      if (this.phase === "send") this.phase = "headers";
    });
    if (typeof body === "object") void this.#stream(message, body);
    // A string leaves in one write together with the headers.
    else message.end(body);
  }

  #connecting(socket: Socket): void {
    const ready = this.#request.url.protocol === "https:" ? "secureConnect" : "connect";
    const { connectTimeoutMs } = this.#request;
    this.#connectTimer = setTimeout(
      () => this.#fail(`No connection within ${connectTimeoutMs} ms.`, { reason: "connect-timeout" }),
      connectTimeoutMs,
    );
    socket.once(ready, () => {
      clearTimeout(this.#connectTimer);
      if (this.phase === "connect") this.phase = this.#message?.writableFinished ? "headers" : "send";
    });
  }

  // Nothing has been written yet: the stale socket goes, and the request takes the next one.
  #again(stale: Socket): void {
    this.#message?.removeAllListeners("error").on("error", () => {});
    stale.destroy();
    this.#start();
  }

  async #stream(message: http.ClientRequest, body: Multipart): Promise<void> {
    try {
      message.write(body.head);
      let sent = 0;
      for await (const chunk of body.file.chunks()) {
        if (this.#settled || this.#message !== message || message.destroyed) return;
        if (!message.write(chunk)) await drained(message);
        sent += chunk.byteLength;
        body.onSent?.(sent);
      }
      message.end(body.tail);
    } catch (cause) {
      this.#fail("Reading the file failed.", { reason: "source", cause });
    }
  }

  #receive(answer: http.IncomingMessage): void {
    const status = answer.statusCode ?? 0;
    const ok = status >= 200 && status < 300;
    this.status = status;
    this.phase = "body";
    const limit = ok ? this.#request.maxResponseBytes : maxErrorBytes;
    const chunks: Buffer[] = [];
    let total = 0;
    const finish = () => this.#succeed(answer, Buffer.concat(chunks, total));
    // An error answer is understood from what came of it; a 2xx must be whole.
    const cut = (message: string, details: { reason?: "too-large"; cause?: unknown }) =>
      ok ? this.#fail(message, details) : finish();
    const body = decoderFor(answer);
    body.on("data", (chunk: Buffer) => {
      if (total + chunk.byteLength <= limit) {
        chunks.push(chunk);
        total += chunk.byteLength;
        return;
      }
      cut(`The answer is larger than ${limit} bytes.`, { reason: "too-large" });
      this.#message?.destroy();
    });
    body.on("end", finish);
    body.on("error", (cause: Error) => cut(`The answer's body failed: ${cause.message}`, { cause }));
    answer.on("error", (cause) => cut(`The answer's body was cut short: ${cause.message}`, { cause }));
    answer.on("close", () => {
      if (!answer.complete) cut("The answer's body was cut short.", {});
    });
  }

  #succeed(answer: http.IncomingMessage, bytes: Buffer): void {
    if (this.#settled) return;
    this.#settled = true;
    clearTimeout(this.#connectTimer);
    if (this.#socket) this.#socket[idleSince] = performance.now();
    // An answer that came before the upload ended leaves a connection nobody can use again.
    if (this.#message?.writableFinished === false) this.#message.destroy();
    this.#resolve({ status: this.status ?? 0, headers: plainHeaders(answer), text: bytes.toString("utf8") });
  }

  #fail(text: string, details: { reason?: TransportFailure["reason"]; cause?: unknown }): void {
    if (this.#settled) return;
    this.#settled = true;
    clearTimeout(this.#connectTimer);
    this.#reject(new TransportFailure(text, { phase: this.phase, status: this.status, ...details }));
    this.#message?.destroy();
  }
}

function drained(message: http.ClientRequest): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      message.off("drain", done).off("close", done);
      resolve();
    };
    message.on("drain", done).on("close", done);
  });
}

function plainHeaders(answer: http.IncomingMessage): Readonly<Record<string, string>> {
  const { headers } = answer;
  const cookies = headers["set-cookie"];
  return (cookies ? { ...headers, "set-cookie": cookies.join(", ") } : headers) as Record<string, string>;
}
