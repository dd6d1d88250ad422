// The HTTP server for one cell (one conformance row for one operation). It sends the responses and faults that the row
// lists, and logs the client's requests.

import { once } from "node:events";
import http, { type IncomingMessage, type RequestListener } from "node:http";
import https from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { type Cell, callsIn, type Step, type Via } from "../cell.js";
import { connectionsOf, type Keys, problemsOf } from "./checkRequest.js";
import { type Address, createCertificate, unreachable } from "./connectionFaults.js";
import { actsOf, perform } from "./exchange.js";
import { proxiedHost, startProxy } from "./proxy.js";
import { codingsOf } from "./rawRequest.js";

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
  const { isPlain, wantsOne, isTrusted, ...named } = handshakes[via?.scheme ?? network] ?? { isPlain: true };
  const certificate = isPlain ? undefined : createCertificate(named);
  const used: Row["used"] = new Map();
  const listener = listenerOf(cell, { keys, used }, (seen) => {
    // A row that never ends does not keep the run going.
    if (log.length < mostRequests) onRequest();
    return log.push(seen) - 1;
  });
  const { cert, key } = certificate ?? {};
  const server = certificate
    ? https.createServer({ cert, key, requestCert: wantsOne === true }, listener)
    : http.createServer(listener);
  server.on("checkContinue", listener);
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
    if (network === "tls-closed") socket.destroy();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const proxy = via && (await startProxy(via, port, keys));
  const scheme = via?.scheme ?? (network.startsWith("tls-") ? "https" : "http");
  return {
    address: {
      baseUrl: `${scheme}://${proxy ? proxiedHost : `127.0.0.1:${port}`}${cell.basePath ?? ""}`,
      ...(proxy && (via.environment ? environmentOf(proxy.url, via.environment) : { proxy: proxy.url })),
      ...(isTrusted && certificate && { caCertificate: certificate.ca }),
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

// Far more requests than any row expects.
const mostRequests = 1000;

const tunnels: Readonly<Record<string, Via>> = {
  "tunnel-failed": { scheme: "https", refusal: 503 },
  "tunnel-refused": { scheme: "https", refusal: 403 },
  "tunnel-credentials": { scheme: "https", refusal: 407 },
};

interface Handshake {
  readonly isPlain?: true;
  readonly host?: string;
  readonly isExpired?: true;
  /** Whether the server asks for a certificate of the client. */
  readonly wantsOne?: true;
  /** Whether the client trusts the certificate. */
  readonly isTrusted?: true;
}

// The TLS of a row behind a proxy, and that of each fault.
const handshakes: Readonly<Record<string, Handshake>> = {
  https: { host: proxiedHost, isTrusted: true },
  "tls-untrusted": {},
  "tls-expired": { isExpired: true, isTrusted: true },
  "tls-other-name": { host: proxiedHost, isTrusted: true },
  "tls-certificate-wanted": { wantsOne: true, isTrusted: true },
};

const environmentOf = (proxy: string, { except }: NonNullable<Via["environment"]>) => ({
  environment: { HTTPS_PROXY: proxy, NO_PROXY: except },
});

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

interface Row {
  readonly keys: readonly string[];
  /** The open connections that carried a request, and whether the last one of each had its whole response. */
  readonly used: Map<Socket, () => boolean>;
}

/** @param keep Takes a request into the log, and returns its index there. */
function listenerOf(cell: Cell, { keys, used }: Row, keep: (seen: SeenRequest) => number): RequestListener {
  const connectionProblems = connectionsOf(cell);
  const dueKeys = dueKeysOf(cell, keys);
  const waiting = [...callsIn(cell)];
  const opened = createGate(waiting.length);
  let isWatched = cell.client.parallel === undefined;
  return async (request) => {
    const { socket, headers } = request;
    request.on("error", () => {});
    const seen: SeenRequest = { arrivedMs: performance.now(), endedMs: undefined, problems: [] };
    const blame = (...problems: readonly string[]): void => void seen.problems.push(...problems);
    const index = keep(seen);
    const nth = Math.min(index, cell.steps.length - 1);
    const step = cell.steps[nth] as Step;
    const due = dueKeys(index, step);
    blame(...connectionProblems(socket, step));
    let isDone = false;
    if (!used.has(socket)) socket.on("close", () => used.delete(socket));
    used.set(socket, () => isDone);
    // It is waited for once in a row, so that a client that leaves every connection open ends its row in time, too.
    if (isWatched) {
      const found = await openProblems(cell, socket, used);
      blame(...found);
      isWatched = found.length === 0;
    }
    let call = cell;
    const read = async (isSlow: boolean): Promise<void> => {
      if (headers.expect) socket.write("HTTP/1.1 100 Continue\r\n\r\n");
      const found = callOf({ request, body: await bodyOf(request, isSlow) }, waiting, { due, all: keys });
      call = found.call;
      blame(...found.problems);
      await opened();
    };
    const ended = (): void => {
      seen.endedMs = performance.now();
    };
    const codings = codingsOf(headers["accept-encoding"]);
    const acts = actsOf(() => call.steps[nth] as Step, {
      keys,
      codings,
      closes: headers.connection === "close",
    });
    // A connection that the client closes ends the acts.
    isDone = await perform(acts, socket, { read, ended, blame }).catch(() => false);
  };
}

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
  const isLeft = (): boolean => [...used].some(([socket, isDone]) => socket !== own && !isDone());
  const isMany = (): boolean => isOne && used.size > mostOpen;
  for (const from = performance.now(); isLeft() || isMany(); await pause(20)) {
    if (performance.now() - from < graceMs) continue;
    return isMany()
      ? [`${used.size} connections are open, for calls one after another`]
      : ["the connection of the failed attempt is still open"];
  }
  return [];
}

const longestHoldMs = 500;

// Returns a function that each request awaits. All go on once `requests` requests came, or half a second passed.
function createGate(requests: number): () => Promise<void> {
  let left = requests;
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return () => {
    left -= 1;
    if (left <= 0) open();
    else setTimeout(open, longestHoldMs).unref();
    return opened;
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
