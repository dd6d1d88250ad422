import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ClientOptions } from "../../../src/index.js";
import { takeLeaks } from "../canaryWatch.js";
import { type OperationCall, operationCalls, transports } from "../clients.js";
import { TestClock } from "../clock.js";
import type { Fault, Outcome } from "./runFault.js";
import { runFault, type Seen, statusErrorOf } from "./runFault.js";

interface Run {
  readonly transport: string;
  readonly options: ClientOptions;
  readonly operation: OperationCall;
  readonly fault: Fault;
}

type Phase = readonly [atOnce: number, runs: readonly Run[], clock?: TestClock];

const isHeavy = ({ fault }: Run): boolean => fault.heavy === true;
const isTimed = ({ fault, options }: Run): boolean => {
  const { timeoutMs, connectTimeoutMs } = { ...fault.client, ...(options.fetch && fault.overFetch?.client) };
  // An upload never goes out on a connection that was idle for a second.
  return timeoutMs !== undefined || connectTimeoutMs !== undefined || fault.afterGoodCall !== undefined;
};

/** Calls every operation with each of the faults over every transport, and tests what came of it. */
export function testFaults(faults: readonly Fault[]): void {
  testRuns(faults.flatMap(runsOf));
}

/** Calls one operation with each of the faults over one transport, another with the next, and tests what came of it. */
export function testFaultsOnce(faults: readonly Fault[]): void {
  testRuns(faults.flatMap((fault, i) => onceRunsOf(fault).filter((_, at, all) => at === i % all.length)));
}

// Node's fetch keeps a connection that it used by the test's clock for as long as that clock was ahead, some 20 s.
function onceRunsOf(fault: Fault): readonly Run[] {
  return runsOf(fault).filter(({ transport }) => transport !== "fetch" || fault.afterGoodCall === undefined);
}

function runsOf(fault: Fault): readonly Run[] {
  return transports.flatMap(({ name: transport, options }) =>
    operationCalls.map((operation) => ({ transport, options, operation, fault })),
  );
}

function testRuns(runs: readonly Run[]): void {
  const seen = new Map<Run, Seen>();
  const unhandled: unknown[] = [];
  const leaks: string[] = [];
  const note = (error: unknown): void => void unhandled.push(error);

  beforeAll(async () => {
    process.on("unhandledRejection", note).on("uncaughtException", note);
    for (const [atOnce, phase, clock] of phasesOf(runs)) {
      const left = [...phase];
      const lane = async (): Promise<void> => {
        for (let run = left.shift(); run; run = left.shift()) {
          seen.set(run, await runFault(run.fault, run.operation, run.options, clock));
        }
      };
      clock?.install();
      await Promise.all(Array.from({ length: atOnce }, lane));
      clock?.remove();
      leaks.push(...takeLeaks());
    }
    await Promise.all([...seen.values()].map(({ left }) => left));
  }, 300_000);
  afterAll(() => void process.off("unhandledRejection", note).off("uncaughtException", note));

  describe.each(transports)("over $name", ({ name }) => {
    describe.each(operationCalls)("$operation", ({ operation }) => {
      test.each(runs.filter((run) => run.transport === name && run.operation.operation === operation))(
        "$fault.name",
        async (run) => {
          const { skipped } = seen.get(run) ?? {};
          if (skipped !== undefined) {
            console.warn(`SKIPPED: ${run.fault.name}: ${skipped}`);
            return;
          }
          await expectRight(run, seen.get(run));
        },
      );
    });
  });

  test("no rejection and no exception was left unhandled", () => expect(unhandled).toEqual([]));

  test("no error shows the key", () => expect(leaks).toEqual([]));
}

// Calls wait side by side, each with a server and a client of its own; where time counts, one after another.
function phasesOf(runs: readonly Run[]): readonly Phase[] {
  return [
    [50, runs.filter((run) => !isTimed(run) && !isHeavy(run))],
    [2, runs.filter((run) => !isTimed(run) && isHeavy(run))],
    [1, runs.filter(isTimed), new TestClock()],
  ];
}

async function expectRight({ transport, operation, fault }: Run, seen: Seen | undefined): Promise<void> {
  if (seen === undefined) throw new Error("The call was not made.");
  const over = transport === "fetch" ? fault.overFetch : undefined;
  const expected = (over?.outcomes ?? fault.outcomes)[operation.operation];
  const allowed = [expected, ...(over?.or ? [over.or[operation.operation]] : [])];
  const found = foundIn(seen);
  expect(allowed.flatMap((outcome) => cautious(outcome, transport))).toContainEqual(found);
  const error = statusErrorOf(seen);
  if (error) expect(error.operation).toBe(operation.operation);
  expect(JSON.stringify(seen.value) ?? "").not.toContain("poison");
  expect(seen.lateMs).toBe(0);
  expect(seen.strayed).toBe(0);
  expect(await seen.left).toBe(0);
}

// Attempts are told of by errors alone.
function foundIn(seen: Seen): object {
  const { requests } = seen;
  const error = statusErrorOf(seen);
  if (!error) return "error" in seen ? { thrown: seen.error } : { code: "OK", requests };
  const { code, executed, inferred, codeSource, attempts } = error;
  return { code, executed, inferred, codeSource, requests, attempts: attempts.length };
}

// A fetch function tells less of the network: it may not know that nothing ran, never the reverse.
function cautious(outcome: Outcome, transport: string): readonly object[] {
  const { attempts: _, ...succeeded } = outcome;
  if (outcome.code === "OK") return [succeeded];
  const careful = transport === "fetch" && outcome.executed === "no";
  return careful ? [outcome, { ...outcome, executed: "unknown" }] : [outcome];
}
