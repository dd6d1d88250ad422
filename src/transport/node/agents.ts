import { invalid } from "../../errors/statusError.js";
import type { DispatcherLike } from "../../options/clientOptions.js";
import { isLoopback, memberOf, urlOf } from "../../values.js";
import { isBeforeConnection } from "../beforeConnection.js";
import { createFetchTransport } from "../fetch.js";
import {
  type Exchange,
  type Transport,
  TransportFailure,
  type TransportOptions,
  type TransportRequest,
} from "../transport.js";
import { Origins, type SharedPool } from "./origins.js";
import type { Pool } from "./pool.js";
import { NodeExchange } from "./send.js";

/**
 * Sends over node:http and node:https with keep-alive sockets, through the caller's agent, dispatcher or fetch function when
 * there is one.
 * @param given The options of the connections that the caller gave. @throws StatusError
 */
export function createNodeTransport(options: TransportOptions, given: readonly string[]): Transport {
  const ways = given.filter((name) => options.dispatcher !== undefined || /^(agent|fetch|proxy)$/.test(name));
  if (ways.length > 1)
    throw invalid(`${ways[0]} and ${ways[1]} cannot be used together: pass one of the two.`);
  if (options.fetch) return createFetchTransport(options.fetch, isBeforeConnection);
  if (options.dispatcher !== undefined) return createDispatcherTransport(options.dispatcher);
  checkOptions(options);
  return new NodeTransport(options, new Origins(options), true);
}

class NodeTransport implements Transport {
  readonly secrets: readonly string[];
  readonly maxConnections: number | undefined;
  readonly #options: TransportOptions;
  readonly #origins: Origins;
  readonly #isFirst: boolean;
  readonly #isMockable: boolean;
  // The pool of each origin: more than one only where `withOptions` changes the base URL.
  readonly #joined: Map<string, SharedPool> = new Map();

  constructor(options: TransportOptions, origins: Origins, isFirst: boolean) {
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
    // Where there is one, `ready` has loaded what sends through it.
    const mock = this.#isMockable && late !== undefined ? mockFor(request.url) : undefined;
    if (mock) return dispatch(mock, request);
    const shared = this.#joined.get(request.url.origin);
    const isOpen = shared !== undefined && shared.clients > 0 && !shared.pool.retired;
    return new NodeExchange(request, isOpen ? shared.pool : this.#join(request.url));
  }

  // Nothing refers to it: one that is never closed is collected with its client.
  derive(): Transport {
    return new NodeTransport(this.#options, this.#origins, false);
  }

  close(): void {
    if (this.#isFirst) this.#origins.leaveAll();
    // Where the first was closed since, it is counted no longer.
    else for (const shared of this.#joined.values()) if (shared.clients > 0) this.#origins.leave(shared, 1);
    this.#joined.clear();
  }

  #join(url: URL): Pool {
    const shared = this.#origins.join(url);
    this.#joined.set(url.origin, shared);
    return shared.pool;
  }
}

let late: typeof import("../dispatcher.js") | undefined;

async function load(): Promise<void> {
  late = await import("../dispatcher.js");
}

// Through a dispatcher of the caller's, whose connections are its owner's.
function createDispatcherTransport(dispatcher: unknown): Transport {
  const isObject = typeof dispatcher === "object" && dispatcher !== null;
  if (!isObject || typeof (dispatcher as Partial<DispatcherLike>).dispatch !== "function") {
    throw invalid("dispatcher must have the method dispatch of undici 6, 7 or 8.", {
      hint: "Pass a Pool, an Agent or a ProxyAgent of the package undici: other packages of that name may lack it.",
    });
  }
  const own = dispatcher as DispatcherLike;
  return { ready: readyToDispatch, send: (request) => dispatch(own, request), close() {} };
}

// Loads what sending through a dispatcher needs.
function readyToDispatch(): Promise<void> | undefined {
  return late === undefined ? load() : undefined;
}

// Once that is loaded.
function dispatch(dispatcher: DispatcherLike, request: TransportRequest): Exchange {
  const { DispatcherExchange } = late as NonNullable<typeof late>;
  return new DispatcherExchange(dispatcher, request, TransportFailure);
}

// Where undici keeps its global dispatcher: 8 in the first, and a wrapper that does not say what it wraps in the second.
const second = Symbol.for("undici.globalDispatcher.2");
const first = Symbol.for("undici.globalDispatcher.1");
const globals = globalThis as { readonly [name: symbol]: unknown };

// The MockAgent that a test has answer for the network: nothing then leaves this machine but through it.
function mockFor(url: URL): DispatcherLike | undefined {
  const mock = mockIn(globals[second]) ?? mockIn(globals[first]);
  return mock && !isLoopback(url.hostname) ? mock : undefined;
}

// Asked before each request: `in` is cheap.
function mockIn(dispatcher: unknown): DispatcherLike | undefined {
  if (typeof dispatcher !== "object" || dispatcher === null || !("isMockActive" in dispatcher))
    return undefined;
  return memberOf(dispatcher, "isMockActive") === true ? (dispatcher as object as DispatcherLike) : undefined;
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
