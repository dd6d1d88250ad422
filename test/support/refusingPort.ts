import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { endServer, listen } from "./servers.js";
import { soon } from "./turns.js";

/** A port of this machine that refuses every connection. */
interface RefusingPort {
  readonly port: number;
  readonly url: string;
  close(): Promise<void>;
}

/**
 * The near end of a connection: its port is taken, and nobody listens there. A port that was merely closed is given to the
 * next server that starts.
 */
export async function refusingPort(): Promise<RefusingPort> {
  const server = createServer();
  const accepted = once(server, "connection") as Promise<[Socket]>;
  const near = await soon(connectFromBelow(await listen(server)), "a port below the system's is free");
  const [far] = await soon(accepted, "a connection is accepted");
  const port = near.localPort as number;
  const close = (): Promise<void> => endServer(server, new Set([near, far]));
  return { port, url: `http://127.0.0.1:${port}`, close };
}

// From a port below those that the system gives to connections: one of these may be given to the connection that is to be
// refused, which then reaches itself.
async function connectFromBelow(port: number): Promise<Socket> {
  for (;;) {
    const localPort = 10_000 + Math.floor(Math.random() * 20_000);
    const socket = connect({ port, host: "127.0.0.1", localAddress: "127.0.0.1", localPort });
    const connected = once(socket, "connect").then(
      () => true,
      () => false,
    );
    if (await connected) return socket;
  }
}
