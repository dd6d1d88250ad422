import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A port of this machine that refuses every connection. */
export interface RefusingPort {
  readonly port: number;
  readonly url: string;
  close(): Promise<void>;
}

/**
 * The near end of a connection: its port is taken, and nobody listens there. A port that was merely closed is given to the
 * next server that starts.
 */
export async function refusingPort(): Promise<RefusingPort> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const near = connect((server.address() as AddressInfo).port, "127.0.0.1");
  const [[far]] = (await Promise.all([once(server, "connection"), once(near, "connect")])) as [
    [Socket],
    unknown,
  ];
  const port = near.localPort as number;
  const close = async (): Promise<void> => {
    near.destroy();
    far.destroy();
    await once(server.close(), "close");
  };
  return { port, url: `http://127.0.0.1:${port}`, close };
}
