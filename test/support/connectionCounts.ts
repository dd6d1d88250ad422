// How many connections calls open: run in this process, and by other Nodes.

import { once } from "node:events";
import http from "node:http";
import https from "node:https";
import net, { type AddressInfo, type Socket } from "node:net";
import { type ClientOptions, createClient, isStatusError } from "../../src/index.js";
import { clientSockets, countClientSockets } from "./clientSockets.js";
import { ThreadServer } from "./threadServer.js";

/** How calls are sent: by the client's own pool, by an agent of the caller's, or through a proxy. */
export const routes = ["pool", "agent", "proxy"] as const;
export type Route = (typeof routes)[number];

/** A setting, and what its calls opened. */
export interface Counted {
  readonly secure: boolean;
  readonly route: Route;
  readonly inFlight: number;
  readonly delayMs: number;
  readonly accepted: number;
}

const ranked = JSON.stringify({ object: "list", model: "m", data: [{ index: 0, relevance_score: 1 }] });

/** Sends so many reranks, so many at a time, to a server that responds after so long. */
export async function countConnections(setting: Omit<Counted, "accepted">, calls: number): Promise<Counted> {
  const { secure, route, inFlight, delayMs } = setting;
  const respond = `() => response.end('${ranked}')`;
  const onRequest = `request.resume().on("end", ${delayMs ? `() => setTimeout(${respond}, ${delayMs})` : respond});`;
  const server = await ThreadServer.start({ secure, onRequest });
  const proxy = await startProxy();
  const agent = new (secure ? https : http).Agent({ keepAlive: true });
  const client = createClient({
    // A proxy is not used for this machine's own names.
    baseUrl: route === "proxy" ? server.url.replace("localhost", "service.test") : server.url,
    allowInsecureHttp: true,
    ...optionsOf(route, agent, proxy.url),
  });
  let left = calls;
  const callOneByOne = async (): Promise<void> => {
    while (left-- > 0) await client.rerank({ query: "q", documents: ["d"] });
  };
  await Promise.all(Array.from({ length: inFlight }, callOneByOne));
  const { accepted } = await server.counts();
  await client.close();
  agent.destroy();
  proxy.close();
  await server.close();
  return { ...setting, accepted };
}

function optionsOf(route: Route, agent: http.Agent, proxy: string): ClientOptions {
  if (route === "pool") return {};
  return route === "agent" ? { agent } : { proxy };
}

async function startProxy(): Promise<{ readonly url: string; close(): void }> {
  const sockets = new Set<Socket>();
  const server = http.createServer().on("connect", (request, socket) => {
    const upstream = net.connect(Number(request.url?.split(":")[1]), "localhost", () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      upstream.pipe(socket).pipe(upstream);
    });
    for (const each of [upstream, socket as Socket]) sockets.add(each.setNoDelay(true).on("error", () => {}));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const close = (): void => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}

/** What became of calls to a server that rejects large requests before it has read them, and reads no more. */
export interface Rejected {
  /** The status that each call rejected with. */
  readonly statuses: readonly (number | undefined)[];
  /** The most sockets that the client had open at once. */
  readonly most: number;
  /** Those that are open once it is closed. */
  readonly left: number;
}

/** Sends twelve reranks of 8 MB, at most four at a time. @param own Whether over an agent of the caller's */
export async function countRejected(secure: boolean, own: boolean): Promise<Rejected> {
  const onSocket = `socket.once("data", () => socket.pause().write(
    "HTTP/1.1 413 Too Large\\r\\ncontent-type: application/json\\r\\ncontent-length: 2\\r\\n\\r\\n{}"));`;
  const server = await ThreadServer.start({ secure, onSocket });
  const agent = own ? new (secure ? https : http).Agent({ keepAlive: true, maxSockets: 4 }) : undefined;
  const client = createClient({ baseUrl: server.url, ...(agent ? { agent } : { maxConnections: 4 }) });
  const documents = ["x".repeat(8_000_000)];
  const before = clientSockets();
  const sockets = countClientSockets();
  const statuses = await Promise.all(
    Array.from({ length: 12 }, () => client.rerank({ query: "q", documents }).then(() => 200, statusOf)),
  );
  await client.close();
  const left = [...clientSockets()].filter((socket) => !before.has(socket) && !socket.destroyed).length;
  agent?.destroy();
  await server.close();
  return { statuses, most: sockets.most, left };
}

function statusOf(error: unknown): number | undefined {
  return isStatusError(error) ? error.httpStatus : undefined;
}
