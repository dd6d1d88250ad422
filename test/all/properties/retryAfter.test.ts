import assert from "node:assert/strict";
import fc, { type Arbitrary } from "fast-check";
import { describe, test } from "vitest";
import { transports } from "../../support/clients.js";
import { anyString, holdsFor, plainClient, settled, within } from "./support/runs.js";
import { asking, useEchoServer } from "./support/services.js";

const server = useEchoServer();

const fullNames: Readonly<Record<string, string>> = {
  Mon: "Monday",
  Tue: "Tuesday",
  Wed: "Wednesday",
  Thu: "Thursday",
  Fri: "Friday",
  Sat: "Saturday",
  Sun: "Sunday",
};
const digits = fc
  .array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 13 })
  .map((list) => list.join(""));
const decimals = fc.tuple(digits, fc.nat(9_999_999)).map(([whole, part]) => `${whole}.${part}`);
const date = fc
  .integer({ min: -200_000, max: 200_000 })
  .map((seconds) => new Date(Date.now() + seconds * 1000).toUTCString());
const oldDate = date.map((text) => {
  const [day = "", date = "", month = "", year = "", clock = ""] = text.split(/,? /);
  return `${fullNames[day]}, ${date}-${month}-${year.slice(2)} ${clock} GMT`;
});
const asctime = date.map((text) => {
  const [day, date = "", month, year, clock] = text.split(/,? /);
  return `${day} ${month} ${date.replace(/^0/, " ")} ${clock} ${year}`;
});
const changed = fc
  .tuple(
    fc.oneof(date, oldDate, asctime),
    fc.nat(28),
    fc.constantFrom("", " ", "0", "9", "X", "-", "+0100", "Feb", "31"),
  )
  .map(([text, at, piece]) => text.slice(0, at) + piece + text.slice(at + piece.length));
const numbers = fc.oneof(
  fc.double().map(String),
  fc.bigInt().map(String),
  fc.constantFrom("1e3", "0x10", "-1"),
);
// What a server can send at all.
const sendable = anyString.map((text) => text.replace(/[^\t\x20-\x7e\x80-\xff]/g, ""));

const line: Arbitrary<string> = fc.oneof(
  digits,
  decimals,
  date,
  oldDate,
  asctime,
  changed,
  numbers,
  sendable,
);
const joined = fc
  .tuple(fc.array(line, { minLength: 2, maxLength: 3 }), fc.constantFrom(",", ", "))
  .map(([list, comma]) => list.join(comma))
  .filter((text) => text.length < 100);
const value = fc.oneof({ weight: 8, arbitrary: line }, { weight: 1, arbitrary: joined });
const absent = fc.constant(undefined);
const cases = fc.record({
  seconds: fc.oneof({ weight: 9, arbitrary: value }, { weight: 1, arbitrary: absent }),
  milliseconds: fc.oneof({ weight: 4, arbitrary: absent }, { weight: 1, arbitrary: value }),
});

const spaces = /^[\t ]+|[\t ]+$/g;

/** A number of units in milliseconds, as exact as the text. */
function inMilliseconds(text: string, unitMs: number): number | undefined {
  const [, whole, part = ""] = /^([0-9]+)(?:\.([0-9]+))?$/.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const scale = 10n ** BigInt(part.length);
  const exact = BigInt(whole + part) * BigInt(unitMs);
  const up = exact % scale === 0n ? exact / scale : exact / scale + 1n;
  return Number(up > Number.MAX_SAFE_INTEGER ? Number.MAX_SAFE_INTEGER : up);
}

/** What the two headers ask for in a response of `now`; "some" for a date that is none, read all the same. */
function asked(seconds = "", milliseconds = "", now: number): number | "some" | undefined {
  const times = [
    ...lines(milliseconds).map((text) => inMilliseconds(text, 1)),
    ...lines(seconds).map((text) => inMilliseconds(text, 1000) ?? untilDate(text, now)),
  ].filter((ms) => ms !== undefined);
  if (times.includes("some")) return "some";
  return times.length === 0 ? undefined : Math.max(...(times as number[]));
}

// A proxy joins repeated lines with commas. The comma of a date stands before a space and the day of the month.
function lines(value: string): readonly string[] {
  const found: string[] = [];
  let line: string | undefined;
  for (const piece of value.split(",")) {
    const ofDate = line !== undefined && /^ \d\d[ -]/.test(piece);
    if (line !== undefined && !ofDate) found.push(line);
    line = ofDate ? `${line},${piece}` : piece;
  }
  return [...found, line ?? ""].map((text) => text.replace(spaces, ""));
}

function untilDate(text: string, now: number): number | "some" | undefined {
  if (new Date(text).toUTCString() === text) return Math.max(0, Date.parse(text) - now);
  const [, day = "", date, month, year, clock] = old.exec(text) ?? [];
  const fixed = `${day.slice(0, 3)}, ${date} ${month} 20${year} ${clock} GMT`;
  if (fullNames[day.slice(0, 3)] === day && new Date(fixed).toUTCString() === fixed) {
    return Math.max(0, Date.parse(fixed) - now);
  }
  const [, name, monthName, dayOfMonth = "", time, fullYear] = unix.exec(text) ?? [];
  const padded = `${name}, ${dayOfMonth.replace(" ", "0")} ${monthName} ${fullYear} ${time} GMT`;
  if (new Date(padded).toUTCString() === padded) return Math.max(0, Date.parse(padded) - now);
  return looksLikeDate.test(text) ? "some" : undefined;
}

const old = /^([A-Z][a-z]+), (\d{2})-([A-Z][a-z]{2})-(\d{2}) ([\d:]{8}) GMT$/;
const unix = /^([A-Z][a-z]{2}) ([A-Z][a-z]{2}) ([ \d]\d) ([\d:]{8}) (\d{4})$/;
const looksLikeDate = /^[A-Z][a-z]{2,8},? [A-Za-z\d :-]{16,21}( GMT)?$/;

describe.each(transports)("over $name", ({ options }) => {
  test(
    "retryAfterMs is what Retry-After asks for, or absent",
    async () => {
      const client = plainClient(server.url, options);
      await holdsFor(cases, 5_000, async ({ seconds, milliseconds }) => {
        const now = Math.floor(Date.now() / 1000) * 1000;
        const headers = {
          date: new Date(now).toUTCString(),
          ...(seconds !== undefined && { "retry-after": seconds }),
          ...(milliseconds !== undefined && { "retry-after-ms": milliseconds }),
        };
        const { error } = await settled(() => client.rerank(asking({ status: 429, headers, body: "" })));
        const expected = asked(seconds, milliseconds, now);
        const got = error?.retryAfterMs;
        assert.equal(error?.code, "RESOURCE_EXHAUSTED");
        if (expected === "some") assert.ok(got === undefined || got >= 0);
        else assert.equal(got, expected);
      });
      await client.close();
    },
    within(300_000),
  );
});
