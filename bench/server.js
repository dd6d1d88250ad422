// The mock server, in a process of its own: prints its port, responds at once or after delayMs, and ends with its parent.
import { readFileSync } from "node:fs";
import http from "node:http";
import http2 from "node:http2";
import https from "node:https";
import { gzipSync } from "node:zlib";
import { large, medium, small } from "./bodies.js";

function rerankResponse({ documents, top_n = documents.length, return_documents = true }) {
  const data = documents.slice(0, top_n).map((document, index) => ({
    index,
    relevance_score: 1 / (index + 1),
    ...(return_documents && { document }),
  }));
  const usage = { prompt_tokens: 131, total_tokens: 131 };
  return Buffer.from(JSON.stringify({ object: "list", model: small.model, data, usage }));
}

const smallRerankResponse = rerankResponse(small);

// The responses to a rerank that `rerankWith` chooses, whatever the request is.
const responses = {
  gzip: () => ({
    headers: { "content-encoding": "gzip" },
    bytes: gzipSync(rerankResponse({ ...medium, top_n: undefined })),
  }),
  notFound: () => ({
    status: 404,
    bytes: Buffer.from('{"code":"NOT_FOUND","message":"There is no such model."}'),
  }),
  everyTwentiethFails: () => ({
    status: 503,
    headers: { "retry-after": "0" },
    bytes: Buffer.from('{"code":"UNAVAILABLE","message":"busy"}'),
  }),
  // 9,500 documents of 1 kB, and what stands around each.
  tenMegabytes: () => ({ bytes: rerankResponse(large(9500)) }),
  short: () => ({ bytes: smallRerankResponse }),
};

const { delayMs = 0, tls, isHttp2 = false, rerankWith } = JSON.parse(process.argv[2]);
const chosen = responses[rerankWith]?.();
// With `everyTwentiethFails`, how many attempts have arrived.
let attempts = 0;
const open = new Set();
let maxSockets = 0;
let connections = 0;
let failUploads = 0;
let holding = false;
let held = [];
let isAway = false;
let refused = 0;
const largeResponses = new Map();

const controls = {
  "GET /stats": () => ({ maxSockets, connections, held: held.length, refused }),
  "POST /hold": () => {
    holding = true;
    maxSockets = open.size;
  },
  "POST /release": () => {
    holding = false;
    for (const respond of held) respond();
    held = [];
  },
  "POST /away": () => {
    isAway = true;
  },
  "POST /back": () => {
    isAway = false;
  },
  "POST /fail-next-upload": () => {
    failUploads = 1;
  },
};

const withTls = tls && { key: readFileSync(tls.key), cert: readFileSync(tls.cert), allowHTTP1: true };
const server = isHttp2
  ? http2.createSecureServer(withTls, take)
  : tls
    ? https.createServer(withTls, take)
    : http.createServer(take);

function take(request, response) {
  const { method, url } = request;
  const control = controls[`${method} ${url}`];
  if (control) return send(response, 200, Buffer.from(JSON.stringify(control() ?? {})));
  count(request.stream?.session.socket ?? request.socket);
  if (url.endsWith("/rerank")) return rerank(request, response);
  return upload(request, response);
}

// Sockets that only ask for the figures are not counted.
function count(socket) {
  if (open.has(socket)) return;
  open.add(socket);
  connections++;
  maxSockets = Math.max(maxSockets, open.size);
  socket.on("close", () => open.delete(socket));
}

function rerank(request, response) {
  if (isAway) {
    refused++;
    request.resume();
    return send(response, 503, Buffer.from('{"code":"UNAVAILABLE","message":"away"}'));
  }
  const length = Number(request.headers["content-length"] ?? 0);
  const isLarge = length > 1_000_000 && rerankWith === undefined;
  const chunks = isLarge && !largeResponses.has(length) ? [] : undefined;
  request.on("data", (chunk) => chunks?.push(chunk));
  request.on("end", () => {
    if (chunks) largeResponses.set(length, rerankResponse(JSON.parse(Buffer.concat(chunks))));
    const respond = () => {
      if (chosen) return sendChosen(response);
      send(response, 200, isLarge ? largeResponses.get(length) : smallRerankResponse);
    };
    if (holding) held.push(respond);
    else if (delayMs > 0) setTimeout(respond, delayMs);
    else respond();
  });
}

// A retry comes at once, so of 21 attempts one fails.
function sendChosen(response) {
  if (rerankWith === "everyTwentiethFails" && ++attempts % 21 !== 1)
    return send(response, 200, smallRerankResponse);
  const { status = 200, headers = {}, bytes: body } = chosen;
  send(response, status, body, headers);
}

function upload(request, response) {
  let bytes = 0;
  request.on("data", (chunk) => {
    bytes += chunk.length;
  });
  request.on("end", () => {
    if (failUploads-- > 0) return send(response, 503, Buffer.from('{"code":"UNAVAILABLE","message":"busy"}'));
    const stored = {
      object: "file",
      bytes,
      created_at: 1772442900,
      filename: "train.jsonl",
      purpose: "fine-tune",
    };
    send(response, 200, Buffer.from(JSON.stringify({ id: "file-7d1f9a", ...stored })));
  });
}

function send(response, status, bytes, headers = {}) {
  response.writeHead(status, {
    ...headers,
    "content-type": "application/json",
    "content-length": bytes.byteLength,
    "x-request-id": "req-bench",
  });
  response.end(bytes);
}

if (!isHttp2) Object.assign(server, { keepAliveTimeout: 60_000, requestTimeout: 0 });
server.listen({ port: 0, host: "127.0.0.1", backlog: 1024 }, () => console.log(server.address().port));
process.stdin.on("end", () => process.exit()).resume();
