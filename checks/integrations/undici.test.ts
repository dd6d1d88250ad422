// A client that sends through a dispatcher of undici 6, 7 and 8.
import assert from "node:assert/strict";
import { once } from "node:events";
import http from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { test } from "node:test";
import type { DispatcherLike } from "tunerank";
import type undici8 from "undici-8";
import { clientOf, failure, type Scope, versions } from "./support/undici.ts";

const body = { query: "q", documents: ["d"] };
const ranking = { data: [{ index: 0, relevance_score: 0.5 }] };
const file = Uint8Array.from({ length: 5_000_000 }, (_, i) => (i * 31) % 251);

interface Ends extends DispatcherLike {
  destroy(): Promise<void>;
}

function answer(request: http.IncomingMessage, sent: Buffer[]): unknown {
  const { length } = Buffer.concat(sent);
  return /rerank$/.test(request.url ?? "") ? ranking : { id: `${length}` };
}

async function serve(t: Scope): Promise<{ url: string; requests: string[]; sockets: Set<Socket> }> {
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
  const dispatcherOf = (t: Scope, options = {}): Ends => {
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
}
