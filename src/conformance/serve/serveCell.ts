// The HTTP server for one cell (one conformance row for one operation). It sends the responses and faults that the row
// lists, and logs the client's requests.
import { once } from "node:events";
import http, { type IncomingMessage } from "node:http";
import https from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { type Cell, callsIn, proxiedHost, responseIn, type Step, type Via } from "../cell.js";
import { when } from "../differences.js";
import { problemsOf } from "./checkRequest.js";
import { type Address, closerOf, createCertificate, unreachable } from "./connectionFaults.js";
import { actsOf, perform, type SeenRequest } from "./exchange.js";
import { startProxy } from "./proxy.js";

export interface Served {
  readonly address: Address;
  readonly log: RequestLog;
  /** Reports an open connection or a late request of an aborted call. Called once the call's outcome was posted. */
  leftBehind(): Promise<readonly string[]>;
  close(): unknown;
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
  // A row that never ends does not keep the run going.
  const listener = listenerOf(cell, keys, used, log, () => log.length < mostRequests && onRequest());
  const server = handshake
    ? https.createServer({ ...own, requestCert: handshake.wantsOne === true }, listener)
    : http.createServer(listener);
  server.on("checkContinue", listener);
  const close = closerOf(server);
  if (network === "tls-closed") server.on("connection", (socket: Socket) => socket.destroy());
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
    close: () => {
      close();
      proxy?.close();
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

// How long an aborted call may keep its connection, and how long after its time a retry is waited for, in milliseconds.
const graceMs = 1000;
const lateRetryMs = 500;

async function leftBehind(
  { client, steps: [step, next] }: Cell,
  log: RequestLog,
  sockets: ReadonlyMap<Socket, unknown>,
): Promise<readonly string[]> {
  const { abort } = client;
  const waitMs = Number(responseIn(step)?.headers["retry-after"]) * 1000;
  if (abort === "waiting" && next !== undefined)
    await pause((log[0]?.endedMs ?? 0) + waitMs + lateRetryMs - performance.now());
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

function listenerOf(cell: Cell, keys: readonly string[], used: Used, log: RequestLog, onRequest: () => void) {
  const { clients, parallel = 1 } = cell.client;
  const waiting = [...callsIn(cell)];
  let arrived = 0;
  let last: Step | undefined;
  let isWatched = parallel === 1;
  return async (request: IncomingMessage): Promise<void> => {
    const { socket, headers } = request;
    request.on("error", () => {});
    onRequest();
    const problems: string[] = [];
    const seen: SeenRequest = { arrivedMs: performance.now(), endedMs: undefined, problems };
    const index = log.push(seen) - 1;
    const nth = Math.min(index, cell.steps.length - 1);
    problems.push(...connectionProblems(cell, used.get(socket)?.step, last));
    // A request may use the key of the client whose turn it is; after a 401, the client's second key.
    const first = clients ? index % clients : Number(responseIn(last)?.status === 401);
    const due = keys.slice(first, clients && first + 1);
    const own = { step: cell.steps[nth] as Step, isDone: false };
    last = own.step;
    if (!used.has(socket)) socket.on("close", () => used.delete(socket));
    used.set(socket, own);
    // It is waited for once in a row, so that a client that leaves every connection open ends its row in time, too.
    if (isWatched) {
      const found = await openProblems(cell, socket, used);
      problems.push(...found);
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
      // The call that the request belongs to is found by what it asks for.
      const body = Buffer.concat(parts);
      const found = waiting.map((each) => problemsOf(request, body, each, { due, all: keys }));
      const isSame = (each: readonly string[]): boolean => each.length === 0;
      const at = Math.max(0, found.findIndex(isSame));
      problems.push(...(found[at] ?? []));
      call = waiting[at] ?? cell;
      if (waiting.length > 1) waiting.splice(at, 1);
      arrived += 1;
      await within(longestHoldMs, () => arrived >= parallel);
    };
    const acts = actsOf(() => call.steps[nth] as Step, keys, request);
    // A connection that the client closes ends the acts.
    own.isDone = await perform(acts, socket, seen, read).catch(() => false);
  };
}

// What is wrong with the connection of a request: the step of its last request, and that of the row's last request.
function connectionProblems(
  { asked, client, connections }: Cell,
  served: Step | undefined,
  last: Step | undefined,
): readonly string[] {
  if (served === undefined) return [];
  if (responseIn(served)?.after !== undefined)
    return ["it came over a connection on which something followed a response"];
  const isRepeatable = client.repeatable ?? asked.repeatable;
  if (!connections || (isRepeatable && responseIn(last)?.status !== 421)) return [];
  return [
    `it came over a connection that was idle, ${isRepeatable ? "after a 421" : "and the call is not idempotent"}`,
  ];
}

// The most connections that a client keeps open for calls that it makes one after another.
const mostOpen = 3;

// Once a further request arrives, a connection whose response was given up is closed, and one that is kept is used again.
async function openProblems({ client }: Cell, own: Socket, used: Used): Promise<readonly string[]> {
  const isOne = client.clients === undefined && !client.newClientPerCall;
  const isMany = (): boolean => isOne && used.size > mostOpen;
  const isLeft = (): boolean => [...used].some(([socket, { isDone }]) => socket !== own && !isDone);
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
  let last = 0;
  return byCall.flatMap((requests) => {
    last += requests;
    const call = log.slice(last - requests, last);
    return call.slice(1).map((request, index) => {
      const { arrivedMs, endedMs = arrivedMs } = call[index] as SeenRequest;
      // Rounded up: the clocks of the server and the client may differ by a fraction of a millisecond.
      return { retry: index + 1, ms: Math.ceil(request.arrivedMs - endedMs) };
    });
  });
}
