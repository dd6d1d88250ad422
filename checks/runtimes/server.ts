// The mock server: the id in a request's path says what becomes of it, and `GET /requests/ID` what arrived.
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { gzipSync } from "node:zlib";

/** Pages that are served as they are, by their path. */
export type Pages = Readonly<Record<string, { readonly type: string; readonly body: string }>>;

interface StoredFile {
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** What is told of a request. */
interface Received {
  readonly method: string | undefined;
  readonly url: string;
  readonly authorization: string | undefined;
  readonly type: string | undefined;
  readonly length: string | undefined;
  /** Whether it came without its length. */
  readonly chunked: boolean;
  readonly agent: string | undefined;
  readonly id: string;
  readonly file?: StoredFile;
  readonly body?: { readonly query?: string; readonly documents?: readonly string[] };
}

interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly text?: string;
  readonly gzip?: boolean;
}

const job = {
  name: "accounts/acme/reinforcementFineTuningJobs/job",
  state: "JOB_STATE_RUNNING",
  unknownField: 1,
};

const ok = ({ method }: Received): Reply => ({ json: method === "PATCH" ? {} : job });

/** Responses by the id's first word. */
const responses: Readonly<Record<string, (received: Received, count: number) => Reply | undefined>> = {
  ok,
  gzip: () => ({ json: job, gzip: true }),
  missing: () => ({
    status: 404,
    json: { error: { code: "NOT_FOUND", message: "There is no such thing." } },
  }),
  bare502: () => ({ status: 502, text: "bad gateway" }),
  flaky: (_request, count) =>
    count === 1
      ? { status: 503, headers: { "retry-after-ms": "1" }, json: { code: "UNAVAILABLE" } }
      : { json: { id: "file-1" } },
  silent: () => undefined,
  moved: () => ({ status: 307, headers: { location: "/requests/moved" }, json: {} }),
};

/** Starts it on a free port. */
export async function startServer(pages: Pages): Promise<{ url: string; close(): void }> {
  const seen = new Map<string, Received[]>();
  const server = createServer(async (request, response) => {
    const { url = "" } = request;
    const page = pages[url];
    if (page !== undefined) {
      response.writeHead(200, { "content-type": page.type }).end(page.body);
      return;
    }
    const asked = /^\/requests\/(.*)$/.exec(url)?.[1];
    if (asked !== undefined) return send(response, { json: seen.get(asked) ?? [] });
    const bytes = await buffer(request).catch(() => undefined);
    if (bytes === undefined) return;
    const received = describe(request, bytes);
    const known = [...(seen.get(received.id) ?? []), received];
    seen.set(received.id, known);
    const reply = responseTo(received, known.length);
    if (reply) send(response, reply);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function describe({ method, url = "", headers }: IncomingMessage, bytes: Buffer): Received {
  const { authorization, "content-type": type = "", "content-length": length, "user-agent": agent } = headers;
  const chunked = headers["transfer-encoding"] !== undefined;
  const received = { method, url, authorization, type: type.split(";")[0], length, chunked, agent };
  const named = /\/([^/:]+):[a-z]+$/.exec(url)?.[1];
  if (type.startsWith("multipart/")) return { ...received, id: named ?? "ok", file: fileOf(type, bytes) };
  // A page asks for its icon too.
  const body = bytes.length > 0 ? JSON.parse(`${bytes}`) : {};
  // A rerank has no id in its path.
  return { ...received, id: named ?? body.query ?? "ok", body };
}

function fileOf(type: string, bytes: Buffer): StoredFile {
  const text = bytes.toString("latin1");
  const boundary = /boundary="?([^";]+)/.exec(type)?.[1];
  const from = text.indexOf("\r\n\r\n") + 4;
  const content = bytes.subarray(from, text.lastIndexOf(`\r\n--${boundary}--`));
  return {
    name: /filename="([^"]*)"/.exec(text)?.[1] ?? "",
    bytes: content.length,
    sha256: createHash("sha256").update(content).digest("hex"),
  };
}

function responseTo(received: Received, count: number): Reply | undefined {
  const { id, file, body } = received;
  const response = responses[id.split("-")[0] ?? ""];
  if (response && response !== ok) return response(received, count);
  if (file) return { json: { id: "file-1", object: "file", filename: file.name, bytes: file.bytes } };
  if (body?.documents) return { json: ranking(body.documents) };
  return ok(received);
}

function ranking(documents: readonly string[]): unknown {
  const data = documents.map((text, index) => ({ index, relevance_score: 1 / (1 + text.length) }));
  return { object: "list", model: "m", data: data.sort((a, b) => b.relevance_score - a.relevance_score) };
}

function send(response: ServerResponse, reply: Reply): void {
  const { status = 200, headers, json, text = JSON.stringify(json), gzip } = reply;
  const body = gzip ? gzipSync(text) : text;
  const encoding = gzip ? { "content-encoding": "gzip" } : {};
  response.writeHead(status, {
    "content-type": "application/json",
    "x-request-id": "r-1",
    ...encoding,
    ...headers,
  });
  response.end(body);
}
