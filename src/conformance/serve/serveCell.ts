// The HTTP server for one cell (one conformance row for one operation). It sends the responses and faults that the row
// lists, and logs the client's requests.

import { once } from "node:events";
import http, {
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from "node:http";
import https from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import type { Cell, Step } from "../cells.js";
import { connectionsOf, type Keys, problemsOf } from "./checkRequest.js";
import { type Address, type Certificate, createCertificate, unreachable } from "./connectionFaults.js";
import { callsIn, createGate } from "./parallelCalls.js";
import { codingsOf } from "./rawRequest.js";
import { faults, sendResponse } from "./sendResponse.js";

export interface Served {
  readonly address: Address;
  readonly log: RequestLog;
  /** Reports an open connection or a late request of an aborted call. Called once the call's outcome was posted. */
  leftBehind(): Promise<readonly string[]>;
  close(): Promise<void>;
}

/**
 * Starts the server of a cell (a conformance row for one operation) on a free port of 127.0.0.1.
 * @param keys The API keys of the row; a second one is required of the request after a 401.
 * @throws NotOnThisMachine if this machine cannot produce the row's fault
 */
export async function serveCell(cell: Cell, keys: readonly string[], onRequest: () => void): Promise<Served> {
  const log: RequestLog = [];
  // A row with a connection fault has only one step.
  const [step] = cell.steps;
  const network = step && "network" in step ? step.network : "";
  const place = await unreachable[network]?.();
  if (place) return { ...place, log, leftBehind: async () => [] };
  const certificate = network.startsWith("tls-") ? certificateFor(network) : undefined;
  const listener = listenerOf(cell, keys, (...seen) => {
    onRequest();
    return log.push(...seen);
  });
  const server = createServer(network, listener, certificate);
  // Never close an idle connection: a client that is late on a busy machine would meet a fault that the row does not
  // have. After a 101, however, the server does: libcurl reads until the connection ends.
  if (!cell.steps.some((each) => "response" in each && each.response.status === 101))
    server.keepAliveTimeout = 0;
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
    if (network === "tls-closed") socket.destroy();
  });
  const used = socketsWithRequests(server);
  await once(server.listen(0, "127.0.0.1"), "listening");
  const close = async (): Promise<void> => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  const { port } = server.address() as AddressInfo;
  const address = addressOf(network, port, certificate);
  return {
    address: { ...address, baseUrl: address.baseUrl + (cell.basePath ?? "") },
    log,
    leftBehind: () => leftBehind(cell, log, used),
    close,
  };
}

// Returns the connections that carried a request. Others do not count: after an abort a client, such as undici, may
// open a connection and keep it unused.
function socketsWithRequests(server: Server): ReadonlySet<Socket> {
  const used = new Set<Socket>();
  server.on("request", ({ socket }: IncomingMessage) => {
    if (used.has(socket)) return;
    used.add(socket);
    socket.on("close", () => used.delete(socket));
  });
  return used;
}

function certificateFor(network: string): Certificate {
  return network === "tls-other-name" ? createCertificate("service.invalid") : createCertificate();
}

// How long an aborted call may keep its connection, and how long a late retry is waited for, in milliseconds.
const graceMs = 1000;

async function leftBehind(
  { client, steps: [step] }: Cell,
  log: RequestLog,
  sockets: ReadonlySet<Socket>,
): Promise<readonly string[]> {
  const { abort } = client;
  if (abort === "waiting" && step && "response" in step) {
    const waitMs = Number(step.response.headers["retry-after"]) * 1000;
    await pause((log[0]?.endedMs ?? 0) + waitMs + graceMs - performance.now());
  }
  if (abort !== "received" && abort !== "answering") return [];
  for (const from = performance.now(); sockets.size > 0; await pause(20))
    if (performance.now() - from > graceMs) return ["the connection of the aborted call is still open"];
  return [];
}

function createServer(network: string, listener: RequestListener, certificate?: Certificate): http.Server {
  if (certificate && encrypted.has(network)) {
    return https.createServer(
      { ...certificate, requestCert: network === "tls-certificate-wanted" },
      listener,
    );
  }
  const server = http.createServer(listener);
  const refusal = tunnelStatuses[network];
  return server.on("connect", (_request, socket: Socket) =>
    socket.end(`HTTP/1.1 ${refusal ?? 405} No\r\ncontent-length: 0\r\n\r\n`),
  );
}

const encrypted: ReadonlySet<string> = new Set(["tls-untrusted", "tls-certificate-wanted", "tls-other-name"]);

const tunnelStatuses: Readonly<Record<string, number>> = {
  "tunnel-failed": 503,
  "tunnel-refused": 403,
  "tunnel-credentials": 407,
};

function addressOf(network: string, port: number, certificate?: Certificate): Address {
  if (network in tunnelStatuses) {
    return { baseUrl: "https://service.invalid", proxy: `http://127.0.0.1:${port}` };
  }
  const scheme = network.startsWith("tls-") ? "https" : "http";
  const baseUrl = `${scheme}://127.0.0.1:${port}`;
  return certificate && (network === "tls-certificate-wanted" || network === "tls-other-name")
    ? { baseUrl, caCertificate: certificate.cert }
    : { baseUrl };
}

type Keep = (...seen: RequestLog) => number;

function listenerOf(cell: Cell, keys: readonly string[], keep: Keep): RequestListener {
  const connectionProblems = connectionsOf(cell);
  const dueKeys = dueKeysOf(cell, keys);
  const waiting = [...callsIn(cell)];
  const opened = createGate(waiting.length);
  return (request, response) => {
    const arrivedMs = performance.now();
    request.on("error", () => {});
    response.on("error", () => {});
    const seen = { arrivedMs, endedMs: undefined as number | undefined, problems: [] as string[] };
    const index = keep(seen) - 1;
    const nth = Math.min(index, cell.steps.length - 1);
    const due = dueKeys(index, cell.steps[nth] as Step);
    seen.problems.push(...connectionProblems(request.socket, cell.steps[nth] as Step));
    buffer(request).then(
      async (body) => {
        const { call, problems } = callOf({ request, body }, waiting, { due, all: keys });
        seen.problems.push(...problems);
        await opened();
        respond(request, response, { step: call.steps[nth] as Step, seen });
      },
      () => {},
    );
  };
}

// The keys that the nth request may use: that of the client whose turn it is; after a 401, the client's second key.
function dueKeysOf(
  { client }: Cell,
  keys: readonly string[],
): (index: number, step: Step) => readonly string[] {
  const { clients } = client;
  let refusedKey = false;
  return (index, step) => {
    if (clients !== undefined) return keys.slice(index % clients, (index % clients) + 1);
    const due = refusedKey ? keys.slice(1) : keys;
    refusedKey = keys.length > 1 && "response" in step && step.response.status === 401;
    return due;
  };
}

// Finds the call that a request belongs to. If calls are made at the same time, the call is removed from `waiting`.
function callOf(
  { request, body }: { readonly request: IncomingMessage; readonly body: Buffer },
  waiting: Cell[],
  keys: Keys,
): { readonly call: Cell; readonly problems: readonly string[] } {
  const { method, url, headers, rawHeaders, socket } = request;
  const read = { method, url, headers, rawHeaders, body, port: socket.localPort };
  const found = waiting.map((call) => ({ call, problems: problemsOf(read, call, keys) }));
  const best = found.find(({ problems }) => problems.length === 0) ?? found[0];
  if (best === undefined) throw new Error("A cell has no call.");
  if (waiting.length > 1) waiting.splice(waiting.indexOf(best.call), 1);
  return best;
}

function respond(
  { headers }: IncomingMessage,
  response: ServerResponse,
  { step, seen }: { readonly step: Step; readonly seen: SeenRequest },
): void {
  const ended = (): void => {
    seen.endedMs = performance.now();
  };
  const key = headers.authorization?.replace(/^Bearer /, "") ?? "";
  const codings = codingsOf(headers["accept-encoding"]);
  if ("response" in step) sendResponse(response, step.response, { key, ended, codings });
  else faults[step.network]?.(response, ended, (problem) => seen.problems.push(problem));
}

interface SeenRequest {
  readonly arrivedMs: number;
  /** When the response or its connection ended, in milliseconds; undefined while neither has. */
  endedMs: number | undefined;
  readonly problems: string[];
}

/** The requests that a cell's server received, in the order of their arrival. */
export type RequestLog = SeenRequest[];

/**
 * The waits before each retry, in whole milliseconds.
 * @param byCall The number of requests of each call, if there are several.
 */
export function waitsIn(
  log: RequestLog,
  byCall: readonly number[] = [log.length],
): readonly { readonly retry: number; readonly ms: number }[] {
  const waits: { retry: number; ms: number }[] = [];
  let first = 0;
  for (const requests of byCall) {
    for (let retry = 1; retry < requests; retry++) {
      const [before, request] = log.slice(first + retry - 1, first + retry + 1);
      if (!before || !request) break;
      // Rounded up: the clocks of the server and the client may differ by a fraction of a millisecond.
      waits.push({ retry, ms: Math.ceil(request.arrivedMs - (before.endedMs ?? before.arrivedMs)) });
    }
    first += requests;
  }
  return waits;
}
