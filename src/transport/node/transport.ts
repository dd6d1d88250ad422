// The connections of a client on Node: those of its own agents, or the caller's agent, dispatcher or fetch function.
import type http from "node:http";
import { invalid } from "../../errors/statusError.js";
import { FormBlob, FormStream } from "../../files/multipart.js";
import type { DispatcherLike } from "../../options/types.js";
import { isLoopback, urlOf } from "../../values.js";
import type { Exchange, Transport, TransportOptions, TransportRequest } from "../exchange.js";
import { createFetchTransport } from "../fetch.js";
import { watchTunnels } from "./connect.js";
import { Pool, type PoolOptions } from "./pool.js";
import { proxyCredentialsOf, proxyFor, proxyVariable } from "./proxies.js";
import { environmentProxies, mockFor } from "./quirks.js";
import { NodeExchange } from "./send.js";

/**
 * Creates a transport over node:http and node:https, or over the caller's agent, dispatcher or fetch function. Sockets
 * are kept alive.
 * @param given The names of the connection options that the caller gave.
 * @throws StatusError
 */
export function createNodeTransport(options: TransportOptions, given: readonly string[]): Transport {
  const ways = given.filter((name) => options.dispatcher !== undefined || /^(agent|fetch|proxy)$/.test(name));
  if (ways.length > 1)
    throw invalid(`${ways[0]} and ${ways[1]} cannot be used together: pass one of the two.`);
  // Node's `fetch` sends a stream with its length; other functions may not. So only a file on disk is sent as a stream,
  // and a file in memory as a Blob.
  if (options.fetch)
    return createFetchTransport(options.fetch, (form) =>
      Object.hasOwn(form.part.file, "isOnDisk") ? new FormStream(form) : new FormBlob(form),
    );
  if (options.dispatcher !== undefined) return createDispatcherTransport(options.dispatcher);
  checkOptions(options);
  return new NodeTransport(options, new OriginPools(options), true);
}

class NodeTransport implements Transport {
  readonly secrets: readonly string[];
  readonly maxConnections: number | undefined;
  readonly #options: TransportOptions;
  readonly #origins: OriginPools;
  readonly #isFirst: boolean;
  readonly #isMockable: boolean;
  // The pools that this client uses, by origin. There are several only if `withOptions` changes the base URL.
  readonly #joined: Map<string, SharedPool> = new Map();

  constructor(options: TransportOptions, origins: OriginPools, isFirst: boolean) {
    const { agent, proxy, maxConnections } = options;
    this.secrets = origins.secrets;
    this.maxConnections = agent === undefined ? maxConnections : undefined;
    this.#options = options;
    this.#origins = origins;
    this.#isFirst = isFirst;
    this.#isMockable = agent === undefined && proxy === undefined;
  }

  ready(url: URL): Promise<void> | undefined {
    if (this.#isMockable) return mockFor(url) && readyToDispatch();
    return this.#options.proxy === undefined ? undefined : this.#origins.load(url);
  }

  send(request: TransportRequest): Exchange {
    // If there is a mock, `ready` has loaded the module that sends through it.
    const mock = this.#isMockable && undici !== undefined ? mockFor(request.url) : undefined;
    if (mock) return dispatch(mock, request);
    const shared = this.#joined.get(request.url.origin);
    const isOpen = shared !== undefined && shared.clients > 0 && !shared.pool.retired;
    return new NodeExchange(request, isOpen ? shared.pool : this.#join(request.url));
  }

  // Nothing else refers to a derived transport, so one that is never closed is garbage collected with its client.
  derive(): Transport {
    return new NodeTransport(this.#options, this.#origins, false);
  }

  close(): void {
    if (this.#isFirst) this.#origins.leaveAll();
    // Once the first client's transport is closed, this transport is no longer counted, so nothing is subtracted.
    else for (const shared of this.#joined.values()) if (shared.clients > 0) this.#origins.leave(shared, 1);
    this.#joined.clear();
  }

  #join(url: URL): Pool {
    const shared = this.#origins.join(url);
    this.#joined.set(url.origin, shared);
    return shared.pool;
  }
}

// The module for dispatchers, loaded on first use.
let undici: typeof import("../undici.js") | undefined;

async function loadUndici(): Promise<void> {
  undici = await import("../undici.js");
}

// Creates a transport over the caller's dispatcher. Its connections belong to the owner of the dispatcher.
function createDispatcherTransport(dispatcher: unknown): Transport {
  const isObject = typeof dispatcher === "object" && dispatcher !== null;
  if (!isObject || typeof (dispatcher as Partial<DispatcherLike>).dispatch !== "function") {
    throw invalid("dispatcher must have the method dispatch of undici 6, 7 or 8.", {
      hint: "Pass a Pool, an Agent or a ProxyAgent of the package undici: classes of other packages may lack dispatch.",
    });
  }
  const send = (request: TransportRequest): Exchange => dispatch(dispatcher as DispatcherLike, request);
  return { ready: readyToDispatch, send, close() {} };
}

// Loads the module for dispatchers; undefined if it is loaded already.
function readyToDispatch(): Promise<void> | undefined {
  return undici === undefined ? loadUndici() : undefined;
}

// Sends a request through a dispatcher. `undici` must be loaded.
function dispatch(dispatcher: DispatcherLike, request: TransportRequest): Exchange {
  const { DispatcherExchange } = undici as NonNullable<typeof undici>;
  return new DispatcherExchange(dispatcher, request);
}

// Checks `agent` and `proxy`. The error never shows the proxy's URL, which may hold a password.
function checkOptions({ agent, proxy }: TransportOptions): void {
  if (agent !== undefined && (typeof agent !== "object" || agent === null)) {
    throw invalid("agent must be an agent of node:http or node:https.");
  }
  if (proxy === undefined || proxy === "env") return;
  if (typeof proxy !== "string" || !/^https?:\/\//i.test(proxy) || urlOf(proxy) === undefined) {
    throw invalid('proxy must be a URL such as http://proxy.example.com:3128, or "env".');
  }
}

// The agent for proxies, loaded on first use.
let ProxyAgent: typeof import("https-proxy-agent").HttpsProxyAgent | undefined;

async function loadProxyAgent(): Promise<void> {
  ({ HttpsProxyAgent: ProxyAgent } = await import("https-proxy-agent"));
}

// The pools that clients with the same options share, by origin and options. A pool is kept while something is open.
const pools = new Map<string, Pool>();

/** A pool, and how many open clients of one family use it: a client and those made from it with `withOptions`. */
interface SharedPool {
  readonly pool: Pool;
  clients: number;
}

/** The pools and the proxies of a client and of those made from it with `withOptions`. */
class OriginPools {
  readonly secrets: string[] = [];
  readonly #options: TransportOptions;
  readonly #pools: Map<string, SharedPool> = new Map();
  // The proxy for each origin, read once, because the environment may change later.
  readonly #proxies: Map<string, URL | undefined> = new Map();

  constructor(options: TransportOptions) {
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

  /**
   * Subtracts `clients` from the count. When none is left, idle sockets are closed, except those of the caller's agent.
   */
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

  // The pool that clients with the same options share, or a pool for the caller's agent.
  #poolOf(url: URL): Pool {
    const { agent } = this.#options;
    const proxy = this.#proxyTo(url);
    return agent === undefined ? sharedPool(url, this.#options, proxy) : callersPool(url, agent);
  }

  /** Loads the agent for proxies; undefined if it is loaded already or not needed. */
  load(url: URL): Promise<void> | undefined {
    return ProxyAgent === undefined && this.#isProxied(url) ? loadProxyAgent() : undefined;
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

function sharedPool(url: URL, options: TransportOptions, proxy: URL | undefined): Pool {
  const { maxConnections, keepAliveMs } = options;
  const key = `${url.origin} ${maxConnections} ${keepAliveMs} ${proxy?.href}`;
  let pool = pools.get(key);
  if (pool === undefined) {
    const { agent, protocol, tunnels, advice } = agentFor(url, options, proxy);
    const onEmpty = () => {
      // By now, clients with the same options may share another pool.
      if (pools.get(key) === pool) pools.delete(key);
    };
    const module = moduleOf(url.protocol);
    const limits = { limit: maxConnections, keepAliveMs };
    pool = new Pool({ module, agent, protocol, tunnels, ...limits, onEmpty, advice }, url);
    pools.set(key, pool);
  }
  // The pool itself limits connections. The agent's limit of idle sockets is set here, not as an option, because an
  // agent copies its options into each request. A closed pool, which set the limit to 0, may be used again while it has
  // calls.
  pool.agent.maxFreeSockets = maxConnections;
  return pool;
}

// A pool for the caller's agent: the agent's own limits apply, and its idle sockets belong to its owner.
function callersPool(url: URL, callers: object): Pool {
  const agent = callers as http.Agent;
  const { maxSockets: limit = Number.POSITIVE_INFINITY } = agent;
  if ("connect" in agent) watchTunnels(agent, false);
  const { protocol } = url;
  return new Pool({ module: moduleOf(protocol), agent, protocol, limit, keepAliveMs: undefined }, url);
}

// Makes the agent for clients that have none of their own. This is the only place that makes one.
function agentFor(
  url: URL,
  { keepAliveMs }: TransportOptions,
  proxy: URL | undefined,
): Pick<PoolOptions, "agent" | "protocol" | "tunnels" | "advice"> {
  const { protocol } = url;
  const module = moduleOf(protocol);
  const keepAlive = keepAliveMs > 0;
  if (proxy !== undefined && ProxyAgent !== undefined) {
    // Every connection of this agent is a tunnel (CONNECT) through the proxy, for http as for https.
    const agent: http.Agent = new ProxyAgent(proxy, { keepAlive });
    watchTunnels(agent, true);
    return { agent, protocol, advice: "The connection goes through a proxy: check that too." };
  }
  const proxyEnv = environmentProxies(module);
  if (proxyEnv === undefined) return { agent: new module.Agent({ keepAlive }), advice: unusedProxy(url) };
  const agent = new module.Agent({ keepAlive, proxyEnv } as http.AgentOptions);
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

// Returns node:http or node:https. getBuiltinModule lets instrumentation patch them, and plain http never loads TLS.
function moduleOf(protocol: string): typeof http {
  return process.getBuiltinModule(`node:${protocol.slice(0, -1)}`) as typeof http;
}
