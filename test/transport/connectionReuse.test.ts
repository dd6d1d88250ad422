import { describe, expect, test } from "vitest";
import { countClientSockets } from "../support/clientSockets.js";
import { connect, operationCalls } from "../support/clients.js";
import { useCountingServer } from "../support/countingServer.js";
import { until } from "../support/turns.js";

// A server may close an idle connection just as the next request goes out. What may not be repeated therefore always
// takes a new connection, however short the last one was idle.
const server = useCountingServer();
const rerank = { query: "q", documents: ["d"] };
const unrepeatable = operationCalls.filter(({ operation }) => /^(resume|upload)/.test(operation));
const repeatable = operationCalls.filter(({ operation }) => /^(rerank|scale)/.test(operation));

describe("over node:http", () => {
  test.each(unrepeatable)("$operation always takes a new connection", async ({ call }) => {
    const client = connect(server.url);
    for (let i = 0; i < 4; i++) await call(client);
    expect(server.used).toEqual([1, 2, 3, 4]);
  });

  test.each(unrepeatable)("$operation with repeatable: true uses a connection again", async ({ call }) => {
    const client = connect(server.url);
    for (let i = 0; i < 4; i++) await call(client, { repeatable: true });
    expect(server.used).toEqual([1, 1, 1, 1]);
  });

  test.each(repeatable)("$operation uses a connection again", async ({ call }) => {
    const client = connect(server.url);
    for (let i = 0; i < 4; i++) await call(client);
    expect(server.used).toEqual([1, 1, 1, 1]);
  });

  test.each(repeatable)("$operation with repeatable: false takes a new connection", async ({ call }) => {
    const client = connect(server.url);
    for (let i = 0; i < 4; i++) await call(client, { repeatable: false });
    expect(server.used).toEqual([1, 2, 3, 4]);
  });

  test.each(unrepeatable)("the connection of $operation serves what may be repeated", async ({ call }) => {
    const client = connect(server.url);
    for (let i = 0; i < 3; i++) {
      await call(client);
      await client.rerank(rerank);
    }
    expect(server.used).toEqual([1, 1, 2, 2, 3, 3]);
  });

  test.each(unrepeatable)("$operation replaces the connection that was idle longest", async ({ call }) => {
    const client = connect(server.url);
    await Promise.all(Array.from({ length: 5 }, () => client.rerank(rerank)));
    for (let i = 0; i < 20; i++) await call(client);
    expect(server.connections).toBe(25);
    await until(() => server.open.size === 5);
    await Promise.all(Array.from({ length: 5 }, () => client.rerank(rerank)));
    expect(server.connections).toBe(25);
  });

  test.each(unrepeatable)("$operation stays within maxConnections", async ({ call }) => {
    const client = connect(server.url, { maxConnections: 3 });
    const sockets = countClientSockets();
    await Promise.all(Array.from({ length: 3 }, () => client.rerank(rerank)));
    await Promise.all(Array.from({ length: 9 }, () => call(client)));
    expect(server.used.slice(3).every((connection) => connection > 3)).toBe(true);
    expect(sockets.most).toBe(3);
  });

  test("calls at the same time have connections of their own, and use them again", async () => {
    const client = connect(server.url);
    const five = Array.from({ length: 5 }, () => () => client.rerank(rerank));
    await Promise.all(five.map((call) => call()));
    expect(server.connections).toBe(5);
    await Promise.all(five.map((call) => call()));
    expect(server.connections).toBe(5);
  });
});
