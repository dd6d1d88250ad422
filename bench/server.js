// The mock server, in a process of its own: prints its port, answers at once or after delayMs, and ends with its parent.
import { readFileSync } from "node:fs";
import http from "node:http";
import https from "node:https";
import { rerankAnswer, smallRerankAnswer, uploadAnswer } from "./answers.js";

const { delayMs = 0, tls } = JSON.parse(process.argv[2]);
const open = new Set();
let maxSockets = 0;
let connections = 0;
let failUploads = 0;
let holding = false;
let held = [];
let isAway = false;
let refused = 0;
const largeAnswers = new Map();

const controls = {
  "GET /stats": () => ({ openSockets: open.size, maxSockets, connections, held: held.length, refused }),
  "POST /hold": () => {
    holding = true;
    maxSockets = open.size;
  },
  "POST /release": () => {
    holding = false;
    for (const answer of held) answer();
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

const server = tls
  ? https.createServer({ key: readFileSync(tls.key), cert: readFileSync(tls.cert) }, take)
  : http.createServer(take);

function take(request, response) {
  const { method, url } = request;
  const control = controls[`${method} ${url}`];
  if (control) return send(response, 200, Buffer.from(JSON.stringify(control() ?? {})));
  count(request.socket);
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
  const isLarge = length > 1_000_000;
  const chunks = isLarge && !largeAnswers.has(length) ? [] : undefined;
  request.on("data", (chunk) => chunks?.push(chunk));
  request.on("end", () => {
    if (chunks) largeAnswers.set(length, rerankAnswer(JSON.parse(Buffer.concat(chunks))));
    const answer = () => send(response, 200, isLarge ? largeAnswers.get(length) : smallRerankAnswer);
    if (holding) held.push(answer);
    else if (delayMs > 0) setTimeout(answer, delayMs);
    else answer();
  });
}

function upload(request, response) {
  let bytes = 0;
  request.on("data", (chunk) => {
    bytes += chunk.length;
  });
  request.on("end", () => {
    if (failUploads-- > 0) return send(response, 503, Buffer.from('{"code":"UNAVAILABLE","message":"busy"}'));
    send(response, 200, uploadAnswer(bytes));
  });
}

function send(response, status, bytes) {
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": bytes.byteLength,
    "x-request-id": "req-bench",
  });
  response.end(bytes);
}

server.keepAliveTimeout = 60_000;
server.requestTimeout = 0;
server.listen({ port: 0, host: "127.0.0.1", backlog: 1024 }, () => console.log(server.address().port));
process.stdin.on("end", () => process.exit()).resume();
