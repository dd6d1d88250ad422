import { describe, expect, test } from "vitest";
import { transportFailure } from "../../scripts/generate/conformance/expectations.js";
import { networkFailure } from "../../src/call/noResponse.js";
import type { RetryEvent } from "../../src/errors/codes.js";
import { Failure } from "../../src/errors/failure.js";
import type { OperationId } from "../../src/index.js";
import { Limiter } from "../../src/policy/limiter.js";
import { Lane, Run } from "../../src/policy/run.js";
import type { Phase, TransportFailure } from "../../src/transport/exchange.js";
import { connect, failureOf, transports } from "../support/clients.js";
import { decideOf, type RetryInput, usual } from "../support/decisionRows.js";
import { type Reply, useRecordingServer } from "../support/recordingServer.js";
import { EventClock, noWork } from "../support/refusals/simulate.js";
import { transientCodes } from "../support/transientCodes.js";

const decide = (changes: Partial<RetryInput>): number | undefined =>
  decideOf({ ...usual, ...changes }).waitMs;

// A start, a read, a set and an append.
const columns: readonly OperationId[] = [
  ...(["resumeReinforcementFineTuningJob", "rerankDocuments", "scaleDeployment"] as const),
  "uploadDatasetFile",
];

// The most repeats of each.
const table: readonly (readonly [RetryEvent, readonly [number, number, number, number]])[] = [
  ["unavailable", [2, 2, 2, 2]],
  ["gateway", [0, 2, 2, 0]],
  ["exhaustedTimed", [2, 2, 2, 1]],
  ["exhausted", [0, 1, 1, 0]],
  ["deadline", [0, 1, 1, 0]],
  ["unnamedFault", [0, 1, 1, 0]],
  ["namedFault", [0, 1, 0, 0]],
  ["dataLoss", [0, 0, 0, 0]],
  ["otherFault", [0, 0, 0, 0]],
  ["refused", [0, 0, 0, 0]],
  ["cancelled", [0, 0, 0, 0]],
  ["redirect", [0, 0, 0, 0]],
  ["tlsFailure", [0, 0, 0, 0]],
  ["html", [0, 0, 0, 0]],
  ["tooLarge", [0, 0, 0, 0]],
  ["ended", [0, 0, 0, 0]],
  ["unauthenticated", [1, 1, 1, 1]],
  ["unprocessed", [1, 1, 1, 1]],
  ["neverConnected", [2, 2, 2, 2]],
  ["nameNotFound", [1, 1, 1, 1]],
  ["connectionLost", [0, 2, 2, 0]],
  ["attemptTimeout", [0, 1, 1, 0]],
  ["bodyLost", [0, 2, 1, 0]],
  ["notJson", [0, 1, 0, 0]],
  ["incomplete", [0, 1, 0, 0]],
];

function repeatsOf(changes: Partial<RetryInput>): number {
  let retries = 0;
  while (decide({ maxRetries: 99, freshKey: retries === 0, ...changes, retries }) !== undefined) retries += 1;
  return retries;
}

test.each(table)(
  "%s is retried as often as the table says for each kind, or for the caller's word",
  (event, most) => {
    for (const [index, operation] of columns.entries()) {
      expect(repeatsOf({ operation, events: [event] })).toBe(most[index]);
      // As a read is, or as a start is.
      expect(repeatsOf({ operation, events: [event], idempotent: true })).toBe(most[1]);
      expect(repeatsOf({ operation, events: [event], idempotent: false })).toBe(most[0]);
    }
  },
);

test.each([
  [["unavailable", "unnamedFault"], 1],
  [["unavailable", "refused"], 0],
  [["exhaustedTimed", "gateway"], 2],
  [["unauthenticated", "unprocessed"], 1],
] as [RetryEvent[], number][])("of several events, %j, the strictest decides", (events, most) => {
  expect(repeatsOf({ events })).toBe(most);
  expect(repeatsOf({ events: events.reverse() })).toBe(most);
});

describe("the wait", () => {
  test.each([
    ["UNAVAILABLE", 0, 0, 0],
    ["UNAVAILABLE", 0, 0.999, 249],
    ["UNAVAILABLE", 1, 0, 0],
    ["UNAVAILABLE", 1, 0.999, 499],
    ["RESOURCE_EXHAUSTED", 0, 0, 0],
    ["RESOURCE_EXHAUSTED", 0, 0.999, 999],
    ["RESOURCE_EXHAUSTED", 1, 0.999, 1998],
  ] as const)("after %s, %i repeats and the number %d is %d ms", (code, retries, random, waitMs) => {
    expect(decide({ code, retries, random })).toBe(waitMs);
  });

  test.each([
    [100, 0, 100],
    [100, 0.999, 249],
    [5000, 0, 5000],
    [5000, 0.999, 5499],
    [59_999, 0, 59_999],
    [59_999, 0.5, 59_999],
    [0, 0.5, 125],
  ])("is never shorter than a Retry-After of %d ms (number %d): %d ms", (retryAfterMs, random, waitMs) => {
    expect(decide({ retryAfterMs, random })).toBe(waitMs);
  });

  test("may be the 60 s a server asks for, and not a millisecond more", () => {
    const events: RetryEvent[] = ["exhaustedTimed"];
    const asked = { events, timeLeftMs: 100_000, random: 0 };
    expect(decide({ ...asked, retryAfterMs: 60_000 })).toBe(60_000);
    expect(decide({ ...asked, retryAfterMs: 60_001 })).toBeUndefined();
  });

  test.each([
    [126, {}, 125],
    [125, {}, undefined],
    [124, {}, undefined],
    [0, {}, undefined],
    [-5, {}, undefined],
    [1000, { retryAfterMs: 999, random: 0 }, 999],
    [1000, { retryAfterMs: 1000 }, undefined],
  ])("with %d ms left and %j is %s", (timeLeftMs, asked, waitMs) => {
    expect(decide({ ...asked, timeLeftMs })).toBe(waitMs);
  });

  test("for a fresh key is none, unless the server asks for one", () => {
    const renewing: Partial<RetryInput> = { events: ["unauthenticated"], freshKey: true, random: 0.999 };
    expect(decide({ ...renewing, code: "UNAUTHENTICATED" })).toBe(0);
    expect(decide({ ...renewing, code: "UNAUTHENTICATED", retries: 1 })).toBe(0);
    expect(decide({ ...renewing, code: "UNAUTHENTICATED", retryAfterMs: 700, random: 0 })).toBe(700);
  });
});

describe("nothing is repeated", () => {
  test.each([
    ["with maxRetries 0", { maxRetries: 0 }],
    ["once maxRetries are made", { maxRetries: 1, retries: 1 }],
    ["with an empty budget", { budget: 0 }],
    ["with less than a whole token", { budget: 9 }],
    ["when the body cannot be sent again", { replayable: false }],
    [
      "as often as the table says, though a fresh key could be had",
      { retries: 2, maxRetries: 9, freshKey: true },
    ],
    ["after a 401 with the same key", { events: ["unauthenticated"], freshKey: false }],
    ["after a 401 with a key tried before", { events: ["unauthenticated"], retries: 1, freshKey: false }],
  ] as [string, Partial<RetryInput>][])("%s", (_what, changes) => {
    expect(decide(changes)).toBeUndefined();
  });

  test("but with one whole token", () => expect(decide({ budget: 10 })).toBe(125));
});

describe("a request without a whole response", () => {
  test.each([
    ["connect", "network", "ENOTFOUND", "nameNotFound"],
    ["connect", "network", "DEPTH_ZERO_SELF_SIGNED_CERT", "tlsFailure"],
    ["connect", "network", "CERT_HAS_EXPIRED", "tlsFailure"],
    ["connect", "network", "UNABLE_TO_VERIFY_LEAF_SIGNATURE", "tlsFailure"],
    ["connect", "network", "ERR_TLS_CERT_ALTNAME_INVALID", "tlsFailure"],
    ["connect", "network", "ERR_SSL_WRONG_VERSION_NUMBER", "tlsFailure"],
    ["connect", "network", "EPROTO", "tlsFailure"],
    ["connect", "network", "EACCES", "tlsFailure"],
    ["connect", "network", "EPROTOTYPE", "neverConnected"],
    ["connect", "network", "MY_CERT_", "neverConnected"],
    ["connect", "network", "", "neverConnected"],
    ["connect", "attempt-timeout", "", "neverConnected"],
    ["connect", "connect-timeout", "", "neverConnected"],
    ["send", "network", "ECONNRESET", "connectionLost"],
    ["headers", "network", "ECONNRESET", "connectionLost"],
    ["body", "network", "ECONNRESET", "bodyLost"],
    ["headers", "attempt-timeout", "", "attemptTimeout"],
    ["body", "attempt-timeout", "", "bodyLost"],
    ["body", "too-large", "", "tooLarge"],
    ["send", "source", "", "ended"],
  ] as const)("in phase %s by %s %s is %s", (phase, reason, networkCode, event) => {
    expect(eventOf(phase, reason, networkCode)).toBe(event);
  });

  test.each(transientCodes)("by %s counts by its phase", (networkCode) => {
    expect(eventOf("connect", "network", networkCode)).toBe("neverConnected");
    expect(eventOf("send", "network", networkCode)).toBe("connectionLost");
    expect(eventOf("headers", "network", networkCode)).toBe("connectionLost");
    expect(eventOf("body", "network", networkCode)).toBe("bodyLost");
  });
});

function eventOf(phase: Phase, reason: TransportFailure["reason"], code: string): string | undefined {
  return networkFailure(transportFailure({ phase, reason, code, seen: true }), (text) => text).events[0];
}

const server = useRecordingServer();

const exact: readonly (readonly [headers: Record<string, string>, ms: number | undefined])[] = [
  [{ "retry-after": "0" }, 0],
  [{ "retry-after": "7" }, 7_000],
  [{ "retry-after": "999999999" }, 999_999_999_000],
  [{ "retry-after-ms": "1500" }, 1_500],
  [{ "retry-after-ms": "250", "retry-after": "7" }, 7_000],
  [{ "retry-after-ms": "7001", "retry-after": "7" }, 7_001],
  // Rounded up: never earlier than asked.
  [{ "retry-after": "2.5" }, 2_500],
  [{ "retry-after": "0.0001" }, 1],
  [{ "retry-after-ms": "10.5" }, 11],
  [{ "retry-after-ms": "soon", "retry-after": "7" }, 7_000],
  [{ "retry-after": "9".repeat(98) }, Number.MAX_SAFE_INTEGER],
  [{ "retry-after": "Sun, 06 Nov 1994 08:49:37 GMT" }, 0],
  [{ "retry-after": "Sunday, 06-Nov-94 08:49:37 GMT" }, 0],
  [{ "retry-after": "Sun Nov  6 08:49:37 1994" }, 0],
  [{ "retry-after": "7\t" }, 7_000],
  [{ "retry-after-ms": " 250\t " }, 250],
  // The lines of a repeated header, joined as platforms join them.
  [{ "retry-after": "7, 8" }, 8_000],
  [{ "retry-after": "3, Sun, 06 Nov 1994 08:49:37 GMT" }, 3_000],
  [{ "retry-after": "Sunday, 06-Nov-94 08:49:37 GMT, 3" }, 3_000],
  [{}, undefined],
  [{ "retry-after": "" }, undefined],
  [{ "retry-after": "soon" }, undefined],
  [{ "retry-after": "-1" }, undefined],
  [{ "retry-after": "1e3" }, undefined],
  [{ "retry-after": "1." }, undefined],
  [{ "retry-after": ".5" }, undefined],
  [{ "retry-after": "0x10" }, undefined],
  [{ "retry-after": "Infinity" }, undefined],
  [{ "retry-after": "2030-01-01T00:00:00Z" }, undefined],
  [{ "retry-after": "Sun, 06 Xyz 2094 08:49:37 GMT" }, undefined],
  [{ "retry-after": "Sun, 06-Nov-94 08:49:37 GMT" }, undefined],
  [{ "retry-after": "Sun Nov 6 08:49:37 1994" }, undefined],
  [{ "retry-after-ms": "-5" }, undefined],
];

// The clock of this machine is years away from these.
const dates: readonly (readonly [retryAfter: string, date: string, ms: number])[] = [
  ["Sun, 06 Nov 1994 08:50:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT", 60_000],
  ["Sun, 06 Nov 1994 08:50:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", 60_000],
  ["Sunday, 06-Nov-94 08:50:37 GMT", "Sun Nov  6 08:49:37 1994", 60_000],
  ["Wednesday, 01-Jan-03 00:00:07 GMT", "Wed, 01 Jan 2003 00:00:00 GMT", 7_000],
  ["Sat Nov 26 08:49:37 2016", "Sat, 26 Nov 2016 08:49:30 GMT", 7_000],
  ["Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:50:37 GMT", 0],
  ["Thu, 06 Nov 2094 08:49:37 GMT", "Thu, 06 Nov 2094 08:49:30 GMT", 7_000],
];

const day = 24 * 60 * 60 * 1000;

const retryInfo = (retryDelay: unknown, type = "type.googleapis.com/google.rpc.RetryInfo"): object[] => [
  { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "RATE_LIMIT_EXCEEDED" },
  { "@type": type, retryDelay },
];

const bodies: readonly (readonly [what: string, body: unknown, ms: number | undefined])[] = [
  ["Google's shape", { error: { status: "RESOURCE_EXHAUSTED", details: retryInfo("3.5s") } }, 3_500],
  ["Google's shape in a list", [{ error: { code: 429, details: retryInfo("7s") } }], 7_000],
  ["grpc-gateway's shape", { code: 8, message: "m", details: retryInfo("0.0001s") }, 1],
  ["a type without a host", { code: 8, details: retryInfo("2s", "google.rpc.RetryInfo") }, 2_000],
  ["another type", { code: 8, details: retryInfo("2s", "example.com/my.RetryInfo") }, undefined],
  ["a type that only ends so", { code: 8, details: retryInfo("2s", "x.google.rpc.RetryInfo") }, undefined],
  ["a delay without a unit", { code: 8, details: retryInfo("2") }, undefined],
  ["a delay in minutes", { code: 8, details: retryInfo("2m") }, undefined],
  ["a delay below 0", { code: 8, details: retryInfo("-2s") }, undefined],
  ["a delay that is no text", { code: 8, details: retryInfo(2) }, undefined],
  ["details that are no list", { code: 8, details: { "@type": "google.rpc.RetryInfo" } }, undefined],
  ["no delay", { code: 8, details: [null, 1, "x", {}] }, undefined],
];

const told: readonly (readonly [what: string, reply: Reply, ms: number | undefined])[] = [
  ...exact.map(([headers, ms]) => [JSON.stringify(headers), { headers }, ms] as const),
  ...dates.map(([retryAfter, date, ms]) => {
    const headers = { "retry-after": retryAfter, date };
    return [`${retryAfter} in a response of ${date}`, { text: "", headers }, ms] as const;
  }),
  ...bodies.map(([what, json, ms]) => [`a RetryInfo in ${what}`, { json }, ms] as const),
  ...[["1", 3_500] as const, ["5", 5_000] as const].map(([seconds, ms]) => {
    const reply = { json: bodies[0]?.[1], headers: { "retry-after": seconds } };
    return [`the longer of a RetryInfo of 3.5 s and a Retry-After of ${seconds} s`, reply, ms] as const;
  }),
];

describe.each(transports)("retryAfterMs over $name", ({ options }) => {
  const retryAfterOf = async (reply: Reply): Promise<number | undefined> => {
    server.reply({ status: 429, json: { code: "RESOURCE_EXHAUSTED" }, ...reply });
    const error = await failureOf(() => connect(server.url, options).deployments.scale("prod", 1));
    expect(error.code).toBe("RESOURCE_EXHAUSTED");
    return error.retryAfterMs;
  };

  test.each(told)("is that of %s", async (_what, reply, ms) => {
    expect(await retryAfterOf(reply)).toBe(ms);
  });

  test("of a year in two digits is the nearest in the past 50 years or those to come", async () => {
    const time = new Date(Date.now() + 10 * 365 * day);
    const [weekday = "", date = "", month = "", year = "", clock = ""] = time.toUTCString().split(/,? /);
    const long = { Tue: "Tuesday", Wed: "Wednesday", Thu: "Thursday", Sat: "Saturday" }[weekday];
    const old = `${long ?? `${weekday}day`}, ${date}-${month}-${year.slice(2)} ${clock} GMT`;
    const ms = await retryAfterOf({ text: "", headers: { "retry-after": old } });
    expect((ms ?? 0) / (10 * 365 * day)).toBeCloseTo(1, 4);
  });

  test("of a date to come is the time until then", async () => {
    const date = new Date(Date.now() + 90_000).toUTCString();
    const ms = await retryAfterOf({ headers: { "retry-after": date } });
    // The date has no fraction of a second.
    expect(ms).toBeGreaterThan(80_000);
    expect(ms).toBeLessThanOrEqual(90_000);
  });
});

describe("a Retry-After that a whole fleet was told", () => {
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

    test("draws again for the next time, whose number ends nothing", async () => {
      const run = runOf(1);
      run.begin("a", 0);
      run.fail("a", { retryAfterMs: 10_000, random: 0.5 });
      expect(await run.passAll()).toEqual([["a", 10_500]]);
      run.fail("a", { retryAfterMs: 10_000, random: 0.1, retries: 9 });
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
});
