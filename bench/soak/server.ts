// The service of the soak, in a process of its own: one request in a hundred meets a fault. It tells its port, hands over its
// log when asked, and ends with its parent.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import busboy from "busboy";
import { digest, type LogEntry } from "./tasks.js";

type Respond = (response: ServerResponse, right: Buffer) => unknown;

const refuse =
  (status: number, body?: object, headers: Record<string, string> = {}): Respond =>
  (response) =>
    response.writeHead(status, headers).end(body && JSON.stringify(body));
const reset: Respond = ({ socket }) => socket?.resetAndDestroy();
const cut: Respond = (response, right) => {
  response.writeHead(200, { "content-length": right.byteLength + 100 });
  response.write(right, () => response.destroy());
};

// Each with whether the service does the work before things go wrong.
const faults: readonly (readonly [ran: boolean, respond: Respond])[] = [
  [false, refuse(503, { code: "UNAVAILABLE" })],
  [false, refuse(503)],
  [true, refuse(502)],
  [false, refuse(429, { code: "RESOURCE_EXHAUSTED" }, { "retry-after-ms": "50" })],
  [true, refuse(500, { code: "INTERNAL" })],
  [true, refuse(504, { code: "DEADLINE_EXCEEDED" })],
  [false, reset],
  [true, reset],
  [true, cut],
  [true, (response, right) => response.setHeader("content-encoding", "gzip").end(right)],
  [false, (response) => response.setHeader("content-type", "text/html").end("<html></html>")],
  [true, (response, right) => setTimeout(() => response.end(right), 300)],
  // Never responds.
  [true, () => {}],
];
const faultRate = 0.01;
let log: LogEntry[] = [];

/** What was asked: `call` is its number, absent when the floor that is measured beside asks. */
interface Work {
  readonly call: number | undefined;
  readonly payload: string;
  readonly result: object;
}

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { call, payload, result } = await understand(request, await buffer(request));
  const right = Buffer.from(JSON.stringify(result));
  const fault = Math.random() < faultRate ? faults[Math.floor(Math.random() * faults.length)] : undefined;
  const [ran, respond] = (call === undefined ? undefined : fault) ?? [true, undefined];
  if (call !== undefined) log.push({ call, payload, ran, faulty: respond !== undefined });
  response.setHeader("content-type", "application/json");
  if (respond) respond(response, right);
  else response.end(right);
}

async function understand({ method, url = "", headers }: IncomingMessage, body: Buffer): Promise<Work> {
  if (url === "/inference/v1/rerank") return rerank(JSON.parse(body.toString()));
  const [, kind, id, verb] = /^\/v1\/accounts\/soak\/(\w+)\/([\w-]+):(\w+)$/.exec(url) ?? [];
  const call = Number(id?.replace("call-", ""));
  switch (`${method} ${kind} ${verb}`) {
    case "POST reinforcementFineTuningJobs resume": {
      const name = `accounts/soak/reinforcementFineTuningJobs/${id}`;
      return { call, payload: body.toString(), result: { name, dataset: "d", evaluator: "e" } };
    }
    case "PATCH deployments scale":
      return { call, payload: String(JSON.parse(body.toString()).replicaCount), result: {} };
    case "POST datasets upload": {
      const { filename, bytes } = await fileOf(headers, body);
      const rest = { id: `file-${call}`, object: "file", created_at: 1772442900, purpose: "fine-tune" };
      const result = { ...rest, bytes: bytes.byteLength, filename };
      return { call, payload: `${filename} ${digest(bytes)}`, result };
    }
  }
  throw new Error(`There is no ${method} ${url}.`);
}

function rerank({ query, documents }: { query: string; documents: string[] }): Work {
  const ranked = documents.map((document, index) => ({ index, relevance_score: index / 10, document }));
  const usage = { prompt_tokens: 1, total_tokens: 1 };
  return {
    call: query.startsWith("call ") ? Number(query.slice(5)) : undefined,
    payload: digest(JSON.stringify(documents)),
    result: { object: "list", model: "m", data: ranked.reverse(), usage },
  };
}

// By busboy, which is not our own parser.
function fileOf(
  headers: IncomingMessage["headers"],
  body: Buffer,
): Promise<{ filename: string; bytes: Buffer }> {
  return new Promise((resolve, reject) => {
    const parser = busboy({ headers }).on("error", reject);
    parser.on("file", (_part, stream, { filename = "" }) => {
      buffer(stream).then((bytes) => resolve({ filename, bytes }), reject);
    });
    Readable.from([body]).pipe(parser);
  });
}

const server = createServer((request, response) => {
  serve(request, response).catch(() => response.destroy());
});
server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
process.on("message", () => {
  process.send?.(log);
  log = [];
});
process.on("disconnect", () => process.exit());
