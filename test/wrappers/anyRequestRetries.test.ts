import { describe, expect, test } from "vitest";
import type { ServiceRequest, StatusError } from "../../src/index.js";
import { useNoBackoff } from "../support/backoff.js";
import { connect, failureOf, transports } from "../support/clients.js";
import { TestClock } from "../support/clock.js";
import { type Reply, type Script, useRecordingServer } from "../support/recordingServer.js";
import { inTurn, reset, silence, unavailable } from "../support/responses.js";

const server = useRecordingServer();
useNoBackoff();

const idempotent = ["GET", "HEAD", "PUT", "DELETE"] as const;
const others = ["POST", "PATCH", "OPTIONS"] as const;
const to = (method: ServiceRequest["method"]): ServiceRequest => ({ method, path: "/v1/things/a" });
const notFound: Reply = { status: 404, json: { code: "NOT_FOUND", message: "No such thing." } };
const gateway: Reply = { status: 502, text: "" };

describe.each(transports)("over $name", ({ options }) => {
  const client = () => connect(server.url, { ...options, maxRetries: 2 });
  const failure = (request: ServiceRequest, own = {}): Promise<StatusError> =>
    failureOf(() => client().request(request, own));

  test.each(idempotent)("%s is repeated when its connection is lost", async (method) => {
    server.reply(inTurn(reset, gateway, { json: {} }));
    await client().request(to(method));
    expect(server.requests.map((request) => request.method)).toEqual([method, method, method]);
  });

  test.each(others)("%s is not, unless it is said to be idempotent", async (method) => {
    server.reply(reset);
    const error = await failure(to(method));
    expect(error).toMatchObject({ code: "UNAVAILABLE", executed: "unknown", notRetried: "not-safe" });
    expect(server.requests).toHaveLength(1);
    server.reply(inTurn(reset, { json: {} }));
    await client().request(to(method), { idempotent: true });
    expect(server.requests).toHaveLength(3);
  });

  test("a POST is repeated when the service itself says UNAVAILABLE", async () => {
    server.reply(inTurn(unavailable, { json: { id: "a" } }));
    expect(await client().request(to("POST"))).toEqual({ id: "a" });
    expect(server.requests).toHaveLength(2);
  });

  test("a GET that is said not to be idempotent is sent once", async () => {
    server.reply(gateway);
    await failure(to("GET"), { idempotent: false });
    expect(server.requests).toHaveLength(1);
  });

  test("a DELETE that was repeated and then got 404 may have run", async () => {
    server.reply(inTurn(reset, notFound));
    const error = await failure(to("DELETE"));
    expect(error).toMatchObject({ code: "NOT_FOUND", httpStatus: 404, executed: "unknown" });
    expect(error.attempts).toHaveLength(2);
    expect(error.hint).toContain("may have deleted it");
  });

  test("a DELETE that got 404 at once has not run", async () => {
    server.reply(notFound);
    expect(await failure(to("DELETE"))).toMatchObject({ code: "NOT_FOUND", executed: "no" });
  });

  const cutShort: Script = (_request, response) => {
    response.writeHead(200, { "content-length": "10" }).write("{");
    setImmediate(() => response.destroy());
    return undefined;
  };

  test("a PUT whose response was lost once has run, whatever a later attempt gets", async () => {
    server.reply(inTurn(cutShort, notFound));
    expect(await failure({ ...to("PUT"), body: {} })).toMatchObject({ code: "NOT_FOUND", executed: "yes" });
  });

  test("JSON that is none is asked for once more by GET, and not by POST", async () => {
    server.reply({ text: "{nope" });
    await failure(to("GET"));
    expect(server.requests).toHaveLength(2);
    await failure(to("POST"));
    expect(server.requests).toHaveLength(3);
  });

  test("maxRetries 0 is one request", async () => {
    server.reply(unavailable);
    await failure(to("GET"), { maxRetries: 0 });
    expect(server.requests).toHaveLength(1);
  });

  test("a repeat sends the same bytes again", async () => {
    server.reply(inTurn(gateway, { json: {} }));
    const body = new Uint8Array([1, 2, 3]);
    await client().request({ ...to("PUT"), body, contentType: "application/octet-stream" });
    expect(server.requests.map((request) => [...request.body])).toEqual([
      [1, 2, 3],
      [1, 2, 3],
    ]);
  });

  test("a deadline and a signal end it", async () => {
    server.reply(silence);
    const clock = new TestClock();
    clock.install();
    const late = failure(to("GET"), { timeoutMs: 20_000, maxRetries: 0 });
    await server.received();
    clock.pass(20_000);
    expect(await late).toMatchObject({
      code: "DEADLINE_EXCEEDED",
      executed: "unknown",
      operation: "request",
    });
    clock.remove();
    const controller = new AbortController();
    const call = failure(to("POST"), { signal: controller.signal });
    await server.received(2);
    controller.abort();
    expect(await call).toMatchObject({ code: "CANCELLED", executed: "unknown" });
  });
});

test("a key function is asked again after a 401", async () => {
  const keys = ["first", "second"];
  server.reply(({ headers }) =>
    headers.authorization === "Bearer second" ? { json: {} } : { status: 401, json: {} },
  );
  await connect(server.url, { maxRetries: 2, apiKey: () => keys.shift() ?? "" }).request(to("POST"));
  expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([
    "Bearer first",
    "Bearer second",
  ]);
});

test("GETs share a socket", async () => {
  server.keepSocketsOpen();
  // No other client has this number, and so these sockets.
  const client = connect(server.url, { maxConnections: 31 });
  await client.request(to("GET"));
  await client.request(to("GET"));
  expect(server.connections).toBe(1);
  await client.close();
});

test("onAttempt hears of it without its query", async () => {
  const seen: object[] = [];
  const client = connect(server.url, { onAttempt: (event) => seen.push(event) });
  await client.request({ ...to("GET"), query: { page: 2 } });
  expect(seen).toMatchObject([
    { operation: "request", method: "GET", path: "/v1/things/a", httpStatus: 200 },
  ]);
});
