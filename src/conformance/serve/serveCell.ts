// A separate server for each cell (a conformance row for one operation): sends its responses and faults, logs requests.

import { once } from "node:events";
import http, { type RequestListener } from "node:http";
import https from "node:https";
import type { AddressInfo, Server, Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import type { Cell, Step } from "../cells.js";
import { connectionsOf, problemsOf } from "./checkRequest.js";
import { type Address, type Certificate, createCertificate, unreachable } from "./connectionFaults.js";
import { faults, sendAnswer } from "./sendAnswer.js";

export interface Served {
  readonly address: Address;
  readonly log: RequestLog;
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
  if (place) return { ...place, log };
  const certificate = network.startsWith("tls-") ? createCertificate() : undefined;
  const listener = listenerOf(cell, keys, (...seen) => {
    onRequest();
    return log.push(...seen);
  });
  const server = createServer(network, listener, certificate);
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
    if (network === "tls-closed") socket.destroy();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const close = async (): Promise<void> => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return { address: addressOf(network, (server.address() as AddressInfo).port, certificate), log, close };
}

function createServer(network: string, listener: RequestListener, certificate?: Certificate): Server {
  if (network === "tls-untrusted" || network === "tls-certificate-wanted") {
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
  return network === "tls-certificate-wanted" && certificate
    ? { baseUrl, caCertificate: certificate.cert }
    : { baseUrl };
}

type Keep = (...seen: RequestLog) => number;

function listenerOf(cell: Cell, keys: readonly string[], keep: Keep): RequestListener {
  let refusedKey = false;
  const connectionProblems = connectionsOf(cell);
  return (request, response) => {
    const arrivedMs = performance.now();
    request.on("error", () => {});
    response.on("error", () => {});
    const due = refusedKey ? keys.slice(1) : keys;
    const seen = { arrivedMs, endedMs: undefined as number | undefined, problems: [] as string[] };
    const index = keep(seen) - 1;
    const step = cell.steps[Math.min(index, cell.steps.length - 1)] as Step;
    refusedKey = keys.length > 1 && "answer" in step && step.answer.status === 401;
    seen.problems.push(...connectionProblems(request.socket, step));
    buffer(request).then(
      (body) => {
        const { method, url, headers, rawHeaders } = request;
        seen.problems.push(...problemsOf({ method, url, headers, rawHeaders, body }, cell, due));
        const ended = (): void => {
          seen.endedMs = performance.now();
        };
        const key = headers.authorization?.replace(/^Bearer /, "") ?? "";
        if ("answer" in step) sendAnswer(response, step.answer, { key, ended });
        else faults[step.network]?.(response, ended);
      },
      () => {},
    );
  };
}

interface SeenRequest {
  readonly arrivedMs: number;
  /** When the response or its connection ended, in milliseconds; undefined while neither has. */
  endedMs: number | undefined;
  readonly problems: readonly string[];
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
