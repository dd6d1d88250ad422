import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type http from "node:http";
import type { Socket } from "node:net";
import type { TransportRequest } from "../transport.js";
import { Addresses } from "./addresses.js";

export interface PoolOptions {
  readonly module: typeof http;
  readonly agent: http.Agent;
  /** The protocol, for agents that may ask a request for it; Node's own know theirs. */
  readonly protocol?: string | undefined;
  readonly limit: number;
  /** Milliseconds that an idle socket is kept; undefined where its agent's owner decides. */
  readonly keepAliveMs: number | undefined;
  /** Whether Node's own agent opens tunnels (NODE_USE_ENV_PROXY). */
  readonly tunnels?: boolean | undefined;
  /** What else may be behind a connection that never came to be. */
  readonly advice?: string | undefined;
  readonly onEmpty?: () => void;
}

export interface PoolCall {
  /** Whether it needs a new connection. */
  readonly fresh: boolean;
  /** Called once it may have one. */
  start(): void;
}

/** What node:http is asked for. */
export function requestOptions(
  { method, url, headers }: TransportRequest,
  { agent, protocol }: PoolOptions,
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

// http.request reads these from a polluted Object.prototype unless they are own properties. Added only then: each
// property costs about 2 µs a request, since agents copy the options into an object without a prototype.
const optional: readonly string[] =
  "_defaultAgent auth createConnection defaultPort insecureHTTPParser joinDuplicateHeaders maxHeaderSize protocol setHost signal socketPath timeout uniqueHeaders".split(
    " ",
  );

// Each by its name: a loop over them takes ten times as long.
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

const heard: WeakSet<Socket> = new WeakSet();

/**
 * Hears a socket's errors until it is closed. Those that matter fail its request; Node takes its own listener off when a
 * response has been read, and a write that fails later would end the process.
 */
export function hearErrors(socket: Socket): void {
  if (heard.has(socket)) return;
  heard.add(socket);
  socket.on("error", () => {});
}

/** Whether a new socket is connected already, as one from a caller's agent may be. */
export function isConnected(
  socket: Socket & { readonly secureConnecting?: boolean },
  secure: boolean,
): boolean {
  return !socket.destroyed && !socket.connecting && !(secure && socket.secureConnecting);
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

type Open = (request: http.ClientRequest, ...rest: unknown[]) => unknown;

const watched = new WeakSet<object>();
const opening = new WeakMap<http.ClientRequest, readonly Addresses[]>();

/**
 * Notes which socket an agent opens to its proxy for a request: until the tunnel stands nobody else is shown it, and
 * nobody could end it. Agents made with agent-base open it in `connect`, Node's own in `createSocket`.
 */
export function watchTunnels(agent: object): void {
  const name = "connect" in agent ? "connect" : "createSocket";
  const open = (agent as Readonly<Record<string, unknown>>)[name];
  if (typeof open !== "function" || watched.has(agent)) return;
  watched.add(agent);
  const value: Open = (request, ...rest) => {
    const opened: Addresses[] = [];
    const note = (event: unknown): void => {
      const { socket } = event as { socket: Socket };
      hearErrors(socket);
      opened.push(new Addresses(socket, agent));
    };
    // The socket is made before `open` waits for anything.
    subscribe("net.client.socket", note);
    try {
      return open.call(agent, request, ...rest);
    } finally {
      unsubscribe("net.client.socket", note);
      if (opened.length > 0) opening.set(request, opened);
    }
  };
  Object.defineProperty(agent, name, { value, configurable: true, writable: true });
}

/** The addresses of the proxy to which a tunnel is being opened for a request. */
export function proxyAddresses(request: http.ClientRequest): Addresses | undefined {
  return opening.get(request)?.[0];
}

/** Ends the tunnel that is being opened for a request. */
export function endTunnel(request: http.ClientRequest): void {
  for (const { socket } of opening.get(request) ?? []) {
    // The error tells an agent that still listens that there will be no tunnel.
    socket.on("error", () => {}).destroy(new Error("The request was ended."));
  }
}
