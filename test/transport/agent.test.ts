import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { describe, expect, test } from "vitest";
import { canaryKey } from "../support/canary.js";
import { certificate } from "../support/certificate.js";
import { connect, failureOf, operationCalls, thrownBy } from "../support/clients.js";
import { useCountingServer } from "../support/countingServer.js";
import { useSecureServer } from "../support/secureServer.js";

const plain = useCountingServer();
const secure = useSecureServer();
const rerank = { query: "q", documents: ["d"] };

describe("an agent with a private authority", () => {
  test.each(operationCalls)("reaches its server with $operation", async ({ call, method, path }) => {
    const agent = new HttpsAgent({ ca: certificate });
    try {
      await call(connect(secure.url, { agent }));
      expect(secure.requests).toMatchObject([{ method, url: path, authorization: `Bearer ${canaryKey}` }]);
    } finally {
      agent.destroy();
    }
  });

  test("trusts nobody else: without it nothing is sent", async () => {
    const error = await failureOf(() => connect(secure.url).rerank(rerank));
    expect(error).toMatchObject({ code: "UNAVAILABLE", executed: "no" });
    const other = new HttpsAgent({ ca: [] });
    const refused = await failureOf(() => connect(secure.url, { agent: other }).rerank(rerank));
    expect(refused).toMatchObject({ code: "UNAVAILABLE", executed: "no" });
    expect(secure.requests).toEqual([]);
  });

  test("keeps its sockets for the next call that may be repeated when it is told to", async () => {
    const agent = new HttpsAgent({ ca: certificate, keepAlive: true });
    try {
      const client = connect(secure.url, { agent });
      for (const { call } of operationCalls) await call(client);
      await client.withOptions({ timeoutMs: 5_000 }).rerank(rerank);
      expect(secure.requests).toHaveLength(operationCalls.length + 1);
      // The resume's and the upload's.
      expect(secure.connections).toBe(operationCalls.filter(({ safe }) => !safe).length);
    } finally {
      agent.destroy();
    }
  });

  test("whose handshake never ends does so at connectTimeoutMs, and nothing ran", async () => {
    const agent = new HttpsAgent({ ca: certificate });
    // A server of plain http waits for the rest of what it takes for a request.
    plain.listen(() => {});
    const url = plain.url.replace("http:", "https:");
    const error = await failureOf(() => connect(url, { agent, connectTimeoutMs: 50 }).rerank(rerank));
    expect(error.executed).toBe("no");
    expect(plain.used).toEqual([]);
  });
});

describe("an agent of node:http", () => {
  test("has its own limit instead of maxConnections", async () => {
    const agent = new HttpAgent({ keepAlive: true, maxSockets: 2 });
    try {
      const client = connect(plain.url, { agent, maxConnections: 50 });
      await Promise.all(Array.from({ length: 20 }, () => client.rerank(rerank)));
      expect(plain.used).toHaveLength(20);
      expect(plain.most).toBe(2);
    } finally {
      agent.destroy();
    }
  });

  test("that keeps no sockets takes a new one for each call", async () => {
    const client = connect(plain.url, { agent: new HttpAgent() });
    for (const { call } of operationCalls) await call(client);
    expect(plain.used).toEqual(operationCalls.map((_, index) => index + 1));
    await plain.allClosed();
  });

  test("may be shared by clients, and so are its sockets", async () => {
    const agent = new HttpAgent({ keepAlive: true });
    try {
      await connect(plain.url, { agent }).rerank(rerank);
      await connect(plain.url, { agent }).rerank(rerank);
      expect(plain.used).toEqual([1, 1]);
    } finally {
      agent.destroy();
    }
  });

  test("that cannot connect makes the call UNAVAILABLE, and nothing ran", async () => {
    const agent = new HttpAgent();
    Object.assign(agent, {
      createConnection() {
        throw new Error("no way out");
      },
    });
    const error = await failureOf(() => connect(plain.url, { agent }).rerank(rerank));
    expect(error).toMatchObject({ executed: "no" });
    expect(plain.connections).toBe(0);
  });
});

test.each<[what: string, agent: object, protocol: string]>([
  ["that is no agent", {}, "http:"],
  ["of https for an http address", new HttpsAgent(), "http:"],
  ["of http for an https address", new HttpAgent(), "https:"],
])("an agent %s is INVALID_ARGUMENT, and nothing ran", async (_what, agent, protocol) => {
  const url = plain.url.replace("http:", protocol);
  const error = await failureOf(() => connect(url, { agent }).rerank(rerank));
  expect(error).toMatchObject({
    code: "INVALID_ARGUMENT",
    executed: "no",
    codeSource: "client",
    attempts: [],
  });
  expect(error.message).toContain("agent");
  expect(plain.connections).toBe(0);
});

describe("createClient refuses an agent", () => {
  test.each([
    ["that is null", null],
    ["that is a string", "http://proxy.example.com:3128"],
    ["that is a number", 1],
    ["that is true", true],
    ["that is a function", HttpAgent],
  ])("%s", (_what, agent) => {
    const error = thrownBy(() => connect(plain.url, { agent: agent as unknown as object }));
    expect(error).toMatchObject({ code: "INVALID_ARGUMENT", executed: "no", codeSource: "client" });
    expect(error.message).toContain("agent");
  });

  test("together with fetch, on which it has no effect", () => {
    const options = { agent: new HttpAgent(), fetch: globalThis.fetch };
    const error = thrownBy(() => connect(plain.url, options));
    expect(error).toMatchObject({ code: "INVALID_ARGUMENT", executed: "no", codeSource: "client" });
    expect(error.message).toMatch(/agent.*fetch/);
  });

  test("in withOptions: the connections are shared", () => {
    const client = connect(plain.url);
    const error = thrownBy(() => client.withOptions({ agent: new HttpAgent() } as object));
    expect(error).toMatchObject({ code: "INVALID_ARGUMENT", executed: "no" });
    expect(error.message).toContain("agent");
  });
});
