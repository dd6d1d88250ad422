import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type http from "node:http";
import type { Agent, ClientRequest } from "node:http";
import type { Socket } from "node:net";
import { longestTimerMs } from "../../options/arguments.js";
import { memberOf } from "../../values.js";
import { isLate } from "../time.js";
import type { TransportRequest } from "../transport.js";
import { type FailureReason, networkCode, refusedByProxy, textOf } from "../transport.js";
import { Addresses } from "./addresses.js";

// Taken when this is loaded: tests put clocks of their own in its place.
const { eventLoopUtilization } = performance;

// How node:http names an agent that is none, or that is for the other protocol.
const refusedAgents: ReadonlySet<string> = new Set(["ERR_INVALID_ARG_TYPE", "ERR_INVALID_PROTOCOL"]);

export interface ConnectListener {
  connected(): void;
  failed(text: string, details: { reason: FailureReason; status?: number; advice?: string }): void;
}

/** Name lookup, TCP, the tunnel through a proxy and TLS as one phase, with one time for all of them. */
export class Connecting {
  readonly #message: ClientRequest;
  // Not the request: an agent may hold on to what waits for a socket, but not to the body.
  readonly #secure: boolean;
  readonly #timeoutMs: number;
  readonly #listener: ConnectListener;
  #timer: NodeJS.Timeout | undefined;
  #direct: Addresses | undefined;
  #ended = false;

  constructor(message: ClientRequest, request: TransportRequest, listener: ConnectListener) {
    this.#message = message;
    this.#secure = request.url.protocol === "https:";
    this.#timeoutMs = request.connectTimeoutMs;
    this.#listener = listener;
  }

  /** Begins. @param queued Whether the request waits for one of the sockets that its agent has. */
  begin(queued: boolean): void {
    if (!queued) this.#startTimer();
    // What agents of agent-base's kind say of the proxy's answer to CONNECT.
    this.#message.once("proxyConnect", (answer: unknown) => {
      const status = memberOf(answer, "statusCode");
      if (status !== 200 && typeof status === "number") this.refused(status);
    });
  }

  /** Goes on with the socket that the agent gave. */
  take(socket: PooledSocket): void {
    if (isConnected(socket, this.#secure)) {
      this.#connected();
      return;
    }
    this.#direct = new Addresses(socket, memberOf(this.#message, "agent") as Agent);
    this.#startTimer();
    socket.once(this.#secure ? "secureConnect" : "connect", () => this.#connected());
  }

  refused(status: number): void {
    if (!this.#ended) this.#listener.failed(...refusedByProxy(status));
  }

  /** What an error means in which trying several addresses ended. */
  textOf(error: Error): string {
    const tried = memberOf(error, "errors") ? this.#addresses?.tried(error) : undefined;
    return tried ?? textOf(error);
  }

  /** Ends what is still being opened. */
  end(): void {
    if (this.#ended) return;
    this.#stop();
    this.#addresses?.failed(this.#timeoutMs, false);
    endTunnel(this.#message);
  }

  #connected(): void {
    if (this.#ended) return;
    this.#stop();
    this.#addresses?.connected();
    this.#listener.connected();
  }

  get #addresses(): Addresses | undefined {
    return proxyAddresses(this.#message) ?? this.#direct;
  }

  #stop(): void {
    this.#ended = true;
    clearTimeout(this.#timer);
  }

  #startTimer(): void {
    // A longer time is as good as none.
    if (this.#timer !== undefined || this.#ended || this.#timeoutMs > longestTimerMs) return;
    const { active } = eventLoopUtilization();
    const dueAt = performance.now() + this.#timeoutMs;
    this.#timer = setTimeout(() => {
      const now = performance.now();
      const busyMs = eventLoopUtilization().active - active;
      // The time in which the loop was blocked was no time to connect. Once: a loop that is always busy is no excuse.
      if (isLate(dueAt, now) || busyMs > this.#timeoutMs / 2) {
        const leftMs = Math.min(Math.max(now - dueAt, busyMs), this.#timeoutMs);
        this.#timer = setTimeout(() => this.#timedOut(), leftMs);
      } else this.#timedOut();
    }, this.#timeoutMs);
  }

  #timedOut(): void {
    const ms = this.#timeoutMs;
    const tried = this.#addresses?.tried();
    this.#addresses?.failed(ms, true);
    const text = `No connection within ${ms} ms.${tried ? ` ${tried}` : ""}`;
    this.#listener.failed(text, { reason: "connect-timeout" });
  }
}

/** Why a request could not even begin: an agent that cannot connect may say so at once. */
export function notBegun(cause: unknown, protocol: string): { text: string; reason: FailureReason } {
  const text = textOf(cause);
  return refusedAgents.has(networkCode(cause))
    ? { text: `agent cannot be used for an ${protocol} address: ${text}`, reason: "agent" }
    : { text, reason: "network" };
}

/** The status with which a proxy refused a tunnel to Node's own agent (NODE_USE_ENV_PROXY). */
export function tunnelStatusOf(error: unknown): number | undefined {
  const status = memberOf(error, "statusCode");
  return memberOf(error, "code") === "ERR_PROXY_TUNNEL" && typeof status === "number" ? status : undefined;
}

/** Whether an agent of the caller's has no socket for a request just made: it is the last of those that wait. */
export function isQueued(message: ClientRequest, { requests = {} }: Agent): boolean {
  return Object.values(requests).some((queue) => (queue?.at(-1) as unknown) === message);
}

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
function isConnected(socket: Socket & { readonly secureConnecting?: boolean }, secure: boolean): boolean {
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
function proxyAddresses(request: http.ClientRequest): Addresses | undefined {
  return opening.get(request)?.[0];
}

/** Ends the tunnel that is being opened for a request. */
function endTunnel(request: http.ClientRequest): void {
  for (const { socket } of opening.get(request) ?? []) {
    // The error tells an agent that still listens that there will be no tunnel.
    socket.on("error", () => {}).destroy(new Error("The request was ended."));
  }
}

const idleSince: unique symbol = Symbol("idleSince");

const idleUntil: unique symbol = Symbol("idleUntil");

/** A socket that an agent keeps between requests. */
export type PooledSocket = Socket & { [idleSince]?: number; [idleUntil]?: number };

/** Notes that a socket goes back to its agent, which may give it out again for so long. */
export function markIdle(socket: PooledSocket, keepMs: number): void {
  const now = performance.now();
  socket[idleSince] = now;
  socket[idleUntil] = now + keepMs;
}

/** When a socket's last answer ended; undefined before its first. */
export function idleSinceOf(socket: PooledSocket): number | undefined {
  return socket[idleSince];
}

/** For how many milliseconds an idle socket may still be used again. */
export function idleMsLeft(socket: PooledSocket): number {
  return (socket[idleUntil] ?? Number.POSITIVE_INFINITY) - performance.now();
}
