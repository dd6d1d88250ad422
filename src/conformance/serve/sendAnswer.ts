// Sends an answer of a row, also in the forms that HTTP allows and few servers use.
import type { ServerResponse } from "node:http";
import { constants, deflateRawSync, gzipSync } from "node:zlib";
import type { CellAnswer } from "../cells.js";

/** @param sent The key that stands for `{apiKey}`, and what is called when the answer ends. */
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

// Small ones, most with extensions.
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

/** Answers a request as a fault does, and says when the connection has ended. */
export type Fault = (response: ServerResponse, ended: () => void) => void;

// A client without a cap is not to fill its machine: by then it has shown that it has none.
const mostMegabytes = 200;
const gzipHeader = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]);
const begun = '{"object":';
// A reset overtakes what was sent before: the beginning of the answer is let through first.
const letThroughMs = 100;

/** The faults by their names in retries.json; those of the connection are not among them. */
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
    // A block that stands alone, sent again and again: one stream, which every decoder goes on reading.
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
