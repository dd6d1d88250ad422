import { once } from "node:events";
import {
  createServer,
  type Server as HttpServer,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import { Server as HttpsServer } from "node:https";
import type { AddressInfo, Server, Socket } from "node:net";
import { afterAll, beforeAll, beforeEach, onTestFinished } from "vitest";
import { soon } from "./turns.js";

/** Starts a server on a free port of this machine. @returns the port */
export async function listen(server: Server, host = "127.0.0.1"): Promise<number> {
  await soon(once(server.listen(0, host), "listening"), "a server listens");
  return (server.address() as AddressInfo).port;
}

/** The sockets of a server that are open. */
export function socketsOf(server: Server): ReadonlySet<Socket> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket.on("error", () => {}).on("close", () => sockets.delete(socket)));
  });
  return sockets;
}

/** Ends a server with its connections. */
export async function endServer(server: Server, sockets: ReadonlySet<Socket>): Promise<void> {
  const closed = once(server.close(), "close");
  for (const socket of sockets) socket.destroy();
  await soon(closed, "a server closes");
}

/** Starts a server that ends, with its connections, after the test that runs. @returns the port */
export async function serving(server: Server, host?: string): Promise<number> {
  const sockets = socketsOf(server);
  onTestFinished(() => endServer(server, sockets));
  return listen(server, host);
}

/** An agent or a dispatcher that ends after the test that runs. */
export function ending<T extends { destroy(): unknown }>(agent: T): T {
  onTestFinished(async () => void (await agent.destroy()));
  return agent;
}

/** A real server on a free port. */
export abstract class TestServer {
  /** Sockets open now. */
  readonly open: ReadonlySet<Socket>;
  /** Sockets accepted since the last reset, of TLS those that finished their handshake. */
  connections = 0;
  protected readonly server: HttpServer | HttpsServer;

  constructor(server: HttpServer | HttpsServer = createServer()) {
    this.server = server;
    this.open = socketsOf(server);
    server.on("request", (request, response) => void this.handle(request, response));
    server.on(server instanceof HttpsServer ? "secureConnection" : "connection", () => {
      this.connections += 1;
    });
  }

  protected abstract handle(request: IncomingMessage, response: ServerResponse): unknown;

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async start(): Promise<this> {
    await listen(this.server);
    return this;
  }

  reset(): void {
    this.connections = 0;
  }

  close(): Promise<void> {
    return endServer(this.server, this.open);
  }
}

/** A server for the tests of the calling file, forgetting between them. */
export function useServer<T extends TestServer>(server: T): T {
  beforeAll(async () => void (await server.start()));
  beforeEach(() => server.reset());
  afterAll(() => server.close());
  return server;
}
