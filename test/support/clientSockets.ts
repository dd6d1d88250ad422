import { subscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { turns } from "./turns.js";

// Node names every socket that a client of this process opens, over node:http and over fetch.
const clients: Set<Socket> = new Set();
subscribe("net.client.socket", (message) => {
  const { socket } = message as { socket: Socket };
  clients.add(socket.once("close", () => clients.delete(socket)));
});

/** Resolves once the client has read and taken in all that the server wrote to this socket; not for TLS. */
export async function readByClient(server: Socket | null): Promise<void> {
  if (server === null) throw new Error("The response has no socket any more.");
  const client = [...clients].find(({ localPort }) => localPort === server.remotePort);
  if (client === undefined) throw new Error("No client of this process has this connection.");
  while (client.bytesRead < server.bytesWritten && !client.destroyed) await turn();
  await turns();
}
