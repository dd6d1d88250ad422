import { expect, test } from "vitest";
import { Pace } from "../../src/policy/rate.js";

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

test("a response without a number of tokens keeps the estimate", () => {
  const pace = new Pace({ rate: { tokensPerMinute: 60_000 } });
  pace.counted("many", 400, pace.began(0, 400));
  expect([pace.opensAt, pace.tokens, pace.isEstimated]).toEqual([100 - spareMs, 0, true]);
});
