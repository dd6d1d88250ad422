import { describe, expect, test } from "vitest";
import { createClient } from "../../src/index.js";
import { canaryKey } from "../support/canary.js";
import { connect, failureOf, operationCalls, thrownBy, transports } from "../support/clients.js";
import { useRecordingServer } from "../support/recordingServer.js";

const server = useRecordingServer();

const forbidden = [
  "authorization",
  "Authorization",
  "host",
  "content-type",
  "Content-Length",
  "transfer-encoding",
  "connection",
];

const illFormed: readonly (readonly [what: string, headers: unknown])[] = [
  ["a name with a space", { "x y": "1" }],
  ["a name with a colon", { "x:": "1" }],
  ["an empty name", { "": "1" }],
  ["a name with a line break", { "x\r\ny": "1" }],
  ["a value with a line break", { "x-a": "1\r\nx-b: 2" }],
  ["a value with a NUL", { "x-a": "1\0" }],
  ["a value outside ASCII", { "x-a": "é" }],
  ["a value that is a number", { "x-a": 1 }],
  ["a value that is a list", { "x-a": ["1"] }],
  ["a list", [["x-a", "1"]]],
  ["a string", "x-a: 1"],
];

describe.each(transports)("over $name", ({ options }) => {
  test.each(operationCalls)("$operation sends headers of the client and of the call", async ({ call }) => {
    const client = connect(server.url, { ...options, headers: { "X-Team": "search", "x-stage": "test" } });
    await call(client, { headers: { "x-stage": "call", "X-Trace": "t 1" } });
    expect(server.only.headers).toMatchObject({
      "x-team": "search",
      "x-stage": "call",
      "x-trace": "t 1",
      authorization: `Bearer ${canaryKey}`,
    });
  });

  test("a header that is undefined is not sent", async () => {
    await connect(server.url, options).deployments.scale("prod", 1, { headers: { "x-a": undefined } });
    expect(server.only.headers).not.toHaveProperty("x-a");
  });

  test("inherited headers are not sent", async () => {
    const headers = Object.create({ "x-inherited": "1" });
    await connect(server.url, options).deployments.scale("prod", 1, { headers });
    expect(server.only.headers).not.toHaveProperty("x-inherited");
  });

  test.each(forbidden)("a call may not set %s", async (name) => {
    const client = connect(server.url, options);
    const error = await failureOf(() => client.deployments.scale("prod", 1, { headers: { [name]: "1" } }));
    expect(error).toMatchObject({ code: "INVALID_ARGUMENT", executed: "no" });
    expect(error.message).toContain(name.toLowerCase());
    expect(server.requests).toEqual([]);
  });

  test.each(illFormed)("a call's headers with %s are refused", async (_what, headers) => {
    const client = connect(server.url, options);
    const call = () => client.deployments.scale("prod", 1, { headers: headers as Record<string, string> });
    expect(await failureOf(call)).toMatchObject({ code: "INVALID_ARGUMENT", executed: "no" });
    expect(server.requests).toEqual([]);
  });
});

test("over node:http a header named __proto__ is sent like any other", async () => {
  const headers = Object.fromEntries([["__proto__", "1"]]);
  await connect(server.url, { headers }).deployments.scale("prod", 1);
  expect(server.only.rawHeaders).toContain("__proto__");
});

test.each(forbidden)("a client may not set %s", (name) => {
  const error = thrownBy(() => connect("https://api.example.com", { headers: { [name]: "secret-part" } }));
  expect(error).toMatchObject({ code: "INVALID_ARGUMENT", executed: "no" });
  expect(error.message).not.toContain("secret-part");
});

test.each(illFormed)("a client's headers with %s are refused", (_what, headers) => {
  const error = thrownBy(() =>
    connect("https://api.example.com", { headers: headers as Record<string, string> }),
  );
  expect(error).toMatchObject({ code: "INVALID_ARGUMENT", executed: "no" });
});

test.each(["two\r\nlines", "é", 7, null])("the userAgent %j is refused", (userAgent) => {
  const error = thrownBy(() =>
    createClient({ baseUrl: "https://api.example.com", apiKey: canaryKey, userAgent: userAgent as string }),
  );
  expect(error).toMatchObject({ code: "INVALID_ARGUMENT", executed: "no" });
});
