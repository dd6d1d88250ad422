import { expect, test } from "vitest";
import { Failure } from "../../src/errors/failure.js";
import { Limiter } from "../../src/policy/limiter.js";
import { Pace } from "../../src/policy/rate.js";
import { Round } from "../../src/policy/round.js";

const retried = { waitMs: 100, notRetried: undefined } as const;
const failure = (retryAfterMs?: number): Failure =>
  new Failure({
    ...{ message: "Away.", code: "UNAVAILABLE", executed: "unknown", codeSource: "status", httpStatus: 503 },
    ...{ events: ["unavailable"], retryAfterMs },
  });

/** Ends an attempt that began at 0 with a failure. */
function fail(limiter: Limiter, now: number, retryAfterMs?: number): void {
  const epoch = limiter.begin();
  limiter.failed(failure(retryAfterMs), retried, { epoch, began: 0, ended: now }, 0);
}

test("in an outage one attempt at a time finds out when the service is back", () => {
  const limiter = new Limiter(8);
  for (let failed = 0; failed < 8; failed++) fail(limiter, 0);
  expect([limiter.isOutage, limiter.isOpen(0), limiter.isOpen(100)]).toEqual([true, false, true]);
  const epoch = limiter.begin();
  expect(limiter.isOpen(100)).toBe(false);
  limiter.responded({ epoch, began: 100, ended: 200 });
  limiter.begin();
  expect([limiter.isOutage, limiter.isOpen(200)]).toEqual([false, true]);
});

test("a shorter Retry-After does not end a longer pause", () => {
  const limiter = new Limiter(8);
  fail(limiter, 0, 10_000);
  fail(limiter, 1000, 2000);
  expect([limiter.isOpen(9999), limiter.isOpen(10_000)]).toEqual([false, true]);
});

test("the share of 429s is that of all attempts that began, as a 429 comes before the good responses", () => {
  const round = new Round(10);
  round.begun = 10;
  round.reject(0, 100);
  expect([round.share, round.ended]).toEqual([0.1, 1]);
});

// An attempt may begin so many milliseconds early.
const spareMs = 20;

test.each([
  [1000, "later", 1000],
  [100, "as estimated", 100],
  [10, "sooner", 10],
])(
  "where a response counts %i tokens for 400 bytes, the next request begins %s",
  (tokens, _when, afterMs) => {
    // A token each millisecond.
    const pace = new Pace({ rate: { tokensPerMinute: 60_000 } });
    const estimated = pace.began(0, 400);
    expect([estimated, pace.opensAt]).toEqual([100, 100 - spareMs]);
    pace.ended(estimated);
    pace.counted(tokens, 400, estimated);
    expect(pace.opensAt).toBe(afterMs - spareMs);
  },
);

test.each(["many", Number.POSITIVE_INFINITY])(
  "a response that counts %s tokens keeps the estimate",
  (tokens) => {
    const pace = new Pace({ rate: { tokensPerMinute: 60_000 } });
    pace.counted(tokens, 400, pace.began(0, 400));
    expect([pace.opensAt, pace.tokens, pace.isEstimated]).toEqual([100 - spareMs, 0, true]);
  },
);
