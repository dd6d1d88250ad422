import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { afterEach, beforeEach } from "vitest";
import { goodText } from "./responses.js";
import { TestServer } from "./servers.js";
import { soon } from "./turns.js";

/** A server that numbers its sockets. Only clients end them. */
class CountingServer extends TestServer {
  /** The most sockets open at once. */
  most = 0;
  /** Requests begun, in order: the number of the socket each came on. */
  used: number[] = [];
  readonly #numbers: WeakMap<Socket, number> = new WeakMap();
  #listener: RequestListener = respond;

  constructor() {
    super(createServer({ keepAliveTimeout: 0 }));
    this.server.on("connection", (socket: Socket) => {
      this.#numbers.set(socket, this.connections);
      this.most = Math.max(this.most, this.open.size);
    });
  }

  override reset(): void {
    super.reset();
    this.most = 0;
    this.used = [];
    this.#listener = respond;
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

  protected handle(request: IncomingMessage, response: ServerResponse): void {
    this.used.push(this.#numbers.get(request.socket) ?? 0);
    this.#listener(request, response);
  }
}

/** Reads the request, then responds to it well. */
export const respond: RequestListener = (request, response) => {
  request.on("error", () => {}).on("end", () => response.end(goodText));
  request.resume();
};

/** A counting server for the tests of the calling file, on another port for each: no socket of one is seen by the next. */
export function useCountingServer(): CountingServer {
  const server = new CountingServer();
  beforeEach(async () => {
    server.reset();
    await server.start();
  });
  afterEach(() => server.close());
  return server;
}
