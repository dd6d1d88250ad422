import { subscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import type { Transform, TransformCallback } from "node:stream";
import { Gunzip } from "node:zlib";
import { until } from "./turns.js";

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

/** Resolves once the client has taken in all that the server wrote to this socket. */
export async function readByClient(server: Socket | null): Promise<void> {
  await calm(() => server !== null && isOnItsWay(server));
}

/** Resolves once nothing is on its way any more between these sockets of a server and their clients. */
export async function allRead(servers: Iterable<Socket>): Promise<void> {
  await calm(() => [...servers].some(isOnItsWay));
}

/** Resolves once nothing is on its way and no client is connecting, but for those that were there `before`. */
export async function quiet(servers: Iterable<Socket>, before: ReadonlySet<Socket>): Promise<void> {
  const isConnecting = (client: Socket) => client.connecting && !before.has(client);
  await calm(() => [...clients].some(isConnecting) || [...servers].some(isOnItsWay));
}

/** The sockets that clients of this process have now. */
export function clientSockets(): ReadonlySet<Socket> {
  return new Set(clients);
}

// What has been taken in passes through promises and streams before it has all its effects.
async function calm(isMoving: () => boolean): Promise<void> {
  let turns = -1;
  const isCalm = (): boolean => {
    turns = turns >= 0 && (isMoving() || isUnpacking()) ? 0 : turns + 1;
    return turns === 20;
  };
  // Whatever this process unpacks meanwhile counts: on a busy machine that takes a while.
  await until(isCalm, "nothing is on its way between clients and servers", 60_000);
}

// A server that has stopped reading is sent to in vain. Of TLS nobody knows the client's end.
function isOnItsWay(server: Socket): boolean {
  const client = [...clients].find((socket) => !socket.connecting && socket.localPort === server.remotePort);
  if (client === undefined || client.destroyed) return false;
  const reads = server.readableFlowing === true;
  return client.bytesRead < server.bytesWritten || (reads && server.bytesRead < client.bytesWritten);
}

const working: Set<Transform> = new Set();

// Every decoder of node:zlib, over node:http and over fetch, takes its chunks by this one method, and works on other threads.
const decoder = Object.getPrototypeOf(Object.getPrototypeOf(Gunzip.prototype)) as Transform;
const { _transform: transform } = decoder;
decoder._transform = function (this: Transform, chunk, encoding, done: TransformCallback): void {
  working.add(this);
  transform.call(this, chunk, encoding, (...result) => {
    working.delete(this);
    done(...result);
  });
};

/** Whether a body is being unpacked. One that is given up, or that nobody reads on, is not. */
export function isUnpacking(): boolean {
  for (const stream of working) if (stream.destroyed) working.delete(stream);
  return [...working].some(
    ({ readableLength, readableHighWaterMark }) => readableLength < readableHighWaterMark,
  );
}
