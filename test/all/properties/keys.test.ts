import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, test } from "vitest";
import type { RerankRequest } from "../../../src/index.js";
import { transports } from "../../support/clients.js";
import { asking, type Echo, useEchoServer } from "./support/echoServer.js";
import { base64, hides, settled } from "./support/failures.js";
import { holdsFor, plainClient, within } from "./support/runs.js";
import { hostileString, visible } from "./support/strings.js";

const server = useEchoServer();

// Never part of an error's own words, and long enough to be recognised where a text was cut.
const mark = "sk-7Q9xZ";
const keys = fc.oneof(
  { weight: 3, arbitrary: hostileString.map((rest) => mark + rest) },
  { weight: 2, arbitrary: fc.string({ unit: visible }).map((rest) => mark + rest) },
  { weight: 1, arbitrary: hostileString },
);

const plain: RerankRequest = { query: "q", documents: ["d"] };

// A server that says the key again.
const echoes: readonly ((key: string) => string)[] = [
  (key) => `Wrong key ${key}.`,
  (key) => JSON.stringify({ error: { code: 401, message: `Wrong key ${key}.`, status: "UNAUTHENTICATED" } }),
  (key) => JSON.stringify({ detail: [{ msg: key, key: { key } }] }),
  (key) => JSON.stringify(key),
  (key) => `<html><title>${key}</title>`,
  (key) => "x".repeat(4090) + key,
  (key) => JSON.stringify({ message: "Wrong key.", more: ["x".repeat(4090), key] }),
  (key) => JSON.stringify({ message: key, more: "x".repeat(4090) }).replaceAll("/", "\\/"),
  (key) => JSON.stringify({ message: JSON.stringify({ key: `Bearer ${key}` }) }),
  (key) => JSON.stringify({ message: `/?key=${encodeURIComponent(key)}&page=1` }),
  (key) => `<p>${key.replaceAll("&", "&amp;").replaceAll("<", "&lt;")}</p>`,
  (key) => JSON.stringify({ message: `Basic ${base64(`me:${key}`)}` }),
  (key) => JSON.stringify({ message: key }).slice(0, -3),
  (key) => `Wrong key ${key.slice(0, 8)}`,
];

const cases = fc.record({
  key: keys,
  byFunction: fc.boolean(),
  echo: fc.constantFrom(...echoes),
});

describe.each(transports)("over $name", ({ options }) => {
  test(
    "a key is sent exactly as it is, or refused; no error shows it",
    async () => {
      let sent = 0;
      await holdsFor(cases, 5_000, async ({ key, byFunction, echo }) => {
        const apiKey = byFunction ? () => key : key;
        const made = await settled(() => plainClient(server.url, { ...options, apiKey }));
        const client = made.value;
        const { value, error } = client ? await settled(() => client.rerank(plain)) : made;
        assert.equal(error !== undefined, !/^[!-~]{1,8192}$/.test(key));
        if (error !== undefined) {
          assert.equal(error.code, "INVALID_ARGUMENT");
          assert.equal(error.executed, "no");
          if (key.startsWith(mark)) hides(error, key);
          return;
        }
        sent += 1;
        assert.equal((value as unknown as Echo).headers.authorization, `Bearer ${key}`);
        const response = { status: 401, headers: { "x-request-id": key }, body: base64(echo(key)) };
        const failed = await settled(() => client?.rerank(asking(response)));
        assert.equal(failed.error?.code, "UNAUTHENTICATED");
        if (key.startsWith(mark)) hides(failed.error, mark);
        await client?.close();
      });
      assert.ok(sent > 0);
    },
    within(300_000),
  );
});
