import { Agent, type ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { createClient } from "../../src/index.js";
import { canaryKey, leaksOf } from "../support/canary.js";
import { connect, failureOf, operationCalls, transports } from "../support/clients.js";
import { type Reply, type Script, useRecordingServer } from "../support/recordingServer.js";
import { withHint } from "../support/withHint.js";

const server = useRecordingServer();

describe("what is shown of a call", () => {
  const keys: readonly (readonly [what: string, key: string])[] = [
    ["of the suite", canaryKey],
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
    ["as a field's name", (key) => ({ json: { errors: { [key]: "unknown", [`no ${key}`]: { [key]: 1 } } } })],
    ["in plain text", (key) => ({ text: `Wrong key ${key}.`, headers: { "content-type": "text/plain" } })],
    ["in a page's title", (key) => ({ text: `<html><title>Wrong key ${key}</title></html>` })],
    [
      "far into a long body",
      (key) => ({ json: { details: `${"d".repeat(4080)}${key}`, more: "d".repeat(4096) } }),
    ],
    ["as the request id", (key) => ({ json: {}, headers: { "x-request-id": key } })],
    [
      "in base64",
      (key) => ({ json: { message: `Basic ${btoa(`me:${key}`)}`, more: btoa(`bearer ${key}`) } }),
    ],
    ["in HTML", (key) => ({ text: `<html><title>${htmlOf(key)}</title><p>${htmlOf(key)}</p></html>` })],
  ];

  const htmlOf = (text: string): string =>
    text
      .replaceAll("&", "&amp;")
      .replaceAll("<", "&lt;")
      .replaceAll('"', "&#34;")
      .replaceAll("$", "&dollar;");

  describe.each(keys)("a key %s", (_kind, apiKey) => {
    test.each(echoes)("that the server sends back %s is not in the error", async (_what, echo) => {
      server.reply({ status: 401, ...echo(apiKey) });
      const error = await failureOf(() => connect(server.url, { apiKey }).deployments.scale("p", 1));
      expect(server.only.headers.authorization).toBe(`Bearer ${apiKey}`);
      expect(error).toMatchObject({ code: "UNAUTHENTICATED", httpStatus: 401 });
      expect(leaksOf(error, apiKey)).toEqual([]);
    });

    test("that the response to an upload repeats is not in the error of a wrong number of bytes", async () => {
      const json = { bytes: `1 of ${apiKey}`, filename: apiKey, id: apiKey, purpose: [apiKey] };
      server.reply({ json, headers: { "x-request-id": apiKey } });
      const client = connect(server.url, { apiKey });
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
      const error = await failureOf(() => connect(server.url, { apiKey }).deployments.scale("p", 1));
      expect(error.codeSource).toBe("transport");
      expect(leaksOf(error, apiKey)).toEqual([]);
    });
  });

  test("a short key is taken out where it is a whole value, and changes no word and no field's name", async () => {
    const apiKey = "bel";
    const json = {
      label: "bel",
      bel: ["label", "bel", "a bel"],
      message: "The label is not Bearer bel, but /?bel=bel&a=label.",
    };
    server.reply({ status: 401, json, headers: { "x-request-id": "bel" } });
    const error = await failureOf(() => connect(server.url, { apiKey }).deployments.scale("p", 1));
    const message = "The label is not Bearer [redacted], but /?bel=[redacted]&a=label.";
    expect(error.body).toEqual({ label: "[redacted]", bel: ["label", "[redacted]", "a bel"], message });
    expect(error.message).toBe(withHint(`[UNAUTHENTICATED] ${message}`, error));
    expect(error.requestId).toBe("[redacted]");
  });

  test("a short key changes no field's name in a body that is kept as text", async () => {
    const text = `{"code":"code","message" : "No code of code.","more":"${"d".repeat(4096)}"}`;
    server.reply({ status: 404, text });
    const error = await failureOf(() => connect(server.url, { apiKey: "code" }).deployments.scale("p", 1));
    expect(error.body).toBe(text.replace(':"code"', ':"[redacted]"').slice(0, 4096));
    expect(error.message).toBe(withHint("[NOT_FOUND] No code of code.", error));
  });

  test.each(operationCalls)(
    "the client itself shows no key, and $operation works still",
    async ({ call }) => {
      const client = createClient({
        baseUrl: server.url,
        apiKey: canaryKey,
        accountId: "acme",
      });
      expect(leaksOf(client)).toEqual([]);
      await call(client);
      expect(server.only.headers.authorization).toBe(`Bearer ${canaryKey}`);
    },
  );
});

describe("what is shown of a cause", () => {
  /** An error of the network that says it in its message, its stack, its fields and its causes. */
  function failing(text: string): Error {
    const inner = Object.assign(new Error(`inner ${text}`), { address: text, code: text });
    const cause = new Error(`outer ${text}`, { cause: inner });
    return Object.assign(cause, { code: "ENOTFOUND", syscall: "getaddrinfo", hostname: text, request: text });
  }

  const text = `https://proxy.example.com/?key=${encodeURIComponent(canaryKey)} ${canaryKey}`;

  test("a key in an agent's error is not in that of the call", async () => {
    const createConnection = (_: object, opened: (error: Error) => void) => void opened(failing(text));
    const agent = Object.assign(new Agent(), { createConnection });
    const error = await failureOf(() => connect(server.url, { agent }).deployments.scale("p", 1));
    expect(error).toMatchObject({ executed: "no", codeSource: "transport" });
    expect(error.message).toContain("outer");
    const inner = { message: expect.stringMatching("inner") };
    expect(error.cause).toMatchObject({ code: "ENOTFOUND", cause: inner });
    expect(leaksOf(error)).toEqual([]);
  });

  test("a key in a fetch function's error is not in that of the call", async () => {
    const fetch = () => Promise.reject(new TypeError("fetch failed", { cause: failing(text) }));
    const client = connect("https://api.example.com", { fetch });
    const error = await failureOf(() => client.deployments.scale("p", 1));
    expect(error.message).toContain("outer");
    const cause = { code: "ENOTFOUND", hostname: expect.stringMatching(/redacted/) };
    expect(error.cause).toMatchObject({ cause });
    expect(error.cause).not.toHaveProperty("cause.request");
    expect(leaksOf(error)).toEqual([]);
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
});

describe("what is shown of a cut text", () => {
  const key = 'sk-4f9a8/b7c6&d5"e3';
  // The first 8 characters of the key are the least that is recognised.
  const parts = [8, 9, 12, key.length - 1];

  /** Responds with these chunks, each on its own, and then breaks the connection. */
  function broken(headers: Readonly<Record<string, string>>, ...chunks: readonly string[]): Script {
    return (_request, response) => {
      response.writeHead(401, headers);
      void writeAll(response, chunks).then(() => response.destroy());
      return undefined;
    };
  }

  async function writeAll(response: ServerResponse, chunks: readonly string[]): Promise<void> {
    for (const chunk of chunks) await new Promise((resolve) => response.write(chunk, resolve));
  }

  const json = (text: string): string => JSON.stringify(text).slice(1, -1);
  const unicode = (text: string): string =>
    text.replace(/./g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`);

  const spellings: readonly (readonly [how: string, spell: (text: string) => string])[] = [
    ["as it is", (text) => text],
    ["as JSON", json],
  ];

  describe.each(transports)("over $name", ({ options }) => {
    const refused = () =>
      failureOf(() => connect(server.url, { ...options, apiKey: key }).deployments.scale("p", 1));

    describe.each(spellings)("a key %s", (_how, spell) => {
      test.each(parts)(
        "of which %i characters came before the connection broke is taken out",
        async (part) => {
          const text = `{"code":"UNAUTHENTICATED","message":"Wrong key ${spell(key.slice(0, part))}`;
          server.reply(broken({ "content-length": "1000" }, text));
          const error = await refused();
          expect(error).toMatchObject({ code: "UNAUTHENTICATED", httpStatus: 401 });
          expect(error.body).toBe('{"code":"UNAUTHENTICATED","message":"Wrong key [redacted]');
          expect(error.message).not.toContain(spell(key.slice(0, 8)));
        },
      );

      test("that was broken off within an escape is taken out", async () => {
        const spelled = spell(key);
        const least = spell(key.slice(0, 8)).length;
        for (let end = least; end < spelled.length; end++) {
          server.reply(broken({ "transfer-encoding": "chunked" }, `Wrong key ${spelled.slice(0, end)}`));
          expect((await refused()).body, spelled.slice(0, end)).toBe("Wrong key [redacted]");
        }
      });
    });

    test("a key whose first half is not there is taken out", async () => {
      server.reply({ status: 401, text: `${key.slice(-8)} is the wrong key.` });
      expect((await refused()).body).toBe("[redacted] is the wrong key.");
    });

    test("a key is taken out of what came of gzip that is cut off", async () => {
      const text = `{"message":"${"d".repeat(2000)} ${key} `;
      const bytes = gzipSync(text, { level: 0 });
      const end = bytes.indexOf(key) + 12;
      server.reply({ status: 401, text: bytes.subarray(0, end), headers: { "content-encoding": "gzip" } });
      expect((await refused()).body).toBe(`{"message":"${"d".repeat(2000)} [redacted]`);
    });

    test("a key across the 4 KiB that are kept is taken out", async () => {
      for (const spell of [(text: string) => text, json, unicode]) {
        for (const end of [8, 12, 18]) {
          const before = "d".repeat(4096 - end);
          server.reply({ status: 401, text: `${before}${spell(key)} is wrong.` });
          const error = await refused();
          expect(error.body).toBe(`${before}[redacted] is wrong.`.slice(0, 4096));
        }
      }
    });

    test("a key across the 64 KiB that are read is taken out", async () => {
      // So long a key that what is kept of the body holds the end of what was read.
      const apiKey = `sk-4f9a8${"b7c6".repeat(1990)}`;
      const before = `${apiKey} `.repeat(8);
      const part = apiKey.slice(0, 65_536 - before.length);
      expect(part.length).toBeGreaterThan(8);
      server.reply(broken({ "transfer-encoding": "chunked" }, before, part, apiKey.slice(part.length)));
      const error = await failureOf(() =>
        connect(server.url, { ...options, apiKey }).deployments.scale("p", 1),
      );
      expect(error.body).toBe(`${"[redacted] ".repeat(8)}[redacted]`);
    });
  });
});

test("of a page that ends with a part of the key and a tag, the message does not show that part", async () => {
  const apiKey = "sk-0123456789abcdef";
  const part = apiKey.slice(0, 14);
  const text = `<html><p>Rejected: ${part}<br>`;
  server.reply({ status: 403, text, headers: { "content-type": "text/html" } });
  const { message } = await failureOf(() => connect(server.url, { apiKey }).deployments.scale("p", 1));
  expect(message).toContain("Rejected: [redacted]");
  expect(message).not.toContain(part);
});
