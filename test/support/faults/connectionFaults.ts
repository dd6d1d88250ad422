import https from "node:https";
import type { Socket } from "node:net";
import { certificate, certificateKey } from "../certificate.js";
import { allRead, readByClient } from "../clientSockets.js";
import { refusingPort } from "../refusingPort.js";
import { slowListener } from "../slowListener.js";
import { until } from "../turns.js";
import { afterGood, good, send, sendAndClose, sendAndReset } from "./acts.js";
import { CannotHappenHere, type Fault, nowhere, type Place } from "./fault.js";
import { type Act, serve } from "./faultServer.js";
import { like, onceLike, onceOnReuse, succeeds } from "./outcomes.js";

const own = { cert: certificate, key: certificateKey };
const untrusted = like("tls-untrusted");
const scheme = "https";

// The first thing a client says is that it wants TLS.
function onHello(act: Act): Act {
  return (socket, moment) => void socket.once("data", () => act(socket, moment));
}

// Node's fetch tells a handshake that was reset from nothing else that is reset.
const reset = { outcomes: like("close-before-headers", { seen: false }) };
const alert = (description: number): Buffer => Buffer.from([21, 3, 1, 0, 2, 2, description]);

/** Connections that are never made safe: nothing was sent. */
export const tlsFaults: readonly Fault[] = [
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
    overFetch: {
      outcomes: like("deadline", { seen: false }),
      client: { timeoutMs: 2_000, attemptTimeoutMs: 2_000 },
    },
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

/** Connections that do not come about, or do not last. */
export const connectionFaults: readonly Fault[] = [
  { name: "refused", start: refusing, outcomes: like("refused") },
  { name: "unreachable", start: unreachable, outcomes: like("refused") },
  {
    name: "connecting stalls: the backlog is full",
    start: fullBacklog,
    outcomes: like("connect-stalls"),
    client: { connectTimeoutMs: 250, timeoutMs: 5_000 },
    // It has no connection timeout of the caller's and does not tell whether it is connected.
    overFetch: {
      outcomes: like("deadline", { seen: false }),
      client: { timeoutMs: 2_000, attemptTimeoutMs: 2_000 },
    },
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
    client: { timeoutMs: 2_000, attemptTimeoutMs: 2_000 },
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
