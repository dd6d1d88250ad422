import { once } from "node:events";
import { describe, expect, test } from "vitest";
import type { Client } from "../src/index.js";
import { countClientSockets } from "./support/clientSockets.js";
import { connect, failureOf, operationCalls } from "./support/clients.js";
import { useTestClock } from "./support/clock.js";
import { answer, CountingServer } from "./support/countingServer.js";

// A server may close an idle connection just as the next request goes out. What may not be repeated therefore
// never goes out on a connection that was idle for a second.
const staleMs = 1_100;
const clock = useTestClock();
const unrepeatable = operationCalls.filter(({ operation }) => /^(resume|upload)/.test(operation));
const repeatable = operationCalls.filter(({ operation }) => /^(rerank|scale)/.test(operation));

async function withServer(use: (server: CountingServer, client: Client) => Promise<void>): Promise<void> {
  const server = await new CountingServer().start();
  try {
    await use(server, connect(server.url));
  } finally {
    await server.close();
  }
}

const rerank = (client: Client) => client.rerank({ query: "q", documents: ["d"] });

describe("over node:http", () => {
  test.each(unrepeatable)("$operation leaves a socket that was idle for a second, and ends it", ({ call }) =>
    withServer(async (server, client) => {
      await call(client);
      await call(client);
      expect(server.used).toEqual([1, 1]);
      const [first] = server.open;
      clock.pass(staleMs);
      await call(client);
      expect(server.used).toEqual([1, 1, 2]);
      if (first?.destroyed === false) await once(first, "close");
      await call(client);
      expect(server.used).toEqual([1, 1, 2, 2]);
    }),
  );

  test.each(repeatable)("$operation uses a socket again, however long it was idle", ({ call }) =>
    withServer(async (server, client) => {
      await call(client);
      clock.pass(staleMs);
      await call(client);
      expect(server.used).toEqual([1, 1]);
    }),
  );

  test.each(unrepeatable)("$operation uses a socket that another call just used", ({ call }) =>
    withServer(async (server, client) => {
      await rerank(client);
      clock.pass(staleMs);
      await rerank(client);
      await call(client);
      expect(server.used).toEqual([1, 1, 1]);
    }),
  );

  test.each(unrepeatable)("$operation among many stale sockets takes a new one", ({ call }) =>
    withServer(async (server, client) => {
      await Promise.all(Array.from({ length: 5 }, () => rerank(client)));
      expect(server.open.size).toBe(5);
      clock.pass(staleMs);
      await call(client);
      expect(server.used.at(-1)).toBe(6);
      expect(server.connections).toBe(6);
    }),
  );

  test.each(unrepeatable)("$operation among stale sockets stays within maxConnections", ({ call }) =>
    withServer(async (server) => {
      const client = connect(server.url, { maxConnections: 3 });
      // The server may take a new connection before it learns that an old one ended.
      const sockets = countClientSockets();
      await Promise.all(Array.from({ length: 3 }, () => rerank(client)));
      clock.pass(staleMs);
      await Promise.all(Array.from({ length: 9 }, () => call(client)));
      expect(server.used.slice(3).every((connection) => connection > 3)).toBe(true);
      expect(sockets.most).toBe(3);
    }),
  );

  test.each(unrepeatable)(
    "$operation is not failed by a server that ends what is idle for a second",
    ({ call }) =>
      withServer(async (server, client) => {
        // The worst a server can do: it ends the connection just as the next request arrives.
        const lastUse = new WeakMap<object, number>();
        server.listen((request, response) => {
          const { socket } = request;
          if (performance.now() - (lastUse.get(socket) ?? Number.POSITIVE_INFINITY) > 1_000) socket.destroy();
          else answer(request, response);
          response.on("finish", () => lastUse.set(socket, performance.now()));
        });
        await call(client);
        clock.pass(staleMs);
        await call(client);
        clock.pass(staleMs);
        // It does so indeed: this call takes the socket, and one that may be repeated must be.
        const error = await failureOf(() => rerank(client));
        expect(error).toMatchObject({ code: "UNAVAILABLE", executed: "unknown" });
      }),
  );

  test.each(unrepeatable)("$operation takes a new socket after the server ended the idle one", ({ call }) =>
    withServer(async (server, client) => {
      await call(client);
      const ended = server.allClosed();
      for (const socket of server.open) socket.end();
      await ended;
      await call(client);
      expect(server.used).toEqual([1, 2]);
    }),
  );
});
