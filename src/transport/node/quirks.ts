// Workarounds for private parts of Node, of agents, of undici and of the engine, each with its reason or measurement.
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type http from "node:http";
import type { Socket, TcpSocketConnectOpts } from "node:net";
import type { DispatcherLike } from "../../options/types.js";
import { isLoopback, memberOf, textFor, WithoutPrototype } from "../../values.js";
import { networkCode } from "../exchange.js";
import { nextTurn } from "../time.js";

/**
 * How many turns of the event loop Node may need to confirm a write: over TLS the response may be read in the same turn,
 * through a proxy that itself speaks TLS some turns before.
 */
export const turnsToConfirm: number = 8;

/** Measures how long the event loop has been busy. Read when the module loads, because tests replace it. */
export const eventLoopUtilization: typeof performance.eventLoopUtilization = performance.eventLoopUtilization;

/** Ignores a socket's errors: Node removes its own listener with the response, and a later one would end the process. */
export function ignoreErrors(socket: Socket): void {
  if (!socket.listeners("error").includes(ignoreError)) socket.on("error", ignoreError);
}

function ignoreError(): void {}

/** Whether a new request waits for a socket: it is then the last in one of its agent's queues. */
export function isQueued(message: http.ClientRequest, { requests = {} }: http.Agent): boolean {
  return Object.values(requests).some((queue) => (queue?.at(-1) as unknown) === message);
}

/** An agent's idle sockets whose names begin with a host and port, the longest idle first. */
export function idleSockets({ freeSockets = {} }: http.Agent, prefix: string): Socket[] {
  return Object.keys(freeSockets)
    .filter((name) => name.startsWith(prefix))
    .flatMap((name) => freeSockets[name] ?? []);
}

/** Makes a request while the agent's idle sockets are hidden from it, so that the request gets a new connection. */
export function withoutIdle<T>(agent: http.Agent, request: () => T): T {
  const { freeSockets } = agent;
  const visible = agent as { freeSockets: object };
  // A request asks for its socket before its constructor returns.
  visible.freeSockets = Object.create(null);
  try {
    return request();
  } finally {
    visible.freeSockets = freeSockets;
  }
}

// The agents whose sockets are watched: several clients may have the same agent, which must be wrapped only once.
const watched = new WeakSet<object>();

/**
 * Calls `opened` with the sockets that an agent opens to its proxy for a request, which Node shows only when the tunnel is
 * open. Agents made with agent-base open them in `connect`, Node's own in `createSocket`.
 */
export function watchSockets(
  agent: object,
  opened: (request: http.ClientRequest, sockets: readonly Socket[]) => void,
): void {
  const name = "connect" in agent ? "connect" : "createSocket";
  const open = (agent as Readonly<Record<string, unknown>>)[name];
  if (typeof open !== "function" || watched.has(agent)) return;
  watched.add(agent);
  const value = (request: http.ClientRequest, ...rest: unknown[]): unknown => {
    const sockets: Socket[] = [];
    const note = (event: unknown): unknown => sockets.push((event as { socket: Socket }).socket);
    // `open` creates its sockets before it waits for anything, so the channel reports these sockets and no others.
    subscribe("net.client.socket", note);
    try {
      return open.call(agent, request, ...rest);
    } finally {
      unsubscribe("net.client.socket", note);
      if (sockets.length > 0) opened(request, sockets);
    }
  };
  Object.defineProperty(agent, name, { value, configurable: true, writable: true });
}

/** The connect options of an agent: its own, and those for its proxy, of agent-base and of Node's own. */
export function connectOptions(agent: object): readonly TcpSocketConnectOpts[] {
  const ofProxy = Object.getOwnPropertySymbols(agent).find(
    ({ description }) => description === "kProxyConfig",
  );
  const found = [
    memberOf(agent, "options"),
    memberOf(agent, "connectOpts"),
    ofProxy && memberOf((agent as Readonly<Record<symbol, unknown>>)[ofProxy], "proxyConnectionOptions"),
  ];
  return found.filter((each): each is TcpSocketConnectOpts => typeof each === "object" && each !== null);
}

/** Calls `found` with each address of a socket's host. Node would take a polluted `lookup` for a listener. */
export function onAddressFound(socket: Socket, found: (address: string) => void): void {
  if (!("lookup" in Object.prototype)) socket.on("lookup", (_error, address) => address && found(address));
}

/** One header of a raw list: the object of all headers costs more than the rest of a small response. */
export function rawHeader(rawHeaders: readonly string[], name: string): string | undefined {
  let value: string | undefined;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const header = rawHeaders[i];
    if (header?.length === name.length && header.toLowerCase() === name)
      value = value === undefined ? rawHeaders[i + 1] : `${value}, ${rawHeaders[i + 1]}`;
  }
  return value;
}

/** A response's headers. Node's own `headers` has one line of a repeated Retry-After, and members of Object.prototype. */
export function headersOf({ rawHeaders: raw }: http.IncomingMessage): Readonly<Record<string, string>> {
  // Without a prototype: assigning a header fails if a frozen Object.prototype has a member of that name.
  const headers = new WithoutPrototype() as Record<string, string>;
  for (let i = 0; i < raw.length; i += 2) {
    const name = (raw[i] as string).toLowerCase();
    headers[name] = name in headers ? `${headers[name]}, ${raw[i + 1]}` : (raw[i + 1] as string);
  }
  return { ...headers };
}

// Node's codes for a connection that the other side has closed.
const closed: ReadonlySet<string> = new Set(["EPIPE", "ECONNRESET"]);

/**
 * Delays the error of a failed write until the bytes that the server sent before it closed are read: Node would drop the
 * response of a server that rejects a large body and closes at once. Returns a function that ends the delay.
 */
export function holdWriteErrors(socket: Socket): () => void {
  const { _write, _writev } = socket;
  socket._write = (chunk, encoding, done) => _write.call(socket, chunk, encoding, heldBack(done));
  if (_writev) socket._writev = (chunks, done) => _writev.call(socket, chunks, heldBack(done));
  return () => {
    socket._write = _write;
    if (_writev) socket._writev = _writev;
  };
}

/**
 * Delays the write errors of the socket on which undici, or Node's `fetch`, sends a request over HTTP/1.1.
 * @param mark A text that only this request's headers contain, such as the boundary of its form
 */
export function holdErrorsOf(mark: string): () => void {
  let release: (() => void) | undefined;
  const hold = (message: unknown): void => {
    if (!textFor(memberOf(message, "headers")).includes(mark)) return;
    release?.();
    release = holdWriteErrors(memberOf(message, "socket") as Socket);
  };
  subscribe("undici:client:sendHeaders", hold);
  return () => {
    unsubscribe("undici:client:sendHeaders", hold);
    release?.();
  };
}

// Reports two turns later that the other side closed the connection: between them, the bytes that have arrived are read.
function heldBack(done: (error?: Error | null) => void): typeof done {
  return (error) => {
    if (closed.has(networkCode(error))) nextTurn(() => nextTurn(() => done(error)));
    else done(error);
  };
}

/** The proxies that NODE_USE_ENV_PROXY sets on Node's global agent (22.21, 24.5 and newer). */
export function environmentProxies({ globalAgent }: typeof http): unknown {
  return memberOf(memberOf(globalAgent, "options"), "proxyEnv");
}

// Where undici 8, then undici 7, keeps its global dispatcher. undici 8 keeps a wrapper under the symbol of 7.
const dispatchers = [Symbol.for("undici.globalDispatcher.2"), Symbol.for("undici.globalDispatcher.1")];
const globals = globalThis as { readonly [name: symbol]: unknown };

/** The MockAgent with which a test replaces the network, except for requests to this machine; undefined without one. */
export function mockFor(url: URL): DispatcherLike | undefined {
  for (const symbol of dispatchers) {
    const dispatcher = globals[symbol];
    // Runs for each request, so the cheap `in` comes before `memberOf`.
    if (typeof dispatcher !== "object" || dispatcher === null || !("isMockActive" in dispatcher)) continue;
    if (memberOf(dispatcher, "isMockActive") === true)
      return isLoopback(url.hostname) ? undefined : (dispatcher as object as DispatcherLike);
  }
  return undefined;
}
