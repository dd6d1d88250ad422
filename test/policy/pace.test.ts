import { describe, expect, test } from "vitest";
import { compare, problemsOf, simulated } from "../support/refusals/judge.js";
import { numbersFrom, type Reaction, type Service, simulate } from "../support/simulatedRun.js";

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

const services = [
  ["token bucket", tokenBucket],
  ["fixed window", fixedWindow],
  ["sliding window", slidingWindow],
] as const;

const perMinute = (most * 60_000) / windowMs;

describe.each(services)("a declared rate at a service with a %s", (_name, make) => {
  const requests = (): Service => {
    const allows = make();
    const random = numbersFrom(7);
    // Requests arrive some milliseconds later, and not all as much.
    return {
      received: (now): Reaction =>
        allows(now + 10 * random(), 1, most) ? { afterMs: 200 } : { afterMs: 5, refused: true },
    };
  };

  test("of 95 % is used, and less than 1 % is refused", async () => {
    const rate = { requestsPerMinute: 0.95 * perMinute };
    const found = await simulate({
      rows: 2000,
      concurrency: { max: 256 },
      rate,
      service: requests(),
      random: numbersFrom(1),
    });
    expect(found.refused / found.received).toBeLessThan(0.01);
    expect(found.ms).toBeLessThan((1.03 * 2000 * 60_000) / rate.requestsPerMinute);
  });

  test("of 95 % of its tokens is used, however wrong the first estimate is, and less than 1 % is refused", async () => {
    const allows = make();
    const tokensOf = (bytes: number): number => bytes / 2.5;
    // As large as a hundredth of a minute's tokens, or smaller.
    const service: Service = {
      received: (now, bytes) =>
        allows(now, tokensOf(bytes), 4000)
          ? { afterMs: 200, tokens: tokensOf(bytes) }
          : { afterMs: 5, refused: true },
    };
    const random = numbersFrom(3);
    const rate = { tokensPerMinute: 0.95 * 4000 * 60 };
    const rows = 3000;
    let tokens = 0;
    const bytesOf = (): number => {
      const bytes = 100 + Math.floor(200 * random());
      tokens += tokensOf(bytes);
      return bytes;
    };
    const simulation = { rows, concurrency: 32, rate, service, random: numbersFrom(1), bytesOf };
    const found = await simulate(simulation);
    expect(found.refused / found.received).toBeLessThan(0.01);
    expect(found.ms).toBeLessThan((1.05 * tokens * 60_000) / rate.tokensPerMinute);
  });
});

test("no more than a second's worth goes out at once after a pause", async () => {
  const sent: number[] = [];
  const service: Service = {
    received(now) {
      sent.push(now);
      return { afterMs: 1 };
    },
  };
  await simulate({
    rows: 500,
    concurrency: 64,
    rate: { requestsPerMinute: 6000 },
    service,
    random: numbersFrom(1),
  });
  const mostInSecond = Math.max(
    ...sent.map((at) => sent.filter((each) => each >= at && each < at + 1000).length),
  );
  expect(mostInSecond).toBeLessThanOrEqual(103);
});

const responseMs = 200;
const auto = { max: 256 };

/** Takes so many at once, and refuses others. */
function hardLimit(most: number): Service {
  let open = 0;
  return {
    received() {
      if (open >= most) return { afterMs: 5, refused: true };
      open += 1;
      return { afterMs: responseMs };
    },
    responded() {
      open -= 1;
    },
  };
}

/** Allows so many a second, and one second's worth at once. */
function perSecond(rate: number, good: Reaction, retryAfterMs?: number): Service {
  let left = rate;
  let last = 0;
  return {
    received(now) {
      left = Math.min(rate, left + ((now - last) * rate) / 1000);
      last = now;
      if (left < 1) return { afterMs: 5, refused: true, ...(retryAfterMs !== undefined && { retryAfterMs }) };
      left -= 1;
      return good;
    },
  };
}

describe("a run that finds its limit", () => {
  // `npm run test:all` judges it by more seeds.
  test.each(simulated.map((service) => [service.name, service] as const))(
    "is nearly as fast as one who knows the service: %s",
    (_, service) => {
      expect(problemsOf(service, compare(service, 2))).toEqual([]);
    },
  );

  test.each([
    ["20 a second", () => perSecond(20, { afterMs: responseMs })],
    ["20 a second, with Retry-After: 1", () => perSecond(20, { afterMs: responseMs }, 1000)],
    ["10 at once", () => hardLimit(10)],
  ])("three workers that know nothing of each other, %s: refusals at most 40 %", async (_, service) => {
    for (let seed = 1; seed <= 24; seed++) {
      const random = numbersFrom(seed);
      const rows = 334;
      const { refused } = await simulate({ rows, concurrency: auto, service: service(), random, workers: 3 });
      expect(refused / 1000, `seed ${seed}`).toBeLessThanOrEqual(0.4);
    }
  });
});
