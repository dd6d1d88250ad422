import { Agent, createServer } from "node:http";
import type { Socket } from "node:net";
import { describe, expect, test } from "vitest";
import type { Client } from "../../src/index.js";
import { useNoBackoff } from "../support/backoff.js";
import { connect, failureOf, operationCalls } from "../support/clients.js";
import { answer, useCountingServer } from "../support/countingServer.js";
import { until } from "../support/turns.js";

// What a failover does to pooled connections: those there are now lead nowhere; new ones are as good as ever.
const server = useCountingServer();
useNoBackoff();

const rerank = (client: Client) => client.rerank({ query: "q", documents: ["d"] });
const atOnce = (count: number, client: Client) => Array.from({ length: count }, () => rerank(client));

/** Breaks what the next requests on the connections of now are sent on; the number of requests that met it. */
function failOver(): { readonly lost: number } {
  const stale: ReadonlySet<Socket> = new Set(server.open);
  const seen = { lost: 0 };
  server.listen((request, response) => {
    if (stale.has(request.socket)) {
      seen.lost += 1;
      request.socket.resetAndDestroy();
    } else answer(request, response);
  });
  return seen;
}

describe("over node:http after a failover", () => {
  test("thirty calls on thirty stale connections succeed with two attempts each", async () => {
    const client = connect(server.url, { maxRetries: 2 });
    await Promise.all(atOnce(30, client));
    const seen = failOver();
    const calls = await Promise.all(atOnce(30, client).map((call) => call.withResponse()));
    expect(seen.lost).toBe(30);
    expect(calls.map(({ attempts }) => attempts.length)).toEqual(Array(30).fill(2));
    expect(new Set(server.used.slice(-30)).size).toBe(30);
  });

  test("one call that finds its connection stale ends those that were idle as long", async () => {
    const client = connect(server.url, { maxRetries: 2 });
    await Promise.all(atOnce(30, client));
    const seen = failOver();
    for (let i = 0; i < 10; i++) await rerank(client);
    expect(seen.lost).toBe(1);
    expect(server.connections).toBe(31);
    await until(() => server.open.size === 1);
  });

  test("a connection that was used since is kept", async () => {
    const client = connect(server.url, { maxRetries: 2 });
    const [early, late] = [rerank(client), rerank(client)];
    await Promise.all([early, late]);
    // Two connections; the next calls use the one that was idle for less time, and a third.
    await rerank(client);
    const used = server.used.at(-1);
    const stale = [...server.open][(used ?? 0) === 1 ? 1 : 0];
    server.listen((request, response) => {
      if (request.socket === stale) request.socket.resetAndDestroy();
      else answer(request, response);
    });
    await Promise.all(atOnce(2, client));
    await rerank(client);
    expect(server.connections).toBe(3);
  });

  test("a call that may not be repeated is not lost: it takes a new connection", async () => {
    for (const { call, safe } of operationCalls) {
      if (safe) continue;
      const client = connect(server.url, { maxRetries: 0 });
      server.listen(answer);
      await Promise.all(atOnce(5, client));
      const seen = failOver();
      for (let i = 0; i < 5; i++) await call(client);
      expect(seen.lost).toBe(0);
    }
  });

  test("the sockets of a caller's agent to another host are left alone", async () => {
    const other = createServer({ keepAliveTimeout: 0 }, answer).listen(0, "127.0.0.1");
    const agent = new Agent({ keepAlive: true });
    try {
      await until(() => other.listening);
      const address = other.address() as { port: number };
      await rerank(connect(`http://127.0.0.1:${address.port}`, { agent }));
      const client = connect(server.url, { agent, maxRetries: 2 });
      await Promise.all(atOnce(3, client));
      failOver();
      await rerank(client);
      expect(Object.values(agent.freeSockets).map((sockets) => sockets?.length)).toEqual([1, 1]);
    } finally {
      agent.destroy();
      other.close();
    }
  });

  test("the first repeat of a call costs no budget, the others do", async () => {
    const client = connect(server.url, { maxRetries: 2 });
    for (let round = 0; round < 5; round++) {
      server.listen(answer);
      await Promise.all(atOnce(30, client));
      failOver();
      await Promise.all(atOnce(30, client));
    }
    // Ten repeats are what a client has: none of them was spent.
    server.listen((request) => request.socket.destroy());
    const before = server.used.length;
    // Thirty, less those whose call could take the connection that another had just given back.
    const pooled = server.open.size;
    const failed = await Promise.all(Array.from({ length: 30 }, () => failureOf(() => rerank(client))));
    const attempts = failed.reduce((sum, error) => sum + error.attempts.length, 0);
    // The repeat of a call on a pooled connection is free.
    expect(attempts).toBe(30 + pooled + 10);
    expect(server.used.length - before).toBe(attempts);
  });

  test("such a repeat counts against maxRetries", async () => {
    const client = connect(server.url, { maxRetries: 0 });
    await rerank(client);
    failOver();
    const error = await failureOf(() => rerank(client));
    expect(error).toMatchObject({ code: "UNAVAILABLE", executed: "unknown" });
    expect(error.attempts).toHaveLength(1);
  });

  test("in a total outage n calls send at most n, ten, and the connections pooled before", async () => {
    const client = connect(server.url, { maxRetries: 2 });
    await Promise.all(atOnce(30, client));
    server.listen((request) => request.socket.resetAndDestroy());
    const before = server.used.length;
    await Promise.all(Array.from({ length: 200 }, () => failureOf(() => rerank(client))));
    expect(server.used.length - before).toBeLessThanOrEqual(200 + 10 + 30);
  });
});
