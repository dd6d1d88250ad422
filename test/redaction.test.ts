import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import type { StatusError } from "../src/index.js";
import { connect, failureOf, operationCalls, transports } from "./support/clients.js";
import { type Reply, useRecordingServer } from "./support/recordingServer.js";

const server = useRecordingServer();

const keys: readonly (readonly [what: string, key: string])[] = [
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

/** Everything of an error that could reach a log. */
function everythingOf(error: StatusError): string {
  return [
    error.message,
    error.stack,
    error.hint,
    JSON.stringify(error),
    inspect(error, { depth: null, showHidden: true, maxStringLength: null, maxArrayLength: null }),
    inspect(error.body, { depth: null, maxStringLength: null }),
    strings(error).join("\n"),
  ].join("\n");
}

/** Every string within a value, unescaped. */
function strings(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [key, ...strings(inner)]);
}

describe.each(transports)("over $name", ({ options }) => {
  describe.each(keys)("a key %s", (_kind, apiKey) => {
    test.each(echoes)("that the server sends back %s is not in the error", async (_what, echo) => {
      server.reply({ status: 401, ...echo(apiKey) });
      const error = await failureOf(() =>
        connect(server.url, { ...options, apiKey }).deployments.scale("p", 1),
      );
      expect(server.only.headers.authorization).toBe(`Bearer ${apiKey}`);
      expect(error).toMatchObject({ code: "UNAUTHENTICATED", httpStatus: 401 });
      expect(everythingOf(error).includes(apiKey)).toBe(false);
    });

    test("that is asked for by function is not in the error either", async () => {
      server.reply({ status: 401, json: { message: apiKey } });
      const client = connect(server.url, { ...options, apiKey: async () => apiKey });
      const error = await failureOf(() => client.deployments.scale("p", 1));
      expect(everythingOf(error).includes(apiKey)).toBe(false);
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
      expect(everythingOf(error).includes(apiKey)).toBe(false);
    });
  });

  test.each(operationCalls)(
    "the client itself shows no key, and $operation works still",
    async ({ call }) => {
      const client = connect(server.url, { ...options, apiKey: "sk-4f9a8b7c6d" });
      expect(inspect(client, { depth: null, showHidden: true })).not.toContain("sk-4f9a8b7c6d");
      expect(JSON.stringify(client)).not.toContain("sk-4f9a8b7c6d");
      await call(client);
      expect(server.only.headers.authorization).toBe("Bearer sk-4f9a8b7c6d");
    },
  );
});
