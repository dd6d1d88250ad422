// How a client sends on Node: over node:http or node:https, or over the caller's dispatcher or fetch function.
import type http from "node:http";
import { invalid } from "../../errors/statusError.js";
import { FormBlob, FormStream } from "../../files/multipart.js";
import type { ClientOptions, DispatcherLike } from "../../options/types.js";
import { memberOf, urlOf } from "../../values.js";
import {
  Exchange,
  networkCode,
  type Phase,
  respondedEarly,
  type SeenDetails,
  sourceFailed,
  type Transport,
  type TransportRequest,
} from "../exchange.js";
import { createFetchTransport } from "../fetch.js";
import { nextTurn } from "../time.js";
import { DispatcherExchange } from "../undici.js";
import { acceptEncodings, cutShort, DecodedResponse, SentForm } from "./body.js";
import { type Connecting, connecting } from "./connect.js";
import { refusedByAlert, refusedByProxy, textOf } from "./networkErrors.js";
import {
  type ConnectionOptions,
  defaultConnections,
  defaultKeepAliveMs,
  idleSince,
  idleUntil,
  OriginPools,
  type Pool,
  type PoolCall,
  type PooledSocket,
  probeMs,
  type SharedPool,
} from "./pool.js";
import {
  headersOf,
  holdErrorsOf,
  holdWriteErrors,
  ignoreErrors,
  isQueued,
  mockFor,
  rawHeader,
  turnsToConfirm,
} from "./quirks.js";

/**
 * Creates a transport over node:http and node:https, or over the caller's agent, dispatcher or fetch function.
 * @param names The names of the connection options. @throws StatusError
 */
export function createNodeTransport(own: ClientOptions, names: readonly (keyof ClientOptions)[]): Transport {
  const { maxConnections = defaultConnections, keepAliveMs = defaultKeepAliveMs } = own;
  const { dispatcher, agent, proxy } = own;
  // With a dispatcher, any other connection option conflicts. Without one, only `agent`, `fetch` and `proxy` do.
  const ways = names.filter(
    (name) => own[name] !== undefined && (own.dispatcher !== undefined || /^(agent|fetch|proxy)$/.test(name)),
  );
  if (ways.length > 1)
    throw invalid(ways[1], `${ways[0]} and ${ways[1]} cannot be used together: pass one of the two.`);
  // Fetch functions other than Node's may send a stream without its length: only a file on disk is sent as one, which
  // keeps it out of memory.
  if (own.fetch)
    return createFetchTransport(own.fetch, (form) =>
      Object.hasOwn(form.part.file, "isOnDisk")
        ? new FormStream(form, holdErrorsOf(form.contentType))
        : new FormBlob(form),
    );
  if (dispatcher !== undefined) {
    if (typeof memberOf(dispatcher, "dispatch") !== "function") {
      throw invalid("dispatcher", "dispatcher must have the method dispatch of undici 7 or 8.", {
        hint: "Pass a Pool, an Agent or a ProxyAgent of the package undici: classes of other packages may lack dispatch.",
      });
    }
    // The connections belong to the owner of the dispatcher.
    return { send: (request) => new DispatcherExchange(dispatcher as DispatcherLike, request), close() {} };
  }
  if (agent !== undefined && (typeof agent !== "object" || agent === null)) {
    throw invalid("agent", "agent must be an agent of node:http or node:https.");
  }
  const isUrl = typeof proxy === "string" && /^https?:\/\//i.test(proxy) && urlOf(proxy) !== undefined;
  // The error never shows the proxy's URL, which may hold a password.
  if (proxy !== undefined && proxy !== "env" && !isUrl)
    throw invalid("proxy", 'proxy must be a URL such as http://proxy.example.com:3128, or "env".');
  const options: ConnectionOptions = { maxConnections, keepAliveMs, agent, proxy };
  return new NodeTransport(options, new OriginPools(options), true);
}

class NodeTransport implements Transport {
  readonly secrets: readonly string[];
  readonly maxConnections: number | undefined;
  readonly ready: Transport["ready"];
  readonly #options: ConnectionOptions;
  readonly #origins: OriginPools;
  // Whether its client was made by `createClient`, not by `withOptions`.
  readonly #isFirst: boolean;
  readonly #isMockable: boolean;
  // The pools that this client uses, by origin. There are several only if `withOptions` changes the base URL.
  readonly #joined: Map<string, SharedPool> = new Map();

  constructor(options: ConnectionOptions, origins: OriginPools, isFirst: boolean) {
    const { agent, proxy, maxConnections } = options;
    this.secrets = origins.secrets;
    this.maxConnections = agent === undefined ? maxConnections : undefined;
    this.#options = options;
    this.#origins = origins;
    this.#isFirst = isFirst;
    this.#isMockable = agent === undefined && proxy === undefined;
    if (proxy !== undefined) this.ready = (url) => origins.load(url);
  }

  send(request: TransportRequest): Exchange {
    const mock = this.#isMockable ? mockFor(request.url) : undefined;
    if (mock) return new DispatcherExchange(mock, request);
    const shared = this.#joined.get(request.url.origin);
    const isOpen = shared !== undefined && shared.clients > 0 && !shared.pool.retired;
    return new NodeExchange(request, isOpen ? shared.pool : this.#join(request.url));
  }

  // Only its client refers to a derived transport, so it is garbage collected with a client that is never closed.
  derive(): Transport {
    return new NodeTransport(this.#options, this.#origins, false);
  }

  close(): void {
    if (this.#isFirst) this.#origins.leaveAll();
    // Closing the first client has set `clients` to 0: this client is then not subtracted a second time.
    else for (const shared of this.#joined.values()) if (shared.clients > 0) this.#origins.leave(shared, 1);
    this.#joined.clear();
  }

  #join(url: URL): Pool {
    const shared = this.#origins.join(url);
    this.#joined.set(url.origin, shared);
    return shared.pool;
  }
}

// Node joins a string body with the headers for one write, which copies it: one of so many characters becomes a Buffer.
const longText = 16_384;

/** One request in flight over node:http or node:https. */
export class NodeExchange extends Exchange<DecodedResponse> implements PoolCall {
  readonly #pool: Pool;
  declare protected body: SentForm | undefined;
  #message: http.ClientRequest | undefined;
  #incoming: http.IncomingMessage | undefined;
  #socket: PooledSocket | undefined;
  #reused = false;
  #connecting: Connecting | undefined;
  #connected = false;
  /** Whether the request waits for one of the sockets that the caller's agent already has. */
  isQueued = false;
  #letWritesFail: (() => void) | undefined;
  readonly fresh: boolean;

  constructor(request: TransportRequest, pool: Pool) {
    super(request);
    this.fresh = request.freshSocket === true;
    this.#pool = pool;
    pool.enter(this);
  }

  get phase(): Phase {
    if (this.response) return "body";
    if (!this.#connected) return "connect";
    return this.#message?.writableFinished ? "headers" : "send";
  }

  protected get heard(): number {
    return this.#socket?.bytesRead ?? 0;
  }

  /** Called by the pool once this call may use a connection. */
  start(fresh: boolean = this.fresh): void {
    const { request } = this;
    if (request === undefined) return;
    const { headers, body, form, lifetime } = request;
    if (form) this.body = new SentForm(form, lifetime.timeoutMs);
    acceptEncodings(headers, body);
    const isLong = typeof body === "string" && body.length >= longText;
    // Without a body, node:http itself adds what the method needs.
    const length = body === undefined ? form?.size : Buffer.byteLength(body);
    if (length !== undefined) headers["content-length"] = String(length);
    lifetime.started();
    try {
      const message = this.#pool.request(request, fresh);
      this.#message = message;
      message.on("error", (cause) => this.broken(cause));
      // The agent's own function, called meanwhile, has ended the call.
      if (this.request === undefined) {
        this.stop();
        return;
      }
      message.on("response", this.#receive);
      // The client asked for no upgrade. Without a listener, an upgrade would end the request without an error.
      message.on("upgrade", (response, socket) => {
        socket.destroy();
        this.#receive(response);
        this.ended();
      });
      message.on("socket", this.#take);
      this.isQueued = !message.reusedSocket && isQueued(message, this.#pool.agent);
      // The body of a queued request is written when it gets its socket: nothing is copied until then.
      if (!this.isQueued && this.body === undefined) message.end(isLong ? Buffer.from(body) : body);
      if (message.reusedSocket) return;
      this.#connecting = connecting(message, request, this.#pool, this);
    } catch (cause) {
      // An agent that cannot connect may throw at once; these codes stand for no agent, and one of the other protocol.
      const isAgents = /^ERR_INVALID_(ARG_TYPE|PROTOCOL)$/.test(networkCode(cause));
      const said = textOf(cause);
      const text = isAgents ? `agent cannot be used for an ${request.url.protocol} address: ${said}` : said;
      this.failed(text, { reason: isAgents ? "agent" : "network", cause });
    }
  }

  connected(): void {
    this.#connected = true;
  }

  override failed(text: string, details: SeenDetails): void {
    if (this.request === undefined) return;
    const reusedSocket = this.#reused && details.reason === undefined && this.phase !== "body";
    if (reusedSocket) this.#pool.endIdleAs(this.#socket);
    this.#free();
    super.failed(text, { reusedSocket, advice: this.#pool.advice, ...details });
    this.#pool.release(this, this.#message);
  }

  broken(cause: Error): void {
    const { response } = this;
    // The parser found invalid bytes after a complete response: the response counts all the same.
    if (this.#incoming?.complete && this.#message?.writableFinished && networkCode(cause).startsWith("HPE_"))
      return;
    // A proxy opened no tunnel for Node's own agent (NODE_USE_ENV_PROXY).
    const status = networkCode(cause) === "ERR_PROXY_TUNNEL" && memberOf(cause, "statusCode");
    if (typeof status === "number") this.failed(...refusedByProxy(status));
    // The server rejected the TLS handshake, which had seemed complete to the client: no connection was made.
    if (!response && refusedByAlert.test(networkCode(cause))) this.#connected = false;
    if (!response) this.failed(textOf(cause), { cause });
    else if (response.ok && this.#incoming?.complete) this.failed(respondedEarly, { cause });
    else this.cut(cutShort(cause), { cause });
  }

  protected early(): void {
    const message = this.#message;
    message?.once("finish", () => this.ended());
    // The request's socket may close without an error: Node stops reporting its errors once the response is read.
    message?.once("close", () => this.failed(respondedEarly, {}));
    this.body?.waitForRest(() => this.failed(respondedEarly, {}));
  }

  // Delivers the response once Node confirms that the request was sent, so that the next call finds its connection free;
  // after `turns` turns, anyway.
  protected override deliver(response: DecodedResponse, turns: number = turnsToConfirm): void {
    const message = this.#message as http.ClientRequest;
    const isFirst = this.request !== undefined;
    this.request = undefined;
    if (isFirst) this.#free();
    if (isFirst && this.#socket) {
      const now = performance.now();
      this.#socket[idleSince] = now;
      this.#socket[idleUntil] =
        now + this.#pool.keepMs(rawHeader(this.#incoming?.rawHeaders ?? [], "keep-alive"));
    }
    if (message.writableFinished) this.#pool.leave(this);
    else if (message.writableEnded && turns > 0) {
      nextTurn(() => this.deliver(response, turns - 1));
      return;
    } else this.#pool.leaveWhenSent(this, message);
    this.resolve(response);
  }

  readonly #take = (socket: PooledSocket): void => {
    const { request } = this;
    const message = this.#message;
    if (request === undefined || message === undefined) return;
    const isFirst = socket[idleSince] === undefined;
    this.#reused = message.reusedSocket || !isFirst;
    const isExpired = (socket[idleUntil] ?? Number.POSITIVE_INFINITY) <= performance.now();
    if (this.#reused && (request.freshSocket || isExpired)) {
      // Nothing was written to this socket, which must not be reused: it is closed, and the request takes a new one.
      message.removeAllListeners("error").on("error", () => {});
      this.#connecting?.end();
      socket.destroy();
      this.start(true);
      return;
    }
    this.#socket = socket;
    if (isFirst) {
      ignoreErrors(socket);
      // Node 20 and 22 pass this option of an agent only to TCP, not to TLS.
      if (this.#pool.isOwn && "encrypted" in socket) socket.setKeepAlive(true, probeMs);
    }
    if (this.#connecting) this.#connecting.take(socket);
    else this.#connected = true;
    const isHandshaken = this.#reused || request.url.protocol === "http:";
    const { body, form } = request;
    if (!isHandshaken || form || (typeof body === "string" ? body.length >= longText : body))
      this.#letWritesFail = holdWriteErrors(socket);
    if (this.body)
      this.body.send(message).catch((cause) => this.failed(sourceFailed(cause), { reason: "source", cause }));
    // In the next tick: within the `socket` event, Node would report the start twice to its diagnostics channel.
    else if (this.isQueued) process.nextTick(() => this.request && message.end(this.request.body));
  };

  readonly #receive = (message: http.IncomingMessage): void => {
    if (this.request === undefined) return;
    const encoding = rawHeader(message.rawHeaders, "content-encoding");
    const headers = (): Readonly<Record<string, string>> => headersOf(message);
    const { maxResponseBytes } = this.request;
    const response = new DecodedResponse(message.statusCode ?? 0, maxResponseBytes, encoding, headers);
    this.#incoming = message;
    this.response = response;
    message.on("data", (chunk: Buffer) => response.take(chunk, message, this));
    message.on("end", () => response.end(this));
    message.on("error", (cause) => this.broken(cause));
  };

  protected stop(): void {
    this.#message?.destroy();
  }

  #free(): void {
    this.body?.close();
    this.body = undefined;
    this.#letWritesFail?.();
    this.#connecting?.end();
  }
}
