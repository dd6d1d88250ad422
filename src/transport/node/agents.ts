import type http from "node:http";
import { invalid } from "../../errors/statusError.js";
import { isLoopback, urlOf } from "../../options/arguments.js";
import { memberOf } from "../../values.js";
import { type Transport, TransportFailure, type TransportOptions } from "../transport.js";
import { refuseWhileMocked } from "./mockAgents.js";
import { Pool, type PoolOptions } from "./pool.js";
import { proxyVariable } from "./proxyUrls.js";
import { NodeExchange } from "./send.js";
import { watchTunnels } from "./tunnels.js";

// getBuiltinModule, not import, so that instrumentation can patch it; and plain http never loads TLS.
const modules: Partial<Record<string, typeof http>> = {};

let proxies: typeof import("./proxies.js") | undefined;

// Shared by the clients of one origin and the same options, as long as something is open.
const pools = new Map<string, Pool>();

/** Sends over node:http and node:https with keep-alive sockets, through the caller's agent when there is one. */
export function createNodeTransport(options: TransportOptions): Transport {
  checkOptions(options);
  // The pool of each origin: more than one only where `withOptions` changes the base URL.
  const joined = new Map<string, Pool>();
  // Read once: the environment may change later.
  const proxyOfOrigin = new Map<string, URL | undefined>();
  const secrets: string[] = [];
  const proxyTo = (url: URL): URL | undefined => {
    if (proxyOfOrigin.has(url.origin) || !isProxied(url, options)) return proxyOfOrigin.get(url.origin);
    const proxy = proxyOf(url, options.proxy as string);
    proxyOfOrigin.set(url.origin, proxy);
    if (proxy !== undefined) secrets.push(...(proxies?.secretsOf(proxy) ?? []));
    return proxy;
  };
  const join = (url: URL): Pool => {
    const proxy = proxyTo(url);
    const pool = options.agent === undefined ? sharedPool(url, options, proxy) : poolOf(url, options.agent);
    pool.clients++;
    joined.set(url.origin, pool);
    return pool;
  };
  return {
    secrets,
    maxConnections: options.agent === undefined ? options.maxConnections : undefined,
    ready(url) {
      if (options.agent === undefined && options.proxy === undefined) refuseWhileMocked(url);
      return proxies === undefined && isProxied(url, options) ? loadProxies() : undefined;
    },
    send(request) {
      const pool = joined.get(request.url.origin);
      return new NodeExchange(request, pool === undefined || pool.retired ? join(request.url) : pool);
    },
    close() {
      for (const pool of joined.values()) {
        pool.clients--;
        if (pool.clients === 0 && options.agent === undefined) pool.close();
      }
      joined.clear();
    },
  };
}

function isProxied(url: URL, { proxy }: TransportOptions): boolean {
  return proxy !== undefined && !isLoopback(url.hostname);
}

async function loadProxies(): Promise<void> {
  proxies = await import("./proxies.js");
}

// The proxy's URL is never repeated in the error: it may hold a password.
function checkOptions({ agent, proxy }: TransportOptions): void {
  if (agent !== undefined && (typeof agent !== "object" || agent === null)) {
    throw invalid("agent must be an agent of node:http or node:https.");
  }
  if (proxy === undefined || proxy === "env") return;
  if (typeof proxy !== "string" || !/^https?:\/\//i.test(proxy) || urlOf(proxy) === undefined) {
    throw invalid('proxy must be a URL such as http://proxy.example.com:3128, or "env".');
  }
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
    // The pool keeps the limit. Set here, since an agent copies its options into each request.
    agent.maxFreeSockets = maxConnections;
    const onEmpty = () => {
      // By then the clients of the same options may share another.
      if (pools.get(key) === pool) pools.delete(key);
    };
    const module = moduleOf(url.protocol);
    const limits = { limit: maxConnections, keepAliveMs };
    pool = new Pool({ module, agent, protocol, tunnels, ...limits, onEmpty, advice }, url);
    pools.set(key, pool);
  }
  return pool;
}

// Of the caller's agent: its own limits apply, and its idle sockets are its owner's.
function poolOf(url: URL, own: object): Pool {
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
