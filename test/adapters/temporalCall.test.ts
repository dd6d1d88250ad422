// An activity's times and heartbeats; checks/temporal runs whole activities with Temporal's own packages.
import { expect, test } from "vitest";
import {
  type ActivityContext,
  type ActivityInfo,
  callWithin,
  timeLeftMs,
} from "../../src/adapters/temporalCall.js";
import { failureOptions, fitting } from "../../src/adapters/temporalFailure.js";
import { StatusError } from "../../src/index.js";
import { failureOf, thrownBy } from "../support/clients.js";
import { useTestClock } from "../support/clock.js";

const info: ActivityInfo = {
  attempt: 1,
  startToCloseTimeoutMs: 60_000,
  scheduleToCloseTimeoutMs: 0,
  scheduledTimestampMs: 1_000,
  currentAttemptScheduledTimestampMs: 1_000,
  heartbeatTimeoutMs: 4_500,
};

test.each<[number, Partial<ActivityInfo>]>([
  [58_000, {}],
  [18_000, { startToCloseTimeoutMs: 20_000 }],
  [900, { startToCloseTimeoutMs: 1_000 }],
  [28_000, { scheduleToCloseTimeoutMs: 30_000 }],
  // Eleven seconds of it went by before this attempt.
  [17_100, { scheduleToCloseTimeoutMs: 30_000, currentAttemptScheduledTimestampMs: 12_000 }],
  [86_398_000, { startToCloseTimeoutMs: 0 }],
])("a call may take %d ms where the activity has %j", (expected, changes) => {
  expect(timeLeftMs({ ...info, ...changes })).toBe(expected);
});

const clock = useTestClock();

test("heartbeats come three times within their timeout, carry the progress, and end with the call", async () => {
  const heartbeats: unknown[] = [];
  const context: ActivityContext = {
    info,
    cancellationSignal: new AbortController().signal,
    heartbeat: (details) => heartbeats.push(details),
  };
  let end = (): void => {};
  const ending = callWithin(context, "uploadDatasetFile", ({ onProgress }) => {
    onProgress({ sentBytes: 3 });
    return new Promise<void>((resolve) => {
      end = resolve;
    });
  });
  expect(heartbeats).toEqual([{ attempt: 1 }]);
  clock.pass(1_499);
  expect(heartbeats).toHaveLength(1);
  clock.pass(1);
  expect(heartbeats).toEqual([{ attempt: 1 }, { sentBytes: 3, attempt: 1 }]);
  end();
  await ending;
  expect(clock.waiting).toBe(0);
});

test("without a short timeout a heartbeat comes every 2 s, so that a cancellation arrives soon", async () => {
  let beats = 0;
  const ending = callWithin(
    {
      info: { ...info, heartbeatTimeoutMs: 30_000 },
      cancellationSignal: new AbortController().signal,
      heartbeat: () => {
        beats += 1;
      },
    },
    "rerankDocuments",
    async () => {
      clock.pass(1_999);
      expect(beats).toBe(1);
      clock.pass(1);
      expect(beats).toBe(2);
    },
  );
  await ending;
});

test.each<[what: string, details: unknown, sent: number]>([
  ["of the attempt before that says it may", { attempt: 2, mayRetry: true }, 1],
  ["of the attempt before that does not say it", { attempt: 2 }, 0],
  ["of an older attempt, after which one may have sent and died", { attempt: 1, mayRetry: true }, 0],
  ["of none", undefined, 0],
])("after the heartbeat %s, what is sent once is sent so often", async (_what, heartbeatDetails, sent) => {
  let calls = 0;
  const context = {
    info: { ...info, attempt: 3, heartbeatDetails },
    cancellationSignal: new AbortController().signal,
    heartbeat: () => {},
  };
  const call = async () => ++calls;
  const running = () => callWithin(context, "uploadDatasetFile", call);
  if (sent > 0) await running();
  else
    expect(await failureOf(running)).toMatchObject({
      code: "UNKNOWN",
      executed: "unknown",
      notRetried: "not-safe",
    });
  expect(calls).toBe(sent);
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
