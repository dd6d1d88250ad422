// A client that sends through a dispatcher of undici 6, 7 and 8, over HTTP/1.1 and HTTP/2.
import assert from "node:assert/strict";
import { once } from "node:events";
import http from "node:http";
import http2 from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import { test } from "node:test";
import { createClient, type DispatcherLike, isStatusError, type StatusError } from "tunerank";
import undici6 from "undici-6";
import undici7 from "undici-7";
import undici8 from "undici-8";
import { certificate, certificateKey } from "../../test/support/certificate.ts";

const body = { query: "q", documents: ["d"] };
const ranking = { data: [{ index: 0, relevance_score: 0.5 }] };
const file = Uint8Array.from({ length: 5_000_000 }, (_, i) => (i * 31) % 251);

interface Ends extends DispatcherLike {
  destroy(): Promise<void>;
}

const versions = [
  ["undici 6", undici6],
  ["undici 7", undici7],
  ["undici 8", undici8],
] as const;

const clientOf = (baseUrl: string, dispatcher: DispatcherLike, more = {}) =>
  createClient({ baseUrl, apiKey: "test-key", accountId: "acme", maxRetries: 0, dispatcher, ...more });

async function failure(call: PromiseLike<unknown>): Promise<StatusError> {
  const error = await call.then(
    () => undefined,
    (caught: unknown) => caught,
  );
  assert(isStatusError(error));
  return error;
}

function answer(request: http.IncomingMessage | http2.Http2ServerRequest, sent: Buffer[]): unknown {
  const { length } = Buffer.concat(sent);
  return /rerank$/.test(request.url ?? "") ? ranking : { id: `${length}` };
}

async function serve(t: {
  after(end: () => unknown): void;
}): Promise<{ url: string; requests: string[]; sockets: Set<Socket> }> {
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  const server = http.createServer(async (request, response) => {
    requests.push(`${request.url}`);
    if (request.url?.includes("lost")) return void request.socket.destroy();
    if (request.url?.includes("silent")) return;
    const sent: Buffer[] = [];
    for await (const chunk of request) sent.push(chunk);
    response.setHeader("x-request-id", "r-1");
    response.end(JSON.stringify(answer(request, sent)));
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests, sockets };
}

for (const [name, undici] of versions) {
  const dispatcherOf = (t: { after(end: () => unknown): void }, options = {}): Ends => {
    const dispatcher = new undici.Agent(options);
    t.after(() => dispatcher.destroy());
    return dispatcher;
  };

  test(`${name} sends every operation, and brings headers and whole files`, async (t) => {
    const { url, requests } = await serve(t);
    const client = clientOf(url, dispatcherOf(t));
    const { data, requestId } = await client.rerank(body).withResponse();
    assert.deepEqual([data.data, requestId], [ranking.data, "r-1"]);
    const { id } = await client.datasets.upload("reviews", file, { name: "train.jsonl" });
    assert(Number(id) > file.length);
    await client.deployments.scale("prod", 0);
    await client.reinforcementFineTuningJobs.resume("job-1");
    assert.equal(requests.length, 4);
  });

  test(`${name}: what never left, what was lost and what was ended are told apart`, async (t) => {
    const { url, sockets, requests } = await serve(t);
    const client = clientOf(url, dispatcherOf(t), { maxRetries: 2 });
    const lost = await failure(client.deployments.scale("lost", 1));
    assert.deepEqual([lost.code, lost.executed, lost.attempts.length], ["UNAVAILABLE", "unknown", 3]);
    const resumed = await failure(client.reinforcementFineTuningJobs.resume("lost"));
    assert.deepEqual([resumed.executed, resumed.attempts.length], ["unknown", 1]);
    const ended = await failure(client.deployments.scale("silent", 1, { timeoutMs: 300 }));
    assert.deepEqual([ended.code, ended.executed], ["DEADLINE_EXCEEDED", "unknown"]);
    while (sockets.size > 0) await new Promise((resolve) => setTimeout(resolve, 10));
    const before = requests.length;
    const refused = clientOf("http://127.0.0.1:1", dispatcherOf(t));
    const never = await failure(refused.reinforcementFineTuningJobs.resume("job-1"));
    assert.deepEqual([never.code, never.executed], ["UNAVAILABLE", "no"]);
    assert.equal(requests.length, before);
  });

  test(`${name}: an answer that a RetryAgent makes an error of keeps its status`, async (t) => {
    const server = http.createServer((_request, response) => response.writeHead(503).end());
    await once(server.listen(0, "127.0.0.1"), "listening");
    t.after(() => server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const dispatcher = new undici.RetryAgent(dispatcherOf(t) as never, { maxRetries: 0 });
    const error = await failure(clientOf(url, dispatcher).rerank(body));
    assert.deepEqual([error.code, error.httpStatus], ["UNAVAILABLE", 503]);
  });

  test(`${name}: a MockAgent answers`, async (t) => {
    // Their types differ by version.
    const { MockAgent } = undici as typeof undici8;
    const mocks = new MockAgent();
    t.after(() => mocks.close());
    mocks.disableNetConnect();
    const prepared = mocks.get("https://service.test");
    prepared.intercept({ path: "/inference/v1/rerank", method: "POST" }).reply(200, ranking);
    const client = clientOf("https://service.test", mocks);
    assert.deepEqual(await client.rerank(body), ranking);
    const error = await failure(client.rerank(body));
    assert.deepEqual([error.code, error.executed], ["INVALID_ARGUMENT", "no"]);
  });

  test(`${name} over HTTP/2 sends each call once, and tells what the server refused`, async (t) => {
    const seen: string[] = [];
    const server = http2.createSecureServer({ cert: certificate, key: certificateKey });
    const sessions = new Set<http2.ServerHttp2Session>();
    server.on("session", (session) => {
      sessions.add(session);
      session.on("error", () => {}).on("close", () => sessions.delete(session));
    });
    server.on("stream", (stream, headers) => {
      const path = `${headers[":path"]}`;
      seen.push(path);
      stream.on("error", () => {});
      if (path.includes("refused")) return stream.close(http2.constants.NGHTTP2_REFUSED_STREAM);
      if (path.includes("reset")) return stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR);
      if (path.includes("gone")) return stream.session?.goaway(http2.constants.NGHTTP2_INTERNAL_ERROR);
      if (path.includes("silent")) return;
      let length = 0;
      stream.on("data", (chunk: Buffer) => {
        length += chunk.length;
      });
      stream.on("end", () => {
        stream.respond({ ":status": 200, "content-type": "application/json" });
        stream.end(JSON.stringify({ ...ranking, id: `${length}` }));
      });
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    t.after(() => {
      for (const session of sessions) session.destroy();
      server.close();
    });
    const url = `https://localhost:${(server.address() as AddressInfo).port}`;
    const options = { allowH2: true, connect: { ca: certificate } };
    const client = clientOf(url, dispatcherOf(t, options));
    await client.rerank(body);
    assert.equal(sessions.size, 1);
    const calls = Array.from({ length: 500 }, (_, i) => client.deployments.scale(`n-${i}`, 1));
    await Promise.all(calls);
    assert.equal(new Set(seen).size, 501);
    assert.equal(seen.length, 501);
    const { id } = await client.datasets.upload("reviews", file, { name: "train.jsonl" });
    assert(Number(id) > file.length);
    for (const [what, executed] of [
      ["refused", "no"],
      ["reset", "unknown"],
      ["gone", "unknown"],
    ] as const) {
      const error = await failure(
        clientOf(url, dispatcherOf(t, options)).reinforcementFineTuningJobs.resume(what, { timeoutMs: 3000 }),
      );
      assert.equal(error.executed, executed, `${what}: ${error.message}`);
    }
    const silent = await failure(client.deployments.scale("silent", 1, { timeoutMs: 300 }));
    assert.deepEqual([silent.code, silent.executed], ["DEADLINE_EXCEEDED", "unknown"]);
    await client.rerank(body);
  });
}
