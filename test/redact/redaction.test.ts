import { Agent, type ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { canaryKey, leaksOf } from "../support/canary.js";
import { connect, failureOf, transports } from "../support/clients.js";
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
    ["in a field", (key) => ({ json: { request: { authorization: `Bearer ${key}` } } })],
    ["as a field's name", (key) => ({ json: { errors: { [key]: "unknown", [`no ${key}`]: { [key]: 1 } } } })],
    ["in plain text", (key) => ({ text: `Wrong key ${key}.`, headers: { "content-type": "text/plain" } })],
    ["in a page's title", (key) => ({ text: `<html><title>Wrong key ${key}</title></html>` })],
    ["far into a long body", (key) => ({ json: { a: `${"d".repeat(4080)}${key}`, b: "d".repeat(4096) } })],
    ["as the request id", (key) => ({ json: {}, headers: { "x-request-id": key } })],
    ["in base64", (key) => ({ json: { message: btoa(`me:${key}`), more: btoa(`bearer ${key}`) } })],
    ["in HTML", (key) => ({ text: `<html><title>${htmlOf(key)}</title><p>${htmlOf(key)}</p></html>` })],
  ];

  const names: Readonly<Record<string, string>> = { "&": "amp", "<": "lt", '"': "#34", $: "dollar" };
  const htmlOf = (text: string): string => text.replace(/[&<"$]/g, (char) => `&${names[char]};`);

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
    const said = "The label is not Bearer bel, but /?bel=bel&a=label.";
    const json = { label: "bel", bel: ["label", "bel", "a bel"], message: said };
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
});

describe("what is shown of a cause", () => {
  /** An error of the network that says it in its message, its stack, its fields and its causes. */
  function failing(text: string): Error {
    const inner = Object.assign(new Error(`inner ${text}`), { address: text, code: text });
    const cause = new Error(`outer ${text}`, { cause: inner });
    return Object.assign(cause, { code: "ENOTFOUND", syscall: "getaddrinfo", hostname: text, request: text });
  }

  const text = `https://proxy.example.com/?key=${encodeURIComponent(canaryKey)} ${canaryKey}`;

  test("a key in the error of an agent or of a fetch function is not in that of the call", async () => {
    const createConnection = (_: object, opened: (error: Error) => void) => void opened(failing(text));
    const agent = Object.assign(new Agent(), { createConnection });
    const ofAgent = await failureOf(() => connect(server.url, { agent }).deployments.scale("p", 1));
    expect(ofAgent).toMatchObject({ executed: "no", codeSource: "transport" });
    const inner = { message: expect.stringMatching("inner") };
    expect(ofAgent.cause).toMatchObject({ code: "ENOTFOUND", cause: inner });
    const fetch = () => Promise.reject(new TypeError("fetch failed", { cause: failing(text) }));
    const ofFetch = await failureOf(() => connect(server.url, { fetch }).deployments.scale("p", 1));
    const cause = { code: "ENOTFOUND", hostname: expect.stringMatching(/redacted/) };
    expect(ofFetch.cause).toMatchObject({ cause });
    expect(ofFetch.cause).not.toHaveProperty("cause.request");
    for (const error of [ofAgent, ofFetch]) {
      expect(error.message).toContain("outer");
      expect(leaksOf(error)).toEqual([]);
    }
  });

  test("the errors of an AggregateError are in the cause, without the key", async () => {
    const each = ["::1", "127.0.0.1"].map((address) =>
      Object.assign(new Error(`connect to ${address} with ${canaryKey}`), { code: "ECONNREFUSED", address }),
    );
    const all = Object.assign(new AggregateError(each), { code: "ECONNREFUSED" });
    const fetch = () => Promise.reject(new TypeError("fetch failed", { cause: all }));
    const error = await failureOf(() => connect(server.url, { fetch }).deployments.scale("p", 1));
    const errors = ["::1", "127.0.0.1"].map((address) => {
      return { message: `connect to ${address} with [redacted]`, address, code: "ECONNREFUSED" };
    });
    expect(error.cause).toMatchObject({ cause: { name: "AggregateError", errors } });
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
    const client = connect(server.url, { apiKey: () => left.shift() ?? "", maxRetries: 2 });
    const error = await failureOf(() => client.deployments.scale("p", 1));
    const attempts = [{ httpStatus: 401 }, { httpStatus: 403 }];
    expect(error).toMatchObject({ code: "PERMISSION_DENIED", attempts });
    expect(error.text).toBe("[redacted] and [redacted].");
    expect(error.headers).toMatchObject({ "x-echo": "[redacted] and [redacted]" });
    for (const key of keys) expect(leaksOf(error, key)).toEqual([]);
  });
});

describe("what is shown of a cut text", () => {
  const key = 'sk-4f9a8/b7c6&d5"e3';
  /** Responds with these chunks, each on its own, and then breaks the connection. */
  function broken(headers: Readonly<Record<string, string>>, ...chunks: readonly string[]): Script {
    const send = async (response: ServerResponse): Promise<void> => {
      response.writeHead(401, headers);
      for (const chunk of chunks) await new Promise((resolve) => response.write(chunk, resolve));
      response.destroy();
    };
    return (_request, response) => void send(response);
  }

  const json = (text: string): string => JSON.stringify(text).slice(1, -1);
  const unicode = (text: string): string =>
    text.replace(/./g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`);
  const begun = '{"code":"UNAUTHENTICATED","message":"Wrong key ';

  describe.each(transports)("over $name", ({ options }) => {
    const refused = (script: Reply | Script, apiKey = key) => {
      server.reply(script);
      return failureOf(() => connect(server.url, { ...options, apiKey }).deployments.scale("p", 1));
    };

    test.each([
      ["as it is", (text: string) => text],
      ["as JSON", json],
    ])(
      "a key %s that was broken off with the connection is taken out, from 8 characters on",
      async (_how, spell) => {
        const spelled = spell(key);
        for (let end = spell(key.slice(0, 8)).length; end < spelled.length; end++) {
          const text = begun + spelled.slice(0, end);
          const error = await refused(broken({ "content-length": "1000" }, text));
          expect(error).toMatchObject({ code: "UNAUTHENTICATED", httpStatus: 401 });
          expect(error.body, text).toBe(`${begun}[redacted]`);
          expect(error.message).not.toContain(spell(key.slice(0, 8)));
        }
      },
    );

    test("a key whose first half is not there is taken out", async () => {
      const { body } = await refused({ status: 401, text: `${key.slice(-8)} is the wrong key.` });
      expect(body).toBe("[redacted] is the wrong key.");
    });

    test("a key is taken out of what came of gzip that is cut off", async () => {
      const text = `{"message":"${"d".repeat(2000)} ${key} `;
      const bytes = gzipSync(text, { level: 0 });
      const cut = bytes.subarray(0, bytes.indexOf(key) + 12);
      const { body } = await refused({ status: 401, text: cut, headers: { "content-encoding": "gzip" } });
      expect(body).toBe(`{"message":"${"d".repeat(2000)} [redacted]`);
    });

    test("a key across the 4 KiB that are kept is taken out", async () => {
      for (const spell of [(text: string) => text, json, unicode]) {
        for (const end of [8, 12, 18]) {
          const before = "d".repeat(4096 - end);
          const { body } = await refused({ status: 401, text: `${before}${spell(key)} is wrong.` });
          expect(body).toBe(`${before}[redacted] is wrong.`.slice(0, 4096));
        }
      }
    });

    test("a key across the 64 KiB that are read is taken out", async () => {
      // So long a key that what is kept of the body holds the end of what was read.
      const apiKey = `sk-4f9a8${"b7c6".repeat(1990)}`;
      const before = `${apiKey} `.repeat(8);
      const part = apiKey.slice(0, 65_536 - before.length);
      expect(part.length).toBeGreaterThan(8);
      const chunks = [before, part, apiKey.slice(part.length)];
      const { body } = await refused(broken({ "transfer-encoding": "chunked" }, ...chunks), apiKey);
      expect(body).toBe(`${"[redacted] ".repeat(8)}[redacted]`);
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
