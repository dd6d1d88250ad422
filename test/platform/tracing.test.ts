import { AsyncLocalStorage } from "node:async_hooks";
import { tracingChannel } from "node:diagnostics_channel";
import { inspect } from "node:util";
import { afterEach, expect, test } from "vitest";
import type { Client } from "../../src/index.js";
import type { AttemptTrace, CallTrace } from "../../src/options/types.js";
import { canaryKey } from "../support/canary.js";
import { connect, failureOf, operationCalls } from "../support/clients.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { goodJson, inTurn, ranked, unavailable } from "../support/responses.js";

const server = useRecordingServer();
const busy = { ...unavailable, headers: { "retry-after-ms": "1" } };
const channel = tracingChannel<unknown, CallTrace>("tunerank.call");
const events = ["start", "end", "asyncStart", "asyncEnd", "error"] as const;
let heard: [event: string, message: CallTrace][] = [];
/** What each message said when its call began. */
let began: object[] = [];

const listeners = Object.fromEntries(
  events.map((event) => [
    event,
    (message: CallTrace) => {
      heard.push([event, message]);
      if (event === "start") began.push({ ...message });
    },
  ]),
) as unknown as Parameters<typeof channel.subscribe>[0];
const listen = () => channel.subscribe(listeners);

afterEach(() => {
  channel.unsubscribe(listeners);
  heard = [];
  began = [];
});

/** Runs a call whose store within the channel is what `storeOf` gives. */
async function within<T>(
  store: AsyncLocalStorage<T>,
  storeOf: (message: CallTrace) => T,
  call: () => Promise<unknown>,
): Promise<void> {
  channel.start.bindStore(store, storeOf);
  await call().finally(() => channel.start.unbindStore(store));
}

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
  server.reply(busy);
  const error = await failureOf(() => connect(server.url, { maxRetries: 1 }).deployments.scale("prod", 0));
  expect(heard.map(([event]) => event)).toEqual(["start", "end", "error", "asyncStart", "asyncEnd"]);
  expect(heard.at(-1)?.[1].error).toBe(error);
  expect(error.attempts).toHaveLength(2);
  expect(heard.at(-1)?.[1].attempts).toBe(error.attempts);
  expect(server.requests).toHaveLength(2);
});

test("who listens hears where a call goes before its first request", async () => {
  listen();
  await connect(`${server.url}/base`).deployments.scale("a b", 0);
  const path = "/base/v1/accounts/acme/deployments/a%20b:scale";
  const { host } = new URL(server.url);
  expect(began).toEqual([{ operation: "scaleDeployment", method: "PATCH", path, host }]);
});

test("a store bound to the channel reaches everything that happens within the call", async () => {
  const store = new AsyncLocalStorage<string>();
  const seen: unknown[] = [];
  await within(
    store,
    ({ operation }) => `span of ${operation}`,
    async () => {
      const client = connect(server.url, { onAttempt: () => seen.push(store.getStore()) });
      await client.deployments.scale("prod", 0);
      expect(store.getStore()).toBeUndefined();
    },
  );
  expect(seen).toEqual(["span of scaleDeployment"]);
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
  listen();
  const usage = { prompt_tokens: 5, total_tokens: 7 };
  server.reply({ json: { model: "m-2", data: [], usage } });
  await connect(server.url, { rerankModel: "m-1" }).rerank({ query: "q", documents: ["a", "b"] });
  expect(began).toMatchObject([{ documents: 2, model: "m-1" }]);
  expect(heard.at(-1)?.[1]).toMatchObject({ documents: 2, model: "m-2", usage });
});

test("batches of items are calls within their call", async () => {
  const store = new AsyncLocalStorage<CallTrace>();
  const parents = new Map<CallTrace, CallTrace | undefined>();
  const note = (message: CallTrace) => {
    parents.set(message, store.getStore());
    return message;
  };
  server.reply((request) => ranked(request, { usage: { prompt_tokens: 1, total_tokens: 2 } }));
  const items = { text: String, batchSize: 2 };
  await within(store, note, () => connect(server.url).rerank.items("q", ["a", "b", "c"], items));
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
  const stores: unknown[] = [];
  const store = new AsyncLocalStorage<string>();
  const none = (): void => {};
  const start = () => void stores.push(store.getStore());
  const asyncEnd = (attempt: AttemptTrace) => void ended.push(attempt);
  const listeners = { start, end: none, asyncStart: none, asyncEnd, error: none };
  attempts.subscribe(listeners);
  server.reply(inTurn(busy, { json: {} }));
  const client = connect(server.url, { maxRetries: 1 });
  await within(
    store,
    () => "the call",
    () => client.deployments.scale("prod", 0),
  );
  attempts.unsubscribe(listeners);
  expect(stores).toEqual(["the call", "the call"]);
  expect(ended).toMatchObject([
    { operation: "scaleDeployment", number: 1, httpStatus: 503, code: "UNAVAILABLE" },
    { operation: "scaleDeployment", number: 2, httpStatus: 200 },
  ]);
});
