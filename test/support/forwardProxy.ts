import { type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from "node:http";
import { connect } from "node:net";
import type { Duplex } from "node:stream";
import { TestServer, useServer } from "./servers.js";

/** What a proxy was asked for: a tunnel to an authority, or a request for a whole URL. */
interface Forwarded {
  readonly method: string;
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
}

/** A proxy that opens tunnels (CONNECT) and passes plain requests on. */
class ForwardProxy extends TestServer {
  seen: Forwarded[] = [];
  /** The status it refuses everything with, when set. */
  refusal: number | undefined;

  constructor() {
    super();
    this.server.on("connect", (inbound, socket, head) => this.#tunnel(inbound, socket, head));
  }

  override reset(): void {
    super.reset();
    this.seen = [];
    this.refusal = undefined;
  }

  #note({ method = "", url: target = "", headers }: IncomingMessage): void {
    this.seen.push({ method, target, headers });
  }

  #tunnel(inbound: IncomingMessage, socket: Duplex, head: Buffer): void {
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
    upstream.on("error", () => {}).on("close", () => socket.destroy());
    socket.on("close", () => upstream.destroy());
  }

  protected handle(inbound: IncomingMessage, response: ServerResponse): void {
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
  return useServer(new ForwardProxy());
}
