import { Agent } from "node:http";
import { describe, expect, test } from "vitest";
import { canaryKey, leaksOf } from "../support/canary.js";
import { connect, failureOf, operationCalls } from "../support/clients.js";
import { useRecordingServer } from "../support/recordingServer.js";

const server = useRecordingServer();

const spellings: readonly (readonly [how: string, text: string])[] = [
  ["as it is", canaryKey],
  ["as JSON", JSON.stringify({ authorization: `Bearer ${canaryKey}` }).replaceAll("/", "\\/")],
  ["in a URL", `https://proxy.example.com/?key=${encodeURIComponent(canaryKey)}`],
  ["in base64", `proxy-authorization: Basic ${btoa(`me:${canaryKey}`)}`],
  ["as HTML", canaryKey.replaceAll("&", "&amp;").replaceAll("<", "&lt;")],
];

/** An error of the network that says it in its message, its stack, its fields and its causes. */
function failing(text: string): Error {
  const inner = Object.assign(new Error(`inner ${text}`), { address: text, code: text });
  const cause = new Error(`outer ${text}`, { cause: inner });
  return Object.assign(cause, { code: "ENOTFOUND", syscall: "getaddrinfo", hostname: text, request: text });
}

describe.each(spellings)("a key written %s", (_how, text) => {
  test.each(operationCalls)("in an agent's error is not in the error of $operation", async ({ call }) => {
    const agent = new Agent();
    Object.assign(agent, {
      createConnection: (_options: object, callback: (error: Error) => void) => void callback(failing(text)),
    });
    const error = await failureOf(() => call(connect(server.url, { agent })));
    expect(error).toMatchObject({ executed: "no", codeSource: "transport" });
    expect(error.message).toContain("outer");
    expect(error.cause).toMatchObject({
      code: "ENOTFOUND",
      cause: { message: expect.stringMatching("inner") },
    });
    expect(leaksOf(error)).toEqual([]);
  });

  test.each(operationCalls)(
    "in a fetch function's error is not in the error of $operation",
    async ({ call }) => {
      const fetch = () => Promise.reject(new TypeError("fetch failed", { cause: failing(text) }));
      const error = await failureOf(() => call(connect("https://api.example.com", { fetch })));
      expect(error.message).toContain("outer");
      expect(error.cause).toMatchObject({
        cause: { code: "ENOTFOUND", hostname: expect.stringMatching(/redacted/) },
      });
      expect(error.cause).not.toHaveProperty("cause.request");
      expect(leaksOf(error)).toEqual([]);
    },
  );

  test("in an error that an agent throws at once is not in the error of the call", async () => {
    const agent = new Agent();
    Object.assign(agent, {
      createConnection() {
        throw failing(text);
      },
    });
    const error = await failureOf(() => connect(server.url, { agent }).deployments.scale("p", 1));
    expect(leaksOf(error)).toEqual([]);
    expect(server.requests).toEqual([]);
  });
});

test("the errors of an AggregateError are in the cause, without the key", async () => {
  const each = ["::1", "127.0.0.1"].map((address) =>
    Object.assign(new Error(`connect to ${address} with ${canaryKey}`), { code: "ECONNREFUSED", address }),
  );
  const all = Object.assign(new AggregateError(each), { code: "ECONNREFUSED" });
  const fetch = () => Promise.reject(new TypeError("fetch failed", { cause: all }));
  const error = await failureOf(() =>
    connect("https://api.example.com", { fetch }).deployments.scale("p", 1),
  );
  expect(error.cause).toMatchObject({
    cause: {
      name: "AggregateError",
      errors: [
        { message: "connect to ::1 with [redacted]", address: "::1", code: "ECONNREFUSED" },
        { message: "connect to 127.0.0.1 with [redacted]", address: "127.0.0.1" },
      ],
    },
  });
  expect(leaksOf(error)).toEqual([]);
});

test("every key that a call used is redacted, not the last alone", async () => {
  const keys = ["first-key-of-the-call", "second-key-of-the-call"];
  const left = [...keys];
  const said = keys.join(" and ");
  server.reply(({ headers }) => {
    if (headers.authorization?.includes("first")) return { status: 401, json: { message: keys[0] } };
    return { status: 403, json: { message: said }, headers: { "x-echo": said } };
  });
  const events: unknown[] = [];
  const client = connect(server.url, {
    ...{ apiKey: () => left.shift() ?? "", maxRetries: 2, onAttempt: (event) => void events.push(event) },
  });
  const error = await failureOf(() => client.deployments.scale("p", 1));
  expect(error).toMatchObject({
    code: "PERMISSION_DENIED",
    attempts: [{ httpStatus: 401 }, { httpStatus: 403 }],
  });
  expect(error.text).toBe("[redacted] and [redacted].");
  expect(error.headers).toMatchObject({ "x-echo": "[redacted] and [redacted]" });
  for (const key of keys) expect(leaksOf(error, key)).toEqual([]);
});
