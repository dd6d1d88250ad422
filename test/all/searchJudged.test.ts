import { describe, expect, test } from "vitest";
import { Limiter } from "../../src/policy/limiter.js";
import { LimitSearch } from "../../src/policy/search.js";
import {
  compare,
  compareSecond,
  problemsOf,
  secondProblems,
  serviceOf,
  simulated,
} from "../support/refusals/judge.js";

const seeds = 20;

describe.each(simulated.map((service) => [service.name, service] as const))("%s:", (_, service) => {
  test("nearly as fast as one who knows the service", () => {
    expect(problemsOf(service, compare(service, seeds))).toEqual([]);
  });

  test("a second run is no slower than one that knows nothing of the first, and has no more requests rejected", () => {
    expect(secondProblems(service, compareSecond(service, seeds))).toEqual([]);
  });
});

test("a second run goes on after the service has changed", () => {
  // It needs less than 1.3 times the time to find out that the service takes more by now.
  const more = compareSecond(serviceOf("10 at once"), seeds, serviceOf("200 at once"));
  expect(more.time).toBeLessThan(1.3);
  const less = compareSecond(serviceOf("200 at once"), seeds, serviceOf("10 at once"));
  expect(less.time).toBeLessThan(1.05);
  // Half of what the first run found is rejected but for ten.
  expect(less.requests).toBeLessThan(1.07);
});

test("a response costs the same late in a run whose source holds it up", () => {
  const limiter = new Limiter(new LimitSearch(256));
  let now = 0;
  const timed = (responses: number): number => {
    const start = performance.now();
    for (let count = 0; count < responses; count++) {
      const epoch = limiter.begin();
      limiter.responded({ epoch, began: now, ended: now + 200 + (count % 7) });
      now += 1_000;
    }
    return performance.now() - start;
  };
  timed(2_000);
  const early = timed(2_000);
  timed(16_000);
  expect(timed(2_000)).toBeLessThan(5 * early + 20);
});
