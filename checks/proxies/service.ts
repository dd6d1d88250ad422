import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo, Server, Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import { certificate, certificateKey } from "../../test/support/certificate.js";

/** The service behind the proxies: it counts how often each call ran, and responds with the call's own name. */
export class Service {
  /** How often each call ran, by its name. */
  readonly ran: Map<string, number> = new Map();
  readonly #server: Server;
  readonly #sockets: Set<Socket> = new Set();

  constructor(secure = false) {
    const listener = (request: IncomingMessage, response: ServerResponse) => {
      this.#serve(request, response).catch(() => response.destroy());
    };
    // What is idle is the proxies' to end.
    const options = { keepAliveTimeout: 0, cert: certificate, key: certificateKey };
    this.#server = secure ? createSecureServer(options, listener) : createServer(options, listener);
    this.#server.on("connection", (socket: Socket) => {
      this.#sockets.add(socket.on("error", () => {}));
      socket.on("close", () => this.#sockets.delete(socket));
    });
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async start(port = 0): Promise<this> {
    await once(this.#server.listen(port, "127.0.0.1", 4096), "listening");
    return this;
  }

  async stop(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server.close(), "close");
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    const call = nameOf(request, body.toString());
    this.ran.set(call, (this.ran.get(call) ?? 0) + 1);
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ id: call, name: call, model: call, data: [], filename: call }));
  }
}

// A rerank has its name in its query; the others in their path. A proxy is sent the whole URL.
function nameOf({ url = "", headers }: IncomingMessage, body: string): string {
  const isForm = headers["content-type"]?.startsWith("application/x-www-form-urlencoded");
  // Stripe's client writes forms.
  if (url.endsWith("/rerank"))
    return isForm ? (new URLSearchParams(body).get("query") ?? "") : JSON.parse(body).query;
  return /([^/:]+):\w+$/.exec(url)?.[1] ?? url;
}
