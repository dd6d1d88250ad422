import { EventEmitter, once } from "node:events";
import http, { type RequestListener, type ServerResponse } from "node:http";
import https from "node:https";
import { type AddressInfo, connect, type LookupFunction, type Server, type Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { HttpsProxyAgent } from "https-proxy-agent";
import { Agent, ProxyAgent } from "undici";
import type { RowResponse } from "../../src/conformance/data.js";
import type { ClientOptions } from "../../src/index.js";
import { certificate, certificateKey, expiredCertificate } from "./certificate.js";
import { readByClient } from "./clientSockets.js";
import type { RowServer } from "./decisionRows.js";
import { listen } from "./servers.js";
import { soon } from "./turns.js";

/** What a client sends with. */
type Way = Pick<ClientOptions, "agent" | "dispatcher">;

/** A real server on a free port that behaves as one row says and counts the requests it saw. */
export class ServerOfRow {
  /** Requests whose headers came. */
  requests = 0;
  /** "stalled" once the client has taken in all that it will ever be sent. */
  readonly events: EventEmitter = new EventEmitter();
  readonly #row: RowServer;
  readonly #server: Server;
  readonly #sockets: Set<Socket> = new Set();
  readonly #ends: (() => unknown)[] = [];
  readonly #isDispatched: boolean;
  #refusing: Socket | undefined;

  /** @param isDispatched Whether the client sends through a dispatcher of undici's. */
  constructor(row: RowServer, isDispatched = false) {
    this.#row = row;
    this.#isDispatched = isDispatched;
    const listener: RequestListener = (request, response) => {
      this.requests += 1;
      request.on("error", () => {});
      response.on("error", () => {});
      buffer(request).then(
        () => this.#respond(response),
        () => {},
      );
    };
    this.#server = this.#secure
      ? https.createServer(
          { cert: this.#certificate, key: certificateKey, requestCert: this.#wantsCertificate },
          listener,
        )
      : http.createServer(listener);
    const refusal = tunnelStatuses[this.#network ?? ""];
    this.#server.on("connect", (_request, socket: Socket) =>
      socket.end(`HTTP/1.1 ${refusal} No\r\ncontent-length: 0\r\n\r\n`),
    );
  }

  get #secure(): boolean {
    return (
      ["tls-untrusted", "tls-expired", "tls-other-name"].includes(this.#network ?? "") ||
      this.#wantsCertificate
    );
  }

  get #certificate(): string {
    return this.#network === "tls-expired" ? expiredCertificate : certificate;
  }

  get #wantsCertificate(): boolean {
    return this.#network === "tls-certificate-wanted";
  }

  async start(): Promise<this> {
    this.#server.on("connection", (socket: Socket) => {
      this.#sockets.add(socket);
      socket.on("error", () => {}).on("close", () => this.#sockets.delete(socket));
      if (this.#network === "tls-closed") socket.destroy();
    });
    await listen(this.#server);
    if (this.#network === "refused") await this.#refuse();
    return this;
  }

  /** Where the client of this row finds its server. */
  get options(): ClientOptions & { readonly baseUrl: string } {
    const { port } = this.#server.address() as AddressInfo;
    switch (this.#network) {
      case "refused":
        return { baseUrl: `http://127.0.0.1:${this.#refusing?.localPort}`, ...this.#over({}) };
      case "tls-untrusted":
      case "tls-not-spoken":
      case "tls-closed":
        return { baseUrl: `https://localhost:${port}`, ...this.#over({}) };
      case "tls-certificate-wanted":
      case "tls-expired":
        return { baseUrl: `https://localhost:${port}`, ...this.#over({ ca: this.#certificate }) };
      // The client asks for another host than the certificate names.
      case "tls-other-name":
        return {
          baseUrl: `https://localhost:${port}`,
          ...this.#over({ ca: certificate, servername: "service.invalid" }),
        };
      case "tunnel-failed":
      case "tunnel-refused":
      case "tunnel-credentials":
        return { baseUrl: "https://service.invalid", ...this.#through(`http://127.0.0.1:${port}`) };
      case "name-not-found":
        return this.#resolving((_name, _options, done) => setImmediate(done, failure("ENOTFOUND"), ""));
      case "name-server-busy":
        return this.#resolving((_name, _options, done) => setImmediate(done, failure("EAI_AGAIN"), ""));
      case "connect-stalls":
        return this.#resolving(() => {});
      default:
        return { baseUrl: `http://127.0.0.1:${port}`, ...this.#over({}) };
    }
  }

  async close(): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#refusing?.destroy();
    for (const end of this.#ends) await end();
    for (const socket of this.#sockets) socket.destroy();
    await soon(closed, "the server closes");
  }

  get #network(): string | undefined {
    return "network" in this.#row ? this.#row.network : undefined;
  }

  // The near end of a connection: its port is taken, and nobody listens there.
  async #refuse(): Promise<void> {
    this.#refusing = connect((this.#server.address() as AddressInfo).port, "127.0.0.1");
    await soon(once(this.#refusing, "connect"), "a connection is made");
  }

  #resolving(lookup: LookupFunction): ClientOptions & { readonly baseUrl: string } {
    return { baseUrl: "http://nowhere.invalid", allowInsecureHttp: true, ...this.#over({ lookup }) };
  }

  // What connects so, as far as the platform's own does not.
  #over(connect: {
    readonly ca?: string;
    readonly servername?: string;
    readonly lookup?: LookupFunction;
  }): Way {
    if (this.#isDispatched) return { dispatcher: this.#ending(new Agent({ connect })) };
    const { lookup, ...secure } = connect;
    if (secure.ca) return { agent: this.#ending(new https.Agent(secure)) };
    return lookup ? { agent: this.#ending(new http.Agent({ lookup } as http.AgentOptions)) } : {};
  }

  #through(proxy: string): Way {
    if (this.#isDispatched) return { dispatcher: this.#ending(new ProxyAgent(proxy)) };
    return { agent: this.#ending(new HttpsProxyAgent(proxy)) };
  }

  // Ended together with the server.
  #ending<T extends { destroy(): unknown }>(agent: T): T {
    this.#ends.push(() => agent.destroy());
    return agent;
  }

  #respond(response: ServerResponse): void {
    if ("answer" in this.#row) whole(response, this.#row.answer);
    else if (this.#row.network in stalling) void this.#stall(stalling[this.#row.network], response);
    else broken[this.#row.network]?.(response);
  }

  async #stall(begin: Responder | undefined, response: ServerResponse): Promise<void> {
    begin?.(response);
    await readByClient(response.socket);
    this.events.emit("stalled");
  }
}

const tunnelStatuses: Readonly<Record<string, number>> = {
  "tunnel-failed": 503,
  "tunnel-refused": 403,
  "tunnel-credentials": 407,
};

function failure(code: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`getaddrinfo ${code}`), { code, syscall: "getaddrinfo" });
}

function whole(response: ServerResponse, { status, headers, body, text }: RowResponse): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(text ?? (body === undefined ? "" : JSON.stringify(body)));
}

type Responder = (response: ServerResponse) => void;

const stalling: Readonly<Record<string, Responder>> = {
  silence: () => {},
  "body-stalls": (response) => {
    response.writeHead(200);
    response.write("{");
  },
};

// A listed network behaviour that is missing here sends no response, so its row never ends.
const broken: Readonly<Record<string, Responder>> = {
  "reset-before-headers": ({ socket }) => socket?.resetAndDestroy(),
  "close-before-headers": ({ socket }) => socket?.destroy(),
  "body-truncated": (response) => {
    response.writeHead(200, { "content-length": "100" });
    response.write('{"object":', () => response.destroy());
  },
  "body-chunk-cut": (response) => {
    response.writeHead(200);
    response.write("{}", () => response.destroy());
  },
  "body-reset": (response) => {
    response.writeHead(200, { "content-length": "100" });
    response.write('{"object":');
    // A reset overtakes what was sent: the beginning of the response is let through first.
    void readByClient(response.socket).then(() => response.socket?.resetAndDestroy());
  },
  "body-bad-gzip": (response) => {
    response.writeHead(200, { "content-encoding": "gzip" });
    response.end('{"object":"list"}');
  },
  "body-endless": (response) => {
    response.writeHead(200, { "content-encoding": "gzip" });
    // On Node 26 a write after the client has gone fails before the response is destroyed.
    const more = (error?: Error | null) => {
      if (!error && !response.destroyed) response.write(megabyte, more);
    };
    more();
  },
};

// Sent again and again: a gzip body may have many members.
const megabyte = gzipSync(Buffer.alloc(1024 * 1024, " "));
