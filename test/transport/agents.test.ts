import { randomBytes } from "node:crypto";
import { get, Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { createServer, type Socket } from "node:net";
import { Readable } from "node:stream";
import { HttpProxyAgent } from "http-proxy-agent";
import { HttpsProxyAgent } from "https-proxy-agent";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { useNoBackoff } from "../support/backoff.js";
import { canaryKey, leaksOf } from "../support/canary.js";
import { certificate } from "../support/certificate.js";
import { connect, failureOf, operationCalls } from "../support/clients.js";
import { TestClock } from "../support/clock.js";
import { respond, useCountingServer } from "../support/countingServer.js";
import { useForwardProxy } from "../support/forwardProxy.js";
import { sha256, useRecordingServer } from "../support/recordingServer.js";
import { useSecureServer } from "../support/secureServer.js";
import { ending, serving } from "../support/servers.js";
import { isPending, until } from "../support/turns.js";

// Agents of the caller's; the option proxy is in proxyOption.test.ts.
const proxy = useForwardProxy();
const secure = useSecureServer();
const plain = useRecordingServer();
const counting = useCountingServer();
const clock = new TestClock();
afterEach(() => clock.remove());
useNoBackoff();
const rerank = { query: "q", documents: ["d"] };

/** An agent whose tunnels trust the service's certificate: what is given to it is for the proxy's own. */
function trusting(url: string, options: object = {}): HttpsProxyAgent<string> {
  const agent = ending(new HttpsProxyAgent(url, options));
  Object.assign(agent.options, { ca: certificate });
  return agent;
}

describe.each([
  ["with a custom CA", (options: object) => ending(new HttpsAgent({ ca: certificate, ...options })), 0],
  ["of a tunnel to https", (options: object) => trusting(proxy.url, options), 1],
])("an agent %s", (_what, agentWith, tunnels) => {
  test.each(operationCalls)(
    "reaches the service with $operation, and no proxy sees the key",
    async ({ call, method, path }) => {
      await call(connect(secure.url, { agent: agentWith({}) }));
      expect(secure.requests).toMatchObject([{ method, url: path, authorization: `Bearer ${canaryKey}` }]);
      const tunnel = { method: "CONNECT", target: `localhost:${secure.port}` };
      expect(proxy.seen).toMatchObject(Array(tunnels).fill(tunnel));
      expect(leaksOf(proxy.seen)).toEqual([]);
    },
  );

  test("keeps its connections for the next call that may be retried when it is told to", async () => {
    const client = connect(secure.url, { agent: agentWith({ keepAlive: true }) });
    for (const { call } of operationCalls) await call(client);
    await client.withOptions({ timeoutMs: 5_000 }).rerank(rerank);
    expect(secure.requests).toHaveLength(operationCalls.length + 1);
    // The resume's, which the rerank and the scale use again, and the upload's.
    const connections = operationCalls.filter(({ safe }) => !safe).length;
    expect([secure.connections, proxy.seen.length]).toEqual([connections, tunnels * connections]);
  });
});

test("over a tunnel a certificate nobody vouches for ends the call, and nothing ran", async () => {
  const agent = ending(new HttpsProxyAgent(proxy.url));
  const error = await failureOf(() => connect(secure.url, { agent }).rerank(rerank));
  expect(error).toMatchObject({ code: "UNAVAILABLE", executed: "no", codeSource: "transport" });
  expect(error.message).toContain("self-signed certificate");
  expect(secure.requests).toEqual([]);
});

describe("an agent of node:http", () => {
  test("has its own limit instead of maxConnections", async () => {
    const agent = ending(new HttpAgent({ keepAlive: true, maxSockets: 2 }));
    const client = connect(counting.url, { agent, maxConnections: 50 });
    await Promise.all(Array.from({ length: 20 }, () => client.rerank(rerank)));
    expect(counting.used).toHaveLength(20);
    expect(counting.most).toBe(2);
  });

  test("that keeps no sockets takes a new one for each call", async () => {
    const client = connect(counting.url, { agent: new HttpAgent() });
    for (const { call } of operationCalls) await call(client);
    expect(counting.used).toEqual(operationCalls.map((_, index) => index + 1));
    await counting.allClosed();
  });

  test("may be shared by clients, and so are its sockets", async () => {
    const agent = ending(new HttpAgent({ keepAlive: true }));
    await connect(counting.url, { agent }).rerank(rerank);
    await connect(counting.url, { agent }).rerank(rerank);
    expect(counting.used).toEqual([1, 1]);
  });
});

test("a call that waits for a socket of its agent, which others use, is not connecting", async () => {
  let release = (): void => {};
  counting.listen((_request, response) => {
    release = () => response.end("{}");
  });
  const agent = ending(new HttpAgent({ keepAlive: true, maxSockets: 1 }));
  get(counting.url, { agent }, (response) => response.resume());
  await until(() => counting.used.length === 1);
  counting.listen(respond);
  clock.install();
  const call = connect(counting.url, { agent, connectTimeoutMs: 1000 }).rerank(rerank);
  expect(await isPending(call)).toBe(true);
  clock.pass(5000);
  expect(await isPending(call)).toBe(true);
  release();
  expect((await call).data).toHaveLength(1);
});

test.each<[what: string, agent: object, protocol: string]>([
  ["that is no agent", {}, "http:"],
  ["of https for an http address", new HttpsAgent(), "http:"],
  ["of http for an https address", new HttpAgent(), "https:"],
])("an agent %s is INVALID_ARGUMENT, and nothing ran", async (_what, agent, protocol) => {
  const url = counting.url.replace("http:", protocol);
  const error = await failureOf(() => connect(url, { agent }).rerank(rerank));
  expect(error).toMatchObject({ code: "INVALID_ARGUMENT", executed: "no", attempts: [] });
  expect(error.message).toContain("agent");
  expect(counting.connections).toBe(0);
});

describe.each([
  ["a tunnel", (url: string) => new HttpsProxyAgent(url), "CONNECT"],
  ["an http proxy", (url: string) => new HttpProxyAgent(url), undefined],
])("through %s to plain http", (_what, agentFor, connecting) => {
  const client = () => connect(plain.url, { agent: ending(agentFor(proxy.url)) });

  test.each(operationCalls)("$operation reaches the service", async ({ call, method, path }) => {
    await call(client());
    const headers = { authorization: `Bearer ${canaryKey}` };
    expect(plain.only).toMatchObject({ method, url: path, headers });
    const target = connecting ? new URL(plain.url).host : plain.url + path;
    expect(proxy.seen).toMatchObject([{ method: connecting ?? method, target }]);
  });

  test("a file arrives whole, with its length, and a stream without a size", async () => {
    const content = randomBytes(5 * 1024 * 1024 + 3);
    for (const file of [content, Readable.from([content.subarray(0, 1000), content.subarray(1000)])])
      await client().datasets.upload("reviews", file, { name: "train.jsonl" });
    expect(plain.requests.map(({ files }) => files[0]?.sha256)).toEqual(Array(2).fill(sha256(content)));
    const [{ headers, body } = plain.only] = plain.requests;
    expect(headers["content-length"]).toBe(String(body.byteLength));
  });

  test("what the proxy refuses never runs", async () => {
    proxy.refusal = 403;
    const error = await failureOf(() => client().rerank(rerank));
    expect(error).toMatchObject({ code: "PERMISSION_DENIED", httpStatus: 403, executed: "no" });
    expect(plain.connections).toBe(0);
  });
});

describe("a proxy that never responds to CONNECT", () => {
  const open = new Set<Socket>();
  let connections = 0;
  let url = "";
  beforeEach(async () => {
    connections = 0;
    const silent = createServer((socket) => {
      connections += 1;
      open.add(socket.resume().on("close", () => open.delete(socket)));
    });
    url = `http://127.0.0.1:${await serving(silent)}`;
  });

  test.each([
    ["connectTimeoutMs", { connectTimeoutMs: 40 }],
    ["attemptTimeoutMs", { attemptTimeoutMs: 40 }],
  ])("ends each attempt of a resume at %s, which is repeated: it never ran", async (_what, times) => {
    const client = connect(secure.url, { agent: trusting(url), maxRetries: 2, ...times });
    const error = await failureOf(() => client.reinforcementFineTuningJobs.resume("job-1"));
    expect(error).toMatchObject({ code: "DEADLINE_EXCEEDED", executed: "no" });
    expect(error.attempts).toHaveLength(3);
    await until(() => connections >= 3 && open.size === 0);
    expect([connections, secure.requests.length]).toEqual([3, 0]);
  });

  test("leaves no socket behind when its client is closed", async () => {
    const client = connect(secure.url, { agent: trusting(url) });
    const running = failureOf(() => client.rerank(rerank));
    await until(() => open.size === 1);
    await client.close();
    expect(await running).toMatchObject({ code: "CANCELLED", executed: "no" });
    await until(() => open.size === 0);
  });

  test("gives back the places of an agent with a limit", async () => {
    const agent = trusting(url, { maxSockets: 2 });
    const client = connect(secure.url, { agent, connectTimeoutMs: 30 });
    const failed = await Promise.all(Array.from({ length: 6 }, () => failureOf(() => client.rerank(rerank))));
    expect(failed.map(({ code }) => code)).toEqual(Array(6).fill("DEADLINE_EXCEEDED"));
    // The server may hear of the last one after the client gave it up.
    await until(() => connections >= 6);
    expect(connections).toBe(6);
    agent.proxy.port = new URL(proxy.url).port;
    agent.connectOpts = { ...agent.connectOpts, port: Number(agent.proxy.port) };
    await client.withOptions({ connectTimeoutMs: 10_000 }).rerank(rerank);
    expect(secure.requests).toHaveLength(1);
  });
});

describe("a resume through a proxy that opens no tunnel", () => {
  test.each([
    [500, "UNAVAILABLE", 3],
    [503, "UNAVAILABLE", 3],
    [407, "UNAUTHENTICATED", 1],
    [400, "PERMISSION_DENIED", 1],
    [401, "PERMISSION_DENIED", 1],
    [404, "PERMISSION_DENIED", 1],
    [429, "PERMISSION_DENIED", 1],
    [302, "PERMISSION_DENIED", 1],
  ])(
    "and responds with %i is %s after as many attempts as that allows: %i",
    async (status, code, attempts) => {
      proxy.refusal = status;
      let asked = 0;
      const apiKey = () => `never-shown-to-a-proxy-${++asked}`;
      const client = connect(secure.url, { agent: trusting(proxy.url), maxRetries: 2, apiKey });
      const error = await failureOf(() => client.reinforcementFineTuningJobs.resume("job-1"));
      expect(error).toMatchObject({ code, executed: "no", codeSource: "transport", inferred: true });
      expect(error.executedBecause).toBe("nothing-sent");
      expect(error.hint).toContain("proxy");
      expect(error.message).toContain(`HTTP ${status}`);
      // Each attempt asks for its key, and none asks for another.
      expect([error.attempts.length, asked]).toEqual([attempts, attempts]);
      expect(proxy.seen.map(({ method }) => method)).toEqual(Array(attempts).fill("CONNECT"));
      expect(JSON.stringify(proxy.seen)).not.toContain("never-shown");
      expect(secure.requests).toEqual([]);
    },
  );
});
