import { describe, expect, test } from "vitest";
import { Failure } from "../../src/errors/failure.js";
import { Limiter } from "../../src/policy/limiter.js";
import { Pace } from "../../src/policy/rate.js";
import { Round } from "../../src/policy/round.js";
import { LimitSearch } from "../../src/policy/search.js";
import { EventClock } from "../support/refusals/simulate.js";

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

describe("the search in a program whose event loop is busy for half of the time, in simulated time", () => {
  /** Sends requests for ten seconds. @returns the limit that is found. @param serviceMs When a request made now is done */
  function limitFound(serviceMs: (now: number) => number, blockedMs: number, isMeasured = true): number {
    const clock = new EventClock();
    const limiter = new Limiter(new LimitSearch(128));
    const every = 2 * blockedMs;
    // When the program learns of what happens then.
    const seenAt = (at: number): number => (at % every < blockedMs ? at - (at % every) + blockedMs : at);
    const begin = (): void => {
      while (limiter.isOpen(clock.now())) {
        const began = clock.now();
        const epoch = limiter.begin();
        clock.after(seenAt(serviceMs(began)) - began, () => {
          const ended = clock.now();
          const isLate = ended % every === blockedMs;
          limiter.responded({ epoch, began, ended, busyMs: isMeasured && isLate ? blockedMs : 0 });
          begin();
        });
      }
    };
    clock.after(seenAt(0), begin);
    while (clock.now() < 10_000) clock.next();
    return limiter.limit;
  }

  const takesAny =
    (ms: number) =>
    (now: number): number =>
      now + ms + (now % 3);

  function queueOf(servers: number, workMs: number): (now: number) => number {
    const freeAt = Array.from({ length: servers }, () => 0);
    return (now) => {
      const first = freeAt.indexOf(Math.min(...freeAt));
      freeAt[first] = Math.max(now, freeAt[first] as number) + workMs;
      return freeAt[first] as number;
    };
  }

  test.each([
    [50, 100],
    [100, 200],
    [200, 100],
    [20, 50],
  ])(
    "responses after %i ms, and a loop that is blocked for %i ms as often as not: the limit grows",
    (ms, blockedMs) => {
      expect(limitFound(takesAny(ms), blockedMs)).toBe(128);
    },
  );

  test("without the time for which the loop was busy, the growth would end for long", () => {
    expect(limitFound(takesAny(50), 100, false)).toBeLessThan(32);
  });

  test("a queue of the service is still found while the loop is busy", () => {
    expect(limitFound(queueOf(16, 200), 100)).toBeLessThanOrEqual(64);
    expect(limitFound(queueOf(1, 50), 100)).toBeLessThanOrEqual(64);
  });
});
