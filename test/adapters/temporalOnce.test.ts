import { expect, test } from "vitest";
import { type ActivityInfo, callWithin, timeLeftMs } from "../../src/adapters/temporalCall.js";
import { failureOptions, fitting } from "../../src/adapters/temporalFailure.js";
import { StatusError } from "../../src/index.js";
import { failureOf, thrownBy } from "../support/clients.js";

const info: ActivityInfo = {
  attempt: 3,
  startToCloseTimeoutMs: 60_000,
  scheduleToCloseTimeoutMs: 0,
  scheduledTimestampMs: 0,
  currentAttemptScheduledTimestampMs: 0,
};

test.each<[what: string, details: unknown, sent: number]>([
  ["of the attempt before that says it may", { attempt: 2, mayRetry: true }, 1],
  ["of the attempt before that does not say it", { attempt: 2 }, 0],
  ["of an older attempt, after which one may have sent and died", { attempt: 1, mayRetry: true }, 0],
  ["of none", undefined, 0],
])("after the heartbeat %s, what is sent once is sent so often", async (_what, heartbeatDetails, sent) => {
  let calls = 0;
  const context = {
    info: { ...info, heartbeatDetails },
    cancellationSignal: new AbortController().signal,
    heartbeat: () => {},
  };
  const call = async () => ++calls;
  const running = () => callWithin(context, { operation: "uploadDatasetFile", once: true, call });
  if (sent > 0) await running();
  else
    expect(await failureOf(running)).toMatchObject({
      code: "UNKNOWN",
      executed: "unknown",
      notRetried: "not-safe",
    });
  expect(calls).toBe(sent);
});

test("a call leaves an activity the time to record its failure", () => {
  expect(timeLeftMs(info)).toBe(58_000);
  expect(timeLeftMs({ ...info, startToCloseTimeoutMs: 1000 })).toBe(900);
});

test("Temporal waits as long as the service asks, and retries no result that is too large", () => {
  const details = {
    code: "RESOURCE_EXHAUSTED",
    executed: "no",
    codeSource: "body",
    notRetried: "asked-to-wait-too-long",
  } as const;
  const error = new StatusError("Slower.", { ...details, retryAfterMs: 90_000 });
  expect(failureOptions(error, 1)).toMatchObject({ nonRetryable: false, nextRetryDelay: 90_000 });
  expect(fitting("a".repeat(98), 100, "rerankDocuments")).toHaveLength(98);
  const tooLarge = thrownBy(() => fitting("a".repeat(99), 100, "rerankDocuments"));
  expect(failureOptions(tooLarge, 1)).toMatchObject({ nonRetryable: true, nextRetryDelay: undefined });
});
