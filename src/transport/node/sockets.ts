import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Agent, ClientRequest } from "node:http";
import type { Socket } from "node:net";

/** Whether a new socket is connected already, as one from a caller's agent may be. */
export function isConnected(
  socket: Socket & { readonly secureConnecting?: boolean },
  secure: boolean,
): boolean {
  return !socket.destroyed && !socket.connecting && !(secure && socket.secureConnecting);
}

/** An agent's idle sockets whose names begin with a host and port, the longest idle first. */
export function idleSockets({ freeSockets = {} }: Agent, prefix: string): Socket[] {
  return Object.keys(freeSockets)
    .filter((name) => name.startsWith(prefix))
    .flatMap((name) => freeSockets[name] ?? []);
}

/** Makes a request while the agent sees none of its idle sockets: it gets a new connection. */
export function withoutIdle<T>(agent: Agent, request: () => T): T {
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

type Open = (request: ClientRequest, ...rest: unknown[]) => unknown;

const watched = new WeakSet<object>();
const opening = new WeakMap<ClientRequest, readonly Socket[]>();

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
    const sockets: Socket[] = [];
    const note = (event: unknown): void => {
      sockets.push((event as { socket: Socket }).socket);
    };
    // The socket is made before `open` waits for anything.
    subscribe("net.client.socket", note);
    try {
      return open.call(agent, request, ...rest);
    } finally {
      unsubscribe("net.client.socket", note);
      if (sockets.length > 0) opening.set(request, sockets);
    }
  };
  Object.defineProperty(agent, name, { value, configurable: true, writable: true });
}

/** Ends the tunnel that is being opened for a request. */
export function endTunnel(request: ClientRequest): void {
  for (const socket of opening.get(request) ?? []) {
    // The error tells an agent that still listens that there will be no tunnel.
    socket.on("error", () => {}).destroy(new Error("The request was ended."));
  }
}
