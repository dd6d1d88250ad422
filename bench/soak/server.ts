// The service with faults, in a process of its own: tells its port, hands over its log when asked, ends with its parent.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import busboy from "busboy";
import { faults } from "./faults.js";
import { digest } from "./tasks.js";
import type { LogEntry } from "./verify.js";

const faultRate = 0.01;
let log: LogEntry[] = [];

interface Work {
  /** The number in what was asked; absent when the floor that is measured beside asks. */
  readonly call: number | undefined;
  readonly payload: string;
  readonly result: object;
}

const server = createServer((request, response) => {
  serve(request, response).catch(() => response.destroy());
});

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await buffer(request);
  const { call, payload, result } = await understand(request, body);
  const right = Buffer.from(JSON.stringify(result));
  response.setHeader("content-type", "application/json");
  if (call === undefined) return void response.end(right);
  const fault = Math.random() < faultRate ? faults[Math.floor(Math.random() * faults.length)] : undefined;
  log.push({ call, payload, ran: fault?.ran ?? true, faulty: fault !== undefined });
  if (fault) fault.respond(response, right);
  else response.end(right);
}

async function understand({ method, url = "", headers }: IncomingMessage, body: Buffer): Promise<Work> {
  if (method === "POST" && url === "/inference/v1/rerank") return rerank(JSON.parse(body.toString()));
  const [, kind, id, verb] = /^\/v1\/accounts\/soak\/(\w+)\/([\w-]+):(\w+)$/.exec(url) ?? [];
  const call = Number(id?.replace("call-", ""));
  if (`${method} ${kind} ${verb}` === "POST reinforcementFineTuningJobs resume") {
    const name = `accounts/soak/reinforcementFineTuningJobs/${id}`;
    return { call, payload: body.toString(), result: { name, dataset: "d", evaluator: "e" } };
  }
  if (`${method} ${kind} ${verb}` === "PATCH deployments scale") {
    return { call, payload: String(JSON.parse(body.toString()).replicaCount), result: {} };
  }
  const { filename, bytes } = await fileOf(headers, body);
  const rest = { id: `file-${call}`, object: "file", created_at: 1772442900, purpose: "fine-tune" };
  return {
    call,
    payload: `${filename} ${digest(bytes)}`,
    result: { ...rest, bytes: bytes.byteLength, filename },
  };
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

server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
process.on("message", () => {
  process.send?.(log);
  log = [];
});
process.on("disconnect", () => process.exit());
