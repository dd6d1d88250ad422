import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { Socket } from "node:net";
import { afterEach, beforeEach } from "vitest";
import { goodText } from "./responses.js";
import { listen } from "./servers.js";
import { soon } from "./turns.js";

/** A real server on a free port that numbers its sockets and knows how many are open. Only clients end them. */
export class CountingServer {
  /** Sockets open now. */
  readonly open: Set<Socket> = new Set();
  /** Sockets accepted. */
  connections = 0;
  /** The most sockets open at once. */
  most = 0;
  /** Requests begun, in order: the number of the socket each came on. */
  used: number[] = [];
  readonly #numbers: WeakMap<Socket, number> = new WeakMap();
  #server: Server | undefined;
  #port = 0;
  #listener: RequestListener = respond;

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Starts afresh, on another port. */
  async start(): Promise<this> {
    this.connections = this.most = 0;
    this.used = [];
    this.#listener = respond;
    this.#server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
      this.used.push(this.#numbers.get(request.socket) ?? 0);
      this.#listener(request, response);
    });
    this.#server.on("connection", (socket: Socket) => {
      this.#numbers.set(socket, ++this.connections);
      this.open.add(socket);
      this.most = Math.max(this.most, this.open.size);
      socket.on("error", () => {}).on("close", () => this.open.delete(socket));
    });
    this.#port = await listen(this.#server);
    return this;
  }

  /** What to do with every request from now on; the body has not been read. */
  listen(listener: RequestListener): void {
    this.#listener = listener;
  }

  /** Resolves once clients have ended every socket. */
  async allClosed(): Promise<void> {
    const closed = [...this.open].map((socket) => once(socket, "close"));
    await soon(Promise.all(closed), "clients end every connection");
  }

  async close(): Promise<void> {
    if (this.#server === undefined) return;
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    for (const socket of this.open) socket.destroy();
    await soon(closed, "the server closes");
  }
}

/** Reads the request, then responds to it well. */
export const respond: RequestListener = (request, response) => {
  request.on("error", () => {}).on("end", () => response.end(goodText));
  request.resume();
};

/** A counting server for the tests of the calling file, another for each: no socket of one is seen by the next. */
export function useCountingServer(): CountingServer {
  const server = new CountingServer();
  beforeEach(async () => {
    await server.start();
  });
  afterEach(() => server.close());
  return server;
}
