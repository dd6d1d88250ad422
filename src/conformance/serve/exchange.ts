// What the server of a row does with a request, as a list of acts: responses, also in forms that HTTP allows but few servers
// use, and faults.
import { type IncomingMessage, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import type { CellResponse, Step } from "../cell.js";
import { partsOf } from "./checkRequest.js";

/**
 * Bytes are sent, a number is a pause in milliseconds, and a text of `blame` is what is wrong with a client for which the
 * server gets so far. "hang": nothing more happens on the connection.
 */
type Act = Uint8Array | number | "read" | "read-slowly" | "end" | "reset" | "hang" | { blame: string };

type Request = Pick<IncomingMessage, "method" | "headers">;

/** The acts of a step. @param stepOf Gives the step, which may be another once the request was read. */
export function* actsOf(stepOf: () => Step, keys: readonly string[], request: Request): Iterable<Act> {
  const step = stepOf();
  const manner = "network" in step ? step.network : (step.response.manner ?? "");
  if (manner === "read-slowly") yield 300;
  if (manner !== "request-unread" && !manner.startsWith("early"))
    yield manner === "read-slowly" ? manner : "read";
  const now = stepOf();
  if ("network" in now) yield* faults[now.network] ?? [];
  else yield* responseActs(now.response, keys, request);
  if (manner === "early") yield "read";
  if (request.headers.connection === "close") yield "end";
}

/** A request as the log has it. */
export interface SeenRequest {
  readonly arrivedMs: number;
  /** When the response or its connection ended, in milliseconds; undefined while neither has. */
  endedMs: number | undefined;
  readonly problems: string[];
}

/** Does what the acts say. Returns whether the connection is left as HTTP allows. */
export async function perform(
  acts: Iterable<Act>,
  socket: Socket,
  seen: SeenRequest,
  read: (isSlow: boolean) => Promise<void>,
): Promise<boolean> {
  socket.setNoDelay(true);
  for (const act of acts) {
    if (act === "hang" || socket.destroyed) return false;
    if (typeof act === "number") await pause(act);
    else if (act === "read" || act === "read-slowly") await read(act === "read-slowly");
    else if (typeof act === "object" && "blame" in act) seen.problems.push(act.blame);
    else {
      seen.endedMs = performance.now();
      if (act === "reset") socket.resetAndDestroy();
      else if (act === "end") socket.destroySoon();
      else await new Promise<void>((resolve) => socket.write(act, () => resolve()));
    }
  }
  return true;
}

const encoders = { deflate: deflateSync, br: brotliCompressSync };

function responseActs(response: CellResponse, keys: readonly string[], request: Request): readonly Act[] {
  const { status, body, gzip, coding, manner = "", after = "" } = response;
  const filled = (text: string): string => text.replaceAll("{apiKey}", keys.join(" "));
  const plain = typeof body === "string" ? Buffer.from(filled(body)) : Buffer.from(body);
  const isTaken = coding !== undefined && partsOf(`${request.headers["accept-encoding"]}`).includes(coding);
  const encode = isTaken ? encoders[coding] : undefined;
  const named = Object.entries(response.headers).flatMap(([name, value]) =>
    [value].flat().map((line) => `${name}: ${filled(line)}`),
  );
  const coded = gzip ? ["Content-ENCODING: GZip"] : encode ? [`content-encoding: ${coding}`] : [];
  // A client must not keep the cookie: each request is checked for it.
  const head = headOf(status, "set-cookie: conformance=1; Path=/", ...named, ...coded);
  if (status === 101) return [bytes(`${head}\r\n`), letThroughMs, "end"];
  if (status === 204 || status === 304 || request.method === "HEAD") return [bytes(`${head}\r\n`)];
  const content = gzip ? gzipSync(plain) : (encode?.(plain) ?? plain);
  // The bytes that follow a response are sent with it, so that every client reads them with it.
  if (after !== "") return [Buffer.concat([sized(head, content), bytes(after)])];
  return forms[manner]?.(head, content) ?? [sized(head, content)];
}

function headOf(status: number, ...lines: readonly string[]): string {
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? "Unknown"}`, ...lines, ""].join("\r\n");
}

const bytes = (text: string): Buffer => Buffer.from(text, "latin1");
const withLength = (head: string, { length }: Buffer): Buffer =>
  bytes(`${head}Content-Length: ${length}\r\n\r\n`);
const sized = (head: string, content: Buffer): Buffer => Buffer.concat([withLength(head, content), content]);

// Longer than the time without a byte after which some HTTP libraries give up by default, which is 5 s.
const longPauseMs = 6000;
// A reset can overtake bytes that were sent before: wait until the beginning of the response has arrived.
const letThroughMs = 100;

const earlyHints = "HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\nRetry-After: 70\r\n\r\n";

// The ways to send a response that HTTP allows and few servers use.
const forms: Readonly<Record<string, (head: string, content: Buffer) => readonly Act[]>> = {
  "early-closed": (head, content) => [sized(head, content), letThroughMs, "end"],
  trailers: (head, content) => [
    bytes(`${head}Trailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n`),
    ...chunksOf(content),
    bytes("0;last\r\nX-Sum: 1\r\nContent-Type: text/html\r\n\r\n"),
  ],
  "until-closed": (head, content) => [bytes(`${head}Connection: close\r\n\r\n`), content, "end"],
  continue: (head, content) => [bytes("HTTP/1.1 100 Continue\r\n\r\n"), 50, sized(head, content)],
  hints: (head, content) => [bytes(earlyHints), 50, sized(head, content)],
  bytewise: (head, body) => [
    withLength(head, body),
    ...[...body].flatMap((byte) => [Uint8Array.of(byte), 0]),
  ],
  halting: (head, body) => [withLength(head, body), body.subarray(0, 9), longPauseMs, body.subarray(9)],
};

// The chunks of chunked encoding without the last: small ones, most with chunk extensions.
function chunksOf(content: Buffer): readonly Buffer[] {
  const size = Math.ceil(content.length / 7);
  return Array.from({ length: Math.ceil(content.length / size) }, (_, index) => {
    const chunk = content.subarray(index * size, (index + 1) * size);
    const extension = index === 0 ? "" : ";name=value";
    return Buffer.concat([bytes(`${chunk.length.toString(16)}${extension}\r\n`), chunk, bytes("\r\n")]);
  });
}

const json = headOf(200, "content-type: application/json");
const [chunks, gzip] = ["Transfer-Encoding: chunked\r\n", "content-encoding: gzip\r\n"];
const megabyte = Buffer.alloc(1_000_000, " ");
// One deflate block that depends on no other. It is sent many times, as one stream that every decoder can read.
const deflated = deflateRawSync(megabyte, { finishFlush: constants.Z_FULL_FLUSH });
const cut = bytes(`${json}Content-Length: 100\r\n\r\n{"object":`);

// The faults after a request arrived, by their names in retries.json. Connection faults are in connectionFaults.ts.
const faults: Readonly<Record<string, readonly Act[]>> = {
  silence: ["hang"],
  "request-unread": ["hang"],
  "reset-before-headers": ["reset"],
  "close-before-headers": ["end"],
  "body-stalls": [bytes(`${json}${chunks}\r\n1\r\n{\r\n`), "hang"],
  // A client that has no deadline ends after ten seconds.
  "body-drips": [
    bytes(`${json}Content-Length: 100\r\n\r\n`),
    ...Array.from({ length: 100 }, () => [bytes(" "), 100]).flat(),
  ],
  "body-truncated": [cut, "end"],
  "body-chunk-cut": [bytes(`${json}${chunks}\r\n2\r\n{}\r\n`), "end"],
  "body-reset": [cut, letThroughMs, "reset"],
  "body-bad-gzip": [sized(`${json}${gzip}`, bytes('{"object":"list"}'))],
  // A client that read 200 MB has no limit, and its memory need not be filled.
  "body-endless": [
    bytes(`${json}${gzip}Connection: close\r\n\r\n`),
    Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]),
    ...Array<Buffer>(200).fill(deflated),
    "end",
  ],
  // 100 MB without a coding: a client that takes 32 reads too much, as the system's buffers hold fewer.
  "error-body-endless": [
    bytes(`${headOf(400, "content-type: text/plain")}Content-Length: 100000000\r\n\r\n`),
    ...Array<Buffer>(32).fill(megabyte),
    { blame: "more than 32 MB of an error response were read" },
    ...Array<Buffer>(68).fill(megabyte),
  ],
};
