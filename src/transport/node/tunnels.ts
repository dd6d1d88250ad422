import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { ClientRequest } from "node:http";
import type { Socket } from "node:net";

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
