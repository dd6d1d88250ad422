import type { Socket } from "node:net";
import { deflateSync, gzipSync } from "node:zlib";
import { allRead } from "../clientSockets.js";
import { afterGood, drip, endless, good, head, respond, send, sendAndClose, sendAndReset } from "./acts.js";
import type { Fault } from "./fault.js";
import { type Act, serve } from "./faultServer.js";
import { like, type Outcomes, succeeds } from "./outcomes.js";

const lost = like("body-truncated");
const notJson = like("not-json-cut");
const tooLarge = like("body-endless");
const short = { timeoutMs: 2_000, attemptTimeoutMs: 2_000 };
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
const unpackedAsFar = { overFetch: { outcomes: notJson } };
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

/** Bodies of a 2xx that are cut, stall, have no end, or cannot be unpacked; and what follows a whole response. */
export const bodyFaults: readonly Fault[] = [
  fault("closed after the headers", sendAndClose(head(200, { "content-length": 2 })), lost),
  fault("reset after the headers", sendAndReset(head(200, { "content-length": 2 })), lost),
  fault("cut with a length", sendAndClose(head(200, { "content-length": 100 }), '{"object":'), lost),
  fault("reset in a body with a length", sendAndReset(head(200, { "content-length": 100 }), '{"o":'), lost),
  fault("cut without a length", sendAndClose(head(200), '{"object":'), notJson),
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
  fault("an encoding nobody asked for", encoded("compress", "\x1f\x9d\x90"), notJson),
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

// Reads nothing more; what it has not read makes its close a reset.
function withoutReading(status: number, then: (socket: Socket) => void): Act {
  return (socket) => {
    socket.pause().write(refusal(status), () => then(socket));
  };
}

function refusal(status: number): Buffer {
  return respond(status, '{"message":"Not this file."}');
}

/** Responses that do not wait for a large body, and a server that takes none. */
export const uploadFaults: readonly Fault[] = [413, 401]
  .flatMap((status) => [
    early(`${status} at once, and the rest is read`, send(refusal(status)), like(`status-${status}`)),
    early(
      `${status} at once, and nothing is read`,
      withoutReading(status, () => {}),
      like(`status-${status}`),
    ),
    early(
      `${status} at once, then a close`,
      withoutReading(status, (socket) => socket.destroy()),
      like(`status-${status}`),
      { overFetch },
    ),
    early(
      `${status} at once, then a reset`,
      withoutReading(status, (socket) => socket.resetAndDestroy()),
      like(`status-${status}`),
      { overFetch },
    ),
  ])
  .concat([
    early("stops reading", (socket) => void socket.pause(), like("deadline"), {
      client: { timeoutMs: 2_000, attemptTimeoutMs: 2_000 },
      heavy: false,
    }),
    early("closes while it is sent to", (socket) => void socket.destroy(), like("close-before-headers")),
  ]);
