import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import tls, { type TlsOptions } from "node:tls";
import { quiet } from "../clientSockets.js";
import type { Place } from "./fault.js";

/** What the server does in one moment of one connection. */
export type Act = (socket: Socket, moment: Moment) => void;

/** Which moment it is. */
export interface Moment {
  /** The request's number on its connection, from 1; 0 before the first. */
  readonly request: number;
  /** The address of another origin. */
  readonly elsewhere: string;
}

/** How a server behaves. Left out, a moment passes in silence. */
export interface Behaviour {
  /** Once connected; then no request is read. */
  readonly connection?: Act;
  /** Once the headers of a request have come; its body is read on and ignored unless the socket is paused. */
  readonly headers?: Act;
  /** Once a request has come whole. */
  readonly request?: Act;
  readonly tls?: TlsOptions;
  readonly scheme?: "https";
}

/** Starts a service over bare sockets on a free port that behaves so, and counts what it sees. */
export async function serve(behaviour: Behaviour): Promise<Place> {
  return await new FaultServer(behaviour).start();
}

class FaultServer implements Place {
  requests = 0;
  strayed = 0;
  readonly #behaviour: Behaviour;
  readonly #server: Server;
  readonly #elsewhere: Server;
  readonly sockets: Set<Socket> = new Set();

  constructor(behaviour: Behaviour) {
    this.#behaviour = behaviour;
    const serveOne = (socket: Socket) => this.#serve(socket);
    this.#server = behaviour.tls
      ? tls.createServer(behaviour.tls, serveOne).on("tlsClientError", () => {})
      : createServer(serveOne);
    this.#server.on("connection", (socket: Socket) => {
      this.sockets.add(socket);
      socket.on("error", () => {}).on("close", () => this.sockets.delete(socket));
    });
    this.#elsewhere = createServer((socket) => {
      this.strayed += 1;
      socket.on("error", () => {}).destroy();
    });
  }

  async start(): Promise<this> {
    await Promise.all(
      [this.#server, this.#elsewhere].map((server) => once(server.listen(0, "127.0.0.1"), "listening")),
    );
    return this;
  }

  get options(): Place["options"] {
    const { tls, scheme = tls ? "https" : "http" } = this.#behaviour;
    return { baseUrl: `${scheme}://127.0.0.1:${portOf(this.#server)}` };
  }

  quiet(before: ReadonlySet<Socket>): Promise<void> {
    return quiet(this.sockets, before);
  }

  readOn(): void {
    for (const socket of this.sockets) socket.resume();
  }

  async close(): Promise<void> {
    const closed = Promise.all([once(this.#server, "close"), once(this.#elsewhere, "close")]);
    this.#server.close();
    this.#elsewhere.close();
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  #serve(socket: Socket): void {
    const { connection, headers, request } = this.#behaviour;
    const elsewhere = `http://127.0.0.1:${portOf(this.#elsewhere)}/elsewhere`;
    socket.on("error", () => {});
    if (connection) {
      connection(socket, { request: 0, elsewhere });
      return;
    }
    const reader = new RequestReader({
      headers: (number) => {
        this.requests += 1;
        headers?.(socket, { request: number, elsewhere });
      },
      request: (number) => request?.(socket, { request: number, elsewhere }),
    });
    socket.on("data", (chunk: Buffer) => reader.take(chunk));
  }
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

/** What is told of a connection's requests, each by its number from 1. */
export interface RequestEvents {
  headers(number: number): void;
  request(number: number): void;
}

const headEnd = "\r\n\r\n";

/** Finds where requests begin and end in the bytes of one connection. */
export class RequestReader {
  readonly #events: RequestEvents;
  #number = 0;
  #head: Buffer = Buffer.alloc(0);
  /** Bytes of the body still to come; undefined between requests. */
  #missing: number | undefined;

  constructor(events: RequestEvents) {
    this.#events = events;
  }

  take(bytes: Buffer): void {
    for (let left: Buffer | undefined = bytes; left !== undefined && left.byteLength > 0; ) {
      left = this.#missing === undefined ? this.#takeHead(left) : this.#takeBody(left, this.#missing);
    }
  }

  #takeHead(bytes: Buffer): Buffer | undefined {
    const all = Buffer.concat([this.#head, bytes]);
    const end = all.indexOf(headEnd);
    this.#head = end < 0 ? all : Buffer.alloc(0);
    if (end < 0) return undefined;
    const length = /^content-length: *(\d+)\r?$/im.exec(all.toString("latin1", 0, end + 2))?.[1];
    this.#number += 1;
    this.#events.headers(this.#number);
    return this.#takeBody(all.subarray(end + headEnd.length), Number(length ?? 0));
  }

  #takeBody(bytes: Buffer, missing: number): Buffer {
    if (bytes.byteLength < missing) {
      this.#missing = missing - bytes.byteLength;
      return bytes.subarray(bytes.byteLength);
    }
    this.#missing = undefined;
    this.#events.request(this.#number);
    return bytes.subarray(missing);
  }
}
