import { once } from "node:events";
import { Agent, type RequestListener } from "node:http";
import { describe, expect, test } from "vitest";
import type { ClientOptions } from "../../src/index.js";
import { countClientSockets } from "../support/clientSockets.js";
import { connect, operationCalls, thrownBy } from "../support/clients.js";
import { useTestClock } from "../support/clock.js";
import { respond, useCountingServer } from "../support/countingServer.js";
import { ending } from "../support/servers.js";
import { turns, until } from "../support/turns.js";

const server = useCountingServer();

describe("a connection that is used again", () => {
  // A server may close an idle connection just as the next request goes out. What may not be repeated therefore always
  // takes a new connection, however short the last one was idle.

  const rerank = { query: "q", documents: ["d"] };
  const notIdempotent = operationCalls.filter(({ safe }) => !safe);
  const idempotent = operationCalls.filter(({ safe }) => safe);

  describe("over node:http", () => {
    test.each(notIdempotent)(
      "$operation takes a new connection, unless it is idempotent",
      async ({ call }) => {
        const client = connect(server.url);
        for (const idempotent of [undefined, undefined, true, true]) await call(client, { idempotent });
        expect(server.used).toEqual([1, 2, 2, 2]);
      },
    );

    test.each(idempotent)(
      "$operation uses a connection again, unless it is not idempotent",
      async ({ call }) => {
        const client = connect(server.url);
        for (const idempotent of [true, true, false, false]) await call(client, { idempotent });
        expect(server.used).toEqual([1, 1, 2, 3]);
      },
    );

    test.each(notIdempotent)("the connection of $operation serves what may be repeated", async ({ call }) => {
      const client = connect(server.url);
      for (let i = 0; i < 3; i++) {
        await call(client);
        await client.rerank(rerank);
      }
      expect(server.used).toEqual([1, 1, 2, 2, 3, 3]);
    });

    test.each(notIdempotent)("$operation replaces the connection that was idle longest", async ({ call }) => {
      const client = connect(server.url);
      await Promise.all(Array.from({ length: 5 }, () => client.rerank(rerank)));
      for (let i = 0; i < 20; i++) await call(client);
      expect(server.connections).toBe(25);
      await until(() => server.open.size === 5);
      await Promise.all(Array.from({ length: 5 }, () => client.rerank(rerank)));
      expect(server.connections).toBe(25);
    });

    test.each(notIdempotent)("$operation stays within maxConnections", async ({ call }) => {
      const client = connect(server.url, { maxConnections: 3 });
      const sockets = countClientSockets();
      await Promise.all(Array.from({ length: 3 }, () => client.rerank(rerank)));
      await Promise.all(Array.from({ length: 9 }, () => call(client)));
      expect(server.used.slice(3).every((connection) => connection > 3)).toBe(true);
      expect(sockets.most).toBe(3);
    });
  });
});

describe("a connection that waits", () => {
  const clock = useTestClock();
  const rerank = { query: "q", documents: ["d"] };

  /** Milliseconds until the client ends its one socket, after one call; at most ten seconds are waited for. */
  async function idleTime(options: ClientOptions): Promise<number> {
    const client = connect(server.url, options);
    await client.rerank(rerank);
    const respondedAt = clock.now;
    const [socket] = server.open;
    while (socket && server.open.has(socket) && clock.now < respondedAt + 10_000) {
      clock.pass(10);
      await turns(2);
    }
    return clock.now - respondedAt;
  }

  /** Says this of its connections. */
  const saying =
    (keepAlive: string | string[]): RequestListener =>
    (request, response) => {
      response.setHeader("connection", "keep-alive").setHeader("keep-alive", keepAlive);
      respond(request, response);
    };

  describe("over node:http an idle socket", () => {
    test("ends after four to five seconds", async () => {
      const ms = await idleTime({});
      expect(ms).toBeGreaterThanOrEqual(4_000);
      expect(ms).toBeLessThan(5_100);
    });

    test("ends after keepAliveMs", async () => {
      const ms = await idleTime({ keepAliveMs: 400 });
      expect(ms).toBeGreaterThanOrEqual(400);
      expect(ms).toBeLessThan(550);
    });

    test("is used again until then", async () => {
      const client = connect(server.url);
      for (let i = 0; i < 4; i++) {
        await client.rerank(rerank);
        clock.pass(3_900);
      }
      expect(server.used).toEqual([1, 1, 1, 1]);
    });

    test("is not used again after that, even before it is ended", async () => {
      const client = connect(server.url);
      await client.rerank(rerank);
      clock.now += 4_001;
      await client.rerank(rerank);
      await client.rerank(rerank);
      expect(server.used).toEqual([1, 2, 2]);
    });

    test("with keepAliveMs 0 is not kept at all", async () => {
      const client = connect(server.url, { keepAliveMs: 0 });
      for (let i = 0; i < 3; i++) await client.rerank(rerank);
      expect(server.used).toEqual([1, 2, 3]);
    });

    test.each([
      ["timeout=3"],
      ["max=100, timeout=3"],
      ["max=100,TIMEOUT=3"],
      ['Max=100;\tTimeout = "3"'],
      [["max=100", "timeout=3"]],
    ])("is not used again in the last second that the server announced for it with %j", async (said) => {
      server.listen(saying(said));
      const client = connect(server.url);
      await client.rerank(rerank);
      clock.pass(1_900);
      await client.rerank(rerank);
      clock.pass(2_100);
      await client.rerank(rerank);
      expect(server.used).toEqual([1, 1, 2]);
    });

    test.each(["max=100", "timeout=soon", "timeout", "timeout=-1", "idle-timeout=3", "max=timeout=3"])(
      "is used again whatever the server says with %j",
      async (said) => {
        server.listen(saying(said));
        const client = connect(server.url);
        await client.rerank(rerank);
        clock.pass(3_900);
        await client.rerank(rerank);
        expect(server.used).toEqual([1, 1]);
      },
    );

    test("of an agent of the caller's is kept as its owner wants it", async () => {
      const agent = ending(new Agent({ keepAlive: true }));
      const client = connect(server.url, { agent, keepAliveMs: 100 });
      await client.rerank(rerank);
      clock.pass(60_000);
      await client.rerank(rerank);
      expect(server.used).toEqual([1, 1]);
    });

    test("is one for six hundred forgotten clients, and ends like any other", async () => {
      for (let i = 0; i < 600; i++) await connect(server.url).rerank(rerank);
      expect(server.used).toHaveLength(600);
      expect(server.connections).toBe(1);
      const closed = server.allClosed();
      clock.pass(5_000);
      await closed;
      // Such a client is still of use.
      await connect(server.url).rerank(rerank);
      expect(server.connections).toBe(2);
    });

    test("that the server ended is not used again", async () => {
      const client = connect(server.url);
      await client.rerank(rerank);
      const [first] = server.open;
      first?.end();
      if (first) await once(first, "close");
      await client.rerank(rerank);
      expect(server.used).toEqual([1, 2]);
    });
  });

  test.each([[-1], [1.5], ["5000"], [Number.NaN], [null]])("keepAliveMs %j is refused", (keepAliveMs) => {
    const error = thrownBy(() => connect("http://127.0.0.1:1", { keepAliveMs } as ClientOptions));
    expect(error.message).toContain("keepAliveMs");
    expect(error.executed).toBe("no");
  });
});
