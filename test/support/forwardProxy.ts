import { once } from "node:events";
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { listen } from "./servers.js";
import { soon } from "./turns.js";

/** What a proxy was asked for: a tunnel to an authority, or a request for a whole URL. */
export interface Forwarded {
  readonly method: string;
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
}

/** A real proxy on a free port: it opens tunnels (CONNECT) and passes plain requests on. */
export class ForwardProxy {
  seen: Forwarded[] = [];
  /** The status it refuses everything with, when set. */
  refusal: number | undefined;
  readonly #sockets: Set<Socket> = new Set();
  readonly #server: Server = createServer((inbound, response) => this.#pass(inbound, response));

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async start(): Promise<void> {
    this.#server.on("connect", (inbound, socket, head) => this.#tunnel(inbound, socket as Socket, head));
    await listen(this.#server);
  }

  reset(): void {
    this.seen = [];
    this.refusal = undefined;
  }

  async close(): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    for (const socket of this.#sockets) socket.destroy();
    await soon(closed, "the proxy closes");
  }

  #note({ method = "", url: target = "", headers }: IncomingMessage): void {
    this.seen.push({ method, target, headers });
  }

  #tunnel(inbound: IncomingMessage, socket: Socket, head: Buffer): void {
    this.#note(inbound);
    if (this.refusal !== undefined) {
      socket.end(`HTTP/1.1 ${this.refusal} Refused\r\ncontent-length: 0\r\n\r\n`);
      return;
    }
    const { hostname, port } = new URL(`http://${inbound.url}`);
    // The one name that it knows by itself: of this machine, and yet not a name that is never proxied.
    const host = hostname === "service.test" ? "127.0.0.1" : hostname;
    const upstream = connect({ host, port: Number(port) }, () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      upstream.write(head);
      upstream.pipe(socket).pipe(upstream);
    });
    for (const one of [socket, upstream]) {
      this.#sockets.add(one);
      one
        .on("error", () => {})
        .on("close", () => {
          this.#sockets.delete(one);
          socket.destroy();
          upstream.destroy();
        });
    }
  }

  #pass(inbound: IncomingMessage, response: ServerResponse): void {
    this.#note(inbound);
    if (this.refusal !== undefined) {
      response.writeHead(this.refusal).end();
      return;
    }
    const { method, headers } = inbound;
    const onward = request(inbound.url ?? "", { method, headers }, (upstream) => {
      response.writeHead(upstream.statusCode ?? 502, upstream.headers);
      upstream.pipe(response);
    });
    onward.on("error", () => response.destroy());
    inbound.pipe(onward);
  }
}

/** A proxy for the tests of the calling file, forgetting between them. */
export function useForwardProxy(): ForwardProxy {
  const proxy = new ForwardProxy();
  beforeAll(() => proxy.start());
  beforeEach(() => proxy.reset());
  afterAll(() => proxy.close());
  return proxy;
}
