import { Agent } from "node:http";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Client, ClientOptions } from "../../src/index.js";
import { connect as connectAny, failureOf, operationCalls } from "../support/clients.js";
import { TestClock } from "../support/clock.js";
import { respond, useCountingServer } from "../support/countingServer.js";
import { ending } from "../support/servers.js";
import { soon, until } from "../support/turns.js";

const server = useCountingServer();
const clock = new TestClock();
afterEach(() => clock.remove());

// Clients of the same address and options share their sockets; those of another test had perhaps the same port.
let maxConnections = 1000;
beforeEach(() => {
  maxConnections += 1;
});
const connect = (url: string, options?: ClientOptions) => connectAny(url, { maxConnections, ...options });

/** Lets requests wait; resolves once one has come. */
function held(): Promise<void> {
  const arrived = new Promise<void>((resolve) => {
    server.listen((request) => request.resume().on("end", () => resolve()));
  });
  return soon(arrived, "a request arrives");
}

const rerank = (client: Client) => client.rerank({ query: "q", documents: ["d"] });

describe("over node:http close()", () => {
  test("ends idle sockets: the server sees them close", async () => {
    const client = connect(server.url);
    await Promise.all(Array.from({ length: 4 }, () => rerank(client)));
    expect(server.open.size).toBe(4);
    const closed = server.allClosed();
    await client.close();
    await closed;
    expect(server.open.size).toBe(0);
  });

  test.each(operationCalls)("ends $operation under way, and its socket", async ({ call, operation }) => {
    const client = connect(server.url);
    const arrived = held();
    const running = failureOf(() => call(client));
    await arrived;
    const closed = server.allClosed();
    await client.close();
    const error = await running;
    expect(error).toMatchObject({ code: "CANCELLED", executed: "unknown", codeSource: "client", operation });
    expect(error.message).toContain("The client was closed.");
    await closed;
    expect(server.used).toHaveLength(1);
  });

  test("ends calls that wait for a socket: they are never sent", async () => {
    const client = connect(server.url, { maxConnections: 1 });
    const arrived = held();
    const calls = Array.from({ length: 5 }, () => failureOf(() => rerank(client)));
    await arrived;
    const closed = server.allClosed();
    await client.close();
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
    const heard: unknown[] = [];
    const client = connect(server.url, { maxRetries: 2, onAttempt: (event) => heard.push(event) });
    const running = failureOf(() => rerank(client));
    await until(() => heard.length === 1);
    await client.close();
    expect(await running).toMatchObject({ code: "CANCELLED" });
    expect(server.used).toHaveLength(1);
  });

  test.each(operationCalls)("leaves a client that can still be used for $operation", async ({ call }) => {
    const client = connect(server.url);
    await rerank(client);
    await client.close();
    await call(client);
    await call(client);
    expect(server.used).toHaveLength(3);
    expect(server.used[0]).not.toBe(server.used[1]);
    await client.close();
    await server.allClosed();
  });

  test("leaves the sockets that another client uses; they end with the last", async () => {
    const [one, other] = [connect(server.url), connect(server.url)];
    await rerank(one);
    await rerank(other);
    await one.close();
    await rerank(other);
    expect(server.used).toEqual([1, 1, 1]);
    const closed = server.allClosed();
    await other.close();
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
    await one.close();
    await rerank(third);
    expect(server.used).toEqual([1, 2, 2]);
    await other.close();
    await third.close();
  });

  test("leaves an agent of the caller's to its owner", async () => {
    const client = connect(server.url, { agent: ending(new Agent({ keepAlive: true })) });
    await rerank(client);
    await client.close();
    await rerank(client);
    expect(server.used).toEqual([1, 1]);
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
  await client.close();
  await rerank(client);
  expect(server.used).toHaveLength(2);
  const arrived = held();
  const running = failureOf(() => rerank(client));
  await arrived;
  await client.close();
  expect(await running).toMatchObject({ code: "CANCELLED", executed: "unknown" });
});
