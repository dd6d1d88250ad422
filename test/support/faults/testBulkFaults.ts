import { afterAll, beforeAll, expect, test } from "vitest";
import { rerankAll } from "../../../src/bulk/index.js";
import type { CallPromise, Client, ClientOptions } from "../../../src/index.js";
import { takeLeaks } from "../canaryWatch.js";
import { transports } from "../clients.js";
import { TestClock } from "../clock.js";
import type { Fault, Outcome } from "./runFault.js";
import { type CalledOperation, runFault, type Seen, statusErrorOf } from "./runFault.js";

interface Run {
  readonly name: string;
  readonly fault: Fault;
  readonly transport: ClientOptions;
  readonly expected: readonly Outcome[];
}

/** Ranks one request in bulk with each of the faults over both transports, by turns when `sampled`. */
export function testBulkFaults(faults: readonly Fault[], sampled: boolean): void {
  // A large body is not what a bulk run is about.
  const runs = faults
    .filter(({ bodyBytes, heavy }) => bodyBytes === undefined && heavy !== true)
    .flatMap((fault, index) => runsOf(fault).filter((_, each) => !sampled || index % 8 === each * 4));
  const seen = new Map<Run, Seen>();
  const leaks: string[] = [];

  beforeAll(async () => {
    const clock = new TestClock();
    clock.install();
    for (const run of runs)
      seen.set(run, await runFault(run.fault, inBulk(run.fault, run.transport), run.transport, clock));
    clock.remove();
    leaks.push(...takeLeaks());
    await Promise.all([...seen.values()].map(({ left }) => left));
  }, 900_000);
  afterAll(() => seen.clear());

  test.each(runs)("in bulk over $name", async (run) => {
    const found = seen.get(run);
    if (found?.skipped === undefined) await expectRight(run, found as Seen);
  });

  test("no error shows the key", () => expect(leaks).toEqual([]));
}

function runsOf(fault: Fault): readonly Run[] {
  return transports.map(({ name, options: transport }) => {
    const over = transport.fetch ? fault.overFetch : undefined;
    const outcomes = [over?.outcomes ?? fault.outcomes, ...(over?.or ? [over.or] : [])];
    const expected = outcomes.map(({ rerankDocuments }) => rerankDocuments);
    return { name: `${name}: ${fault.name}`, fault, transport, expected };
  });
}

function inBulk(fault: Fault, transport: ClientOptions): CalledOperation {
  const over = transport.fetch ? fault.overFetch?.client : undefined;
  const { timeoutMs = 120_000, attemptTimeoutMs } = { ...fault.client, ...over };
  const rank = async (client: Client): Promise<unknown> => {
    const requests = [{ id: "a", query: "capital of France", documents: ["Paris."] }];
    for await (const { response, error } of rerankAll(client, requests, { timeoutMs, attemptTimeoutMs })) {
      if (error) throw error;
      return response;
    }
    throw new Error("There is no result.");
  };
  return {
    operation: "rerankDocuments",
    call: (client) => rank(client) as CallPromise<unknown>,
  };
}

// What one call retries, a bulk run retries until the deadline; everything else is the same.
async function expectRight({ expected, transport }: Run, seen: Seen): Promise<void> {
  const error = statusErrorOf(seen);
  if (!error) expect("error" in seen ? seen.error : "OK").toBe("OK");
  const { code = "OK", attempts = [] } = error ?? {};
  const isTransient = expected.some((outcome) => outcome.attempts > 1);
  const codes = expected.map((outcome) => outcome.code as string);
  // The last of its attempts may be cut short by the deadline.
  expect(isTransient ? [...codes, "DEADLINE_EXCEEDED"] : codes).toContain(code);
  if (error && isTransient) expect(attempts.length).toBeGreaterThan(1);
  if (error && !isTransient) {
    expect(attempts).toHaveLength(1);
    const cautious = transport.fetch ? ["unknown"] : [];
    expect([...expected.map(({ executed }) => executed as string), ...cautious]).toContain(error.executed);
  }
  expect(seen.lateMs).toBe(0);
  expect(seen.strayed).toBe(0);
  expect(await seen.left).toBe(0);
}
