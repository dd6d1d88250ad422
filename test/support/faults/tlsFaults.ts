import https from "node:https";
import { certificate, certificateKey } from "../certificate.js";
import { good, send, sendAndClose, sendAndReset } from "./acts.js";
import type { Fault } from "./fault.js";
import { type Act, serve } from "./faultServer.js";
import { like } from "./outcomes.js";

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
