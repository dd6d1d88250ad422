// Our own client, certified by the command that certifies any other.
import * as undici from "undici";
import { expect, test } from "vitest";
import { certifyOwnClient } from "../support/conformance/certifyOwnClient.js";
import { certifyOverUndici, hiddenByUndici } from "../support/conformance/overUndici.js";
import { startRunner } from "../support/conformance/runner.js";

// What fetch functions do not hand on, or have no option for.
const hiddenByFetch = [
  "proxy",
  "ca-certificate",
  "connect-timeout",
  "connections",
  "early-close",
  "proxy-credentials",
  "proxy-environment",
  "status-100",
  "status-101",
  "status-407",
  "status-421",
  "two-programs",
];

test("on Node every row passes that this machine can serve", { timeout: 300_000 }, async () => {
  const { url, outcome, report } = await startRunner();
  await certifyOwnClient(url);
  const { rows, skippedFor } = await report();
  expect(rows.filter(({ result }) => result === "failed")).toEqual([]);
  expect(Object.keys(skippedFor).filter((name) => !name.startsWith("this machine"))).toEqual([]);
  expect((await outcome).exitCode).toBe(0);
});

// They take as long over every transport.
const quick = ["--except", "exchanges/default-"];

test("over fetch every row passes that fetch lets through", { timeout: 300_000 }, async () => {
  const { url, outcome, report } = await startRunner(...quick);
  await certifyOwnClient(url, () => ({ fetch: globalThis.fetch }), hiddenByFetch);
  const { rows, skippedFor } = await report();
  expect(rows.filter(({ result }) => result === "failed")).toEqual([]);
  const lacking = Object.keys(skippedFor).filter((name) => !name.startsWith("this machine"));
  // A row with a proxy's password is skipped for the proxy.
  expect(lacking.sort()).toEqual(hiddenByFetch.filter((name) => name !== "proxy-credentials").sort());
  expect((await outcome).exitCode).toBe(0);
});

test("over a dispatcher of undici every row passes that it lets through", { timeout: 300_000 }, async () => {
  const { url, outcome, report } = await startRunner(...quick);
  await certifyOverUndici(url, undici);
  const { rows, skippedFor } = await report();
  expect(rows.filter(({ result }) => result === "failed")).toEqual([]);
  const lacking = Object.keys(skippedFor).filter((name) => !name.startsWith("this machine"));
  expect(lacking.sort()).toEqual([...hiddenByUndici].sort());
  expect((await outcome).exitCode).toBe(0);
});
