// What works around private parts of Node, of agents and of undici, a polluted Object.prototype, and the engine: each with its
// reason or its measure.
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type http from "node:http";
import type { Socket, TcpSocketConnectOpts } from "node:net";
import type { DispatcherLike } from "../../options/types.js";
import { isLoopback, memberOf } from "../../values.js";
import { nextTurn } from "../time.js";
import { networkCode, type TransportRequest } from "../transport.js";

/**
 * Over TLS Node confirms a write at the end of the turn in which its response may be read already, and some turns later
 * through a proxy that speaks TLS itself.
 */
export const turnsToConfirm: number = 8;

/** How long the event loop has been busy. Taken when this is loaded: tests put clocks of their own in its place. */
export const eventLoopUtilization: typeof performance.eventLoopUtilization = performance.eventLoopUtilization;

/** The options that node:http makes a request with. */
export function requestOptions(
  { method, url, headers }: TransportRequest,
  { agent, protocol }: { readonly agent: http.Agent; readonly protocol?: string | undefined },
): http.RequestOptions {
  const options: http.RequestOptions = {
    hostname: url.hostname.startsWith("[") ? url.hostname.slice(1, -1) : url.hostname,
    port: url.port,
    path: url.pathname + url.search,
    method,
    agent,
    headers,
  };
  if (protocol !== undefined) options.protocol = protocol;
  if (!isPolluted(Object.prototype)) return options;
  return { ...Object.fromEntries(optional.map((name) => [name, undefined])), ...options };
}

// Options that http.request reads from a polluted Object.prototype unless they are own properties. Added only then: each
// property costs about 2 µs a request, since agents copy the options into an object without a prototype.
const optional: readonly string[] =
  "_defaultAgent auth createConnection defaultPort insecureHTTPParser joinDuplicateHeaders maxHeaderSize protocol setHost signal socketPath timeout uniqueHeaders".split(
    " ",
  );

// Asks for each of those options by its name: a loop over them takes ten times as long.
function isPolluted(object: object): boolean {
  return (
    "_defaultAgent" in object ||
    "auth" in object ||
    "createConnection" in object ||
    "defaultPort" in object ||
    "insecureHTTPParser" in object ||
    "joinDuplicateHeaders" in object ||
    "maxHeaderSize" in object ||
    "protocol" in object ||
    "setHost" in object ||
    "signal" in object ||
    "socketPath" in object ||
    "timeout" in object ||
    "uniqueHeaders" in object
  );
}

/**
 * Hears a socket's errors until it is closed. Those that matter fail its request; Node takes its own listener off when a
 * response has been read, and a write that fails later would end the process.
 */
export function hearErrors(socket: Socket): void {
  if (!socket.listeners("error").includes(ignoreError)) socket.on("error", ignoreError);
}

function ignoreError(): void {}

/** Whether an agent of the caller's has no socket for a request just made: it is the last of those that wait. */
export function isQueued(message: http.ClientRequest, { requests = {} }: http.Agent): boolean {
  return Object.values(requests).some((queue) => (queue?.at(-1) as unknown) === message);
}

/** An agent's idle sockets whose names begin with a host and port, the longest idle first. */
export function idleSockets({ freeSockets = {} }: http.Agent, prefix: string): Socket[] {
  return Object.keys(freeSockets)
    .filter((name) => name.startsWith(prefix))
    .flatMap((name) => freeSockets[name] ?? []);
}

/** Makes a request while the agent sees none of its idle sockets: it gets a new connection. */
export function withoutIdle<T>(agent: http.Agent, request: () => T): T {
  const { freeSockets } = agent;
  const visible = agent as { freeSockets: object };
  // A request asks its agent for a socket before its constructor returns.
  visible.freeSockets = Object.create(null);
  try {
    return request();
  } finally {
    visible.freeSockets = freeSockets;
  }
}

// The agents whose sockets are watched: of the process, since several clients may be given the same one.
const watched = new WeakSet<object>();

/**
 * Has `opened` told which sockets an agent opens to its proxy for a request: until the tunnel stands nobody else is shown them,
 * and nobody could end them. Agents made with agent-base open them in `connect`, Node's own in `createSocket`.
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
    // A socket is made before `open` waits for anything.
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

/** What an agent connects with: itself, an agent of agent-base's kind to its proxy, Node's own to that of the environment. */
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

/** Hears the addresses found for a socket. Node takes what Object.prototype has under an event's name for a listener. */
export function onAddressFound(socket: Socket, found: (address: string) => void): void {
  if (!("lookup" in Object.prototype)) socket.on("lookup", (_error, address) => address && found(address));
}

/** A response's headers. Node makes them of the raw list when asked. */
export function headersOf(message: http.IncomingMessage): Readonly<Record<string, string>> {
  const { rawHeaders } = message;
  // Node takes what Object.prototype has under a header's name for one that came before.
  if (rawHeaders.some((name, i) => i % 2 === 0 && name.toLowerCase() in Object.prototype)) {
    return headersFrom(rawHeaders);
  }
  const { headers } = message;
  const cookies = Object.hasOwn(headers, "set-cookie") ? headers["set-cookie"] : undefined;
  return (cookies ? { ...headers, "set-cookie": cookies.join(", ") } : headers) as Record<string, string>;
}

/** A header of a raw list; one that comes again is one list. Building the object costs more than the rest of a small response. */
export function rawHeader(rawHeaders: readonly string[], name: string): string | undefined {
  let value: string | undefined;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const header = rawHeaders[i];
    if (header?.length === name.length && header.toLowerCase() === name)
      value = value === undefined ? rawHeaders[i + 1] : `${value}, ${rawHeaders[i + 1]}`;
  }
  return value;
}

/** Headers of a list of names and values, one after another. */
export function headersFrom(raw: readonly (string | Uint8Array)[]): Record<string, string> {
  // Not by assignment to an object, which fails for a name that Object.prototype has where a program has frozen it.
  const headers = new Map<string, string>();
  for (let i = 0; i < raw.length; i += 2) {
    const name = headerText(raw[i]).toLowerCase();
    const value = headerText(raw[i + 1]);
    headers.set(name, headers.has(name) ? `${headers.get(name)}, ${value}` : value);
  }
  return Object.fromEntries(headers);
}

// undici 6 has headers as bytes.
function headerText(value: string | Uint8Array | undefined): string {
  return typeof value === "string" ? value : Buffer.from(value ?? []).toString("latin1");
}

// How Node says that the other side has closed a connection.
const closed: ReadonlySet<string> = new Set(["EPIPE", "ECONNRESET"]);

/**
 * Lets a failed write be known only when what the server sent before it closed has been read: one that refuses a
 * large body may respond and close at once, and Node drops an unread response with the first write that fails.
 * @returns Ends it.
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

// Tells of a failed write two turns of the loop later: between them everything that has arrived is read. What TLS says of
// itself is told at once.
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

// Where undici keeps its global dispatcher: 8 in the first, and a wrapper that does not say what it wraps in the second.
const current = Symbol.for("undici.globalDispatcher.2");
const wrapper = Symbol.for("undici.globalDispatcher.1");
const globals = globalThis as { readonly [name: symbol]: unknown };

/** The MockAgent that a test has respond for the network: nothing then leaves this machine but through it. */
export function mockFor(url: URL): DispatcherLike | undefined {
  const mock = mockIn(globals[current]) ?? mockIn(globals[wrapper]);
  return mock && !isLoopback(url.hostname) ? mock : undefined;
}

// A mock is asked for before each request: `in` is cheap.
function mockIn(dispatcher: unknown): DispatcherLike | undefined {
  if (typeof dispatcher !== "object" || dispatcher === null || !("isMockActive" in dispatcher))
    return undefined;
  return memberOf(dispatcher, "isMockActive") === true ? (dispatcher as object as DispatcherLike) : undefined;
}
