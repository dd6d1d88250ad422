// The search in a program whose event loop is busy for half of the time, in simulated time.
import { expect, test } from "vitest";
import { Limiter } from "../../src/policy/limiter.js";
import { LimitSearch } from "../../src/policy/search.js";
import { EventClock } from "../support/refusals/simulate.js";

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
