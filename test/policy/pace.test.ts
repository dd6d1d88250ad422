import { describe, expect, test } from "vitest";
import { Limiter } from "../../src/policy/limiter.js";
import { LimitSearch } from "../../src/policy/search.js";
import { compare, problemsOf, simulated } from "../support/refusals/judge.js";
import { hashed, type Rule, services, tooMany } from "../support/refusals/services.js";
import { simulate, simulateThree } from "../support/refusals/simulate.js";

const windowMs = 1000;
const most = 20;
type Allows = (at: number, size: number, most: number) => boolean;

/** A bucket that holds what one window allows, and fills evenly. */
function tokenBucket(): Allows {
  let left = Number.POSITIVE_INFINITY;
  let last = 0;
  return (at, size, most) => {
    left = Math.min(most, left + ((at - last) * most) / windowMs);
    last = Math.max(at, last);
    if (left < size) return false;
    left -= size;
    return true;
  };
}

/** Counts from each full second on. */
function fixedWindow(): Allows {
  let began = 0;
  let used = 0;
  return (at, size, most) => {
    const start = Math.floor(at / windowMs);
    if (start > began) used = 0;
    began = Math.max(start, began);
    if (used + size > most) return false;
    used += size;
    return true;
  };
}

/** Counts what it took in the second before. */
function slidingWindow(): Allows {
  const taken: { at: number; size: number }[] = [];
  return (at, size, most) => {
    while (taken[0] && taken[0].at <= at - windowMs) taken.shift();
    const used = taken.reduce((sum, each) => sum + each.size, 0);
    if (used + size > most) return false;
    taken.push({ at, size });
    return true;
  };
}

const windows = [
  ["token bucket", tokenBucket],
  ["fixed window", fixedWindow],
  ["sliding window", slidingWindow],
] as const;

const perMinute = (most * 60_000) / windowMs;

const serving = (responseMs: number, rule: Rule) => ({ name: "", responseMs, open: () => rule });
const searching = (): Limiter => new Limiter(new LimitSearch(256));

describe.each(windows)("a declared rate at a service with a %s", (_name, make) => {
  test("of 95 % is used, and less than 1 % is refused", () => {
    const allows = make();
    const rate = { requestsPerMinute: 0.95 * perMinute };
    // Requests arrive some milliseconds later, and not all as much.
    const service = serving(200, ({ row, at }) =>
      allows(at + 10 * hashed(row), 1, most) ? undefined : tooMany,
    );
    const { ms, requests, lost } = simulate(service, searching, 1, 2000, { rate });
    expect(lost).toBe(0);
    expect((requests - 2000) / requests).toBeLessThan(0.01);
    expect(ms).toBeLessThan((1.03 * 2000 * 60_000) / rate.requestsPerMinute);
  });

  test("of 95 % of its tokens is used, however wrong the first estimate is, and less than 1 % is refused", () => {
    const allows = make();
    const rows = 3000;
    const bytesOf = (row: number): number => 100 + Math.floor(200 * hashed(row));
    // As large as a hundredth of a minute's tokens, or smaller.
    const tokensOf = (row: number): number => bytesOf(row) / 2.5;
    const service = serving(200, ({ row, at }) => (allows(at, tokensOf(row), 4000) ? undefined : tooMany));
    const rate = { tokensPerMinute: 0.95 * 4000 * 60 };
    const declared = { rate, bytesOf, tokensOf };
    const { ms, requests, lost } = simulate(service, () => new Limiter(32), 1, rows, declared);
    const tokens = Array.from({ length: rows }, (_, row) => tokensOf(row)).reduce((sum, each) => sum + each);
    expect(lost).toBe(0);
    expect((requests - rows) / requests).toBeLessThan(0.01);
    expect(ms).toBeLessThan((1.05 * tokens * 60_000) / rate.tokensPerMinute);
  });
});

test("no more than a second's worth goes out at once after a pause", () => {
  const sent: number[] = [];
  const service = serving(1, ({ at }) => {
    sent.push(at);
    return undefined;
  });
  simulate(service, () => new Limiter(64), 1, 500, { rate: { requestsPerMinute: 6000 } });
  const mostInSecond = Math.max(
    ...sent.map((at) => sent.filter((each) => each >= at && each < at + 1000).length),
  );
  expect(mostInSecond).toBeLessThanOrEqual(103);
});

describe("a run that finds its limit", () => {
  // `npm run test:all` judges it by more seeds.
  test.each(simulated.map((service) => [service.name, service] as const))(
    "is nearly as fast as one who knows the service: %s",
    (_, service) => {
      expect(problemsOf(service, compare(service, 2))).toEqual([]);
    },
  );

  test.each(services.filter(({ name }) => /^(20 a second|10 at once)/.test(name)))(
    "three workers that know nothing of each other, $name: refusals at most 40 %",
    (service) => {
      const shared = (): Limiter => new Limiter(Object.assign(new LimitSearch(256), { sharesService: true }));
      for (let seed = 1; seed <= 24; seed++) {
        const refused = simulateThree(service, shared, seed, 334) - 3 * 334;
        expect(refused / 1000, `seed ${seed}`).toBeLessThanOrEqual(0.4);
      }
    },
  );
});
