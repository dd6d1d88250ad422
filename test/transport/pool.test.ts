import { AsyncLocalStorage } from "node:async_hooks";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { readFileSync } from "node:fs";
import { Agent, type RequestListener, type ServerResponse } from "node:http";
import { describe, expect, test } from "vitest";
import type { Client, ClientOptions } from "../../src/index.js";
import { countClientSockets } from "../support/clientSockets.js";
import { connect, failureOf, operationCalls } from "../support/clients.js";
import { useTestClock } from "../support/clock.js";
import { respond, useCountingServer } from "../support/countingServer.js";
import { goodText } from "../support/responses.js";
import { ending } from "../support/servers.js";
import { turns, until } from "../support/turns.js";

// The connections of node:http.
const server = useCountingServer();
const clock = useTestClock();
const rerank = (client: Client) => client.rerank({ query: "q", documents: ["d"] });
const many = <T>(count: number, make: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => make(at));

/** Lets every request wait; `arrived` resolves once so many do. */
function holdResponses(count: number): { held: ServerResponse[]; arrived: Promise<void> } {
  const held: ServerResponse[] = [];
  server.listen((request, response) => {
    request.resume().on("end", () => held.push(response));
  });
  return { held, arrived: until(() => held.length === count) };
}

/** Notes something as each request starts, as OpenTelemetry does, while `run` runs. */
async function noting(note: () => void, run: () => Promise<unknown>): Promise<void> {
  subscribe("http.client.request.start", note);
  await run().finally(() => unsubscribe("http.client.request.start", note));
}

describe("the limit of connections", () => {
  test.each([1, 3, 16])(
    "is %i: no more are open at once, and all calls get a response",
    async (maxConnections) => {
      const sockets = countClientSockets();
      const client = connect(server.url, { maxConnections });
      await Promise.all(many(25, () => operationCalls.map(({ call }) => call(client))).flat());
      expect(server.used).toHaveLength(25 * operationCalls.length);
      expect(sockets.most).toBe(maxConnections);
    },
  );

  test("is 128 for a client that says nothing", async () => {
    const { held, arrived } = holdResponses(128);
    const client = connect(server.url);
    const calls = many(150, () => rerank(client));
    await arrived;
    server.listen(respond);
    for (const response of held) response.end(goodText);
    await Promise.all(calls);
    expect([server.used.length, server.most]).toEqual([150, 128]);
  });

  test("is one for clients created apart, which share their connections", async () => {
    const clients = many(5, () => connect(server.url, { maxConnections: 2 }));
    await Promise.all(clients.flatMap((client) => many(3, () => rerank(client))));
    expect([server.used.length, server.connections]).toEqual([15, 2]);
  });

  test("is not shared by clients with other options of the connection", async () => {
    for (const options of [{}, { maxConnections: 2 }, { keepAliveMs: 2_000 }])
      await rerank(connect(server.url, options));
    expect(server.used).toEqual([1, 2, 3]);
  });

  test("gives the places of connections that fail to the calls that wait", async () => {
    let responded = 0;
    server.listen((request, response) => {
      if (++responded % 2) request.socket.destroy();
      else respond(request, response);
    });
    const client = connect(server.url, { maxConnections: 2 });
    const results = await Promise.allSettled(many(10, () => client.deployments.scale("prod", 1)));
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(5);
    expect(server.most).toBe(2);
  });

  test("leaves a call that waits the asynchronous context in which it was made", async () => {
    const { held, arrived } = holdResponses(1);
    const client = connect(server.url, { maxConnections: 1 });
    const first = rerank(client);
    await arrived;
    const contexts: unknown[] = [];
    const storage = new AsyncLocalStorage<string>();
    await noting(
      () => contexts.push(storage.getStore()),
      async () => {
        const second = storage.run("second", () => rerank(client));
        server.listen(respond);
        held[0]?.end(goodText);
        await Promise.all([first, second]);
      },
    );
    expect(contexts).toEqual(["second"]);
  });
});

// As many callers as requests under way; each sends another once it has its response. All responses come at once.
const each = (order: string, count: number) => many(count, (caller) => `${order} ${caller}`);
test.each([
  {
    callers: 4,
    does: "sends each request at once",
    order: each("read", 4).flatMap((read, caller) => [read, `sent ${caller}`]),
  },
  {
    callers: 5,
    does: "sends requests together, once the responses are read",
    order: [...each("read", 5), ...each("sent", 5)],
  },
])("with $callers calls at once a client $does, each in its own context", async ({ callers, order }) => {
  const { held, arrived } = holdResponses(callers);
  const client = connect(server.url);
  const storage = new AsyncLocalStorage<number>();
  const events: string[] = [];
  const calls = many(callers, (caller) =>
    storage.run(caller, async () => {
      await rerank(client);
      events.push(`read ${caller}`);
      await rerank(client);
    }),
  );
  await arrived;
  server.listen(respond);
  await noting(
    () => events.push(`sent ${storage.getStore()}`),
    async () => {
      for (const response of held) response.end(goodText);
      await Promise.all(calls);
    },
  );
  expect(events).toEqual(order);
  expect(server.used).toHaveLength(2 * callers);
});

test("what is aborted before requests leave together is never sent", async () => {
  const { arrived, held } = holdResponses(5);
  const client = connect(server.url);
  const rank = (signal?: AbortSignal) => client.rerank({ query: "q", documents: ["d"] }, { signal });
  const first = many(5, () => rank());
  await arrived;
  const controller = new AbortController();
  const sixth = failureOf(() => rank(controller.signal));
  // The call has asked for its place by then.
  queueMicrotask(() => queueMicrotask(() => controller.abort()));
  expect(await sixth).toMatchObject({ code: "CANCELLED", executed: "no" });
  for (const response of held) response.end(goodText);
  await Promise.all(first);
  server.listen(respond);
  await rank();
  expect(server.used).toHaveLength(6);
});

describe("a connection that is used again", () => {
  // A server may close an idle connection just as the next request goes out. What may not be repeated therefore always
  // takes a new connection, however short the last one was idle.

  const notIdempotent = operationCalls.filter(({ safe }) => !safe);
  const idempotent = operationCalls.filter(({ safe }) => safe);

  test.each(notIdempotent)("$operation takes a new connection, unless it is idempotent", async ({ call }) => {
    const client = connect(server.url);
    for (const idempotent of [undefined, undefined, true, true]) await call(client, { idempotent });
    expect(server.used).toEqual([1, 2, 2, 2]);
  });

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
      await rerank(client);
    }
    expect(server.used).toEqual([1, 1, 2, 2, 3, 3]);
  });

  test.each(notIdempotent)("$operation replaces the connection that was idle longest", async ({ call }) => {
    const client = connect(server.url);
    await Promise.all(many(5, () => rerank(client)));
    for (let i = 0; i < 20; i++) await call(client);
    expect(server.connections).toBe(25);
    await until(() => server.open.size === 5);
    await Promise.all(many(5, () => rerank(client)));
    expect(server.connections).toBe(25);
  });

  test.each(notIdempotent)("$operation stays within maxConnections", async ({ call }) => {
    const client = connect(server.url, { maxConnections: 3 });
    const sockets = countClientSockets();
    await Promise.all(many(3, () => rerank(client)));
    await Promise.all(many(9, () => call(client)));
    expect(server.used.slice(3).every((connection) => connection > 3)).toBe(true);
    expect(sockets.most).toBe(3);
  });
});

describe("a connection that is idle", () => {
  /** Milliseconds until the client ends its one socket, after one call; at most ten seconds are waited for. */
  async function idleTime(options: ClientOptions): Promise<number> {
    const client = connect(server.url, options);
    await rerank(client);
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

  test.each([
    [{}, 4_000, 5_100],
    [{ keepAliveMs: 400 }, 400, 550],
  ])("ends with the options %j after %i to %i ms", async (options, least, most) => {
    const ms = await idleTime(options);
    expect(ms).toBeGreaterThanOrEqual(least);
    expect(ms).toBeLessThan(most);
  });

  /** The connections of calls with so much time between them. */
  async function usedAfter(pauses: readonly number[], options?: ClientOptions): Promise<number[]> {
    const client = connect(server.url, options);
    await rerank(client);
    for (const ms of pauses) {
      clock.pass(ms);
      await rerank(client);
    }
    return server.used;
  }

  test("is used again until then, and with keepAliveMs 0 not at all", async () => {
    expect(await usedAfter([3_900, 3_900, 3_900])).toEqual([1, 1, 1, 1]);
    expect(await usedAfter([0, 0], { keepAliveMs: 0 })).toEqual([1, 1, 1, 1, 2, 3, 4]);
  });

  test("is not used again after that, even before it is ended", async () => {
    const client = connect(server.url);
    for (const ms of [0, 4_001, 0]) {
      clock.now += ms;
      await rerank(client);
    }
    expect(server.used).toEqual([1, 2, 2]);
  });

  test.each([
    ["timeout=3"],
    ["max=100, timeout=3"],
    ["max=100,TIMEOUT=3"],
    ['Max=100;\tTimeout = "3"'],
    [["max=100", "timeout=3"]],
  ])("is not used again in the last second that the server announced for it with %j", async (said) => {
    server.listen(saying(said));
    expect(await usedAfter([1_900, 2_100])).toEqual([1, 1, 2]);
  });

  test.each(["max=100", "timeout=soon", "timeout", "timeout=-1", "idle-timeout=3", "max=timeout=3"])(
    "is used again whatever the server says with %j",
    async (said) => {
      server.listen(saying(said));
      expect(await usedAfter([3_900])).toEqual([1, 1]);
    },
  );

  test("of an agent of the caller's is kept as its owner wants it", async () => {
    const agent = ending(new Agent({ keepAlive: true }));
    expect(await usedAfter([60_000], { agent, keepAliveMs: 100 })).toEqual([1, 1]);
  });
});

test.skipIf(process.platform !== "linux")(
  "TCP probes an idle connection after 30 s, not after 1 s",
  async () => {
    await rerank(connect(server.url));
    const port = Number(new URL(server.url).port);
    // Of each connection: its addresses, state and queues; then its timer (2: keep-alive) and when that is due, in hundredths.
    const remote = `:${port.toString(16).toUpperCase().padStart(4, "0")} 01 `;
    const own = readFileSync("/proc/net/tcp", "utf8")
      .split("\n")
      .find((line) => line.includes(remote));
    const [, timer, due = ""] = / (\d\d):([0-9A-F]{8}) /.exec(own ?? "") ?? [];
    expect(timer).toBe("02");
    expect(Number.parseInt(due, 16)).toBeGreaterThan(2_000);
  },
);
