import { AsyncLocalStorage } from "node:async_hooks";
import { subscribe, tracingChannel, unsubscribe } from "node:diagnostics_channel";
import { inspect } from "node:util";
import { afterEach, expect, test } from "vitest";
import type { CallTrace } from "../src/platform/tracing.js";
import { canaryKey } from "./support/canary.js";
import { connect, failureOf, operationCalls } from "./support/clients.js";
import { useRecordingServer } from "./support/recordingServer.js";

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
  server.reply({ json: { secret: "the answer" }, headers: { "x-request-id": "r-1" } });
  await call(connect(server.url));
  expect(heard.map(([event]) => event)).toEqual(["start", "end", "asyncStart", "asyncEnd"]);
  const [message] = new Set(heard.map(([, message]) => message));
  const host = new URL(server.url).host;
  expect(message).toMatchObject({ operation, method, path, host });
  expect(message?.attempts).toMatchObject([{ number: 1, httpStatus: 200, requestId: "r-1" }]);
  const told = inspect(message, { depth: Number.POSITIVE_INFINITY, showHidden: true });
  expect(told).not.toContain("the answer");
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

test("a call that nobody listens to is made all the same", async () => {
  expect(channel.hasSubscribers).toBe(false);
  await connect(server.url).deployments.scale("prod", 0);
  expect(server.requests).toHaveLength(1);
});
