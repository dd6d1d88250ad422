import assert from "node:assert/strict";
import fc, { type Arbitrary } from "fast-check";
import { describe, test } from "vitest";
import { transports } from "../../support/clients.js";
import { plainClient } from "./support/client.js";
import { asking, useEchoServer } from "./support/echoServer.js";
import { settled } from "./support/failures.js";
import { holdsFor, within } from "./support/runs.js";
import { anyString } from "./support/strings.js";

const server = useEchoServer();

const digits = fc
  .array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 13 })
  .map((list) => list.join(""));
const date = fc
  .integer({ min: -200_000, max: 200_000 })
  .map((seconds) => new Date(Date.now() + seconds * 1000).toUTCString());
const changed = fc
  .tuple(date, fc.nat(28), fc.constantFrom("", " ", "0", "9", "X", "-", "+0100", "Feb", "31"))
  .map(([text, at, piece]) => text.slice(0, at) + piece + text.slice(at + piece.length));
const numbers = fc.oneof(
  fc.double().map(String),
  fc.bigInt().map(String),
  fc.constantFrom("1e3", "0x10", "-1"),
);
// What a server can send at all.
const sendable = anyString.map((text) => text.replace(/[^\t\x20-\x7e\x80-\xff]/g, ""));

const value: Arbitrary<string> = fc.oneof(digits, date, changed, numbers, sendable);
const absent = fc.constant(undefined);
const cases = fc.record({
  seconds: fc.oneof({ weight: 9, arbitrary: value }, { weight: 1, arbitrary: absent }),
  milliseconds: fc.oneof({ weight: 4, arbitrary: absent }, { weight: 1, arbitrary: value }),
});

/** What the two headers ask for, the date seen from `now`; "some" for a date that is none, read all the same. */
function asked(seconds = "", milliseconds = "", now: number): number | "some" | undefined {
  const spaces = /^[\t ]+|[\t ]+$/g;
  const ms = milliseconds.replace(spaces, "");
  if (ms.length <= 12 && /^[0-9]+$/.test(ms)) return Number(ms);
  const text = seconds.replace(spaces, "");
  if (/^[0-9]+$/.test(text)) return text.length <= 9 ? Number(text) * 1000 : undefined;
  if (new Date(text).toUTCString() === text) return Math.max(0, Date.parse(text) - now);
  return /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} [\d:]{8} GMT$/.test(text) ? "some" : undefined;
}

describe.each(transports)("over $name", ({ options }) => {
  test(
    "retryAfterMs is what Retry-After asks for, or absent",
    async () => {
      const client = plainClient(server.url, options);
      await holdsFor(cases, 5_000, async ({ seconds, milliseconds }) => {
        const headers = {
          ...(seconds !== undefined && { "retry-after": seconds }),
          ...(milliseconds !== undefined && { "retry-after-ms": milliseconds }),
        };
        const before = Date.now();
        const { error } = await settled(() => client.rerank(asking({ status: 429, headers, body: "" })));
        const most = asked(seconds, milliseconds, before);
        const least = asked(seconds, milliseconds, Date.now());
        const got = error?.retryAfterMs;
        assert.equal(error?.code, "RESOURCE_EXHAUSTED");
        if (most === "some") assert.ok(got === undefined || got >= 0);
        else if (most === undefined) assert.equal(got, undefined);
        else assert.ok(got !== undefined && got <= most && got >= Number(least), `${got}, not ${most}`);
      });
      await client.close();
    },
    within(300_000),
  );
});
