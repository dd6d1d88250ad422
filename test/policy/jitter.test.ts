// A Retry-After that a whole fleet was told: each comes back at another time, none too early, and none too late for its call.

import { describe, expect, test } from "vitest";
import { Failure } from "../../src/errors/failure.js";
import { Limiter } from "../../src/policy/limiter.js";
import { Lane, Run } from "../../src/policy/run.js";
import { decideOf, type RetryInput, usual } from "../support/decisionRows.js";
import { EventClock, noWork, numbersFrom } from "../support/simulatedRun.js";

const told: RetryInput = { ...usual, events: ["exhaustedTimed"], code: "RESOURCE_EXHAUSTED" };
const decide = (changes: Partial<RetryInput>) => decideOf({ ...told, timeLeftMs: 1e9, ...changes });

describe("a call that is told to wait", () => {
  test.each([
    [60_000, 5_000],
    [50_000, 5_000],
    [20_000, 2_000],
    [5_000, 500],
    [1_500, 150],
    [1_000, 100],
    [600, 100],
  ])("%i ms waits up to %i ms more", (retryAfterMs, most) => {
    // Its backoff is shorter.
    const wait = (random: number) => decide({ code: "UNAVAILABLE", retryAfterMs, random }).waitMs;
    expect([0, 0.25, 1].map(wait)).toEqual(
      [0, Math.floor(0.25 * most), most].map((more) => retryAfterMs + more),
    );
  });

  test("0 ms, or nothing, waits for its backoff alone, and with a fresh key for nothing", () => {
    for (const retryAfterMs of [0, undefined]) {
      expect(decide({ retryAfterMs, random: 0.1 }).waitMs).toBe(100);
      const renewing = { events: ["unauthenticated"], code: "UNAUTHENTICATED", freshKey: true } as const;
      expect(decide({ ...renewing, retryAfterMs, random: 1 }).waitMs).toBe(0);
    }
  });

  test.each([1, 5, 100, 300, 1_000, 5_000, 60_000])(
    "with %i ms left after that wait keeps nine tenths of them, whatever chance says",
    (leftMs) => {
      for (const retryAfterMs of [1, 100, 900, 20_000, 60_000]) {
        for (const random of [0, 0.5, 0.999999]) {
          const timeLeftMs = retryAfterMs + leftMs;
          const { waitMs } = decide({ retryAfterMs, timeLeftMs, random, retries: 1, maxRetries: 9 });
          expect(waitMs).toBeGreaterThanOrEqual(retryAfterMs);
          expect(waitMs).toBeLessThanOrEqual(retryAfterMs + leftMs / 10);
        }
      }
    },
  );

  test.each([
    [1e9, 3_000],
    [40_000, 1_000],
  ])("and has %i ms left is one of 400 that come back spread over %i ms", (timeLeftMs, spreadMs) => {
    const random = numbersFrom(7);
    const parts = Array.from({ length: 10 }, () => 0);
    for (let client = 0; client < 400; client++) {
      const { waitMs = 0 } = decide({ retryAfterMs: 30_000, timeLeftMs, random: random() });
      const part = Math.floor((10 * (waitMs - 30_000)) / spreadMs);
      parts[part] = (parts[part] ?? 0) + 1;
    }
    expect(parts).toHaveLength(10);
    // Of 40 on average, more than 70 in one part are drawn once in 100,000 runs.
    expect(Math.max(...parts)).toBeLessThan(70);
  });
});

describe("the reason why there is no other attempt", () => {
  test.each<[what: string, changes: Partial<RetryInput>]>([
    ["no retry is left", { retries: 2 }],
    ["maxRetries is 0", { maxRetries: 0 }],
    ["the budget is spent", { budget: 0 }],
    ["the deadline is near", { timeLeftMs: 10 }],
  ])("is that the wait is too long, also where %s", (_what, changes) => {
    expect(decide({ retryAfterMs: 60_001, ...changes }).notRetried).toBe("asked-to-wait-too-long");
    expect(decide({ retryAfterMs: 60_000, ...changes }).notRetried).not.toBe("asked-to-wait-too-long");
  });

  test.each<[notRetried: string, changes: Partial<RetryInput>]>([
    ["refused", { events: ["refused"] }],
    ["not-transient", { events: ["dataLoss"] }],
    ["not-safe", { events: ["gateway"], operation: "uploadDatasetFile" }],
    ["refused", { events: ["unauthenticated"] }],
    ["single-use-body", { replayable: false }],
  ])("stays %s where no wait would help", (notRetried, changes) => {
    expect(decide({ retryAfterMs: 3_600_000, ...changes }).notRetried).toBe(notRetried);
  });
});

describe("a run that is told to wait", () => {
  /** A run in simulated time: when its calls begin, each under its name. */
  function runOf(concurrency: number) {
    const clock = new EventClock();
    const limiter = new Limiter(concurrency);
    const began: [name: string, at: number][] = [];
    const fresh: string[] = [];
    const run = new Run({ limiter, clock, untilDeadline: true }, noWork);
    run.begin = (now) => {
      while (fresh.length > 0 && run.isOpen(now)) begin(fresh.shift() as string, now);
    };
    const lanes = new Map<string, Lane>();
    function begin(name: string, now: number): void {
      const lane = new Lane(run);
      lanes.set(name, lane);
      lane.begin(now);
      began.push([name, now]);
    }
    const fail = (name: string, input: Partial<RetryInput>): void => {
      const lane = lanes.get(name) as Lane;
      const { retryAfterMs } = input;
      const { code, events } = { ...told, ...input };
      const failure = new Failure({
        message: "",
        code,
        events,
        codeSource: "status",
        executed: "no",
        httpStatus: 429,
        retryAfterMs,
      });
      const { waitMs } = lane.decide(failure, { ...told, timeLeftMs: 1e9, ...input });
      if (waitMs === undefined) throw new Error("It is not retried.");
      const waited = lane.wait(waitMs, { untilEnded: (promise) => promise });
      void waited.then(() => began.push([name, clock.now()]));
    };
    const passAll = async (): Promise<typeof began> => {
      began.length = 0;
      run.advance();
      // What waits for its turn goes on in a microtask.
      do for (let turn = 0; turn < 3; turn++) await Promise.resolve();
      while (clock.next());
      return began;
    };
    return { clock, run, limiter, begin, fresh, fail, passAll };
  }

  test("sends nothing before a random time after it, the same for all that it was told at once", async () => {
    const run = runOf(2);
    for (const name of ["a", "b", "c"]) run.begin(name, 0);
    run.fail("a", { retryAfterMs: 10_000, random: 0.5 });
    // Else the more were told, the closer to the end would all runs of a fleet begin.
    run.fail("b", { retryAfterMs: 10_000, random: 0.1 });
    run.fail("c", { retryAfterMs: 10_000, random: 0.9 });
    run.fresh.push("new");
    expect(await run.passAll()).toEqual([
      ["a", 10_500],
      ["b", 10_500],
    ]);
    expect(run.limiter.pausedUntil).toBe(10_500);
  });

  test("draws again for the next time", async () => {
    const run = runOf(1);
    run.begin("a", 0);
    run.fail("a", { retryAfterMs: 10_000, random: 0.5 });
    expect(await run.passAll()).toEqual([["a", 10_500]]);
    run.fail("a", { retryAfterMs: 10_000, random: 0.1 });
    expect(await run.passAll()).toEqual([["a", 20_600]]);
  });

  test("lets a call begin at once after it whose own time would run out", async () => {
    const run = runOf(9);
    for (const name of ["told", "late", "tight", "other"]) run.begin(name, 0);
    run.fail("told", { retryAfterMs: 10_000, random: 0.5, timeLeftMs: 10_001 });
    // These wait for nothing that the service asked of them.
    for (const [name, timeLeftMs] of Object.entries({ late: 10_009, tight: 12_000, other: 60_000 }))
      run.fail(name, { events: ["unavailable"], random: 0, timeLeftMs });
    run.fresh.push("new");
    const began = await run.passAll();
    const times = Object.fromEntries(began.map(([name, at]) => [name, Math.floor(at)]));
    expect(times).toEqual({ late: 10_000, tight: 10_000, told: 10_000, other: 10_500, new: 10_500 });
  });
});
