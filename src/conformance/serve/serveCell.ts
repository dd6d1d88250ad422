// The HTTP server for one cell (one conformance row for one operation). It sends the responses and faults that the row
// lists, and logs the client's requests.

import { once } from "node:events";
import http, { type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import https from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import type { Cell, Step, Via } from "../cell.js";
import { connectionsOf, type Keys, problemsOf } from "./checkRequest.js";
import { type Address, type Certificate, createCertificate, unreachable } from "./connectionFaults.js";
import { callsIn, createGate } from "./parallelCalls.js";
import { proxiedHost, startProxy } from "./proxy.js";
import { codingsOf } from "./rawRequest.js";
import { faults, letThroughMs, sendResponse } from "./sendResponse.js";

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
  const via = cell.via ?? tunnels[network];
  const place = await unreachable[via ? "" : network]?.();
  if (place) return { ...place, log, leftBehind: async () => [] };
  const certificate = certificateFor(network, via);
  const used: Row["used"] = new Map();
  const listener = listenerOf(cell, { keys, used }, (...seen) => {
    onRequest();
    return log.push(...seen);
  });
  const isEncrypted = certificate !== undefined && network !== "tls-not-spoken" && network !== "tls-closed";
  const server = isEncrypted
    ? https.createServer({ ...certificate, requestCert: network === "tls-certificate-wanted" }, listener)
    : http.createServer(listener);
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
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const proxy = via && (await startProxy(via, port, keys));
  const address = proxy ? proxiedAddress(via, proxy.url) : { baseUrl: `http://127.0.0.1:${port}` };
  const baseUrl = network.startsWith("tls-") ? address.baseUrl.replace("http", "https") : address.baseUrl;
  const isTrusted = via?.scheme === "https" || trusted.has(network);
  return {
    address: {
      ...address,
      baseUrl: baseUrl + (cell.basePath ?? ""),
      ...(isTrusted && certificate && { caCertificate: certificate.cert }),
    },
    log,
    leftBehind: async () => [...(await leftBehind(cell, log, used)), ...(proxy?.problems() ?? [])],
    close: async () => {
      server.close();
      proxy?.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

const tunnels: Readonly<Record<string, Via>> = {
  "tunnel-failed": { scheme: "https", refusal: 503 },
  "tunnel-refused": { scheme: "https", refusal: 403 },
  "tunnel-credentials": { scheme: "https", refusal: 407 },
};

// The faults of TLS that a client meets although it trusts the certificate.
const trusted: ReadonlySet<string> = new Set(["tls-certificate-wanted", "tls-other-name", "tls-expired"]);

function certificateFor(network: string, via: Via | undefined): Certificate | undefined {
  if (via?.scheme === "https" || network === "tls-other-name")
    return createCertificate({ host: proxiedHost });
  if (!network.startsWith("tls-")) return undefined;
  return createCertificate({ isExpired: network === "tls-expired" });
}

function proxiedAddress({ scheme, environment }: Via, proxy: string): Address {
  const baseUrl = `${scheme}://${proxiedHost}`;
  if (environment === undefined) return { baseUrl, proxy };
  return { baseUrl, environment: { HTTPS_PROXY: proxy, NO_PROXY: environment.except } };
}

// How long an aborted call may keep its connection, and how long a late retry is waited for, in milliseconds.
const graceMs = 1000;

async function leftBehind(
  { client, steps: [step, next] }: Cell,
  log: RequestLog,
  sockets: ReadonlyMap<Socket, unknown>,
): Promise<readonly string[]> {
  const { abort } = client;
  if (abort === "waiting" && step && "response" in step) {
    const waitMs = Number(step.response.headers["retry-after"]) * 1000;
    await pause((log[0]?.endedMs ?? 0) + waitMs + graceMs - performance.now());
  }
  // Where another call follows, its request showed whether the connection was closed.
  if (next !== undefined || (abort !== "received" && abort !== "answering")) return [];
  for (const from = performance.now(); sockets.size > 0; await pause(20))
    if (performance.now() - from > graceMs) return ["the connection of the aborted call is still open"];
  return [];
}

type Keep = (...seen: RequestLog) => number;

interface Row {
  readonly keys: readonly string[];
  /** The open connections that carried a request, and whether the last one of each had no whole response. */
  readonly used: Map<Socket, () => boolean>;
}

function listenerOf(cell: Cell, { keys, used }: Row, keep: Keep): RequestListener {
  const connectionProblems = connectionsOf(cell);
  const dueKeys = dueKeysOf(cell, keys);
  const waiting = [...callsIn(cell)];
  const opened = createGate(waiting.length);
  return async (request, response) => {
    const arrivedMs = performance.now();
    const { socket } = request;
    request.on("error", () => {});
    response.on("error", () => {});
    const seen = { arrivedMs, endedMs: undefined as number | undefined, problems: [] as string[] };
    const index = keep(seen) - 1;
    const nth = Math.min(index, cell.steps.length - 1);
    const step = cell.steps[nth] as Step;
    const due = dueKeys(index, step);
    seen.problems.push(...connectionProblems(socket, step));
    if (!used.has(socket)) socket.on("close", () => used.delete(socket));
    used.set(socket, () => "network" in step && !response.writableFinished);
    if (cell.client.parallel === undefined) seen.problems.push(...(await openProblems(cell, socket, used)));
    const manner = "response" in step ? step.response.manner : step.network;
    if (manner === "request-unread") return;
    if (manner === "early" || manner === "early-closed") respond(request, response, { step, seen, keys });
    if (manner === "early-closed") {
      setTimeout(() => socket.destroy(), letThroughMs);
      return;
    }
    if (manner === "read-slowly") await pause(slowMs);
    const body = await bodyOf(request, manner === "read-slowly").catch(() => undefined);
    if (body === undefined) return;
    const { call, problems } = callOf({ request, body }, waiting, { due, all: keys });
    seen.problems.push(...problems);
    await opened();
    if (manner !== "early") respond(request, response, { step: call.steps[nth] as Step, seen, keys });
  };
}

// How long the server waits before it begins to read slowly, in milliseconds.
const slowMs = 1000;

async function bodyOf(request: IncomingMessage, isSlow: boolean): Promise<Buffer> {
  if (!isSlow) return await buffer(request);
  const parts: Buffer[] = [];
  for await (const part of request) {
    parts.push(part);
    await pause(1);
  }
  return Buffer.concat(parts);
}

// The most connections that a client keeps open for calls that it makes one after another.
const mostOpen = 3;

// Once a further request arrives, a connection whose response was given up is closed, and one that is kept is used again.
async function openProblems({ client }: Cell, own: Socket, used: Row["used"]): Promise<readonly string[]> {
  const isOne = client.clients === undefined && !client.newClientPerCall;
  const isLeft = (): boolean => [...used].some(([socket, isUnfinished]) => socket !== own && isUnfinished());
  const isMany = (): boolean => isOne && used.size > mostOpen;
  for (const from = performance.now(); isLeft() || isMany(); await pause(20)) {
    if (performance.now() - from < graceMs) continue;
    return isMany()
      ? [`${used.size} connections are open, for calls one after another`]
      : ["the connection of the failed attempt is still open"];
  }
  return [];
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
  { step, seen, keys }: { readonly step: Step; readonly seen: SeenRequest; readonly keys: readonly string[] },
): void {
  const ended = (): void => {
    seen.endedMs = performance.now();
  };
  const codings = codingsOf(headers["accept-encoding"]);
  if ("response" in step) void sendResponse(response, step.response, { keys, ended, codings });
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
