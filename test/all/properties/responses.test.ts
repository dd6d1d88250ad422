import assert from "node:assert/strict";
import fc, { type Arbitrary } from "fast-check";
import { describe, test } from "vitest";
import { httpStatuses } from "../../../src/generated/contract.js";
import { transports } from "../../support/clients.js";
import {
  anyString,
  base64,
  hides,
  holdsFor,
  hostileString,
  plainClient,
  settled,
  visible,
  within,
} from "./support/runs.js";
import { asking, useEchoServer } from "./support/services.js";

describe("an error body", () => {
  const server = useEchoServer();

  const name = fc.oneof(
    fc.constantFrom(...Object.keys(httpStatuses), "not_found", "canceled", "ok", "toString"),
    anyString,
    fc.integer({ min: -2, max: 600 }),
  );
  const said: Arbitrary<unknown> = fc.oneof(hostileString, fc.jsonValue());
  const shape: Arbitrary<unknown> = fc.oneof(
    fc.record({ error: fc.record({ code: name, message: said, status: name }, { requiredKeys: [] }) }),
    fc.record({ code: name, message: said, details: said }, { requiredKeys: [] }),
    fc.record({ error: said }),
    fc.record({ detail: fc.oneof(said, fc.array(fc.record({ msg: said }))) }),
    fc.record({ title: said, Message: said }, { requiredKeys: [] }),
    fc.jsonValue({ maxDepth: 6 }),
  );
  const json = fc
    .tuple(shape, fc.boolean(), fc.constantFrom("", "\ufeff", " \n"))
    .map(([value, listed, before]) => before + JSON.stringify(listed ? [value] : value));

  const body: Arbitrary<string> = fc.oneof(
    { weight: 6, arbitrary: json.map(base64) },
    { weight: 2, arbitrary: fc.tuple(json, fc.nat(200)).map(([text, end]) => base64(text.slice(0, end))) },
    { weight: 2, arbitrary: hostileString.map(base64) },
    { weight: 1, arbitrary: hostileString.map((text) => base64(`<!doctype html><title>${text}</title>`)) },
    {
      weight: 1,
      arbitrary: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes).toString("base64")),
    },
    { weight: 1, arbitrary: fc.nat(70_000).map((depth) => base64("[".repeat(depth))) },
  );

  const cases = fc.record({
    status: fc.oneof(fc.integer({ min: 300, max: 599 }), fc.constantFrom(400, 401, 404, 409, 429, 500, 503)),
    type: fc.constantFrom("application/json", "text/html", "text/plain; charset=latin1", ""),
    body,
    key: fc.string({ unit: visible, maxLength: 40 }).map((rest) => `sk-7Q9xZ${rest}`),
    echoed: fc.boolean(),
  });

  // What Node's fetch does with two responses: a 407 it gives to nobody; after a 421 it asks again, and loses its own request
  // when the response was long.
  const lostByFetch: ReadonlySet<number> = new Set([407, 421]);
  const mayHaveRun: ReadonlySet<number> = new Set([408, 499]);

  function provesRefusal(status: number): boolean {
    return status === 501 || (status >= 400 && status < 500 && !mayHaveRun.has(status));
  }

  describe.each(transports)("over $name", ({ name: transport, options }) => {
    test(
      "every error response becomes a StatusError with its status, of bounded size, without the key",
      async () => {
        const reached = new Set<string>();
        await holdsFor(cases, 5_000, async ({ status, type, body, key, echoed }) => {
          const client = plainClient(server.url, { ...options, apiKey: key });
          const content = echoed ? base64(JSON.stringify({ message: key, body })) : body;
          const response = { status, headers: { "content-type": type, "x-request-id": key }, body: content };
          const { error } = await settled(() => client.rerank(asking(response)));
          await client.close();
          assert.ok(error && error.code in httpStatuses && error.attempts.length === 1);
          reached.add(error.code);
          hides(error, key);
          assert.ok(error.message.startsWith(`[${error.code}] `));
          assert.ok(JSON.stringify(error).length < 64 * 1024);
          if (transport === "fetch" && lostByFetch.has(status) && error.httpStatus === undefined) {
            return assert.equal(error.executed, "unknown");
          }
          assert.equal(error.httpStatus, status);
          assert.ok(error.executed === "unknown" || (error.executed === "no" && provesRefusal(status)));
        });
        assert.ok(reached.size >= 10, [...reached].join());
      },
      within(300_000),
    );
  });
});

describe("a Retry-After header", () => {
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
});
