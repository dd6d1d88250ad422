import http from "node:http";
import https from "node:https";
import type { LookupFunction, Socket } from "node:net";
import type { TlsOptions } from "node:tls";
import { gzipSync } from "node:zlib";
import { HttpsProxyAgent } from "https-proxy-agent";
import { Agent, ProxyAgent } from "undici";
import { beforeAll, describe, expect, test } from "vitest";
import type { RowResponse } from "../../src/conformance/data.js";
import type { AttemptEvent, ClientOptions, StatusError } from "../../src/index.js";
import { canaryKey } from "./canary.js";
import { certificate, certificateKey, expiredCertificate } from "./certificate.js";
import { type OperationCall, operationCalls, transports } from "./clients.js";
import { TestClock } from "./clock.js";
import { type DecisionRow, decisionRows } from "./decisionRows.js";
import {
  type Act,
  callOf,
  endless,
  head,
  nowhere,
  type Place,
  respond,
  send,
  sendAndClose,
  sendAndReset,
  serve,
  statusErrorOf,
} from "./faults/runFault.js";
import { refusingPort } from "./refusingPort.js";

// Node's fetch takes no name server and no connection timeout of the caller's, and makes a lost connection of 101 and 407.
const hiddenFromFetch: ReadonlySet<string> = new Set([
  "name-not-found",
  "name-server-busy",
  "connect-stalls",
  "tls-certificate-wanted",
  "tls-expired",
  "tls-other-name",
  "tunnel-failed",
  "tunnel-refused",
  "tunnel-credentials",
  "status-101",
  "status-407",
  "status-407-fresh-key",
  "unauthenticated-on-407-fresh-key",
]);

// undici keeps the time to connect itself, not by the clock of the test; it makes a lost connection of 101 and of the alert
// with which a server asks for a certificate.
const hiddenFromDispatcher: ReadonlySet<string> = new Set([
  "connect-stalls",
  "status-101",
  "tls-certificate-wanted",
]);

const hidden: Readonly<Record<string, ReadonlySet<string>>> = {
  "node:http": new Set(),
  fetch: hiddenFromFetch,
  dispatcher: hiddenFromDispatcher,
};
type Way = (typeof transports)[number];
const none = { agent: undefined, maxConnections: undefined, connectTimeoutMs: undefined };
const ways: readonly Way[] = [...transports, { name: "dispatcher", options: none as ClientOptions }];

interface Run {
  readonly way: Way;
  readonly operation: OperationCall;
  readonly row: DecisionRow;
}

interface Seen {
  readonly requests: number;
  readonly error: StatusError;
}

/** Every row with each operation over each transport; with one over one of them, by turns, when `sampled`. */
function runsOf(sampled: boolean): readonly Run[] {
  const isChosen = ({ event }: DecisionRow, row: number, way: number, operation: number): boolean =>
    !sampled ||
    (row % operationCalls.length === operation && (hiddenFromFetch.has(event) || row % ways.length === way));
  return ways.flatMap((way, at) =>
    operationCalls.flatMap((operation, of) =>
      decisionRows
        .filter((row, index) => !hidden[way.name]?.has(row.event) && isChosen(row, index, at, of))
        .map((row) => ({ way, operation, row })),
    ),
  );
}

const chunked = head(200, { "transfer-encoding": "chunked" });
const endlessGzip = head(200, { "content-encoding": "gzip" });
const withLength = [head(200, { "content-length": 100 }), '{"object":'];
/** What a server does once it has a request. */
const acts: Readonly<Record<string, Act>> = {
  silence: () => {},
  "body-stalls": send(chunked, "1\r\n{\r\n"),
  "reset-before-headers": (socket) => void socket.resetAndDestroy(),
  "close-before-headers": (socket) => void socket.destroy(),
  "body-truncated": sendAndClose(...withLength),
  "body-chunk-cut": sendAndClose(chunked, "2\r\n{}\r\n"),
  "body-reset": sendAndReset(...withLength),
  "body-bad-gzip": send(respond(200, '{"object":"list"}', { "content-encoding": "gzip" })),
  // A gzip body may have many members.
  "body-endless": endless(endlessGzip, gzipSync(Buffer.alloc(1024 * 1024, " "))),
};

const own = { cert: certificate, key: certificateKey };
/** What a TLS server is, and what the client of the row trusts it with. */
const secured: Readonly<Record<string, readonly [server: TlsOptions, client?: object]>> = {
  "tls-untrusted": [own],
  "tls-expired": [{ ...own, cert: expiredCertificate }, { ca: expiredCertificate }],
  // The client asks for another host than the certificate names.
  "tls-other-name": [own, { ca: certificate, servername: "service.invalid" }],
  "tls-certificate-wanted": [{ ...own, requestCert: true }, { ca: certificate }],
};

const tunnels = { "tunnel-failed": 503, "tunnel-refused": 403, "tunnel-credentials": 407 } as Readonly<
  Record<string, number>
>;

const failing =
  (code: string): LookupFunction =>
  (_name, _options, done) =>
    setImmediate(done, Object.assign(new Error(`getaddrinfo ${code}`), { code, syscall: "getaddrinfo" }), "");
const lookups: Readonly<Record<string, LookupFunction>> = {
  "name-not-found": failing("ENOTFOUND"),
  "name-server-busy": failing("EAI_AGAIN"),
  "connect-stalls": () => {},
};

const onData = (act: (socket: Socket) => void) => (socket: Socket) =>
  void socket.once("data", () => act(socket));

/** Where the client of a row finds its server. */
async function placeOf({ server }: DecisionRow, isDispatched: boolean): Promise<Place> {
  const at = (place: Place, connect: object, options: object = {}): Place =>
    Object.defineProperty(place, "options", {
      value: { ...place.options, ...over(connect, isDispatched), ...options },
    });
  if ("answer" in server) return at(await serve({ request: send(bytesOf(server.answer)) }), {});
  const { network } = server;
  const [tls, trust = {}] = secured[network] ?? [];
  if (tls) return at(await serve({ tls }), trust);
  if (lookups[network])
    return at(nowhere({ baseUrl: "http://nowhere.invalid", allowInsecureHttp: true }), {
      lookup: lookups[network],
    });
  if (network === "refused") {
    const { url, close } = await refusingPort();
    return at(nowhere({ baseUrl: url }, close), {});
  }
  if (tunnels[network]) {
    const refusal = `HTTP/1.1 ${tunnels[network]} No\r\ncontent-length: 0\r\n\r\n`;
    const place = await serve({ connection: onData((socket) => void socket.end(refusal)) });
    const proxy = place.options.baseUrl;
    const way = isDispatched ? { dispatcher: new ProxyAgent(proxy) } : { agent: new HttpsProxyAgent(proxy) };
    return at(place, {}, { baseUrl: "https://service.invalid", ...way });
  }
  const scheme = "https";
  if (network === "tls-closed")
    return at(await serve({ scheme, connection: (socket) => void socket.destroy() }), {});
  const plain = onData((socket) => void socket.write("HTTP/1.1 400 Bad Request\r\n\r\n"));
  if (network === "tls-not-spoken") return at(await serve({ scheme, connection: plain }), {});
  const { [network]: request } = acts;
  if (!request) throw new Error(`No server does "${network}".`);
  return at(await serve({ request }), {});
}

// What connects so, as far as the platform's own does not.
function over(
  connect: { readonly ca?: string; readonly lookup?: LookupFunction },
  isDispatched: boolean,
): object {
  if (isDispatched) return { dispatcher: new Agent({ connect }) };
  if (connect.ca) return { agent: new https.Agent(connect) };
  return connect.lookup ? { agent: new http.Agent(connect as http.AgentOptions) } : {};
}

function bytesOf({ status, headers, body, text }: RowResponse): Buffer {
  if (status < 200 || status === 204 || status === 304) return Buffer.from(head(status, headers));
  return respond(status, text ?? (body === undefined ? "" : JSON.stringify(body)), headers);
}

// One after another on one clock: time passes only while the server is silent, or the client waits to repeat.
const clock = new TestClock();
const seen = new Map<Run, Seen>();

async function act({ way, operation, row }: Run): Promise<Seen> {
  const place = await placeOf(row, way.name === "dispatcher");
  const { apiKey, abort, repeatable: idempotent, ...rest } = row.client ?? {};
  const controller = new AbortController();
  const { signal } = controller;
  if (abort === "before") controller.abort();
  // By then the wait it tells of has begun.
  const onAttempt = ({ waitMs }: AttemptEvent) => void setImmediate(() => clock.pass(waitMs ?? 0));
  const client = {
    timeoutMs: undefined,
    ...rest,
    ...(apiKey && { apiKey: () => canaryKey }),
  } as ClientOptions;
  const fault = { name: row.event, start: async () => place, outcomes: {} as never, client };
  const call: OperationCall["call"] = (client) => operation.call(client, { signal, idempotent });
  const isStalled = /silence|stalls/.test("network" in row.server ? row.server.network : "");
  const passing = abort ? { now: 0, passToNext: () => controller.abort() } : clock;
  try {
    const { operation: id } = operation;
    const options = { ...way.options, onAttempt };
    const found = await callOf(
      fault,
      { operation: id, call },
      options,
      place,
      isStalled ? passing : undefined,
    );
    return { requests: found.requests, error: statusErrorOf(found) as StatusError };
  } finally {
    const { agent, dispatcher } = place.options as object as { agent?: http.Agent; dispatcher?: Agent };
    agent?.destroy();
    await dispatcher?.destroy();
    await place.close();
  }
}

/** Tests the decision table: what a real server counts, and how each call ends. */
export function testRetryTable(sampled: boolean): void {
  const runs = runsOf(sampled);

  beforeAll(async () => {
    clock.install();
    try {
      for (const run of runs) seen.set(run, await act(run));
    } finally {
      clock.remove();
    }
  }, 600_000);

  describe.each(ways)("over $name", ({ name: transport }) => {
    describe.each(operationCalls)("$operation", ({ operation, method, path }) => {
      test.each(runs.filter((run) => run.way.name === transport && run.operation.operation === operation))(
        "$row.event: $row.description",
        (run) => {
          const { row } = run;
          const expected = row.operations[operation];
          const { requests, attempts = requests, code, executed, executedBecause, inferred } = expected;
          const { requests: counted, error } = seen.get(run) as Seen;
          expect(counted).toBe(requests * sendings(transport, row));
          expect(error).toMatchObject({ operation, code, inferred, codeSource: row.codeSource });
          expect(error).toMatchObject({ notRetried: expected.notRetried, method, path });
          expect(error.retryAfterMs).toBe(expected.retryAfterMs);
          expect(error.attempts.map((attempt) => attempt.number)).toEqual(upTo(attempts));
          expect(allowed(transport, row, executed)).toContain(error.executed);
          expect(error.executedBecause).toBe(error.executed === executed ? executedBecause : "no-answer");
        },
      );
    });
  });
}

// The fetch standard has fetch itself repeat what a 421 refused, once on another connection.
function sendings(transport: string, { server }: DecisionRow): number {
  return transport === "fetch" && "answer" in server && server.answer.status === 421 ? 2 : 1;
}

// A fetch function tells less of the network: it may not know that nothing ran, never the reverse.
function allowed(transport: string, { server }: DecisionRow, executed: string): readonly string[] {
  return transport === "fetch" && "network" in server && executed === "no" ? ["no", "unknown"] : [executed];
}

function upTo(count: number): readonly number[] {
  return Array.from({ length: count }, (_, i) => i + 1);
}
