import { describe, expect, test } from "vitest";
import type { StatusError } from "../../src/index.js";
import { connect, failureOf, transports } from "../support/clients.js";
import { useRecordingServer } from "../support/recordingServer.js";

const server = useRecordingServer();

const exact: readonly (readonly [headers: Record<string, string>, ms: number | undefined])[] = [
  [{ "retry-after": "0" }, 0],
  [{ "retry-after": "7" }, 7_000],
  [{ "retry-after": "120" }, 120_000],
  [{ "retry-after": "999999999" }, 999_999_999_000],
  [{ "retry-after-ms": "1500" }, 1_500],
  [{ "retry-after-ms": "250", "retry-after": "7" }, 7_000],
  [{ "retry-after-ms": "7001", "retry-after": "7" }, 7_001],
  // Rounded up: never earlier than asked.
  [{ "retry-after": "2.5" }, 2_500],
  [{ "retry-after": "16.1" }, 16_100],
  [{ "retry-after": "0.0001" }, 1],
  [{ "retry-after-ms": "10.5" }, 11],
  [{ "retry-after-ms": "soon", "retry-after": "7" }, 7_000],
  [{ "retry-after": "1000000000" }, 1_000_000_000_000],
  [{ "retry-after": "9".repeat(98) }, Number.MAX_SAFE_INTEGER],
  [{ "retry-after": "Sun, 06 Nov 1994 08:49:37 GMT" }, 0],
  [{ "retry-after": "Sunday, 06-Nov-94 08:49:37 GMT" }, 0],
  [{ "retry-after": "Sun Nov  6 08:49:37 1994" }, 0],
  [{ "retry-after": "7\t" }, 7_000],
  [{ "retry-after-ms": " 250\t " }, 250],
  [{}, undefined],
  [{ "retry-after": "" }, undefined],
  [{ "retry-after": "soon" }, undefined],
  [{ "retry-after": "-1" }, undefined],
  [{ "retry-after": "1e3" }, undefined],
  [{ "retry-after": "1." }, undefined],
  [{ "retry-after": ".5" }, undefined],
  [{ "retry-after": "0x10" }, undefined],
  [{ "retry-after": "7, 8" }, undefined],
  [{ "retry-after": "Infinity" }, undefined],
  [{ "retry-after": "2030-01-01T00:00:00Z" }, undefined],
  [{ "retry-after": "Sun, 06 Xyz 2094 08:49:37 GMT" }, undefined],
  [{ "retry-after": "Sun, 06-Nov-94 08:49:37 GMT" }, undefined],
  [{ "retry-after": "Sun Nov 6 08:49:37 1994" }, undefined],
  [{ "retry-after-ms": "-5" }, undefined],
];

// The clock of this machine is years away from these.
const dates: readonly (readonly [retryAfter: string, date: string, ms: number])[] = [
  ["Sun, 06 Nov 1994 08:50:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT", 60_000],
  ["Sun, 06 Nov 1994 08:50:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", 60_000],
  ["Sunday, 06-Nov-94 08:50:37 GMT", "Sun Nov  6 08:49:37 1994", 60_000],
  ["Wednesday, 01-Jan-03 00:00:07 GMT", "Wed, 01 Jan 2003 00:00:00 GMT", 7_000],
  ["Sat Nov 26 08:49:37 2016", "Sat, 26 Nov 2016 08:49:30 GMT", 7_000],
  ["Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:50:37 GMT", 0],
  ["Thu, 06 Nov 2094 08:49:37 GMT", "Thu, 06 Nov 2094 08:49:30 GMT", 7_000],
];

const day = 24 * 60 * 60 * 1000;

const retryInfo = (retryDelay: unknown, type = "type.googleapis.com/google.rpc.RetryInfo"): object[] => [
  { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "RATE_LIMIT_EXCEEDED" },
  { "@type": type, retryDelay },
];

const bodies: readonly (readonly [what: string, body: unknown, ms: number | undefined])[] = [
  ["Google's shape", { error: { status: "RESOURCE_EXHAUSTED", details: retryInfo("3.5s") } }, 3_500],
  ["Google's shape in a list", [{ error: { code: 429, details: retryInfo("7s") } }], 7_000],
  ["grpc-gateway's shape", { code: 8, message: "m", details: retryInfo("0.0001s") }, 1],
  ["a type without a host", { code: 8, details: retryInfo("2s", "google.rpc.RetryInfo") }, 2_000],
  ["another type", { code: 8, details: retryInfo("2s", "example.com/my.RetryInfo") }, undefined],
  ["a type that only ends so", { code: 8, details: retryInfo("2s", "x.google.rpc.RetryInfo") }, undefined],
  ["a delay without a unit", { code: 8, details: retryInfo("2") }, undefined],
  ["a delay in minutes", { code: 8, details: retryInfo("2m") }, undefined],
  ["a delay below 0", { code: 8, details: retryInfo("-2s") }, undefined],
  ["a delay that is no text", { code: 8, details: retryInfo(2) }, undefined],
  ["details that are no list", { code: 8, details: { "@type": "google.rpc.RetryInfo" } }, undefined],
  ["no delay", { code: 8, details: [null, 1, "x", {}] }, undefined],
];

describe.each(transports)("retryAfterMs over $name", ({ options }) => {
  const failed = (): Promise<StatusError> =>
    failureOf(() => connect(server.url, options).deployments.scale("prod", 1));

  test.each(dates)("of %s in an answer of %s is %i", async (retryAfter, date, ms) => {
    server.reply({ status: 429, text: "", headers: { "retry-after": retryAfter, date } });
    expect((await failed()).retryAfterMs).toBe(ms);
  });

  test("of a year in two digits is the nearest in the past 50 years or those to come", async () => {
    const time = new Date(Date.now() + 10 * 365 * day);
    const [weekday = "", date = "", month = "", year = "", clock = ""] = time.toUTCString().split(/,? /);
    const long = { Tue: "Tuesday", Wed: "Wednesday", Thu: "Thursday", Sat: "Saturday" }[weekday];
    const old = `${long ?? `${weekday}day`}, ${date}-${month}-${year.slice(2)} ${clock} GMT`;
    server.reply({ status: 429, text: "", headers: { "retry-after": old } });
    expect(((await failed()).retryAfterMs ?? 0) / (10 * 365 * day)).toBeCloseTo(1, 4);
  });

  test.each(bodies)("of a RetryInfo in %s", async (_what, json, ms) => {
    server.reply({ status: 429, json });
    expect((await failed()).retryAfterMs).toBe(ms);
  });

  test.each([
    ["1", 3_500],
    ["5", 5_000],
  ])("of a RetryInfo of 3.5 s and a Retry-After of %s s is the longer", async (seconds, ms) => {
    server.reply({ status: 429, json: bodies[0]?.[1], headers: { "retry-after": seconds } });
    expect((await failed()).retryAfterMs).toBe(ms);
  });

  test.each(exact)("of %j is %j", async (headers, ms) => {
    server.reply({ status: 429, json: { code: "RESOURCE_EXHAUSTED" }, headers });
    const error = await failureOf(() => connect(server.url, options).deployments.scale("prod", 1));
    expect(error.code).toBe("RESOURCE_EXHAUSTED");
    expect(error.retryAfterMs).toBe(ms);
  });

  test("of a date to come is the time until then", async () => {
    const date = new Date(Date.now() + 90_000).toUTCString();
    server.reply({ status: 503, json: { code: "UNAVAILABLE" }, headers: { "retry-after": date } });
    const error = await failureOf(() => connect(server.url, options).deployments.scale("prod", 1));
    // The date has no fraction of a second.
    expect(error.retryAfterMs).toBeGreaterThan(80_000);
    expect(error.retryAfterMs).toBeLessThanOrEqual(90_000);
  });
});
