// Sends the responses of conformance rows, also in forms that HTTP allows but few servers use, and produces faults.
import type { ServerResponse } from "node:http";
import { constants, deflateRawSync, gzipSync } from "node:zlib";
import type { CellAnswer } from "../cells.js";

/**
 * Sends a response. The argument `key` replaces `{apiKey}` in texts; `ended` is called just before the response is
 * sent.
 */
export function sendAnswer(
  response: ServerResponse,
  answer: CellAnswer,
  { key, ended }: { readonly key: string; readonly ended: () => void },
): void {
  const { status, body, gzip, chunked, after } = answer;
  const filled = (text: string): string => text.replaceAll("{apiKey}", key);
  const plain = typeof body === "string" ? Buffer.from(filled(body)) : Buffer.from(body);
  const content = gzip ? gzipSync(plain) : plain;
  const named = Object.entries(answer.headers).map(([name, value]) => [name, filled(value)] as const);
  const headers = Object.fromEntries([...named, ...(gzip ? [["Content-ENCODING", "gzip"]] : [])]);
  ended();
  if (chunked || after !== undefined) {
    const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
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

/** Responds to a request with a fault. It calls `ended` when it ends the response or its connection. */
export type Fault = (response: ServerResponse, ended: () => void) => void;

// Where the fault `body-endless` ends: a client that read this much has no limit; spare its machine's memory.
const mostMegabytes = 200;
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

function close(response: ServerResponse, ended: () => void): void {
  ended();
  response.destroy();
}
