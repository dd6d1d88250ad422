import https from "node:https";
import type { Socket } from "node:net";
import { deflateSync, gzipSync } from "node:zlib";
import { buildConnector, Agent as UndiciAgent } from "undici";
import type { FetchLike } from "../../../src/index.js";
import { certificate, certificateKey } from "../certificate.js";
import { allRead, readByClient } from "../clientSockets.js";
import { refusingPort } from "../refusingPort.js";
import { goodText } from "../responses.js";
import { slowListener } from "../slowListener.js";
import { until } from "../turns.js";
import {
  type Act,
  afterGood,
  CannotHappenHere,
  drip,
  endless,
  type Fault,
  good,
  head,
  like,
  nowhere,
  type Outcomes,
  onceLike,
  onceOnReuse,
  type Place,
  respond,
  send,
  sendAndClose,
  sendAndReset,
  serve,
  succeeds,
} from "./runFault.js";

const own = { cert: certificate, key: certificateKey };
const untrusted = like("tls-untrusted");
const scheme = "https";
const short = { timeoutMs: 2_000, attemptTimeoutMs: 2_000 };

// Node's own limit of 10 s for a connection counts real time: on a busy machine it would end what the test's clock is to end.
const connectLater = buildConnector({ timeout: 0 }) as unknown as (...given: unknown[]) => Socket;
const patientFetch: FetchLike = (url, init: RequestInit) => {
  const connect = (...given: unknown[]): void => {
    const socket = connectLater(...given);
    init.signal?.addEventListener("abort", () => socket.destroy());
  };
  return fetch(url, { ...init, dispatcher: new UndiciAgent({ connect }) as never });
};

// The first thing a client says is that it wants TLS.
function onHello(act: Act): Act {
  return (socket, moment) => void socket.once("data", () => act(socket, moment));
}

// Node's fetch tells a handshake that was reset from nothing else that is reset.
const reset = { outcomes: like("close-before-headers", { seen: false }) };
const alert = (description: number): Buffer => Buffer.from([21, 3, 1, 0, 2, 2, description]);

// Connections that are never made safe: nothing was sent.
const tlsFaults: readonly Fault[] = [
  {
    name: "TLS with a certificate nobody signed",
    start: () => serve({ tls: own, request: send(good) }),
    outcomes: untrusted,
  },
  {
    name: "TLS with a certificate of another host",
    // Over fetch nobody trusts it either: there is no way to name its authority.
    start: () => serve({ tls: own, request: send(good) }),
    outcomes: untrusted,
    client: { agent: new https.Agent({ ca: certificate, servername: "service.example" }) },
    overFetch: { client: { agent: undefined } },
  },
  {
    name: "TLS of an old version",
    start: () =>
      serve({
        tls: { ...own, minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" },
        request: send(good),
      }),
    outcomes: untrusted,
  },
  {
    name: "TLS refused with an alert: protocol version",
    start: () => serve({ scheme, connection: onHello(sendAndClose(alert(70))) }),
    outcomes: untrusted,
  },
  {
    name: "TLS refused with an alert: handshake failure",
    start: () => serve({ scheme, connection: onHello(sendAndClose(alert(40))) }),
    outcomes: untrusted,
  },
  {
    name: "TLS to a server of plain HTTP",
    start: () => serve({ scheme, connection: onHello(send("HTTP/1.1 400 Bad Request\r\n\r\n")) }),
    outcomes: like("tls-not-spoken"),
  },
  {
    name: "TLS closed in its handshake",
    start: () => serve({ scheme, connection: onHello((socket) => void socket.end()) }),
    outcomes: like("tls-closed"),
  },
  {
    name: "TLS reset in its handshake",
    start: () => serve({ scheme, connection: onHello(sendAndReset("")) }),
    outcomes: like("tls-closed"),
    overFetch: reset,
  },
  {
    name: "TLS stalls in its handshake",
    start: () => serve({ scheme, connection: (socket) => void socket.resume() }),
    outcomes: like("connect-stalls"),
    client: { connectTimeoutMs: 250, timeoutMs: 5_000 },
    overFetch: { outcomes: like("deadline", { seen: false }), client: { ...short, fetch: patientFetch } },
  },
];

async function refusing(): Promise<Place> {
  const { url, close } = await refusingPort();
  return nowhere({ baseUrl: url }, close);
}

// No TCP connection leads to a group of machines.
async function unreachable(): Promise<Place> {
  return nowhere({ baseUrl: "http://224.0.0.1:8443", allowInsecureHttp: true });
}

const unread = like("close-before-headers", { seen: false });
// The client has its connection by then, and has sent its request.
const unreadThen = (end: (socket: Socket) => void) => (): Promise<Place> =>
  serve({ connection: (socket) => void readByClient(socket).then(() => end(socket)) });

// By then Node's fetch, too, holds its connection for the next call.
const reused = (place: Place): Promise<void> => allRead(place.sockets);
const closed = (place: Place): Promise<void> => until(() => place.sockets.size === 0);

// Connections that do not come about, or do not last.
const connectionFaults: readonly Fault[] = [
  { name: "refused", start: refusing, outcomes: like("refused") },
  { name: "unreachable", start: unreachable, outcomes: like("refused") },
  {
    name: "connecting stalls: the backlog is full",
    start: fullBacklog,
    outcomes: like("connect-stalls"),
    client: { connectTimeoutMs: 250, timeoutMs: 5_000 },
    // It has no connection timeout of the caller's and does not tell whether it is connected.
    overFetch: { outcomes: like("deadline", { seen: false }), client: { ...short, fetch: patientFetch } },
  },
  {
    name: "closed without reading",
    start: unreadThen((socket) => socket.destroy()),
    outcomes: unread,
  },
  {
    name: "reset without reading",
    start: unreadThen((socket) => socket.resetAndDestroy()),
    outcomes: unread,
  },
  {
    name: "closed before headers",
    start: () => serve({ request: (socket) => void socket.end() }),
    outcomes: like("close-before-headers"),
  },
  {
    name: "reset before headers",
    start: () => serve({ request: (socket) => void socket.resetAndDestroy() }),
    outcomes: like("reset-before-headers"),
  },
  {
    name: "a reused connection is closed",
    start: () => serve({ request: afterGood((socket) => void socket.end()) }),
    outcomes: onceOnReuse("close-before-headers"),
    // It uses whichever connection there is.
    overFetch: { outcomes: onceLike("close-before-headers") },
    afterGoodCall: reused,
  },
  {
    name: "a reused connection is reset",
    start: () => serve({ request: afterGood((socket) => void socket.resetAndDestroy()) }),
    outcomes: onceOnReuse("reset-before-headers"),
    // It uses whichever connection there is.
    overFetch: { outcomes: onceLike("reset-before-headers") },
    afterGoodCall: reused,
  },
  {
    name: "an idle connection was closed, though keep-alive was promised",
    start: () => serve({ request: sendAndClose(good) }),
    outcomes: succeeds,
    afterGoodCall: closed,
  },
  {
    name: "silence",
    start: () => serve({}),
    outcomes: like("deadline"),
    client: short,
  },
  {
    name: "silence in every attempt",
    start: () => serve({}),
    outcomes: like("attempt-timeout"),
    client: { timeoutMs: 10_000, attemptTimeoutMs: 1_000 },
  },
];

/** A port whose connections never come about. @throws CannotHappenHere where the system makes them all the same. */
async function fullBacklog(): Promise<Place> {
  const listener = await slowListener();
  if (listener) return nowhere({ baseUrl: `http://127.0.0.1:${listener.port}` }, listener.close);
  throw new CannotHappenHere("This system makes connections beyond a listener's backlog.");
}

const lost = like("body-truncated");
const cutJson = like("not-json-cut");
const tooLarge = like("body-endless");
const chunked = head(200, { "transfer-encoding": "chunked" });
const text = '{"object":"list"}';
const gzipped = gzipSync(text);
const mebibyte = Buffer.alloc(1024 * 1024, " ");
// Many members are one gzip body; each unpacks to a thousand times its size.
const bomb = Buffer.concat(Array.from({ length: 70 }, () => gzipSync(mebibyte, { level: 9 })));
const wrongSum = Buffer.from(gzipped);
const sumAt = wrongSum.byteLength - 8;
wrongSum.writeUInt8(wrongSum.readUInt8(sumAt) ^ 1, sumAt);

// Node's fetch takes what came of a packed body for all of it; what is cut is then no JSON.
const unpackedAsFar = { overFetch: { outcomes: cutJson } };
// Its status says that nothing ran.
const refusedSlowly = Object.fromEntries(
  Object.entries(like("deadline")).map(([operation, outcome]) => [operation, { ...outcome, executed: "no" }]),
) as Outcomes;

function fault(name: string, request: Act, outcomes: Outcomes, more: Partial<Fault> = {}): Fault {
  return { name, start: () => serve({ request }), outcomes, ...more };
}

function encoded(encoding: string, body: Uint8Array | string, status = 200): Act {
  return send(respond(status, body, { "content-encoding": encoding }));
}

// Bodies of a 2xx that are cut, stall, have no end, or cannot be unpacked; and what follows a whole response.
const bodyFaults: readonly Fault[] = [
  fault("closed after the headers", sendAndClose(head(200, { "content-length": 2 })), lost),
  fault("reset after the headers", sendAndReset(head(200, { "content-length": 2 })), lost),
  fault("cut with a length", sendAndClose(head(200, { "content-length": 100 }), '{"object":'), lost),
  fault("reset in a body with a length", sendAndReset(head(200, { "content-length": 100 }), '{"o":'), lost),
  fault("cut without a length", sendAndClose(head(200), '{"object":'), cutJson),
  fault("cut in a chunk", sendAndClose(chunked, '20\r\n{"object":'), lost),
  fault("cut in a chunk's size", sendAndClose(chunked, "2\r\n{}\r\n2"), lost),
  fault("cut before the last chunk", sendAndClose(chunked, "2\r\n{}\r\n"), lost),
  fault("cut in the last chunk", sendAndClose(chunked, "2\r\n{}\r\n0\r\n"), lost),
  fault("a chunk size that is none", send(chunked, "zz\r\n{}\r\n0\r\n\r\n"), lost),
  fault("a chunk size too great to hold", send(chunked, "fffffffffffffffff\r\n{}\r\n"), lost),
  fault("a chunk longer than its size", send(chunked, "1\r\n{}\r\n0\r\n\r\n"), lost),
  fault("gzip that is none", encoded("gzip", "{}"), lost),
  fault("gzip that is cut", encoded("gzip", gzipped.subarray(0, 20)), lost, unpackedAsFar),
  fault("gzip with a wrong checksum", encoded("gzip", wrongSum), lost),
  fault("deflate that is cut", encoded("deflate", deflateSync(text).subarray(0, 12)), lost, unpackedAsFar),
  fault("br that is none", encoded("br", "{}"), lost),
  fault("an encoding nobody asked for", encoded("compress", "\x1f\x9d\x90"), cutJson),
  fault("gzip that unpacks to a thousand times its size", encoded("gzip", bomb), tooLarge, { heavy: true }),
  fault("an error response of such gzip", encoded("gzip", bomb, 404), like("status-404")),
  fault("a body without end", endless(head(200), mebibyte.subarray(0, 65_536)), tooLarge, { heavy: true }),
  fault("chunks without end", endless(chunked, `10000\r\n${" ".repeat(65_536)}\r\n`), tooLarge, {
    heavy: true,
  }),
  fault("an error response without end", endless(head(404), " ".repeat(65_536)), like("status-404")),
  fault(
    "an error response that is cut",
    sendAndClose(head(404, { "content-length": 9 }), "No"),
    like("status-404"),
  ),
  fault("an error response that stalls", send(head(404, { "content-length": 9 }), "No"), refusedSlowly, {
    client: short,
  }),
  fault("one byte of the body a second", drip(head(200), text, 1_000), like("deadline-in-body"), {
    client: short,
  }),
  fault("the body stalls", send(chunked, "1\r\n{\r\n"), like("deadline-in-body"), { client: short }),
  fault(
    "the body stalls in every attempt",
    send(head(200, { "content-length": 9 }), "{"),
    like("body-stalls"),
    {
      client: { timeoutMs: 10_000, attemptTimeoutMs: 1_000 },
    },
  ),
  fault("a second response behind the first", send(good, respond(200, '{"poison":1}')), succeeds),
  fault("a second response before the next request", afterGood(send(good)), succeeds, {
    afterGoodCall: (place) => allRead(place.sockets),
  }),
];

// More than what the network's buffers hold.
const bodyBytes = 8 * 1024 * 1024;

// Node's fetch drops an unread response with the first write that fails: then it tells of a lost connection.
const overFetch = { or: like("close-before-headers") };

function early(name: string, headers: Act, outcomes: Outcomes, more: Partial<Fault> = {}): Fault {
  return { name, start: () => serve({ headers }), outcomes, bodyBytes, heavy: true, ...more };
}

const refusal = respond(413, '{"message":"Not this file."}');
const refused = like("status-413");
// Reads nothing more; what it has not read makes its close a reset.
const withoutReading =
  (then: (socket: Socket) => void): Act =>
  (socket) =>
    void socket.pause().write(refusal, () => then(socket));

// Responses that do not wait for a large body, and a server that takes none.
const uploadFaults: readonly Fault[] = [
  early("413 at once, and the rest is read", send(refusal), refused),
  early(
    "413 at once, and nothing is read",
    withoutReading(() => {}),
    refused,
  ),
  early(
    "413 at once, then a close",
    withoutReading((socket) => socket.destroy()),
    refused,
    { overFetch },
  ),
  early(
    "413 at once, then a reset",
    withoutReading((socket) => socket.resetAndDestroy()),
    refused,
    { overFetch },
  ),
  early("stops reading", (socket) => void socket.pause(), like("deadline"), { client: short, heavy: false }),
  early("closes while it is sent to", (socket) => void socket.destroy(), like("close-before-headers")),
];

const notJson = like("not-json-text");
const page = "<!DOCTYPE html><html><head><title>Sign in</title></head></html>";
const html = { "content-type": "text/html" };
const redirects = [301, 302, 303, 307, 308] as const;

function responded(name: string, bytes: Uint8Array, outcomes: Outcomes): Fault {
  return fault(name, send(bytes), outcomes);
}

// Whole responses that are not what the contract promises.
const responseFaults: readonly Fault[] = [
  responded("204", Buffer.from(head(204)), like("not-json-204")),
  responded("205", respond(205, ""), like("not-json-204")),
  responded("206", respond(206, '{"object":'), like("not-json-204")),
  responded("304", Buffer.from(head(304)), like("status-304")),
  responded("a status of nobody", respond("799 Odd", "{}"), like("status-507")),
  ...redirects.map((status) =>
    fault(
      `${status} to another origin`,
      (socket, moment) => send(respond(status, "", { location: moment.elsewhere }))(socket, moment),
      like(`status-${status}`),
    ),
  ),
  responded("a web page", respond(200, page, html), like("html")),
  responded("a web page that claims to be JSON", respond(200, page), like("html")),
  responded("nothing", respond(200, ""), like("not-json-empty")),
  responded("null", respond(200, "null"), like("not-json-null")),
  responded("a list", respond(200, "[{}]"), like("not-json-list")),
  responded("a number", respond(200, "42"), notJson),
  responded("text", respond(200, "OK", { "content-type": "text/plain" }), notJson),
  responded("two JSON texts", respond(200, "{}{}"), notJson),
  responded("UTF-16", respond(200, Buffer.from("{}", "utf16le")), notJson),
  responded("bytes that are no UTF-8", respond(200, Buffer.from([0xff, 0xfe, 0x80])), notJson),
  responded(
    "a string with bytes that are no UTF-8",
    respond(200, Buffer.from('{"id":"\xff","data":[{"index":0,"relevance_score":1}]}', "latin1")),
    succeeds,
  ),
  responded("JSON behind a byte order mark", respond(200, `\uFEFF${goodText}`), succeeds),
  responded(
    "JSON that claims to be text",
    respond(200, goodText, { "content-type": "text/plain" }),
    succeeds,
  ),
  responded(
    "JSON of no type",
    Buffer.from(`${head(200, { "content-length": goodText.length })}${goodText}`),
    succeeds,
  ),
];

const statusLine = "HTTP/1.1 200 OK\r\n";

// No response can be made of it: as good as a close before headers.
function unreadable(name: string, act: Act, more: Partial<Fault> = {}): Fault {
  return fault(name, act, like("close-before-headers"), more);
}

function stalled(name: string, act: Act, more: Partial<Fault> = {}): Fault {
  return fault(name, act, like("deadline"), { client: short, ...more });
}

// What is no HTTP would most likely be none again: one retry, where that is safe.
function garbled(name: string, act: Act, more: Partial<Fault> = {}): Fault {
  const lost = Object.entries(like("close-before-headers")).map(([operation, outcome]) => {
    const { requests, attempts } = outcome;
    return [operation, { ...outcome, requests: Math.min(requests, 2), attempts: Math.min(attempts, 2) }];
  });
  return fault(name, act, Object.fromEntries(lost), more);
}

// Responses whose head never comes, or is none.
const headFaults: readonly Fault[] = [
  stalled("stalls in the status line", send("HTTP/1.1 2")),
  stalled("stalls in the headers", send(statusLine, "content-type: appl")),
  stalled("one byte of the headers a second", drip("H", "TTP/1.1 200 OK", 1_000)),
  stalled("headers byte by byte without end", drip(statusLine, "x-a: b\r\n".repeat(500), 20)),
  stalled("103, then nothing", send(head("103 Early Hints"))),
  unreadable("closed in the status line", sendAndClose("HTTP/1.1 2")),
  unreadable("closed in the headers", sendAndClose(statusLine, "content-type: appl")),
  unreadable("reset in the headers", sendAndReset(statusLine, "content-type: appl")),
  garbled("a status line that is garbage", send("!?#§ 200 OK\r\n\r\n")),
  garbled("a body without a head", sendAndClose('{"ok":true}')),
  garbled("a status that is no number", send("HTTP/1.1 abc OK\r\n\r\n")),
  garbled("HTTP/2", send(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]))),
  garbled("a header of 128 KiB", send(statusLine, `x-long: ${"x".repeat(131_072)}\r\n\r\n`)),
  garbled("headers without end", endless(statusLine, "x-more: and more\r\n".repeat(100))),
  garbled("a header with a NUL", send(statusLine, "x-nul: a\0b\r\ncontent-length: 2\r\n\r\n{}")),
  garbled(
    "a header whose name has a space",
    send(statusLine, `x bad: 1\r\ncontent-length: ${goodText.length}\r\n\r\n${goodText}`),
    {
      // Before Node 24, its fetch is not as strict.
      ...(Number.parseInt(process.versions.node, 10) < 24 && { overFetch: { outcomes: succeeds } }),
    },
  ),
  garbled("two lengths", send(statusLine, "content-length: 2\r\ncontent-length: 3\r\n\r\n{} ")),
  garbled("a length below zero", send(statusLine, "content-length: -2\r\n\r\n{}")),
  garbled(
    "a length and chunks",
    send(respond(200, "2\r\n{}\r\n0\r\n\r\n", { "content-length": 2, "transfer-encoding": "chunked" })),
  ),
  fault(
    "101: another protocol",
    send(head("101 Switching Protocols", { upgrade: "x", connection: "upgrade" })),
    like("status-101"),
    // Node's fetch hides the response.
    { overFetch: { outcomes: like("close-before-headers") } },
  ),
  fault("100, then a good response", send(head("100 Continue"), good), succeeds, {
    // Node's fetch takes none that it has not asked for.
    overFetch: { outcomes: like("close-before-headers") },
  }),
  fault("102, then a good response", send(head("102 Processing"), good), succeeds),
  fault("103, then a good response", send(head("103 Early Hints", { link: "<x>" }), good), succeeds),
  fault("HTTP/1.0 without a length", sendAndClose(`HTTP/1.0 200 OK\r\n\r\n${goodText}`), succeeds),
];

/** Every way to fail on the wire, in the order of a call. What the bodies of errors say is a matter of test/call/errorBodies.test.ts. */
export const faults: readonly Fault[] = [
  ...connectionFaults,
  ...tlsFaults,
  ...uploadFaults,
  ...headFaults,
  ...bodyFaults,
  ...responseFaults,
];
