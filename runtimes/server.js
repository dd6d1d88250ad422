// The service's stand-in: the id in a request's path says what becomes of it, and `GET /requests/ID` what arrived.
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";
import { gzipSync } from "node:zlib";

const job = {
  name: "accounts/acme/reinforcementFineTuningJobs/job",
  state: "JOB_STATE_RUNNING",
  unknownField: 1,
};

/** Answers by the id's first word. */
const answers = {
  ok: (request) => ({ json: request.method === "PATCH" ? {} : job }),
  gzip: () => ({ json: job, gzip: true }),
  missing: () => ({
    status: 404,
    json: { error: { code: "NOT_FOUND", message: "There is no such thing." } },
  }),
  bare502: () => ({ status: 502, text: "bad gateway" }),
  flaky: (_request, count) =>
    count === 1
      ? { status: 503, headers: { "retry-after-ms": "1" }, json: { code: "UNAVAILABLE" } }
      : { json: {} },
  silent: () => undefined,
  moved: () => ({ status: 307, headers: { location: "/requests/moved" }, json: {} }),
};

/** Starts it on a free port. `pages` are served as they are: path -> { type, body }. */
export async function startServer(pages = {}) {
  const seen = new Map();
  const server = createServer(async (request, response) => {
    const page = pages[request.url];
    if (page) return response.writeHead(200, { "content-type": page.type }).end(page.body);
    const asked = /^\/requests\/(.*)$/.exec(request.url)?.[1];
    if (asked !== undefined) return send(response, { json: seen.get(asked) ?? [] });
    const bytes = await buffer(request).catch(() => undefined);
    if (bytes === undefined) return;
    const received = describe(request, bytes);
    const id = received.id ?? "ok";
    seen.set(id, [...(seen.get(id) ?? []), received]);
    const reply = answerTo(received, seen.get(id).length);
    if (reply) send(response, reply);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function describe({ method, url, headers }, bytes) {
  const { authorization, "content-type": type = "", "content-length": length, "user-agent": agent } = headers;
  const received = { method, url, authorization, type: type.split(";")[0], length, agent };
  const id = /\/([^/:]+):[a-z]+$/.exec(url)?.[1];
  if (type.startsWith("multipart/")) return { ...received, id, file: fileOf(type, bytes) };
  // A page asks for its icon too.
  const body = bytes.length > 0 ? JSON.parse(`${bytes}`) : {};
  // A rerank has no id in its path.
  return { ...received, id: id ?? body.query, body };
}

function fileOf(type, bytes) {
  const text = bytes.toString("latin1");
  const boundary = /boundary="?([^";]+)/.exec(type)[1];
  const from = text.indexOf("\r\n\r\n") + 4;
  const content = bytes.subarray(from, text.lastIndexOf(`\r\n--${boundary}--`));
  return {
    name: /filename="([^"]*)"/.exec(text)[1],
    bytes: content.length,
    sha256: createHash("sha256").update(content).digest("hex"),
  };
}

function answerTo(received, count) {
  const { id = "ok", file, body } = received;
  const answer = answers[id.split("-")[0]];
  if (answer && answer !== answers.ok) return answer(received, count);
  if (file) return { json: { id: "file-1", object: "file", filename: file.name, bytes: file.bytes } };
  if (body.documents) return { json: ranking(body.documents) };
  return answers.ok(received);
}

function ranking(documents) {
  const data = documents.map((text, index) => ({ index, relevance_score: 1 / (1 + text.length) }));
  return { object: "list", model: "m", data: data.sort((a, b) => b.relevance_score - a.relevance_score) };
}

function send(response, { status = 200, headers, json, text = JSON.stringify(json), gzip }) {
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
