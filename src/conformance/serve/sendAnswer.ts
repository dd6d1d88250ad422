// Sends an answer of a row, also in the forms that HTTP allows and few servers use.
import type { ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import type { CellAnswer } from "../steps.js";

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
    const rest = chunked ? inChunks(content) : withLength(content, after ?? "");
    response.socket?.write(Buffer.concat([Buffer.from(start), rest]));
    if (chunked) response.socket?.end();
    return;
  }
  response.writeHead(status, headers);
  response.end(content);
}

function withLength(content: Buffer, after: string): Buffer {
  const head = Buffer.from(`Content-Length: ${content.length}\r\n\r\n`);
  return Buffer.concat([head, content, Buffer.from(after)]);
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
