import type { ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { connect, failureOf, transports } from "../support/clients.js";
import { type Script, useRecordingServer } from "../support/recordingServer.js";

const server = useRecordingServer();

const key = 'sk-4f9a8/b7c6&d5"e3';
// The first 8 characters of the key are the least that is recognised.
const parts = [8, 9, 12, key.length - 1];

/** Answers with these chunks, each on its own, and then breaks the connection. */
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
  ["as JSON with \\/", (text) => json(text).replaceAll("/", "\\/")],
  ["as JSON with \\u escapes", unicode],
  ["percent-encoded", encodeURIComponent],
  ["as HTML", (text) => text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("/", "&#x2F;")],
];

describe.each(transports)("over $name", ({ options }) => {
  const refused = () =>
    failureOf(() => connect(server.url, { ...options, apiKey: key }).deployments.scale("p", 1));

  describe.each(spellings)("a key %s", (_how, spell) => {
    test.each(parts)("of which %i characters came before the connection broke is taken out", async (part) => {
      const text = `{"code":"UNAUTHENTICATED","message":"Wrong key ${spell(key.slice(0, part))}`;
      server.reply(broken({ "content-length": "1000" }, text));
      const error = await refused();
      expect(error).toMatchObject({ code: "UNAUTHENTICATED", httpStatus: 401 });
      expect(error.body).toBe('{"code":"UNAUTHENTICATED","message":"Wrong key [redacted]');
      expect(error.message).not.toContain(spell(key.slice(0, 8)));
    });

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

  test("a key in base64 is taken out where the connection broke", async () => {
    const base64 = btoa(`me:${key}`);
    server.reply(broken({}, `Wrong: Basic ${base64.slice(0, 20)}`));
    expect((await refused()).body).toBe("Wrong: Basic bWU6[redacted]");
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

  test("of a key of which 7 characters came they stay: they could be part of any word", async () => {
    server.reply(broken({ "content-length": "1000" }, `{"message":"Wrong key ${key.slice(0, 7)}`));
    expect((await refused()).body).toBe('{"message":"Wrong key sk-4f9a');
  });

  test("the beginning of a key stays in a body that is whole", async () => {
    const body = { message: `Keys begin with ${key.slice(0, 8)}` };
    server.reply({ status: 401, json: body });
    expect((await refused()).body).toEqual(body);
  });
});
