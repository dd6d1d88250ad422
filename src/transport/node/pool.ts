// Pools of sockets to one origin: when a call may use a socket, which clients share a pool, and its agent and proxy.
import { AsyncResource } from "node:async_hooks";
import type http from "node:http";
import type { Socket } from "node:net";
import { longestTimerMs } from "../../options/arguments.js";
import type { ClientOptions } from "../../options/types.js";
import { isLoopback, WithoutPrototype } from "../../values.js";
import type { TransportRequest } from "../exchange.js";
import { nextTurn } from "../time.js";
import { watchTunnels } from "./connect.js";
import { proxyCredentialsOf, proxyFor, proxyVariable } from "./proxies.js";
import { environmentProxies, idleSockets, withoutIdle } from "./quirks.js";

// The defaults of options that only pools have.
export const defaultKeepAliveMs: number = 4_000;
export const defaultConnections: number = 128;

/** The options of connections. */
export interface ConnectionOptions extends Pick<ClientOptions, "agent" | "proxy"> {
  readonly maxConnections: number;
  readonly keepAliveMs: number;
}

/** How a pool connects, and how many calls use it at one time (`limit`). */
interface PoolOptions {
  readonly agent: http.Agent;
  /** The protocol, for agents that read it from a request; Node's own agents know theirs. */
  readonly protocol?: string | undefined;
  readonly limit: number;
  /** How long an idle socket is kept, in milliseconds; undefined if the agent's owner decides. */
  readonly keepAliveMs: number | undefined;
  /** Whether Node's own agent opens tunnels (NODE_USE_ENV_PROXY). */
  readonly tunnels?: boolean | undefined;
  /** What to advise if a connection is never established. */
  readonly advice?: string | undefined;
  readonly onEmpty?: () => void;
}

/** A call that waits for a connection or uses one: a new one if it is `fresh`. */
export interface PoolCall {
  readonly fresh: boolean;
  /** Called once the call may use a connection. */
  start(): void;
}

/** When a socket's last response ended; undefined before its first. */
export const idleSince: unique symbol = Symbol("idleSince");
/** Until when an idle socket may be reused. */
export const idleUntil: unique symbol = Symbol("idleUntil");

/** A socket that an agent keeps between requests. */
export type PooledSocket = Socket & { [idleSince]?: number; [idleUntil]?: number };

function idleMsLeft(socket: PooledSocket): number {
  return (socket[idleUntil] ?? Number.POSITIVE_INFINITY) - performance.now();
}

// How many milliseconds a request may still be written after its response: a server may never read the rest.
const longestWriteMs = 1000;
/** After how many idle milliseconds TCP probes a connection. */
export const probeMs = 30_000;
// With fewer calls in flight than this, a call starts at once, not a turn later: the server has little else to do.
const fewInFlight = 4;

/** The sockets to one origin. Limits how many calls use them at one time, and for how long idle sockets are kept. */
export class Pool {
  readonly agent: http.Agent;
  /** What to advise if a connection is never established. */
  readonly advice: string | undefined;
  /** Whether the agent was made here: a caller's agent is not changed. */
  readonly isOwn: boolean;
  /** The number of clients that have used this pool and are not closed. */
  clients = 0;
  /** True once no call and no socket is left: the next call uses a new pool. */
  retired = false;
  readonly #options: PoolOptions;
  readonly #module: typeof http;
  readonly #host: string;
  // The beginning of the names under which agents keep their sockets to this origin.
  readonly #prefix: string;
  readonly #waiting: Map<PoolCall, () => void> = new Map();
  // Requests whose responses arrived before they were written completely.
  readonly #unsent: Set<http.ClientRequest> = new Set();
  #atWork = 0;
  #sweeper: NodeJS.Timeout | undefined;

  constructor(options: PoolOptions, url: URL) {
    // Without a prototype: a polluted Object.prototype must not set an option.
    this.#options = Object.assign(new WithoutPrototype(), options);
    this.#module = moduleOf(url.protocol);
    this.agent = options.agent;
    this.advice = this.#options.advice;
    this.isOwn = options.keepAliveMs !== undefined;
    if (this.isOwn) {
      // The agent's limit of idle sockets is not an option of the agent, which copies its options into each request.
      this.agent.maxFreeSockets = options.limit;
      // Nothing is set when a pool is closed, so nothing is left to restore when clients use it again.
      const { keepSocketAlive } = this.agent as http.Agent & { keepSocketAlive(socket: Socket): unknown };
      Object.assign(this.agent, {
        keepSocketAlive: (socket: Socket) => this.clients > 0 && keepSocketAlive.call(this.agent, socket),
      });
    }
    this.#host = url.hostname.replace(/^\[(.*)\]$/, "$1");
    this.#prefix = `${this.#host}:${url.port || (url.protocol === "https:" ? 443 : 80)}:`;
  }

  /**
   * Lets a call start: at the limit, when another call has left; else at once, if few are in flight, or after the responses
   * that have arrived are read: requests sent together cost a fifth less than requests that each wake the server.
   */
  enter(call: PoolCall, isNext = false): void {
    if (!isNext && (this.#atWork >= this.#options.limit || this.#waiting.size > 0)) {
      // Bound to this call's async context: traces would otherwise see that of the call whose end starts this one.
      this.#waiting.set(
        call,
        AsyncResource.bind(() => this.enter(call, true)),
      );
      return;
    }
    // A call that opens a new connection closes the one that was idle longest.
    const oldest = call.fresh ? this.#idle().find(({ destroyed }) => !destroyed) : undefined;
    oldest?.destroy();
    if (++this.#atWork <= fewInFlight || call.fresh || isNext) call.start();
    else nextTurn(() => call.start());
  }

  /** Ends a call's wait for a connection, or lets another call start in its place. */
  leave(call: PoolCall): void {
    if (this.#waiting.delete(call)) return;
    this.#atWork--;
    const { keepAliveMs } = this.#options;
    // Without clients or keep-alive no socket is left to sweep.
    if ((this.clients === 0 || keepAliveMs === 0) && !this.#isAtWork) this.#retire();
    else if (this.#sweeper === undefined && keepAliveMs) this.#sweepLater(keepAliveMs);
    // The waiting call can reuse the socket of the call that left, which becomes idle only in the next turn.
    if (this.#waiting.size > 0) nextTurn(() => this.#next());
  }

  /** Ends a call's request. The next call starts once the request's socket is closed; without one, in the next turn. */
  release(call: PoolCall, message: http.ClientRequest | undefined): void {
    const leave = () => this.leave(call);
    if (message === undefined || message.closed) leave();
    else if (message.socket) message.once("close", leave);
    else nextTurn(leave);
    message?.destroy();
  }

  /**
   * Releases a call whose response came before its request was written. Its connection serves other calls once it is, and
   * is closed if not all bytes were passed to Node, or the server does not take them.
   */
  leaveWhenSent(call: PoolCall, message: http.ClientRequest): void {
    if (this.clients === 0 || !message.writableEnded) {
      this.release(call, message);
      return;
    }
    this.#unsent.add(message);
    const timer = setTimeout(() => message.destroy(), longestWriteMs);
    message.once("close", () => {
      clearTimeout(timer);
      this.#unsent.delete(message);
      this.leave(call);
    });
  }

  /** Creates a request, without its body. @param fresh Whether to use a new connection. */
  request(request: TransportRequest, fresh: boolean): http.ClientRequest {
    const { agent, protocol, tunnels } = this.#options;
    const module = this.#module;
    const { method, url, headers } = request;
    const options: http.RequestOptions = {
      hostname: this.#host,
      port: url.port,
      path: url.pathname + url.search,
      method,
      agent,
      headers,
    };
    // Each further option costs about 2 µs a request: agents copy them into an object without a prototype.
    if (protocol !== undefined) options.protocol = protocol;
    // http.request also reads options from a polluted Object.prototype: the loop runs only if that has any.
    for (const name in Object.prototype)
      if (!Object.hasOwn(options, name)) Object.assign(options, { [name]: undefined });
    // Without a timeout Node would wait for a tunnel for ever.
    if (tunnels) options.timeout = Math.min(request.connectTimeoutMs, longestTimerMs);
    return fresh ? withoutIdle(agent, () => module.request(options)) : module.request(options);
  }

  /** How long an idle socket may be reused: at most a second less than a header such as `Keep-Alive: timeout=5` says. */
  keepMs(announced: string | undefined): number {
    const { keepAliveMs } = this.#options;
    if (keepAliveMs === undefined) return Number.POSITIVE_INFINITY;
    const seconds = announced && /(?:^|[\s,;])timeout\s*=\s*"?(\d+)/i.exec(announced)?.[1];
    return seconds ? Math.min(keepAliveMs, Number(seconds) * 1000 - 1000) : keepAliveMs;
  }

  #endIdle(which: (socket: PooledSocket) => boolean): void {
    for (const socket of this.#idle()) if (which(socket)) socket.destroy();
  }

  /** Closes the sockets that have been idle for at least as long as `lost`, a socket that the server had closed. */
  endIdleAs(lost: PooledSocket | undefined): void {
    const since = lost?.[idleSince] ?? Number.NEGATIVE_INFINITY;
    this.#endIdle((socket) => (socket[idleSince] ?? 0) <= since);
  }

  /** Closes the idle sockets now, and each other socket when its request ends: the limit counts it until then. */
  close(): void {
    this.#endIdle(() => true);
    this.endUnsent();
    if (!this.#isAtWork) this.#retire();
  }

  /** Closes the connections of requests whose responses arrived before the requests were written completely. */
  endUnsent(): void {
    for (const message of this.#unsent) message.destroy();
  }

  get #isAtWork(): boolean {
    return this.#atWork > 0 || this.#waiting.size > 0;
  }

  #idle(): PooledSocket[] {
    return idleSockets(this.agent, this.#prefix);
  }

  #next(): void {
    for (const [call, admit] of this.#waiting) {
      if (this.#atWork >= this.#options.limit) return;
      this.#waiting.delete(call);
      admit();
    }
  }

  #sweepLater(ms: number): void {
    const sweeper = setTimeout(() => this.#sweep(), ms);
    // In a window of Electron a timer is a number, which has no `unref`.
    sweeper.unref?.();
    this.#sweeper = sweeper;
  }

  #sweep(): void {
    this.#endIdle((socket) => idleMsLeft(socket) <= 0);
    const { keepAliveMs = 0 } = this.#options;
    const left = this.#idle().map(idleMsLeft);
    if (!this.#isAtWork && left.length === 0) this.#retire();
    // Sweeps again when the next socket expires, but at most four times per `keepAliveMs`, even with many sockets.
    else this.#sweepLater(Math.max(Math.min(keepAliveMs, ...left), keepAliveMs / 4));
  }

  #retire(): void {
    clearTimeout(this.#sweeper);
    this.retired = true;
    this.#options.onEmpty?.();
  }
}

// The class of the agents for proxies, loaded on first use.
let ProxyAgent: typeof import("https-proxy-agent").HttpsProxyAgent | undefined;

// The pools that clients with the same options share, by origin and options. A pool is kept while something is open.
const pools = new Map<string, Pool>();

/** A pool, and how many open clients of one family use it: a client and those made from it with `withOptions`. */
export interface SharedPool {
  readonly pool: Pool;
  clients: number;
}

/** The pools and the proxies of one family of clients. */
export class OriginPools {
  readonly secrets: string[] = [];
  readonly #options: ConnectionOptions;
  readonly #pools: Map<string, SharedPool> = new Map();
  // The proxy for each origin, read once, because the environment may change later.
  readonly #proxies: Map<string, URL | undefined> = new Map();

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  /** Counts one more client of the pool for an address. @throws TransportFailure */
  join(url: URL): SharedPool {
    let shared = this.#pools.get(url.origin);
    if (shared === undefined || shared.pool.retired) {
      shared = { pool: this.#poolOf(url), clients: 0 };
      this.#pools.set(url.origin, shared);
    }
    shared.clients++;
    shared.pool.clients++;
    return shared;
  }

  /** Subtracts `clients` from the count. With the last, idle sockets are closed, except those of the caller's agent. */
  leave(shared: SharedPool, clients: number): void {
    shared.clients -= clients;
    shared.pool.clients -= clients;
    if (shared.pool.clients > 0) return;
    if (this.#options.agent === undefined) shared.pool.close();
    else shared.pool.endUnsent();
  }

  leaveAll(): void {
    for (const shared of this.#pools.values()) this.leave(shared, shared.clients);
    this.#pools.clear();
  }

  // The pool that clients with the same options share; or one for the caller's agent, whose own limits apply.
  #poolOf(url: URL): Pool {
    const { maxConnections, keepAliveMs } = this.#options;
    const agent = this.#options.agent as http.Agent | undefined;
    const proxy = this.#proxyTo(url);
    if (agent !== undefined) {
      const { maxSockets: limit = Number.POSITIVE_INFINITY } = agent;
      if ("connect" in agent) watchTunnels(agent, false);
      return new Pool({ agent, protocol: url.protocol, limit, keepAliveMs: undefined }, url);
    }
    const key = `${url.origin} ${maxConnections} ${keepAliveMs} ${proxy?.href}`;
    const shared = pools.get(key);
    if (shared !== undefined) return shared;
    const onEmpty = () => {
      // By now, clients with the same options may share another pool, which stays.
      if (pools.get(key) === pool) pools.delete(key);
    };
    const made = agentFor(url, this.#options, proxy);
    const pool = new Pool({ ...made, limit: maxConnections, keepAliveMs, onEmpty }, url);
    pools.set(key, pool);
    return pool;
  }

  /** Loads the agent for proxies; undefined if it is loaded already or not needed. */
  load(url: URL): Promise<void> | undefined {
    if (ProxyAgent !== undefined || !this.#isProxied(url)) return undefined;
    return import("https-proxy-agent").then((part) => {
      ProxyAgent = part.HttpsProxyAgent;
    });
  }

  #isProxied(url: URL): boolean {
    return this.#options.proxy !== undefined && !isLoopback(url.hostname);
  }

  #proxyTo(url: URL): URL | undefined {
    if (this.#proxies.has(url.origin) || !this.#isProxied(url)) return this.#proxies.get(url.origin);
    const proxy = proxyFor(url, this.#options.proxy as string);
    this.#proxies.set(url.origin, proxy);
    if (proxy !== undefined) this.secrets.push(...proxyCredentialsOf(proxy));
    return proxy;
  }
}

// Makes the agent for clients that have none of their own. This is the only place that makes one.
function agentFor(
  url: URL,
  { keepAliveMs }: ConnectionOptions,
  proxy: URL | undefined,
): Pick<PoolOptions, "agent" | "protocol" | "tunnels" | "advice"> {
  const { protocol } = url;
  const module = moduleOf(protocol);
  // TCP probes begin after 30 s: with Node's 1 s, a network that is gone for 12 s ends every call.
  const keepAlive = { keepAlive: keepAliveMs > 0, keepAliveMsecs: probeMs };
  if (proxy !== undefined && ProxyAgent !== undefined) {
    // Every connection of this agent is a tunnel (CONNECT) through the proxy, for http as for https.
    const agent: http.Agent = new ProxyAgent(proxy, keepAlive);
    watchTunnels(agent, true);
    return { agent, protocol, advice: "The connection goes through a proxy: check that too." };
  }
  const proxyEnv = environmentProxies(module);
  if (proxyEnv === undefined) return { agent: new module.Agent(keepAlive), advice: unusedProxy(url) };
  const agent = new module.Agent({ ...keepAlive, proxyEnv } as http.AgentOptions);
  const tunnels = protocol === "https:";
  if (tunnels) watchTunnels(agent, true);
  return { agent, protocol, tunnels };
}

// Advice if a variable names a proxy, which this client does not use: the address may be reachable only through it.
function unusedProxy(url: URL): string | undefined {
  if (isLoopback(url.hostname)) return undefined;
  const name = proxyVariable(url, process.env);
  return name && `${name} is set, which this client does not use: pass proxy: "env".`;
}

// getBuiltinModule lets instrumentation patch the modules, and plain http never loads TLS.
function moduleOf(protocol: string): typeof http {
  return process.getBuiltinModule(`node:${protocol.slice(0, -1)}`) as typeof http;
}
