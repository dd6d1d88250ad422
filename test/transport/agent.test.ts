import { get, Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { afterEach, describe, expect, test } from "vitest";
import { canaryKey } from "../support/canary.js";
import { certificate } from "../support/certificate.js";
import { connect, failureOf, operationCalls, thrownBy } from "../support/clients.js";
import { TestClock } from "../support/clock.js";
import { respond, useCountingServer } from "../support/countingServer.js";
import { useSecureServer } from "../support/secureServer.js";
import { ending } from "../support/servers.js";
import { isPending, until } from "../support/turns.js";

const plain = useCountingServer();
const secure = useSecureServer();
const clock = new TestClock();
afterEach(() => clock.remove());
const rerank = { query: "q", documents: ["d"] };

describe("an agent with a private authority", () => {
  test.each(operationCalls)("reaches its server with $operation", async ({ call, method, path }) => {
    const agent = ending(new HttpsAgent({ ca: certificate }));
    await call(connect(secure.url, { agent }));
    expect(secure.requests).toMatchObject([{ method, url: path, authorization: `Bearer ${canaryKey}` }]);
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
    const agent = ending(new HttpsAgent({ ca: certificate, keepAlive: true }));
    const client = connect(secure.url, { agent });
    for (const { call } of operationCalls) await call(client);
    await client.withOptions({ timeoutMs: 5_000 }).rerank(rerank);
    expect(secure.requests).toHaveLength(operationCalls.length + 1);
    // The resume's and the upload's.
    expect(secure.connections).toBe(operationCalls.filter(({ safe }) => !safe).length);
  });
});

describe("an agent of node:http", () => {
  test("has its own limit instead of maxConnections", async () => {
    const agent = ending(new HttpAgent({ keepAlive: true, maxSockets: 2 }));
    const client = connect(plain.url, { agent, maxConnections: 50 });
    await Promise.all(Array.from({ length: 20 }, () => client.rerank(rerank)));
    expect(plain.used).toHaveLength(20);
    expect(plain.most).toBe(2);
  });

  test("that keeps no sockets takes a new one for each call", async () => {
    const client = connect(plain.url, { agent: new HttpAgent() });
    for (const { call } of operationCalls) await call(client);
    expect(plain.used).toEqual(operationCalls.map((_, index) => index + 1));
    await plain.allClosed();
  });

  test("may be shared by clients, and so are its sockets", async () => {
    const agent = ending(new HttpAgent({ keepAlive: true }));
    await connect(plain.url, { agent }).rerank(rerank);
    await connect(plain.url, { agent }).rerank(rerank);
    expect(plain.used).toEqual([1, 1]);
  });
});

test("a call that waits for a socket of its agent, which others use, is not connecting", async () => {
  let release = (): void => {};
  plain.listen((_request, response) => {
    release = () => response.end("{}");
  });
  const agent = ending(new HttpAgent({ keepAlive: true, maxSockets: 1 }));
  get(plain.url, { agent }, (response) => response.resume());
  await until(() => plain.used.length === 1);
  plain.listen(respond);
  clock.install();
  const call = connect(plain.url, { agent, connectTimeoutMs: 1000 }).rerank(rerank);
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
  const url = plain.url.replace("http:", protocol);
  const error = await failureOf(() => connect(url, { agent }).rerank(rerank));
  expect(error).toMatchObject({ code: "INVALID_ARGUMENT", executed: "no", attempts: [] });
  expect(error.message).toContain("agent");
  expect(plain.connections).toBe(0);
});

describe("createClient refuses an agent", () => {
  test.each([[null], ["http://proxy.example.com:3128"], [1], [true], [HttpAgent]])("that is %s", (agent) => {
    const error = thrownBy(() => connect(plain.url, { agent: agent as unknown as object }));
    expect(error).toMatchObject({ code: "INVALID_ARGUMENT", executed: "no", argument: "agent" });
  });

  test("together with fetch, on which it has no effect", () => {
    const error = thrownBy(() => connect(plain.url, { agent: new HttpAgent(), fetch: globalThis.fetch }));
    expect(error).toMatchObject({ code: "INVALID_ARGUMENT", executed: "no" });
    expect(error.message).toMatch(/agent.*fetch/);
  });

  test("in withOptions: the connections are shared", () => {
    const error = thrownBy(() => connect(plain.url).withOptions({ agent: new HttpAgent() } as object));
    expect(error).toMatchObject({ code: "INVALID_ARGUMENT", executed: "no", argument: "agent" });
  });
});
