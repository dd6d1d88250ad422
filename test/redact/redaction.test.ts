import { describe, expect, test } from "vitest";
import { createClient } from "../../src/index.js";
import { canaryKey, leaksOf } from "../support/canary.js";
import { connect, failureOf, operationCalls, transports } from "../support/clients.js";
import { type Reply, useRecordingServer } from "../support/recordingServer.js";
import { withHint } from "../support/withHint.js";

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
  ["as a list's item", (key) => ({ json: { code: "UNAUTHENTICATED", keys: [[key], { unknown: key }] } })],
  ["as a field's name", (key) => ({ json: { errors: { [key]: "unknown", [`no ${key}`]: { [key]: 1 } } } })],
  ["in plain text", (key) => ({ text: `Wrong key ${key}.`, headers: { "content-type": "text/plain" } })],
  ["in a page's title", (key) => ({ text: `<html><title>Wrong key ${key}</title></html>` })],
  ["as a JSON string", (key) => ({ json: `Wrong key ${key}.` })],
  ["in a list of details", (key) => ({ json: { detail: [{ msg: `Wrong key ${key}.` }] } })],
  [
    "far into a long body",
    (key) => ({ json: { details: `${"d".repeat(4080)}${key}`, more: "d".repeat(4096) } }),
  ],
  ["as the request id", (key) => ({ json: {}, headers: { "x-request-id": key } })],
  ["in a URL", (key) => ({ json: { message: `No /?key=${encodeURIComponent(key)}&page=1.` } })],
  ["as the request id of a URL", (key) => ({ json: {}, headers: { "request-id": encodeURIComponent(key) } })],
  ["in base64", (key) => ({ json: { message: `Basic ${btoa(`me:${key}`)}`, more: btoa(`bearer ${key}`) } })],
  ["in HTML", (key) => ({ text: `<html><title>${htmlOf(key)}</title><p>${htmlOf(key)}</p></html>` })],
  ["in HTML within JSON", (key) => ({ json: { message: `<b>${htmlOf(key)}</b>` } })],
  ["in JSON within JSON", (key) => ({ json: { message: JSON.stringify({ authorization: key }) } })],
  ["in JSON with \\/", (key) => ({ text: long({ key }).replaceAll("/", "\\/") })],
  ["in JSON with \\u escapes", (key) => ({ text: long({ key }).replace(/[&<>=+$-]/g, unicodeOf) })],
];

const htmlOf = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&#34;").replaceAll("$", "&dollar;");

const unicodeOf = (char: string): string => `\\u00${char.charCodeAt(0).toString(16).toUpperCase()}`;

// Too long to be kept as it was parsed: its text is.
const long = (value: object): string => JSON.stringify({ ...value, more: "d".repeat(4096) });

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
      const json = { bytes: `1 of ${apiKey}`, filename: apiKey, id: apiKey, purpose: [apiKey] };
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

  test("a key that is a field's name is taken out of it, and the field stays", async () => {
    const apiKey = "sk-4f9a8b7c6d";
    server.reply({ status: 401, json: { code: "UNAUTHENTICATED", [apiKey]: { [apiKey]: apiKey } } });
    const error = await failureOf(() =>
      connect(server.url, { ...options, apiKey }).deployments.scale("p", 1),
    );
    expect(error.body).toEqual({ code: "UNAUTHENTICATED", "[redacted]": { "[redacted]": "[redacted]" } });
  });

  test("a short key is taken out where it is a whole value, and changes no word and no field's name", async () => {
    const apiKey = "bel";
    const json = {
      label: "bel",
      bel: ["label", "bel", "a bel"],
      message: "The label is not Bearer bel, but /?bel=bel&a=label.",
    };
    server.reply({ status: 401, json, headers: { "x-request-id": "bel" } });
    const error = await failureOf(() =>
      connect(server.url, { ...options, apiKey }).deployments.scale("p", 1),
    );
    const message = "The label is not Bearer [redacted], but /?bel=[redacted]&a=label.";
    expect(error.body).toEqual({ label: "[redacted]", bel: ["label", "[redacted]", "a bel"], message });
    expect(error.message).toBe(withHint(`[UNAUTHENTICATED] ${message}`, error));
    expect(error.requestId).toBe("[redacted]");
  });

  test("a short key changes no field's name in a body that is kept as text", async () => {
    const text = `{"code":"code","message" : "No code of code.","more":"${"d".repeat(4096)}"}`;
    server.reply({ status: 404, text });
    const error = await failureOf(() =>
      connect(server.url, { ...options, apiKey: "code" }).deployments.scale("p", 1),
    );
    expect(error.body).toBe(text.replace(':"code"', ':"[redacted]"').slice(0, 4096));
    expect(error.message).toBe(withHint("[NOT_FOUND] No code of code.", error));
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
