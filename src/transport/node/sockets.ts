import type { Agent } from "node:http";
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
