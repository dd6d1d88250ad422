// What goes wrong with one request in a hundred.
import type { ServerResponse } from "node:http";

export interface Fault {
  /** Whether the service does the work before things go wrong. */
  readonly ran: boolean;
  respond(response: ServerResponse, right: Buffer): void;
}

export const faults: readonly Fault[] = [
  { ran: false, respond: refuse(503, { code: "UNAVAILABLE" }) },
  { ran: false, respond: refuse(503) },
  { ran: true, respond: refuse(502) },
  { ran: false, respond: refuse(429, { code: "RESOURCE_EXHAUSTED" }, { "retry-after-ms": "50" }) },
  { ran: true, respond: refuse(500, { code: "INTERNAL" }) },
  { ran: true, respond: refuse(504, { code: "DEADLINE_EXCEEDED" }) },
  { ran: false, respond: reset },
  { ran: true, respond: reset },
  { ran: true, respond: cut },
  { ran: true, respond: (response, right) => response.setHeader("content-encoding", "gzip").end(right) },
  { ran: false, respond: (response) => response.setHeader("content-type", "text/html").end("<html></html>") },
  { ran: true, respond: (response, right) => setTimeout(() => response.end(right), 300) },
  // Never responds.
  { ran: true, respond: () => {} },
];

function refuse(status: number, body?: object, headers: Record<string, string> = {}): Fault["respond"] {
  return (response) => response.writeHead(status, headers).end(body && JSON.stringify(body));
}

function reset({ socket }: ServerResponse): void {
  socket?.resetAndDestroy();
}

function cut(response: ServerResponse, right: Buffer): void {
  response.writeHead(200, { "content-length": right.byteLength + 100 });
  response.write(right, () => response.destroy());
}
