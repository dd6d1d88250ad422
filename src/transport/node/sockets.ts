import type { Agent } from "node:http";
import type { Socket } from "node:net";

const idleSince: unique symbol = Symbol("idleSince");
const idleUntil: unique symbol = Symbol("idleUntil");

/** A socket that an agent keeps between requests. */
export type PooledSocket = Socket & {
  [idleSince]?: number;
  [idleUntil]?: number;
  readonly secureConnecting?: boolean;
};

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

/** Whether a new socket is connected already, as one from a caller's agent may be. */
export function isConnected(socket: PooledSocket, secure: boolean): boolean {
  return !socket.destroyed && !socket.connecting && !(secure && socket.secureConnecting);
}

/** An agent's idle sockets whose names begin with a host and port, the longest idle first. */
export function idleSockets({ freeSockets = {} }: Agent, prefix: string): PooledSocket[] {
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
