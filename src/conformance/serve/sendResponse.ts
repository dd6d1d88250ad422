// Sends the responses of conformance rows, also in forms that HTTP allows but few servers use, and produces faults.
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import * as zlib from "node:zlib";
import type { CellResponse } from "../cell.js";
import type { Coding } from "../data.js";

const { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } = zlib;

/** What a response depends on besides its row. */
interface Sending {
  /** The API keys of the row, which replace `{apiKey}` in texts. */
  readonly keys: readonly string[];
  /** The content codings that the request announces. */
  readonly codings: readonly string[];
  /** Called just before the response is sent. */
  readonly ended: () => void;
}

// Node 20 has no zstd: there a client that announces it gets the plain response.
const encoders: Readonly<Record<Coding, ((body: Buffer) => Buffer) | undefined>> = {
  deflate: deflateSync,
  br: brotliCompressSync,
  zstd: (zlib as { readonly zstdCompressSync?: (body: Buffer) => Buffer }).zstdCompressSync,
};

// The cookie that each response sets. A client must not keep it: each request is checked for it.
const cookie = "conformance=1; Path=/";

/** Sends a response. */
export async function sendResponse(
  response: ServerResponse,
  cellResponse: CellResponse,
  { keys, codings, ended }: Sending,
): Promise<void> {
  const { status, body, gzip, coding, chunked, manner = "", after } = cellResponse;
  const filled = (text: string): string => text.replaceAll("{apiKey}", keys.join(" "));
  const plain = typeof body === "string" ? Buffer.from(filled(body)) : Buffer.from(body);
  const encode = coding !== undefined && codings.includes(coding) ? encoders[coding] : undefined;
  const content = gzip ? gzipSync(plain) : (encode?.(plain) ?? plain);
  const named = Object.entries(cellResponse.headers).map(
    ([name, value]) => [name, typeof value === "string" ? filled(value) : [...value]] as const,
  );
  const coded = gzip ? [["Content-ENCODING", "GZip"]] : encode ? [["content-encoding", coding]] : [];
  const headers = Object.fromEntries([["set-cookie", cookie], ...named, ...coded]);
  ended();
  const pieces = after === undefined ? piecesOf[chunked ? "chunked" : manner] : sized;
  if (pieces === undefined) {
    response.writeHead(status, headers);
    response.end(content);
    return;
  }
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    [value].flat().map((line) => `${name}: ${line}\r\n`),
  );
  await write(response.socket, pieces(`HTTP/1.1 ${status} OK\r\n${lines.join("")}`, content, after));
}

/** What is sent in turn: bytes, or a pause in milliseconds; `end` closes the connection. */
type Piece = string | Uint8Array | number | typeof end;

const end = Symbol("end");
// Longer than the time without a byte after which some HTTP libraries give up by default, which is 5 s.
const longPauseMs = 6000;

// The bytes that follow are sent with the response, so that every client reads them with it.
function sized(head: string, content: Buffer, after = ""): readonly Piece[] {
  return [Buffer.concat([Buffer.from(withLength(head, content)), content, Buffer.from(after)])];
}

function withLength(head: string, { length }: Buffer): string {
  return `${head}Content-Length: ${length}\r\n\r\n`;
}

// The ways to send a response that HTTP allows and few servers use.
const piecesOf: Readonly<Record<string, typeof sized>> = {
  // Node closes the connection after the end of a response that comes before the request was read.
  early: sized,
  chunked: (head, content) => [
    Buffer.concat([
      Buffer.from(`${head}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n`),
      ...chunksOf(content),
      Buffer.from("0;last\r\n\r\n"),
    ]),
    end,
  ],
  trailers: (head, content) => [
    `${head}Trailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n`,
    ...chunksOf(content),
    "0\r\nX-Sum: 1\r\nContent-Type: text/html\r\n\r\n",
  ],
  "until-closed": (head, content) => [`${head}Connection: close\r\n\r\n`, content, end],
  continue: (head, content) => ["HTTP/1.1 100 Continue\r\n\r\n", 50, ...sized(head, content)],
  hints: (head, content) => [
    "HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\nRetry-After: 70\r\n\r\n",
    50,
    ...sized(head, content),
  ],
  late: (head, content) => [longPauseMs, ...sized(head, content)],
  bytewise: (head, content) => [
    withLength(head, content),
    ...[...content].flatMap((byte) => [Uint8Array.of(byte), 0]),
  ],
  halting: (head, content) => [
    withLength(head, content),
    content.subarray(0, content.length / 2),
    longPauseMs,
    content.subarray(content.length / 2),
  ],
};

async function write(socket: Socket | null, pieces: readonly Piece[]): Promise<void> {
  socket?.setNoDelay(true);
  for (const piece of pieces) {
    if (piece === end) socket?.end();
    else if (typeof piece === "number") await pause(piece);
    else socket?.write(piece);
  }
}

// The chunks of chunked encoding without the last: small ones, most with chunk extensions.
function chunksOf(content: Buffer): readonly Buffer[] {
  const size = Math.max(1, Math.ceil(content.length / 7));
  return Array.from({ length: Math.ceil(content.length / size) }, (_, index) => {
    const chunk = content.subarray(index * size, (index + 1) * size);
    const extension = index === 0 ? "" : ";name=value";
    return Buffer.concat([Buffer.from(`${chunk.length.toString(16)}${extension}\r\n`), chunk, crlf]);
  });
}

const crlf = Buffer.from("\r\n");

/**
 * Responds to a request with a fault. It calls `ended` when it ends the response or its connection, and `blame` with what
 * is wrong with the client.
 */
export type Fault = (response: ServerResponse, ended: () => void, blame: (problem: string) => void) => void;

// The fault `body-endless` ends here: a client that read this much has no limit, and its memory need not be filled.
const mostMegabytes = 200;
// A client that takes this many megabytes of `error-body-endless` reads too much: the system's buffers hold fewer.
const mostErrorMegabytes = 32;
const errorMegabytes = 100;
const gzipHeader = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]);
const begun = '{"object":';
// A reset can overtake bytes that were sent before: wait until the beginning of the response has arrived.
export const letThroughMs = 100;

// How often, and how many times, `body-drips` sends a byte: a client that has no deadline ends after ten seconds.
const dripMs = 100;
const drips = 100;

/** The faults after a request arrived, by their names in retries.json. Connection faults are in connectionFaults.ts. */
export const faults: Readonly<Record<string, Fault>> = {
  silence: () => {},
  "reset-before-headers": ({ socket }, ended) => {
    ended();
    socket?.resetAndDestroy();
  },
  "close-before-headers": ({ socket }, ended) => {
    ended();
    socket?.destroy();
  },
  "body-stalls": (response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.write("{");
  },
  "body-drips": async (response) => {
    response.writeHead(200, { "content-type": "application/json" });
    for (let sent = 0; sent < drips && !response.destroyed; sent++) {
      response.write(" ");
      await pause(dripMs);
    }
    response.end();
  },
  "body-truncated": (response, ended) => {
    response.writeHead(200, { "content-type": "application/json", "content-length": "100" });
    response.write(begun, () => close(response, ended));
  },
  "body-chunk-cut": (response, ended) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.write("{}", () => close(response, ended));
  },
  "body-reset": (response, ended) => {
    response.writeHead(200, { "content-type": "application/json", "content-length": "100" });
    response.write(begun);
    setTimeout(() => {
      ended();
      response.socket?.resetAndDestroy();
    }, letThroughMs);
  },
  "body-bad-gzip": (response, ended) => {
    response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" });
    ended();
    response.end('{"object":"list"}');
  },
  "error-body-endless": sendEndlessError,
  "body-endless": (response) => {
    response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" });
    response.write(gzipHeader);
    // One deflate block that depends on no other. It is sent many times, as one stream that every decoder can read.
    const megabyte = deflateRawSync(Buffer.alloc(1024 * 1024, " "), { finishFlush: constants.Z_FULL_FLUSH });
    let sent = 0;
    const more = (error?: Error | null): void => {
      if (error || response.destroyed) return;
      if (sent++ < mostMegabytes) response.write(megabyte, more);
      else response.destroy();
    };
    more();
  },
};

// An error response of 100 MB without a coding, so that the server sees how much of it the client takes.
function sendEndlessError(
  response: ServerResponse,
  ended: () => void,
  blame: (problem: string) => void,
): void {
  response.writeHead(400, { "content-type": "text/plain" });
  const megabyte = Buffer.alloc(1_000_000, "x");
  let sent = 0;
  ended();
  const more = (error?: Error | null): void => {
    if (error || response.destroyed) return;
    sent += 1;
    if (sent === mostErrorMegabytes)
      blame(`more than ${mostErrorMegabytes} MB of an error response were read`);
    if (sent <= errorMegabytes) response.write(megabyte, more);
    else response.end();
  };
  response.write(megabyte, more);
}

function close(response: ServerResponse, ended: () => void): void {
  ended();
  response.destroy();
}
