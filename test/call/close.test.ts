import { Agent } from "node:http";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Client, ClientOptions } from "../../src/index.js";
import { connect as connectAny, failureOf, operationCalls } from "../support/clients.js";
import { TestClock } from "../support/clock.js";
import { respond, useCountingServer } from "../support/countingServer.js";
import { goodText } from "../support/responses.js";

const server = useCountingServer();
const clock = new TestClock();
afterEach(() => clock.remove());

// Clients of the same address and options share their sockets; those of another test had perhaps the same port.
let maxConnections = 1000;
beforeEach(() => {
  maxConnections += 1;
});
const connect = (url: string, options?: ClientOptions) => connectAny(url, { maxConnections, ...options });

const ways: readonly (readonly [how: string, close: (client: Client) => Promise<void>])[] = [
  ["client.close()", (client) => client.close()],
  ["Symbol.asyncDispose", (client) => client[Symbol.asyncDispose]()],
];

const rerank = (client: Client) => client.rerank({ query: "q", documents: ["d"] });

describe.each(ways)("over node:http %s", (_how, close) => {
  test("ends idle sockets: the server sees them close", async () => {
    const client = connect(server.url);
    await Promise.all(Array.from({ length: 4 }, () => rerank(client)));
    expect(server.open.size).toBe(4);
    const closed = server.allClosed();
    await close(client);
    await closed;
    expect(server.open.size).toBe(0);
  });

  test.each(operationCalls)("ends $operation under way, and its socket", async ({ call, operation }) => {
    const client = connect(server.url);
    const arrived = new Promise<void>((resolve) => {
      server.listen((request) => request.resume().on("end", () => resolve()));
    });
    const running = failureOf(() => call(client));
    await arrived;
    const closed = server.allClosed();
    await close(client);
    const error = await running;
    expect(error).toMatchObject({ code: "CANCELLED", executed: "unknown", codeSource: "client", operation });
    expect(error.message).toContain("The client was closed.");
    await closed;
    expect(server.used).toHaveLength(1);
  });

  test("ends calls that wait for a socket: they are never sent", async () => {
    const client = connect(server.url, { maxConnections: 1 });
    const arrived = new Promise<void>((resolve) => {
      server.listen((request) => request.resume().on("end", () => resolve()));
    });
    const calls = Array.from({ length: 5 }, () => failureOf(() => rerank(client)));
    await arrived;
    const closed = server.allClosed();
    await close(client);
    const executed = (await Promise.all(calls)).map((error) => error.executed);
    expect(executed).toEqual(["unknown", "no", "no", "no", "no"]);
    await closed;
    expect(server.used).toHaveLength(1);
  });

  test("ends a call that waits to be repeated, at once", async () => {
    server.listen((_request, response) => {
      response.writeHead(503, { "retry-after": "20", "content-type": "application/json" });
      response.end('{"code":"UNAVAILABLE"}');
    });
    let tell = () => {};
    const attempted = new Promise<void>((resolve) => {
      tell = resolve;
    });
    const client = connect(server.url, { maxRetries: 2, onAttempt: () => tell() });
    const running = failureOf(() => rerank(client));
    await attempted;
    await close(client);
    expect(await running).toMatchObject({ code: "CANCELLED" });
    expect(server.used).toHaveLength(1);
  });

  test.each(operationCalls)("leaves a client that can still be used for $operation", async ({ call }) => {
    const client = connect(server.url);
    await rerank(client);
    await close(client);
    await call(client);
    await call(client);
    expect(server.used).toHaveLength(3);
    expect(server.used[0]).not.toBe(server.used[1]);
    await close(client);
    await server.allClosed();
  });

  test("can be repeated, and needs no call before", async () => {
    const client = connect(server.url);
    await close(client);
    await close(client);
    await rerank(client);
    await close(client);
    await close(client);
    await server.allClosed();
    expect(server.used).toHaveLength(1);
  });

  test("leaves the sockets that another client uses; they end with the last", async () => {
    const [one, other] = [connect(server.url), connect(server.url)];
    await rerank(one);
    await rerank(other);
    await close(one);
    await rerank(other);
    expect(server.used).toEqual([1, 1, 1]);
    const closed = server.allClosed();
    await close(other);
    await closed;
  });

  test("leaves the sockets that others share since its own have all expired", async () => {
    clock.install();
    const [one, other, third] = [connect(server.url), connect(server.url), connect(server.url)];
    await rerank(one);
    const expired = server.allClosed();
    // Once for the socket, once for what held it.
    clock.pass(5_000);
    await expired;
    clock.pass(5_000);
    await rerank(other);
    await close(one);
    await rerank(third);
    expect(server.used).toEqual([1, 2, 2]);
    await close(other);
    await close(third);
  });

  test("leaves the calls of another client alone", async () => {
    const [one, other] = [connect(server.url), connect(server.url)];
    await rerank(one);
    const held = new Promise<() => void>((resolve) => {
      server.listen((request, response) => {
        request.resume().on("end", () => resolve(() => response.end(goodText)));
      });
    });
    const running = rerank(other).withResponse();
    const reply = await held;
    await close(one);
    reply();
    expect((await running).httpStatus).toBe(200);
  });

  test("does not count a client that was closed before, or never called", async () => {
    const clients = Array.from({ length: 3 }, () => connect(server.url));
    const [one, other] = clients as [Client, Client, Client];
    await rerank(one);
    await rerank(other);
    await close(one);
    await close(one);
    await rerank(other);
    expect(server.used).toEqual([1, 1, 1]);
    const closed = server.allClosed();
    await close(other);
    await closed;
  });

  test("leaves an agent of the caller's to its owner", async () => {
    const agent = new Agent({ keepAlive: true });
    try {
      const client = connect(server.url, { agent });
      await rerank(client);
      await close(client);
      await rerank(client);
      expect(server.used).toEqual([1, 1]);
    } finally {
      agent.destroy();
    }
    await server.allClosed();
  });
});

test("over node:http a socket ends with the block of an await using", async () => {
  server.listen(respond);
  {
    await using client = connect(server.url);
    await rerank(client);
    expect(server.open.size).toBe(1);
  }
  await server.allClosed();
});

test("over fetch close ends the client's calls, and leaves the platform its sockets", async () => {
  const client = connect(server.url, { fetch: globalThis.fetch });
  await rerank(client);
  for (const [, close] of ways) {
    await close(client);
    await rerank(client);
  }
  expect(server.used).toHaveLength(3);
  const arrived = new Promise<void>((resolve) => server.listen(() => resolve()));
  const running = failureOf(() => rerank(client));
  await arrived;
  await client.close();
  expect(await running).toMatchObject({ code: "CANCELLED", executed: "unknown" });
});
