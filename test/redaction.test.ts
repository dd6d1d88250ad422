import { describe, expect, test } from "vitest";
import { createClient } from "../src/index.js";
import { canaryKey, leaksOf } from "./support/canary.js";
import { connect, failureOf, operationCalls, transports } from "./support/clients.js";
import { type Reply, useRecordingServer } from "./support/recordingServer.js";

const server = useRecordingServer();

const keys: readonly (readonly [what: string, key: string])[] = [
  ["of the suite", canaryKey],
  ["of letters", "sk-4f9a8b7c6d"],
  // JSON writes these two with backslashes, so that they do not look the same in the body's text.
  ["with a quote and a backslash", 'sk-"4f9a\\8b7c'],
  ["that replace would read as a pattern", "sk-$&-$1-.*"],
];

const echoes: readonly (readonly [what: string, echo: (key: string) => Reply])[] = [
  ["as the message", (key) => ({ json: { code: "UNAUTHENTICATED", message: `Wrong key ${key}.` } })],
  [
    "in a field",
    (key) => ({ json: { code: "UNAUTHENTICATED", request: { authorization: `Bearer ${key}` } } }),
  ],
  ["as a field's name", (key) => ({ json: { code: "UNAUTHENTICATED", keys: { [key]: "unknown" } } })],
  ["in plain text", (key) => ({ text: `Wrong key ${key}.`, headers: { "content-type": "text/plain" } })],
  ["in a page's title", (key) => ({ text: `<html><title>Wrong key ${key}</title></html>` })],
  ["as a JSON string", (key) => ({ json: `Wrong key ${key}.` })],
  ["in a list of details", (key) => ({ json: { detail: [{ msg: `Wrong key ${key}.` }] } })],
  [
    "far into a long body",
    (key) => ({ json: { details: `${"d".repeat(4080)}${key}`, more: "d".repeat(4096) } }),
  ],
  ["as the request id", (key) => ({ json: {}, headers: { "x-request-id": key } })],
];

describe.each(transports)("over $name", ({ options }) => {
  describe.each(keys)("a key %s", (_kind, apiKey) => {
    test.each(echoes)("that the server sends back %s is not in the error", async (_what, echo) => {
      server.reply({ status: 401, ...echo(apiKey) });
      const error = await failureOf(() =>
        connect(server.url, { ...options, apiKey }).deployments.scale("p", 1),
      );
      expect(server.only.headers.authorization).toBe(`Bearer ${apiKey}`);
      expect(error).toMatchObject({ code: "UNAUTHENTICATED", httpStatus: 401 });
      expect(leaksOf(error, apiKey)).toEqual([]);
    });

    test("that is asked for by function is not in the error either", async () => {
      server.reply({ status: 401, json: { message: apiKey } });
      const client = connect(server.url, { ...options, apiKey: async () => apiKey });
      const error = await failureOf(() => client.deployments.scale("p", 1));
      expect(leaksOf(error, apiKey)).toEqual([]);
    });

    test("that the answer to an upload repeats is not in the error of a wrong number of bytes", async () => {
      const json = { bytes: `1 of ${apiKey}`, filename: apiKey, [apiKey]: [apiKey] };
      server.reply({ json, headers: { "x-request-id": apiKey } });
      const client = connect(server.url, { ...options, apiKey });
      const file = new Uint8Array([1]);
      const error = await failureOf(() =>
        client.datasets.upload("reviews", file, { name: "f", verifyBytes: true }),
      );
      expect(error).toMatchObject({ code: "DATA_LOSS", requestId: "[redacted]", httpStatus: 200 });
      expect(leaksOf(error, apiKey)).toEqual([]);
    });

    test("is in no error of the network", async () => {
      server.reply((_request, response) => {
        response.socket?.end(`HTTP/1.1 200 OK\r\nContent-Length: x\r\nAuthorization: ${apiKey}\r\n\r\n`);
        return undefined;
      });
      const error = await failureOf(() =>
        connect(server.url, { ...options, apiKey }).deployments.scale("p", 1),
      );
      expect(error.codeSource).toBe("transport");
      expect(leaksOf(error, apiKey)).toEqual([]);
    });
  });

  test.each(operationCalls)(
    "the client itself shows no key, and $operation works still",
    async ({ call }) => {
      const client = createClient({ ...options, baseUrl: server.url, apiKey: canaryKey, accountId: "acme" });
      expect(leaksOf(client)).toEqual([]);
      await call(client);
      expect(server.only.headers.authorization).toBe(`Bearer ${canaryKey}`);
    },
  );
});
