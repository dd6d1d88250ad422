// Why was it not retried? What the decision table does not say; test/policy/retryTable.test.ts asks it of every row.
import { describe, expect, test } from "vitest";
import type { Client, ClientOptions, NotRetried, StatusError } from "../../src/index.js";
import { inTurn, reset, unavailable } from "../support/answers.js";
import { useNoBackoff } from "../support/backoff.js";
import { connect, failureOf, operationCalls, thrownBy, transports } from "../support/clients.js";
import { useRecordingServer } from "../support/recordingServer.js";

const server = useRecordingServer();
useNoBackoff();

function expectReason(error: StatusError, notRetried: NotRetried, hint: RegExp): void {
  expect(error.notRetried).toBe(notRetried);
  expect(error.hint).toMatch(hint);
  expect(error.message.endsWith(error.hint)).toBe(true);
  expect(JSON.parse(JSON.stringify(error)).notRetried).toBe(notRetried);
}

describe.each(transports)("over $name", ({ options }) => {
  const retrying = (more: ClientOptions = {}): Client =>
    connect(server.url, { maxRetries: 2, ...options, ...more });

  test("a client that has spent its retries says so", async () => {
    server.reply(unavailable);
    const client = retrying();
    const scale = () => failureOf(() => client.deployments.scale("prod", 1));
    for (let calls = 0; calls < 5; calls += 1) expectReason(await scale(), "retries-used-up", /maxRetries/);
    const error = await scale();
    expect(error.attempts).toHaveLength(1);
    expectReason(error, "budget", /used up its retries for now/);
  });

  test("a stream that was sent once says so", async () => {
    server.reply(unavailable);
    async function* lines(): AsyncGenerator<Uint8Array> {
      yield new TextEncoder().encode("{}\n");
    }
    const error = await failureOf(() => retrying().datasets.upload("reviews", lines(), { name: "a.jsonl" }));
    expect(error.attempts).toHaveLength(1);
    expectReason(error, "single-use-body", /a stream can be read only once/);
  });

  test.each([
    ["a wait that does not fit the deadline", 5, 4500],
    ["a wait of exactly the deadline", 5, 5000],
  ])("%s says so", async (_what, seconds, timeoutMs) => {
    server.reply({ ...unavailable, headers: { "retry-after": `${seconds}` } });
    const error = await failureOf(() => retrying().deployments.scale("prod", 1, { timeoutMs }));
    expectReason(
      error,
      "deadline-too-close",
      /The service asks to wait 5 s\. No time is left for another attempt\.$/,
    );
  });

  test("a service that asks to wait for more than a minute says so", async () => {
    server.reply({ ...unavailable, headers: { "retry-after": "60.001" } });
    const error = await failureOf(() => retrying().deployments.scale("prod", 1, { timeoutMs: 600_000 }));
    expectReason(
      error,
      "asked-to-wait-too-long",
      /The service asks to wait 60\.001 s\. .*no call waits that long/,
    );
  });

  test("a call aborted during a wait says so, and what its attempt met", async () => {
    server.reply({ ...unavailable, headers: { "retry-after": "20" } });
    const controller = new AbortController();
    const onAttempt = () => controller.abort();
    const error = await failureOf(() =>
      retrying().deployments.scale("prod", 1, { signal: controller.signal, onAttempt }),
    );
    expectReason(error, "aborted", /\.$/);
    expect(error).toMatchObject({ executed: "unknown", executedBecause: "unclear-answer" });
  });

  test.each(operationCalls)(
    "an argument of $operation that is refused says so",
    async ({ operation, call }) => {
      const error = await failureOf(() => call(retrying(), { timeoutMs: -1 }));
      expect(error).toMatchObject({ operation, executedBecause: "nothing-sent", attempts: [] });
      expectReason(error, "refused", /Use a value in the allowed range/);
      expect(error).not.toHaveProperty("path");
      expect(server.requests).toEqual([]);
    },
  );

  test("a key that cannot be had says so, whatever an attempt before it met", async () => {
    server.reply(inTurn(reset));
    let asked = 0;
    const apiKey = () => {
      asked += 1;
      if (asked === 2) throw new Error("the vault is closed");
      return "a-key";
    };
    const error = await failureOf(() => retrying({ apiKey }).deployments.scale("prod", 1));
    expect(error).toMatchObject({
      code: "UNAUTHENTICATED",
      executed: "unknown",
      executedBecause: "no-answer",
    });
    expect(error.attempts).toHaveLength(1);
    expectReason(error, "refused", /Check apiKey/);
  });

  test("of two attempts that did not run, one that was answered counts", async () => {
    server.reply(
      inTurn({ status: 429, headers: { "retry-after-ms": "1" }, json: {} }, { status: 404, json: {} }),
    );
    const error = await failureOf(() => retrying().deployments.scale("prod", 1));
    expect(error).toMatchObject({ executed: "no", executedBecause: "refused", notRetried: "refused" });
  });
});

test("an error that belongs to no call says nothing of retries", () => {
  expect(thrownBy(() => connect("ftp://api.example.com"))).not.toHaveProperty("notRetried");
});
