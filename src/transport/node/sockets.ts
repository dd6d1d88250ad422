import type { Socket } from "node:net";

// A server about to close an idle connection does so after seconds: within one, the socket is safe to use.
const freshMs = 1000;

const idleSince: unique symbol = Symbol("idleSince");

/** A socket that an agent keeps between requests. */
export type PooledSocket = Socket & { [idleSince]?: number; readonly secureConnecting?: boolean };

/** Notes that a socket goes back to its agent. */
export function markIdle(socket: PooledSocket): void {
  socket[idleSince] = performance.now();
}

/** Whether a socket was idle for so short that its server will not just be closing it. */
export function isFresh(socket: PooledSocket): boolean {
  return performance.now() - (socket[idleSince] ?? 0) <= freshMs;
}

/** Whether a new socket is connected already, as one from a caller's agent may be. */
export function isConnected(socket: PooledSocket, secure: boolean): boolean {
  return !socket.destroyed && !socket.connecting && !(secure && socket.secureConnecting);
}
