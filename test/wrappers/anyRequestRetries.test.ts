import { describe, expect, test } from "vitest";
import type { ServiceRequest, StatusError } from "../../src/index.js";
import { useNoBackoff } from "../support/backoff.js";
import { connect, failureOf, transports } from "../support/clients.js";
import { type Reply, type Script, useRecordingServer } from "../support/recordingServer.js";
import { inTurn, reset, unavailable } from "../support/responses.js";

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
});

test("onAttempt hears of it without its query", async () => {
  const seen: object[] = [];
  const client = connect(server.url, { onAttempt: (event) => seen.push(event) });
  await client.request({ ...to("GET"), query: { page: 2 } });
  expect(seen).toMatchObject([
    { operation: "request", method: "GET", path: "/v1/things/a", httpStatus: 200 },
  ]);
});
