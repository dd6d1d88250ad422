// Sends the responses of conformance rows, also in forms that HTTP allows but few servers use, and produces faults.
import type { ServerResponse } from "node:http";
import * as zlib from "node:zlib";
import type { CellResponse } from "../cells.js";
import type { Coding } from "../data.js";

const { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } = zlib;

/** What a response depends on besides its row. */
interface Sending {
  /** The API key that replaces `{apiKey}` in texts. */
  readonly key: string;
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
export function sendResponse(
  response: ServerResponse,
  cellResponse: CellResponse,
  { key, codings, ended }: Sending,
): void {
  const { status, body, gzip, coding, chunked, after } = cellResponse;
  const filled = (text: string): string => text.replaceAll("{apiKey}", key);
  const plain = typeof body === "string" ? Buffer.from(filled(body)) : Buffer.from(body);
  const encode = coding !== undefined && codings.includes(coding) ? encoders[coding] : undefined;
  const content = gzip ? gzipSync(plain) : (encode?.(plain) ?? plain);
  const named = Object.entries(cellResponse.headers).map(
    ([name, value]) => [name, typeof value === "string" ? filled(value) : [...value]] as const,
  );
  const coded = gzip ? [["Content-ENCODING", "gzip"]] : encode ? [["content-encoding", coding]] : [];
  const headers = Object.fromEntries([["set-cookie", cookie], ...named, ...coded]);
  ended();
  if (chunked || after !== undefined) {
    const head = Object.entries(headers).flatMap(([name, value]) =>
      [value].flat().map((line) => `${name}: ${line}\r\n`),
    );
    const start = `HTTP/1.1 ${status} OK\r\n${head.join("")}`;
    const length = Buffer.from(`Content-Length: ${content.length}\r\n\r\n`);
    const rest = chunked ? [inChunks(content)] : [length, content, Buffer.from(after ?? "")];
    response.socket?.write(Buffer.concat([Buffer.from(start), ...rest]));
    if (chunked) response.socket?.end();
    return;
  }
  response.writeHead(status, headers);
  response.end(content);
}

// The content in chunked encoding: small chunks, most with chunk extensions.
function inChunks(content: Buffer): Buffer {
  const head = "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n";
  const chunks: Buffer[] = [Buffer.from(head)];
  const size = Math.max(1, Math.ceil(content.length / 7));
  for (let at = 0; at < content.length; at += size) {
    const chunk = content.subarray(at, at + size);
    const extension = at === 0 ? "" : ";name=value";
    chunks.push(Buffer.from(`${chunk.length.toString(16)}${extension}\r\n`), chunk, Buffer.from("\r\n"));
  }
  chunks.push(Buffer.from("0;last\r\n\r\n"));
  return Buffer.concat(chunks);
}

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
const letThroughMs = 100;

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
