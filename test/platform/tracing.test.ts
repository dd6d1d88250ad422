import { AsyncLocalStorage } from "node:async_hooks";
import { subscribe, tracingChannel, unsubscribe } from "node:diagnostics_channel";
import { inspect } from "node:util";
import { afterEach, expect, test } from "vitest";
import type { Client } from "../../src/index.js";
import type { AttemptTrace, CallTrace } from "../../src/options/types.js";
import { canaryKey } from "../support/canary.js";
import { connect, failureOf, operationCalls } from "../support/clients.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { goodJson, inTurn } from "../support/responses.js";

const server = useRecordingServer();
const channel = tracingChannel<unknown, CallTrace>("tunerank.call");
const events = ["start", "end", "asyncStart", "asyncEnd", "error"] as const;
let heard: [event: string, message: CallTrace][] = [];

const listeners = events.map((event) => {
  return [
    `tracing:tunerank.call:${event}`,
    (message: unknown) => void heard.push([event, message as CallTrace]),
  ] as const;
});

function listen(): void {
  for (const [name, listener] of listeners) subscribe(name, listener);
}

afterEach(() => {
  for (const [name, listener] of listeners) unsubscribe(name, listener);
  heard = [];
});

test.each(operationCalls)("$operation is told of from beginning to end", async (operationCall) => {
  const { operation, method, path, call } = operationCall;
  listen();
  server.reply({ json: { ...goodJson, secret: "the response" }, headers: { "x-request-id": "r-1" } });
  await call(connect(server.url));
  expect(heard.map(([event]) => event)).toEqual(["start", "end", "asyncStart", "asyncEnd"]);
  const [message] = new Set(heard.map(([, message]) => message));
  const host = new URL(server.url).host;
  expect(message).toMatchObject({ operation, method, path, host });
  expect(message?.attempts).toMatchObject([{ number: 1, httpStatus: 200, requestId: "r-1" }]);
  const told = inspect(message, { depth: Number.POSITIVE_INFINITY, showHidden: true });
  expect(told).not.toContain("the response");
  expect(told).not.toContain(canaryKey);
});

test("a call that fails is told of with its error, each of its attempts included", async () => {
  listen();
  server.reply({ status: 503, headers: { "retry-after-ms": "1" }, json: { code: "UNAVAILABLE" } });
  const error = await failureOf(() => connect(server.url, { maxRetries: 1 }).deployments.scale("prod", 0));
  expect(heard.map(([event]) => event)).toEqual(["start", "end", "error", "asyncStart", "asyncEnd"]);
  expect(heard.at(-1)?.[1].error).toBe(error);
  expect(error.attempts).toHaveLength(2);
  expect(heard.at(-1)?.[1].attempts).toBe(error.attempts);
  expect(server.requests).toHaveLength(2);
});

test("who listens hears where a call goes before its first request", async () => {
  const seen: object[] = [];
  const start = (message: unknown): void => void seen.push({ ...(message as CallTrace) });
  subscribe("tracing:tunerank.call:start", start);
  try {
    await connect(`${server.url}/base`).deployments.scale("a b", 0);
  } finally {
    unsubscribe("tracing:tunerank.call:start", start);
  }
  const path = "/base/v1/accounts/acme/deployments/a%20b:scale";
  expect(seen).toEqual([
    { operation: "scaleDeployment", method: "PATCH", path, host: new URL(server.url).host },
  ]);
});

test("a store bound to the channel reaches everything that happens within the call", async () => {
  const store = new AsyncLocalStorage<string>();
  channel.start.bindStore(store, ({ operation }) => `span of ${operation}`);
  try {
    const seen: unknown[] = [];
    await connect(server.url, { onAttempt: () => seen.push(store.getStore()) }).deployments.scale("prod", 0);
    expect(seen).toEqual(["span of scaleDeployment"]);
    expect(store.getStore()).toBeUndefined();
  } finally {
    channel.start.unbindStore(store);
  }
});

test.each([
  ["a wrong argument", (client: Client) => client.deployments.scale("a/b", 0), "scaleDeployment"],
  [
    "a request that cannot be sent",
    (client: Client) => client.request({ method: "GET", path: "x" }),
    "request",
  ],
  [
    "items without a text",
    (client: Client) => client.rerank.items("q", ["a"], {} as never),
    "rerankDocuments",
  ],
] as const)("%s is told of as a call that failed, once", async (_what, call, operation) => {
  listen();
  const error = await failureOf(() => call(connect(server.url)));
  expect(heard.map(([event]) => event)).toEqual(["start", "end", "error", "asyncStart", "asyncEnd"]);
  expect(heard[0]?.[1]).toMatchObject({ operation, attempts: [] });
  expect(heard[2]?.[1].error).toBe(error);
  expect(server.requests).toEqual([]);
});

test("a rerank is told of with its model, the number of its documents and the tokens it used", async () => {
  const began: object[] = [];
  const start = (message: unknown): void => void began.push({ ...(message as CallTrace) });
  subscribe("tracing:tunerank.call:start", start);
  listen();
  const usage = { prompt_tokens: 5, total_tokens: 7 };
  server.reply({ json: { model: "m-2", data: [], usage } });
  try {
    await connect(server.url, { rerankModel: "m-1" }).rerank({ query: "q", documents: ["a", "b"] });
  } finally {
    unsubscribe("tracing:tunerank.call:start", start);
  }
  expect(began).toMatchObject([{ documents: 2, model: "m-1" }]);
  expect(heard.at(-1)?.[1]).toMatchObject({ documents: 2, model: "m-2", usage });
});

test("batches of items are calls within their call", async () => {
  const store = new AsyncLocalStorage<CallTrace>();
  const parents = new Map<CallTrace, CallTrace | undefined>();
  channel.start.bindStore(store, (message) => {
    parents.set(message, store.getStore());
    return message;
  });
  const usage = { prompt_tokens: 1, total_tokens: 2 };
  server.reply(({ body }) => {
    const { documents } = JSON.parse(`${body}`) as { documents: string[] };
    return {
      json: { model: "m", usage, data: documents.map((_, index) => ({ index, relevance_score: 1 })) },
    };
  });
  try {
    await connect(server.url).rerank.items("q", ["a", "b", "c"], { text: (item) => item, batchSize: 2 });
  } finally {
    channel.start.unbindStore(store);
  }
  const [[whole, none] = [], ...batches] = [...parents];
  expect(none).toBeUndefined();
  expect(whole).toMatchObject({ documents: 3, batches: 2, usage: { prompt_tokens: 2, total_tokens: 4 } });
  expect(whole?.attempts).toHaveLength(2);
  expect(batches.map(([batch, parent]) => [batch.documents, parent === whole])).toEqual([
    [2, true],
    [1, true],
  ]);
});

test("every attempt is told of as well, each within its call", async () => {
  const attempts = tracingChannel<unknown, AttemptTrace>("tunerank.attempt");
  const ended: AttemptTrace[] = [];
  const within: unknown[] = [];
  const store = new AsyncLocalStorage<string>();
  channel.start.bindStore(store, () => "the call");
  const listeners = {
    start: () => void within.push(store.getStore()),
    end() {},
    asyncStart() {},
    error() {},
    asyncEnd: (attempt: AttemptTrace) => void ended.push(attempt),
  };
  attempts.subscribe(listeners);
  server.reply(
    inTurn({ status: 503, headers: { "retry-after-ms": "1" }, json: { code: "UNAVAILABLE" } }, { json: {} }),
  );
  try {
    await connect(server.url, { maxRetries: 1 }).deployments.scale("prod", 0);
  } finally {
    attempts.unsubscribe(listeners);
    channel.start.unbindStore(store);
  }
  expect(within).toEqual(["the call", "the call"]);
  expect(ended).toMatchObject([
    { operation: "scaleDeployment", number: 1, httpStatus: 503, code: "UNAVAILABLE" },
    { operation: "scaleDeployment", number: 2, httpStatus: 200 },
  ]);
});
