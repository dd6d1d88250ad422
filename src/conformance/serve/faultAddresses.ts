// Addresses where no server is reached, for the faults of the connection.
import { lookup } from "node:dns/promises";
import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { memberOf } from "../../values.js";

/** Where a client is sent. */
export interface Address {
  readonly baseUrl: string;
  /** The proxy to go through. */
  readonly proxy?: string;
  /** In PEM: who may have signed the server's certificate. */
  readonly caCertificate?: string;
}

/** An address, and what ends it. */
export interface FaultAddress {
  readonly address: Address;
  readonly close: () => Promise<void>;
}

/** Why this machine has no such fault. */
export class NotOnThisMachine extends Error {}

const unknownHost = "tunerank-conformance.invalid";
const loopback = "127.0.0.1";

/** The place of each fault whose requests reach nobody. */
export const places: Readonly<Record<string, () => Promise<FaultAddress>>> = {
  refused: refusingPort,
  "name-not-found": () => unresolved("ENOTFOUND"),
  "name-server-busy": () => unresolved("EAI_AGAIN"),
  "connect-stalls": fullBacklog,
};

// The near end of a connection: its port is taken, and nobody listens there.
async function refusingPort(): Promise<FaultAddress> {
  const server: Server = createServer((socket) => socket.on("error", () => {}).resume());
  await once(server.listen(0, loopback), "listening");
  const { port } = server.address() as { port: number };
  const holder = connect(port, loopback).on("error", () => {});
  await once(holder, "connect");
  return {
    address: { baseUrl: `http://${loopback}:${holder.localPort}` },
    close: async () => {
      holder.destroy();
      server.close();
    },
  };
}

// What a name that never exists meets is for this machine's name server to say.
async function unresolved(wanted: string): Promise<FaultAddress> {
  const code = await lookup(unknownHost).then(
    () => "an address",
    (error: unknown) => memberOf(error, "code"),
  );
  if (code !== wanted) throw new NotOnThisMachine(`a name lookup here ends in ${code}, not ${wanted}`);
  return { address: { baseUrl: `https://${unknownHost}` }, close: async () => {} };
}

// Listens, then sleeps for good: the system makes connections until the backlog is full, and nobody takes one.
const sleeper = `
  const { createServer } = require("node:net");
  const { parentPort } = require("node:worker_threads");
  const server = createServer().listen({ port: 0, host: "${loopback}", backlog: 1 }, () => {
    parentPort.postMessage(server.address().port);
    setTimeout(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0), 10);
  });
`;

async function fullBacklog(): Promise<FaultAddress> {
  const worker = new Worker(sleeper, { eval: true });
  const fillers: Socket[] = [];
  const close = async (): Promise<void> => {
    for (const socket of fillers) socket.destroy();
    await worker.terminate();
  };
  const [port] = (await once(worker, "message")) as [number];
  await pause(50);
  for (let tries = 0; tries < 8; tries++) {
    const socket = connect(port, loopback).on("error", () => {});
    fillers.push(socket);
    const connected = once(socket, "connect").then(
      () => true,
      () => false,
    );
    if (await Promise.race([connected, pause(300, false)])) continue;
    return { address: { baseUrl: `http://${loopback}:${port}` }, close };
  }
  await close();
  throw new NotOnThisMachine("the system makes connections beyond a listener's backlog");
}
