import { subscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { turns } from "./turns.js";

const clients: Set<Socket> = new Set();
const opened: Set<(socket: Socket) => void> = new Set();

// Node names every socket that a client of this process opens, over node:http and over fetch.
subscribe("net.client.socket", (message) => {
  const { socket } = message as { socket: Socket };
  clients.add(socket.once("close", () => clients.delete(socket)));
  for (const note of opened) note(socket);
});

/** Counts the sockets that clients of this process open from now on: the most that any of them had open at once. */
export function countClientSockets(): { readonly most: number } {
  const sockets: Socket[] = [];
  const counted = { most: 0 };
  opened.add((socket) => {
    sockets.push(socket);
    counted.most = Math.max(counted.most, sockets.filter(({ destroyed }) => !destroyed).length);
  });
  return counted;
}

/** Resolves once the client has read and taken in all that the server wrote to this socket; not for TLS. */
export async function readByClient(server: Socket | null): Promise<void> {
  if (server === null) throw new Error("The response has no socket any more.");
  const client = [...clients].find(({ localPort }) => localPort === server.remotePort);
  if (client === undefined) throw new Error("No client of this process has this connection.");
  while (client.bytesRead < server.bytesWritten && !client.destroyed) await turn();
  await turns();
}
