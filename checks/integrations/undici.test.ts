// A client that sends through a dispatcher of undici 7 and 8.
import assert from "node:assert/strict";
import { once } from "node:events";
import http from "node:http";
import net, { type AddressInfo, type Socket } from "node:net";
import { test } from "node:test";
import type { DispatcherLike } from "tunerank";
import type undici8 from "undici-8";
import { clientOf, failure, type Scope, versions } from "./support/undici.ts";

const body = { query: "q", documents: ["d"] };
const ranking = { data: [{ index: 0, relevance_score: 0.5 }] };
const file = Uint8Array.from({ length: 5_000_000 }, (_, i) => (i * 31) % 251);

interface Ends extends DispatcherLike {
  destroy(): Promise<void>;
  compose(interceptor: (dispatch: Dispatch) => Dispatch): DispatcherLike;
}

type Handler = Record<string, ((...given: unknown[]) => unknown) | undefined>;
type Dispatch = (options: never, handler: Handler) => boolean;

/** Passes on all but the start. */
function silentHandler(handler: Handler): Handler {
  const others = ["onResponseStart", "onResponseData", "onResponseEnd", "onResponseError"];
  return {
    onRequestStart: () => {},
    ...Object.fromEntries(others.map((each) => [each, (...given) => handler[each]?.(...given)])),
  };
}

function responseFor(request: http.IncomingMessage, sent: Buffer[]): unknown {
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
    response.end(JSON.stringify(responseFor(request, sent)));
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
    return dispatcher as never;
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

  test(`${name}: a response that a RetryAgent makes an error of keeps its status`, async (t) => {
    const server = http.createServer((_request, response) => response.writeHead(503).end());
    await once(server.listen(0, "127.0.0.1"), "listening");
    t.after(() => server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const dispatcher = new undici.RetryAgent(dispatcherOf(t) as never, { maxRetries: 0 });
    const error = await failure(clientOf(url, dispatcher).rerank(body));
    assert.deepEqual([error.code, error.httpStatus], ["UNAVAILABLE", 503]);
  });

  test(`${name}: a MockAgent responds`, async (t) => {
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
    assert.deepEqual([error.code, error.executed], ["INTERNAL", "no"]);
  });

  test(`${name}: an interceptor that keeps starts to itself proves nothing by a reset`, async (t) => {
    const { url, requests } = await serve(t);
    const composed = dispatcherOf(t).compose(
      (dispatch) => (options, handler) => dispatch(options, silentHandler(handler)),
    );
    const client = clientOf(url, composed, { maxRetries: 2 });
    const lost = await failure(client.reinforcementFineTuningJobs.resume("lost"));
    assert.deepEqual([lost.code, lost.executed, lost.attempts.length], ["UNAVAILABLE", "unknown", 1]);
    assert.equal(requests.length, 1);
    const refused = clientOf("http://127.0.0.1:1", composed);
    assert.equal((await failure(refused.reinforcementFineTuningJobs.resume("job-1"))).executed, "no");
  });

  test(`${name}: a reset in the first TLS handshake is proof that nothing was sent`, async (t) => {
    const server = net.createServer((socket) => socket.once("data", () => socket.resetAndDestroy()));
    await once(server.listen(0, "127.0.0.1"), "listening");
    t.after(() => server.close());
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const error = await failure(clientOf(url, dispatcherOf(t)).reinforcementFineTuningJobs.resume("job-1"));
    assert.deepEqual([error.code, error.executed], ["UNAVAILABLE", "no"]);
  });

  for (const interceptors of [[], [(undici as typeof undici8).interceptors.dump()]])
    test(`${name}: nothing is sent of a call that ended in the queue, with ${interceptors.length} interceptors`, async (t) => {
      const { url, requests } = await serve(t);
      const pool = new (undici as typeof undici8).Pool(url, { connections: 1 });
      t.after(() => pool.destroy());
      const client = clientOf(url, pool.compose(interceptors as never));
      const first = failure(client.deployments.scale("silent", 1, { timeoutMs: 600 }));
      while (requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
      const ended = await failure(client.reinforcementFineTuningJobs.resume("queued", { timeoutMs: 200 }));
      assert.deepEqual([ended.code, ended.executed], ["DEADLINE_EXCEEDED", "no"]);
      await first;
      await clientOf(url, pool)
        .deployments.scale("prod", 1, { timeoutMs: 5000 })
        .catch(() => {});
      assert.equal(requests.filter((path) => path.includes("queued")).length, 0);
    });

  test(`${name}: a call that ended before a delayed mock responded ends nothing else`, async (t) => {
    const { MockAgent } = undici as typeof undici8;
    const mocks = new MockAgent();
    t.after(() => mocks.close());
    // Far later than the deadline: on a busy machine one that is noticed late lets what has arrived be read.
    const prepared = mocks.get("https://service.test");
    prepared.intercept({ path: "/inference/v1/rerank", method: "POST" }).reply(200, ranking).delay(1500);
    const client = clientOf("https://service.test", mocks);
    const error = await failure(client.rerank(body, { timeoutMs: 30 }));
    assert.equal(error.code, "DEADLINE_EXCEEDED");
    await new Promise((resolve) => setTimeout(resolve, 1700));
  });
}
