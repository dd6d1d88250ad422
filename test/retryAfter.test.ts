import { describe, expect, test } from "vitest";
import { connect, failureOf, transports } from "./support/clients.js";
import { useRecordingServer } from "./support/recordingServer.js";

const server = useRecordingServer();

const exact: readonly (readonly [headers: Record<string, string>, ms: number | undefined])[] = [
  [{ "retry-after": "0" }, 0],
  [{ "retry-after": "7" }, 7_000],
  [{ "retry-after": "120" }, 120_000],
  [{ "retry-after": "999999999" }, 999_999_999_000],
  [{ "retry-after-ms": "1500" }, 1_500],
  [{ "retry-after-ms": "250", "retry-after": "7" }, 250],
  [{ "retry-after-ms": "soon", "retry-after": "7" }, 7_000],
  [{ "retry-after": "Sun, 06 Nov 1994 08:49:37 GMT" }, 0],
  [{ "retry-after": "7\t" }, 7_000],
  [{ "retry-after-ms": " 250\t " }, 250],
  [{}, undefined],
  [{ "retry-after": "" }, undefined],
  [{ "retry-after": "soon" }, undefined],
  [{ "retry-after": "-1" }, undefined],
  [{ "retry-after": "1.5" }, undefined],
  [{ "retry-after": "1e3" }, undefined],
  [{ "retry-after": "0x10" }, undefined],
  [{ "retry-after": "7, 8" }, undefined],
  [{ "retry-after": "Infinity" }, undefined],
  [{ "retry-after": "1000000000" }, undefined],
  [{ "retry-after": "2030-01-01T00:00:00Z" }, undefined],
  [{ "retry-after": "Sunday, 06-Nov-94 08:49:37 GMT" }, undefined],
  [{ "retry-after": "Sun Nov  6 08:49:37 1994" }, undefined],
  [{ "retry-after": "Sun, 06 Xyz 2094 08:49:37 GMT" }, undefined],
  [{ "retry-after-ms": "-5" }, undefined],
];

describe.each(transports)("retryAfterMs over $name", ({ options }) => {
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
