import { AsyncLocalStorage } from "node:async_hooks";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { ServerResponse } from "node:http";
import { expect, test } from "vitest";
import { countClientSockets } from "../support/clientSockets.js";
import { connect, failureOf, operationCalls } from "../support/clients.js";
import { useTestClock } from "../support/clock.js";
import { respond, useCountingServer } from "../support/countingServer.js";
import { goodText } from "../support/responses.js";
import { isPending } from "../support/turns.js";

const server = useCountingServer();
const clock = useTestClock();

/** Lets every request wait; `arrived` resolves once so many do. */
function holdResponses(count: number): { held: ServerResponse[]; arrived: Promise<void> } {
  const held: ServerResponse[] = [];
  const arrived = new Promise<void>((resolve) => {
    server.listen((request, response) => {
      request.resume().on("end", () => {
        if (held.push(response) === count) resolve();
      });
    });
  });
  return { held, arrived };
}

test.each([1, 3, 16])(
  "over node:http at most %i sockets are open at once, and all calls get a response",
  async (maxConnections) => {
    const sockets = countClientSockets();
    const client = connect(server.url, { maxConnections });
    const calls = Array.from({ length: 25 }, () => operationCalls.map(({ call }) => call(client))).flat();
    await Promise.all(calls);
    expect(server.used).toHaveLength(25 * operationCalls.length);
    expect(sockets.most).toBe(maxConnections);
  },
);

test("over node:http 128 sockets are the most of a client that says nothing", async () => {
  const { held, arrived } = holdResponses(128);
  const client = connect(server.url);
  const calls = Array.from({ length: 150 }, () => client.rerank({ query: "q", documents: ["d"] }));
  await arrived;
  server.listen(respond);
  for (const response of held) response.end(goodText);
  await Promise.all(calls);
  expect(server.used).toHaveLength(150);
  expect(server.most).toBe(128);
});

test("over node:http clients created apart share one limit and their sockets", async () => {
  const clients = Array.from({ length: 5 }, () => connect(server.url, { maxConnections: 2 }));
  await Promise.all(
    clients.flatMap((one) => Array.from({ length: 3 }, () => one.deployments.scale("prod", 1))),
  );
  expect(server.used).toHaveLength(15);
  expect(server.connections).toBe(2);
});

test("over node:http clients with other options of the connection share nothing", async () => {
  const options = [{}, { maxConnections: 2 }, { keepAliveMs: 2_000 }];
  for (const one of options) await connect(server.url, one).deployments.scale("prod", 1);
  expect(server.used).toEqual([1, 2, 3]);
});

test("over node:http a call that waits keeps the asynchronous context in which it was made", async () => {
  const { held, arrived } = holdResponses(1);
  const client = connect(server.url, { maxConnections: 1 });
  const first = client.deployments.scale("first", 1);
  await arrived;
  const contexts: unknown[] = [];
  const storage = new AsyncLocalStorage<string>();
  const note = () => contexts.push(storage.getStore());
  // What OpenTelemetry reads when a request is made.
  subscribe("http.client.request.start", note);
  try {
    const second = storage.run("second", () => client.deployments.scale("second", 1));
    server.listen(respond);
    held[0]?.end(goodText);
    await Promise.all([first, second]);
    expect(contexts).toEqual(["second"]);
  } finally {
    unsubscribe("http.client.request.start", note);
  }
});

// As many callers as requests under way; each sends another once it has its response. All responses come at once.
const each = (order: string, count: number) =>
  Array.from({ length: count }, (_, caller) => `${order} ${caller}`);
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
])(
  "over node:http with $callers calls at once a client $does, each in its own context",
  async ({ callers, order }) => {
    const { held, arrived } = holdResponses(callers);
    const client = connect(server.url);
    const storage = new AsyncLocalStorage<number>();
    const events: string[] = [];
    const note = () => events.push(`sent ${storage.getStore()}`);
    const rank = () => client.rerank({ query: "q", documents: ["d"] });
    const calls = Array.from({ length: callers }, (_, caller) =>
      storage.run(caller, async () => {
        await rank();
        events.push(`read ${caller}`);
        await rank();
      }),
    );
    await arrived;
    server.listen(respond);
    subscribe("http.client.request.start", note);
    try {
      for (const response of held) response.end(goodText);
      await Promise.all(calls);
      expect(events).toEqual(order);
      expect(server.used).toHaveLength(2 * callers);
    } finally {
      unsubscribe("http.client.request.start", note);
    }
  },
);

test("over node:http what is aborted before requests leave together is never sent", async () => {
  const { arrived, held } = holdResponses(5);
  const client = connect(server.url);
  const rank = (signal?: AbortSignal) => client.rerank({ query: "q", documents: ["d"] }, { signal });
  const first = Array.from({ length: 5 }, () => rank());
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

test.each(operationCalls)(
  "over node:http $operation that waits for a socket until its deadline was never sent",
  async ({ call, operation }) => {
    const { held, arrived } = holdResponses(1);
    const client = connect(server.url, { maxConnections: 1 });
    const first = client.deployments.scale("first", 1);
    await arrived;
    const waiting = failureOf(() => call(client, { timeoutMs: 30 }));
    await clock.waitsFor(30);
    expect(await isPending(waiting)).toBe(true);
    clock.pass(30);
    expect(await waiting).toMatchObject({ code: "DEADLINE_EXCEEDED", executed: "no", operation });
    held[0]?.end(goodText);
    await first;
    // Nor is it sent when the socket is free again.
    server.listen(respond);
    await client.deployments.scale("last", 1);
    expect(server.used).toEqual([1, 1]);
  },
);

test("over node:http sockets that fail give their place to the calls that wait", async () => {
  let responded = 0;
  server.listen((request, response) => {
    if (++responded % 2) request.socket.destroy();
    else respond(request, response);
  });
  const client = connect(server.url, { maxConnections: 2 });
  const calls = Array.from({ length: 10 }, () => client.deployments.scale("prod", 1));
  const results = await Promise.allSettled(calls);
  expect(results.map(({ status }) => status).sort()).toEqual([
    ...Array(5).fill("fulfilled"),
    ...Array(5).fill("rejected"),
  ]);
  expect(server.most).toBe(2);
});
