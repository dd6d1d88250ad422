import { once } from "node:events";
import type { AddressInfo, Server, Socket } from "node:net";
import { onTestFinished } from "vitest";
import { soon } from "./turns.js";

/** Starts a server on a free port of this machine. @returns the port */
export async function listen(server: Server, host = "127.0.0.1"): Promise<number> {
  await soon(once(server.listen(0, host), "listening"), "a server listens");
  return (server.address() as AddressInfo).port;
}

/** Starts a server that ends, with its connections, after the test that runs. @returns the port */
export async function serving(server: Server, host?: string): Promise<number> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket.on("error", () => {}).on("close", () => sockets.delete(socket)));
  });
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return listen(server, host);
}

/** An agent or a dispatcher that ends after the test that runs. */
export function ending<T extends { destroy(): unknown }>(agent: T): T {
  onTestFinished(async () => void (await agent.destroy()));
  return agent;
}
