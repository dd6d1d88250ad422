// The pool of an origin: made with its first call, and shared.
import type http from "node:http";
import { isLoopback, memberOf } from "../../values.js";
import { TransportFailure, type TransportOptions } from "../transport.js";
import { sharesTime } from "./addresses.js";
import { Pool } from "./pool.js";
import { proxyVariable } from "./proxyUrls.js";
import { type PoolOptions, watchTunnels } from "./sockets.js";

// getBuiltinModule, not import, so that instrumentation can patch it; and plain http never loads TLS.
const modules: Partial<Record<string, typeof http>> = {};

let proxies: typeof import("./proxies.js") | undefined;

// Shared by the clients of one origin and the same options, as long as something is open.
const pools = new Map<string, Pool>();

/** A pool, and how many of a client and those made of it have used it since, and were not closed. */
export interface SharedPool {
  readonly pool: Pool;
  clients: number;
}

/** The pools of a client and of those made of it, and the proxies that they go through. */
export class Origins {
  readonly secrets: string[] = [];
  readonly #options: TransportOptions;
  readonly #pools: Map<string, SharedPool> = new Map();
  // Read once: the environment may change later.
  readonly #proxies: Map<string, URL | undefined> = new Map();

  constructor(options: TransportOptions) {
    this.#options = options;
  }

  /** Counts one more client that uses the pool to an address. @throws TransportFailure */
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

  /** Counts so many fewer; idle sockets end with the last, but never those of the caller's agent. */
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

  // The shared one, or one for the caller's agent.
  #poolOf(url: URL): Pool {
    const { agent } = this.#options;
    const proxy = this.#proxyTo(url);
    return agent === undefined ? sharedPool(url, this.#options, proxy) : ownPool(url, agent);
  }

  /** Loads what a proxy needs; undefined where nothing is missing. */
  load(url: URL): Promise<void> | undefined {
    return proxies === undefined && this.#isProxied(url) ? loadProxies() : undefined;
  }

  #isProxied(url: URL): boolean {
    return this.#options.proxy !== undefined && !isLoopback(url.hostname);
  }

  #proxyTo(url: URL): URL | undefined {
    if (this.#proxies.has(url.origin) || !this.#isProxied(url)) return this.#proxies.get(url.origin);
    const proxy = proxyOf(url, this.#options.proxy as string);
    this.#proxies.set(url.origin, proxy);
    if (proxy !== undefined) this.secrets.push(...(proxies?.proxyCredentialsOf(proxy) ?? []));
    return proxy;
  }
}

async function loadProxies(): Promise<void> {
  proxies = await import("./proxies.js");
}

function proxyOf(url: URL, proxy: string): URL | undefined {
  try {
    return proxies?.proxyFor(url, proxy);
  } catch (cause) {
    if (memberOf(cause, "name") !== "ProxyError") throw cause;
    throw new TransportFailure((cause as Error).message, { phase: "connect", reason: "agent" });
  }
}

function sharedPool(url: URL, options: TransportOptions, proxy: URL | undefined): Pool {
  const { maxConnections, keepAliveMs } = options;
  const key = `${url.origin} ${maxConnections} ${keepAliveMs} ${proxy?.href}`;
  let pool = pools.get(key);
  if (pool === undefined) {
    const { agent, protocol, tunnels, advice } = agentFor(url, options, proxy);
    sharesTime(agent);
    const onEmpty = () => {
      // By then the clients of the same options may share another.
      if (pools.get(key) === pool) pools.delete(key);
    };
    const module = moduleOf(url.protocol);
    const limits = { limit: maxConnections, keepAliveMs };
    pool = new Pool({ module, agent, protocol, tunnels, ...limits, onEmpty, advice }, url);
    pools.set(key, pool);
  }
  // The pool keeps the limit. Set here, since an agent copies its options into each request, and a pool that was closed
  // may have calls left.
  pool.agent.maxFreeSockets = maxConnections;
  return pool;
}

// Of the caller's agent: its own limits apply, and its idle sockets are its owner's.
function ownPool(url: URL, own: object): Pool {
  const agent = own as http.Agent;
  const { maxSockets: limit = Number.POSITIVE_INFINITY } = agent;
  if ("connect" in agent) watchTunnels(agent);
  const { protocol } = url;
  return new Pool({ module: moduleOf(protocol), agent, protocol, limit, keepAliveMs: undefined }, url);
}

/** The agent of the clients that bring none: this is the one place where such an agent is made. */
function agentFor(
  url: URL,
  { keepAliveMs }: TransportOptions,
  proxy: URL | undefined,
): Pick<PoolOptions, "agent" | "protocol" | "tunnels" | "advice"> {
  const { protocol } = url;
  const module = moduleOf(protocol);
  const keepAlive = keepAliveMs > 0;
  if (proxy !== undefined && proxies !== undefined) {
    const agent = proxies.createProxyAgent(proxy, { keepAlive });
    watchTunnels(agent);
    return { agent, protocol, advice: "The connection goes through a proxy: check that too." };
  }
  // NODE_USE_ENV_PROXY sets it on the global agent (Node 22.21, 24.5 and newer).
  const { proxyEnv } = (module.globalAgent as { options?: { proxyEnv?: unknown } }).options ?? {};
  if (proxyEnv === undefined) return { agent: new module.Agent({ keepAlive }), advice: unusedProxy(url) };
  const agent = new module.Agent({ keepAlive, proxyEnv } as http.AgentOptions);
  const tunnels = protocol === "https:";
  if (tunnels) watchTunnels(agent);
  return { agent, protocol, tunnels };
}

// Other programs may reach the address only through it.
function unusedProxy(url: URL): string | undefined {
  if (isLoopback(url.hostname)) return undefined;
  const name = proxyVariable(url, process.env);
  return name && `${name} is set, which this client does not use: pass proxy: "env".`;
}

function moduleOf(protocol: string): typeof http {
  modules[protocol] ??= process.getBuiltinModule(`node:${protocol.slice(0, -1)}`) as typeof http;
  return modules[protocol];
}
