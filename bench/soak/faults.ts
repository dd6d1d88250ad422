// What goes wrong with one request in a hundred.
import type { ServerResponse } from "node:http";

export interface Fault {
  /** Whether the service does the work before things go wrong. */
  readonly ran: boolean;
  answer(response: ServerResponse, right: Buffer): void;
}

export const faults: readonly Fault[] = [
  { ran: false, answer: refuse(503, { code: "UNAVAILABLE" }) },
  { ran: false, answer: refuse(503) },
  { ran: true, answer: refuse(502) },
  { ran: false, answer: refuse(429, { code: "RESOURCE_EXHAUSTED" }, { "retry-after-ms": "50" }) },
  { ran: true, answer: refuse(500, { code: "INTERNAL" }) },
  { ran: true, answer: refuse(504, { code: "DEADLINE_EXCEEDED" }) },
  { ran: false, answer: reset },
  { ran: true, answer: reset },
  { ran: true, answer: cut },
  { ran: true, answer: (response, right) => response.setHeader("content-encoding", "gzip").end(right) },
  { ran: false, answer: (response) => response.setHeader("content-type", "text/html").end("<html></html>") },
  { ran: true, answer: (response, right) => setTimeout(() => response.end(right), 300) },
  // Never answers.
  { ran: true, answer: () => {} },
];

function refuse(status: number, body?: object, headers: Record<string, string> = {}): Fault["answer"] {
  return (response) => response.writeHead(status, headers).end(body && JSON.stringify(body));
}

function reset({ socket }: ServerResponse): void {
  socket?.resetAndDestroy();
}

function cut(response: ServerResponse, right: Buffer): void {
  response.writeHead(200, { "content-length": right.byteLength + 100 });
  response.write(right, () => response.destroy());
}
