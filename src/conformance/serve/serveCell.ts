// The HTTP server for one cell (one conformance row for one operation). It sends the responses and faults that the row
// lists, and logs the client's requests.

import { once } from "node:events";
import http, { type IncomingMessage } from "node:http";
import https from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { type Cell, callsIn, type Step, type Via } from "../cell.js";
import { connectionProblems, problemsOf, statusOf, when } from "./checkRequest.js";
import { type Address, createCertificate, unreachable } from "./connectionFaults.js";
import { actsOf, perform, type SeenRequest } from "./exchange.js";
import { proxiedHost, startProxy } from "./proxy.js";

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
  const handshake = handshakes[via?.scheme ?? network];
  const { ca, ...own } = handshake ? createCertificate(handshake) : {};
  const used: Used = new Map();
  const listener = listenerOf(cell, keys, used, log);
  const server = handshake
    ? https.createServer({ ...own, requestCert: handshake.wantsOne === true })
    : http.createServer();
  for (const event of ["request", "checkContinue"])
    server.on(event, (request: IncomingMessage) => {
      // A row that never ends does not keep the run going.
      if (log.length < mostRequests) onRequest();
      listener(request);
    });
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
    if (network === "tls-closed") socket.destroy();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const proxy = via && (await startProxy(via, port, keys));
  const except = via?.environment?.except;
  const scheme = via?.scheme ?? (network.startsWith("tls-") ? "https" : "http");
  return {
    address: {
      baseUrl: `${scheme}://${proxy ? proxiedHost : `127.0.0.1:${port}`}${cell.basePath ?? ""}`,
      ...(proxy && except === undefined && { proxy: proxy.url }),
      ...(proxy && except !== undefined && { environment: { HTTPS_PROXY: proxy.url, NO_PROXY: except } }),
      ...(handshake?.isTrusted && ca && { caCertificate: ca }),
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

type Handshake = Parameters<typeof createCertificate>[0] & { wantsOne?: true; isTrusted?: true };

// The TLS of a row behind a proxy, and that of each fault: whether it wants a certificate of the client, and whether the
// client trusts the server's.
const handshakes: Readonly<Record<string, Handshake>> = {
  https: { host: proxiedHost, isTrusted: true },
  "tls-untrusted": {},
  "tls-expired": { isExpired: true, isTrusted: true },
  "tls-other-name": { host: proxiedHost, isTrusted: true },
  "tls-certificate-wanted": { wantsOne: true, isTrusted: true },
};

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
  const isClosed = await within(graceMs, () => sockets.size === 0);
  return when(!isClosed, "the connection of the aborted call is still open");
}

// Waits until something holds; returns false if it does not within so many milliseconds.
async function within(ms: number, holds: () => boolean): Promise<boolean> {
  const from = performance.now();
  while (!holds() && performance.now() - from < ms) await pause(5);
  return holds();
}

/** The open connections that carried a request: the step of the last one, and whether its whole response was sent. */
type Used = Map<Socket, { readonly step: Step; isDone: boolean }>;

// How long requests of calls that are made at the same time wait for each other, in milliseconds.
const longestHoldMs = 500;

function listenerOf(cell: Cell, keys: readonly string[], used: Used, log: RequestLog) {
  const { clients, parallel } = cell.client;
  const waiting = [...callsIn(cell)];
  let arrived = 0;
  let last: Step | undefined;
  let isWatched = parallel === undefined;
  return async (request: IncomingMessage): Promise<void> => {
    const { socket, headers } = request;
    request.on("error", () => {});
    const seen: SeenRequest = { arrivedMs: performance.now(), endedMs: undefined, problems: [] };
    const blame = (...problems: readonly string[]): void => void seen.problems.push(...problems);
    const index = log.push(seen) - 1;
    const nth = Math.min(index, cell.steps.length - 1);
    const step = cell.steps[nth] as Step;
    blame(...connectionProblems(cell, used.get(socket)?.step, last));
    // A request may use the key of the client whose turn it is; after a 401, the client's second key.
    const isRenewed = keys.length > 1 && statusOf(last) === 401;
    const turn = clients && index % clients;
    const due = turn === undefined ? keys.slice(isRenewed ? 1 : 0) : keys.slice(turn, turn + 1);
    last = step;
    if (!used.has(socket)) socket.on("close", () => used.delete(socket));
    const own = { step, isDone: false };
    used.set(socket, own);
    // It is waited for once in a row, so that a client that leaves every connection open ends its row in time, too.
    if (isWatched) {
      const found = await openProblems(cell, socket, used);
      blame(...found);
      isWatched = found.length === 0;
    }
    let call = cell;
    const read = async (isSlow: boolean): Promise<void> => {
      if (headers.expect) socket.write("HTTP/1.1 100 Continue\r\n\r\n");
      const parts: Buffer[] = [];
      for await (const part of request) {
        parts.push(part);
        if (isSlow) await pause(1);
      }
      const { method, url, rawHeaders } = request;
      const body = Buffer.concat(parts);
      const read = { method, url, headers, rawHeaders, body, port: socket.localPort };
      // The call that the request belongs to is found by what it asks for.
      const problems = waiting.map((each) => problemsOf(read, each, { due, all: keys }));
      const found = Math.max(
        0,
        problems.findIndex((each) => each.length === 0),
      );
      blame(...(problems[found] ?? []));
      call = waiting[found] ?? cell;
      if (waiting.length > 1) waiting.splice(found, 1);
      arrived += 1;
      await within(longestHoldMs, () => arrived >= (parallel ?? 1));
    };
    const acts = actsOf(() => call.steps[nth] as Step, { keys, request });
    // A connection that the client closes ends the acts.
    own.isDone = await perform(acts, socket, seen, read).catch(() => false);
  };
}

// The most connections that a client keeps open for calls that it makes one after another.
const mostOpen = 3;

// Once a further request arrives, a connection whose response was given up is closed, and one that is kept is used again.
async function openProblems({ client }: Cell, own: Socket, used: Used): Promise<readonly string[]> {
  const isOne = client.clients === undefined && !client.newClientPerCall;
  const isLeft = (): boolean => [...used].some(([socket, { isDone }]) => socket !== own && !isDone);
  const isMany = (): boolean => isOne && used.size > mostOpen;
  if (await within(graceMs, () => !isLeft() && !isMany())) return [];
  return isMany()
    ? [`${used.size} connections are open, for calls one after another`]
    : ["the connection of the failed attempt is still open"];
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
  let first = 0;
  return byCall.flatMap((requests) => {
    const call = log.slice(first, first + requests);
    first += requests;
    return call.slice(1).map((request, index) => {
      const { arrivedMs, endedMs = arrivedMs } = call[index] as SeenRequest;
      // Rounded up: the clocks of the server and the client may differ by a fraction of a millisecond.
      return { retry: index + 1, ms: Math.ceil(request.arrivedMs - endedMs) };
    });
  });
}
