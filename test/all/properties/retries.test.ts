import assert from "node:assert/strict";
import fc, { type Arbitrary } from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { RetryEvent } from "../../../src/errors/codes.js";
import type {
  Client,
  FetchLike,
  FetchResponse,
  OperationId,
  StatusCode,
  StatusError,
} from "../../../src/index.js";
import { operationCalls, transports } from "../../support/clients.js";
import { TestClock } from "../../support/clock.js";
import { type DecisionRow, decideOf, decisionRows, type RowServer } from "../../support/decisionRows.js";
import { goodText } from "../../support/responses.js";
import { holdsFor, inOneRead, plainClient, settled, times, within } from "./support/runs.js";
import { behaviour, isRefusal, type Logged, namesUnavailable, useFaultyService } from "./support/services.js";

describe("what is sent", () => {
  const service = useFaultyService();

  // The shortest wait the backoff can draw: what counts here is how often, not when.
  beforeEach(() => {
    vi.spyOn(Math, "random").mockReturnValue(0);
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });

  const cases = fc.record({
    plan: fc.array(behaviour, { minLength: 1, maxLength: 4 }),
    upload: fc.constantFrom(undefined, undefined, 0, 10, 200_000),
    // A call before this one leaves a connection to be used again.
    reused: fc.boolean(),
    maxRetries: fc.constantFrom(2, 2, 2, 1),
    renewed: fc.boolean(),
  });

  function callOf(client: Client, id: string, bytes: number | undefined): PromiseLike<unknown> {
    const options = { timeoutMs: 5_000, attemptTimeoutMs: 500 };
    if (bytes === undefined) return client.reinforcementFineTuningJobs.resume(id, options);
    return client.datasets.upload(id, new Uint8Array(bytes), { name: "train.jsonl", ...options });
  }

  /** Whether the service may have done the work for a request, as far as its response tells. */
  function mayHaveExecuted({ behaviour: { outcome } }: Logged): boolean {
    return !("status" in outcome) || !isRefusal(outcome.status);
  }

  function sentOnce(log: readonly Logged[]): void {
    for (const earlier of log.slice(0, -1)) {
      assert.ok(!mayHaveExecuted(earlier) || namesUnavailable(earlier.behaviour), "It was sent twice.");
    }
  }

  function tellsTheTruth(log: readonly Logged[], error: StatusError | undefined): void {
    const worked = log.some((each) => each.worked);
    const succeeded = log.some(({ began }) => began !== undefined && began >= 200 && began < 300);
    if (error === undefined) assert.ok(log.at(-1)?.worked);
    if (error?.executed === "no") assert.ok(!worked, "It ran, and the error says that it did not.");
    if (error?.executed === "yes") assert.ok(succeeded, "No success began, and the error says that it ran.");
  }

  describe.each(transports)("over $name", ({ name, options }) => {
    test(
      "resume and upload are never sent twice where both can have executed, and executed is never wrongly no",
      async () => {
        const seen = { calls: 0, repeats: 0, no: 0, unknown: 0, yes: 0, succeeded: 0 };
        await holdsFor(
          cases,
          name === "fetch" ? 2_000 : 8_000,
          async ({ plan, upload, reused, maxRetries, renewed }) => {
            const id = `run-${seen.calls++}`;
            const log = service.plan(id, plan);
            const apiKey = renewed ? () => `key-of-${id}` : `key-of-${id}`;
            const client = plainClient(service.url, { ...options, maxRetries, apiKey });
            if (reused) await client.reinforcementFineTuningJobs.resume("planned-by-nobody");
            const { error } = await settled(() => callOf(client, id, upload));
            sentOnce(log);
            tellsTheTruth(log, error);
            seen.repeats += Math.max(0, log.length - 1);
            seen[error?.executed ?? "succeeded"] += 1;
            service.forget(id);
            await client.close();
          },
        );
        for (const count of Object.values(seen)) expect(count).toBeGreaterThan(0);
      },
      within(300_000),
    );
  });
});

describe("the decisions", () => {
  // The decision table's rules in few words, to hold the client against: see contract/conformance/retries.json.
  /** What becomes of one request: a row of the table, or success when there is none. */
  interface Outcome {
    readonly row: DecisionRow | undefined;
    readonly retryAfterMs: number | undefined;
    /** From the request to this outcome. */
    readonly latencyMs: number;
  }

  interface ModelCall {
    readonly operation: OperationId;
    readonly timeoutMs: number;
    readonly attemptTimeoutMs: number;
    readonly maxRetries: number;
    /** Of each request; those after the last are like it. */
    readonly outcomes: readonly Outcome[];
  }

  /** A client's tokens, in tenths. */
  interface Budget {
    left: number;
  }

  const fullBudget = 100;
  const repeatCost = 10;
  const longestRetryAfterMs = 60_000;
  const capMs = 8_000;

  /** A row by its name. */
  function rowOf(event: string): DecisionRow {
    const row = decisionRows.find((each) => each.event === event);
    if (row === undefined) throw new Error(`There is no row ${event}.`);
    return row;
  }

  /** The most repeats a row allows. */
  function mostRepeats(row: DecisionRow, operation: OperationId): number {
    const { requests, attempts = requests } = row.operations[operation];
    return attempts - 1;
  }

  /** The most that is waited on top of a Retry-After. */
  function mostJitter(askedMs: number): number {
    return Math.min(5_000, Math.max(100, askedMs / 10));
  }

  /** When a call sends its requests, from its beginning; `random` is what the backoff draws. */
  function requestTimes(call: ModelCall, budget: Budget, random: number): readonly number[] {
    const { operation, timeoutMs, attemptTimeoutMs, maxRetries } = call;
    const times = [0];
    for (;;) {
      const sent = times.at(-1) ?? 0;
      const { row, retryAfterMs = 0, latencyMs } = outcomeOf(call, times.length - 1);
      const limit = Math.min(sent + attemptTimeoutMs, timeoutMs);
      const responded = sent + latencyMs < limit;
      if (responded && row === undefined) {
        budget.left = Math.min(fullBudget, budget.left + 1);
        return times;
      }
      // The deadline's timer may fire a millisecond early.
      if (!responded && limit + 1 >= timeoutMs) return times;
      const failed = responded && row ? row : rowOf("attempt-timeout");
      const asked = responded ? retryAfterMs : 0;
      const repeats = times.length - 1;
      const base = failed.operations[operation].code === "RESOURCE_EXHAUSTED" ? 1000 : 250;
      const backoffMs = random * Math.min(capMs, base * 2 ** repeats);
      const now = responded ? sent + latencyMs : limit;
      const spareMs = (timeoutMs - now - asked) / 10;
      const jitterMs = random * Math.min(spareMs, mostJitter(asked));
      const waitMs =
        asked === 0 ? backoffMs : asked + Math.min(spareMs, Math.max(jitterMs, backoffMs - asked));
      const most = Math.min(maxRetries, mostRepeats(failed, operation));
      if (repeats >= most || budget.left < repeatCost) return times;
      if (asked > longestRetryAfterMs || now + waitMs >= timeoutMs) return times;
      budget.left -= repeatCost;
      times.push(now + Math.trunc(waitMs));
    }
  }

  /** What becomes of the nth request of a call. */
  function outcomeOf({ outcomes }: ModelCall, nth: number): Outcome {
    const outcome = outcomes[Math.min(nth, outcomes.length - 1)];
    if (outcome === undefined) throw new Error("A call has at least one outcome.");
    return outcome;
  }

  let clock: TestClock;
  beforeEach(() => {
    clock = new TestClock();
  });
  afterEach(() => {
    clock.remove();
    vi.restoreAllMocks();
  });

  // Responses without a time, to which one may be added where it changes nothing but the wait.
  const untimed = decisionRows.filter(
    ({ server, client }) =>
      "answer" in server &&
      client === undefined &&
      server.answer.status !== 204 &&
      !Object.keys(server.answer.headers ?? {}).some((header) => header.startsWith("retry-after")) &&
      !JSON.stringify(server.answer.body ?? "").includes("retryDelay"),
  );
  const exhausted = /429|exhausted/;
  // Of a success Retry-After asks nothing.
  function isError(server: RowServer): boolean {
    return "answer" in server && server.answer.status >= 300;
  }
  const lost = ["reset-before-headers", "refused", "name-not-found"].map(rowOf);

  // Never a whole number: no two things happen at the same time.
  const latencyMs = fc.nat(9_000).map((ms) => ms + 0.37);
  const askedMs = fc.oneof(fc.nat(3_000), fc.nat(70_000));
  const outcome: Arbitrary<Outcome> = fc.oneof(
    fc.record({ row: fc.constant(undefined), retryAfterMs: fc.constant(undefined), latencyMs }),
    fc.record({
      row: fc.constantFrom(...untimed, ...lost),
      retryAfterMs: fc.constant(undefined),
      latencyMs,
    }),
    fc.record({
      row: fc.constantFrom(
        ...untimed.filter(({ event, server }) => !exhausted.test(event) && isError(server)),
      ),
      retryAfterMs: askedMs,
      latencyMs,
    }),
    fc.record({
      row: fc.constantFrom(rowOf("status-429-retry-after-ms"), rowOf("unavailable-named")),
      retryAfterMs: askedMs,
      latencyMs,
    }),
  );
  const call: Arbitrary<ModelCall> = fc.record({
    operation: fc.constantFrom(...operationCalls.map(({ operation }) => operation)),
    timeoutMs: fc.integer({ min: 1_000, max: 90_000 }),
    attemptTimeoutMs: fc.integer({ min: 500, max: 90_000 }).map((ms) => ms + 0.11),
    maxRetries: fc.nat(2),
    outcomes: fc.array(outcome, { minLength: 1, maxLength: 4 }),
  });
  // Calls that fail and may be repeated, until the budget is spent.
  const outage: Arbitrary<ModelCall> = call.map((each) => ({
    ...each,
    timeoutMs: 90_000,
    attemptTimeoutMs: 30_000.11,
    maxRetries: 2,
    outcomes: [{ row: rowOf("unavailable-named"), retryAfterMs: undefined, latencyMs: 5.37 }],
  }));
  const cases = fc.record({
    calls: fc.oneof(
      { weight: 4, arbitrary: fc.array(call, { minLength: 1, maxLength: 16 }) },
      {
        weight: 1,
        arbitrary: fc.array(fc.oneof(outage, call), { minLength: 10, maxLength: 20, size: "max" }),
      },
    ),
    random: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  });

  async function respond({ row, retryAfterMs, latencyMs }: Outcome): Promise<FetchResponse> {
    await clock.sleep(latencyMs);
    if (row === undefined) return { status: 200, headers: new Map(), body: inOneRead(goodText) };
    if (!("answer" in row.server)) {
      const code = { refused: "ECONNREFUSED", "name-not-found": "ENOTFOUND" }[row.event] ?? "ECONNRESET";
      throw Object.assign(new Error(code), { code });
    }
    const { status, headers = {}, body, text } = row.server.answer;
    const asked = retryAfterMs === undefined ? {} : { "retry-after-ms": `${retryAfterMs}` };
    return {
      status,
      headers: new Map(Object.entries({ ...headers, ...asked })),
      body: inOneRead(text ?? (body === undefined ? "" : JSON.stringify(body))),
    };
  }

  test(
    "calls one after another send what the model sends, when it sends it, and nothing after their deadline",
    async () => {
      clock.install();
      let repeats = 0;
      let refusedByBudget = 0;
      await fc.assert(
        fc.asyncProperty(cases, async ({ calls, random }) => {
          vi.spyOn(Math, "random").mockReturnValue(random);
          let sent: number[] = [];
          let current: ModelCall | undefined;
          const fetch: FetchLike = (_url, init: { signal: AbortSignal }) => {
            assert.ok(current);
            const response = respond(outcomeOf(current, sent.length));
            sent.push(clock.now);
            // As a real one does: it stops when it is told to.
            const aborted = new Promise<never>((_resolve, reject) => {
              init.signal.addEventListener("abort", () => reject(new Error("aborted")));
            });
            return Promise.race([response, aborted]);
          };
          const client = plainClient("https://api.example.com", { fetch });
          const budget: Budget = { left: fullBudget };
          const spent = { repeats: 0, successes: 0 };
          for (const each of calls) {
            current = each;
            sent = [];
            const { operation, outcomes: _, ...options } = each;
            const run = operationCalls.find((one) => one.operation === operation);
            const began = clock.now;
            const { error } = await clock.until(settled(async () => run?.call(client, options)));
            const ended = clock.now;
            check(each, began, sent, ended);
            const left = budget.left;
            const expected = requestTimes(each, budget, random);
            assert.equal(sent.length, expected.length);
            for (const [nth, at] of expected.entries()) {
              assert.ok(Math.abs(Number(sent[nth]) - began - at) < 1e-6, `request ${nth + 1}`);
            }
            spent.repeats += sent.length - 1;
            if (error === undefined) spent.successes += 1;
            // The budget is never below zero, and never above full.
            assert.ok(spent.repeats * 10 <= fullBudget + spent.successes);
            if (left < 10) refusedByBudget += 1;
            repeats += sent.length - 1;
            // Requests that were given up still respond in their own time.
            await clock.until(clock.sleep(100_000));
            assert.equal(clock.waiting, 0);
          }
        }),
        times(1_000),
      );
      expect(repeats).toBeGreaterThan(0);
      expect(refusedByBudget).toBeGreaterThan(0);
    },
    within(300_000),
  );

  /** What holds whatever the model says. */
  function check(call: ModelCall, began: number, sent: readonly number[], ended: number): void {
    assert.ok(sent.length <= 1 + Math.min(call.maxRetries, 2));
    assert.ok(ended - began <= call.timeoutMs + 1);
    for (const [nth, at] of sent.entries()) {
      assert.ok(at - began < call.timeoutMs);
      const before = sent[nth - 1];
      if (before === undefined) continue;
      const { row, retryAfterMs = 0, latencyMs } = outcomeOf(call, nth - 1);
      if (latencyMs >= call.attemptTimeoutMs) continue;
      assert.ok(at - before >= latencyMs + retryAfterMs - 1e-6);
      assert.ok(row && mostRepeats(row, call.operation) >= nth);
    }
  }

  const neverRepeated: readonly RetryEvent[] = [
    ..."dataLoss otherFault refused cancelled redirect tlsFailure html tooLarge ended".split(" "),
  ] as RetryEvent[];
  const events: readonly RetryEvent[] = [
    ...neverRepeated,
    ..."unavailable gateway exhaustedTimed exhausted deadline unnamedFault namedFault".split(" "),
    ..."unauthenticated unprocessed neverConnected nameNotFound connectionLost attemptTimeout bodyLost notJson incomplete".split(
      " ",
    ),
  ] as RetryEvent[];

  test("a wait is never shorter than asked, never past the deadline, and never longer than 8 s unasked", () => {
    const inputs = fc.record({
      operation: fc.constantFrom<OperationId[]>(...operationCalls.map(({ operation }) => operation)),
      idempotent: fc.constantFrom(undefined, true, false),
      events: fc.array(fc.constantFrom(...events), { minLength: 1, maxLength: 2 }),
      code: fc.constantFrom<StatusCode[]>("UNAVAILABLE", "RESOURCE_EXHAUSTED", "UNAUTHENTICATED", "UNKNOWN"),
      retries: fc.nat(5),
      maxRetries: fc.nat(10),
      retryAfterMs: fc.option(fc.nat(90_000), { nil: undefined }),
      timeLeftMs: fc.double({ min: -10, max: 120_000, noNaN: true }),
      budget: fc.nat(fullBudget),
      replayable: fc.boolean(),
      freshKey: fc.boolean(),
      random: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    });
    let waits = 0;
    let longest = 0;
    fc.assert(
      fc.property(inputs, (input) => {
        const { waitMs } = decideOf(input);
        if (waitMs === undefined) return;
        waits += 1;
        const { retryAfterMs: asked = 0 } = input;
        if (asked === 0) longest = Math.max(longest, waitMs);
        assert.ok(waitMs >= asked && asked <= 60_000);
        assert.ok(waitMs < input.timeLeftMs);
        // Of what is left after the wait that was asked for, chance leaves nine tenths.
        assert.ok(asked === 0 || waitMs - asked <= (input.timeLeftMs - asked) / 10 + 1e-6);
        assert.ok(waitMs <= 8_000 || waitMs <= asked + mostJitter(asked) + 1e-6);
        assert.ok(input.budget >= 10 && input.replayable && input.retries < input.maxRetries);
        assert.ok(!input.events.some((event) => neverRepeated.includes(event)));
      }),
      times(50_000),
    );
    expect(waits).toBeGreaterThan(0);
    // Two repeats at most: the wait before the second is the longest there is.
    expect(longest).toBeLessThan(2_000);
  });
});
