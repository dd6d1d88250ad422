import { once } from "node:events";
import { Agent } from "node:http";
import { describe, expect, test } from "vitest";
import type { Client } from "../src/index.js";
import { connect, operationCalls } from "./support/clients.js";
import { answer, useCountingServer } from "./support/countingServer.js";

const server = useCountingServer();

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

  test.each(operationCalls)("lets $operation under way finish, then ends its socket", async ({ call }) => {
    const client = connect(server.url);
    const held = new Promise<() => void>((resolve) => {
      server.listen((request, response) => {
        request.resume().on("end", () => resolve(() => response.end('{"id":"late"}')));
      });
    });
    const running = call(client).withResponse();
    const reply = await held;
    await close(client);
    expect(server.open.size).toBe(1);
    const closed = server.allClosed();
    reply();
    expect((await running).httpStatus).toBe(200);
    await closed;
  });

  test("lets calls that wait for a socket be sent", async () => {
    const client = connect(server.url, { maxConnections: 1 });
    const calls = Array.from({ length: 5 }, () => rerank(client));
    await close(client);
    await Promise.all(calls);
    expect(server.used).toHaveLength(5);
    expect(server.most).toBe(1);
    await server.allClosed();
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

  test("of a client made with withOptions ends what they share", async () => {
    const client = connect(server.url);
    await rerank(client);
    const closed = server.allClosed();
    await close(client.withOptions({ timeoutMs: 5_000 }));
    await closed;
  });

  test("leaves the sockets of other clients alone", async () => {
    const [one, other] = [connect(server.url), connect(server.url)];
    await rerank(one);
    await rerank(other);
    const [first] = server.open;
    await Promise.all([first && once(first, "close"), close(one)]);
    await rerank(other);
    expect(server.used).toEqual([1, 2, 2]);
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
  server.listen(answer);
  {
    await using client = connect(server.url);
    await rerank(client);
    expect(server.open.size).toBe(1);
  }
  await server.allClosed();
});

test("over fetch neither changes anything: its sockets are the platform's", async () => {
  const client = connect(server.url, { fetch: globalThis.fetch });
  await rerank(client);
  for (const [, close] of ways) {
    await close(client);
    await rerank(client);
  }
  expect(server.used).toHaveLength(3);
});
