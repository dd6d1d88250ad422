import { beforeAll, describe, expect, test } from "vitest";
import type { AttemptEvent, OperationId, StatusError } from "../../src/index.js";
import { canaryKey } from "./canary.js";
import { connect, failureOf, type OperationCall, operationCalls, transports } from "./clients.js";
import { TestClock } from "./clock.js";
import { type DecisionRow, decisionRows } from "./decisionRows.js";
import { ServerOfRow } from "./rowServer.js";
import { turns } from "./turns.js";

// Node's fetch takes no name server and no connection timeout of the caller's, and makes a lost connection of 101 and 407.
const hiddenFromFetch: ReadonlySet<string> = new Set([
  "name-not-found",
  "name-server-busy",
  "connect-stalls",
  "tls-certificate-wanted",
  "tls-expired",
  "tls-other-name",
  "tunnel-failed",
  "tunnel-refused",
  "tunnel-credentials",
  "status-101",
  "status-407",
  "status-407-fresh-key",
  "unauthenticated-on-407-fresh-key",
]);

// undici keeps the time to connect itself, not by the clock of the test; it makes a lost connection of 101 and of the alert
// with which a server asks for a certificate.
const hiddenFromDispatcher: ReadonlySet<string> = new Set([
  "connect-stalls",
  "status-101",
  "tls-certificate-wanted",
]);

const hidden: Readonly<Record<string, ReadonlySet<string>>> = {
  "node:http": new Set(),
  fetch: hiddenFromFetch,
  dispatcher: hiddenFromDispatcher,
};
type Way = (typeof transports)[number];
const ways: readonly Way[] = [...transports, { name: "dispatcher", options: {} }];

interface Seen {
  readonly requests: number;
  readonly error: StatusError;
}

interface Run {
  readonly transport: string;
  readonly operation: OperationId;
  readonly row: DecisionRow;
  readonly act: () => Promise<Seen>;
}

/** Every row with each operation over each transport; with one over one of them, by turns, when `sampled`. */
function runsOf(sampled: boolean): readonly Run[] {
  return ways.flatMap(({ name, options }, way) =>
    operationCalls.flatMap((call, operation) =>
      decisionRows
        .filter(
          ({ event }, row) =>
            !hidden[name]?.has(event) &&
            (!sampled ||
              (row % operationCalls.length === operation &&
                (hiddenFromFetch.has(event) || row % ways.length === way))),
        )
        .map((row) => ({
          transport: name,
          operation: call.operation,
          row,
          act: () => act(call, row, { name, options }),
        })),
    ),
  );
}

// One after another on one clock: time passes only while the server is silent, or the client waits to repeat.
const clock = new TestClock();
const seen = new Map<Run, Seen>();

async function act({ call }: OperationCall, row: DecisionRow, { name, options }: Way): Promise<Seen> {
  const server = await new ServerOfRow(row.server, name === "dispatcher").start();
  const { apiKey, abort, repeatable, ...rest } = row.client ?? {};
  const { baseUrl, ...place } = server.options;
  const client = connect(baseUrl, {
    maxRetries: 2,
    ...options,
    ...place,
    ...rest,
    ...(apiKey && { apiKey: () => canaryKey }),
  });
  try {
    const controller = new AbortController();
    const { signal } = controller;
    if (abort === "before") controller.abort();
    else if (abort) server.events.once("stalled", () => controller.abort());
    else server.events.on("stalled", () => clock.pass(rest.attemptTimeoutMs ?? rest.timeoutMs ?? 0));
    // By then the wait it tells of has begun.
    const onAttempt = ({ waitMs }: AttemptEvent) => setImmediate(() => clock.pass(waitMs ?? 0));
    const failure = failureOf(() => call(client, { signal, idempotent: repeatable, onAttempt }));
    if (rest.connectTimeoutMs) await connectingStalls(failure, rest.connectTimeoutMs);
    const error = await failure;
    return { requests: server.requests, error };
  } finally {
    await client.close();
    await server.close();
  }
}

// Nothing happens at any server while a connection does not come about.
async function connectingStalls(failure: Promise<StatusError>, ms: number): Promise<void> {
  let ended = false;
  const end = (): void => {
    ended = true;
  };
  failure.then(end, end);
  while (!ended) {
    await turns(1);
    if (clock.isAwaited(ms)) clock.pass(ms);
  }
}

/** Tests the decision table: what a real server counts, and how each call ends. */
export function testRetryTable(sampled: boolean): void {
  const runs = runsOf(sampled);

  beforeAll(async () => {
    clock.install();
    try {
      for (const run of runs) seen.set(run, await run.act());
    } finally {
      clock.remove();
    }
  }, 600_000);

  describe.each(ways)("over $name", ({ name: transport }) => {
    describe.each(operationCalls)("$operation", ({ operation, method, path }) => {
      test.each(runs.filter((run) => run.transport === transport && run.operation === operation))(
        "$row.event: $row.description",
        (run) => {
          const { row } = run;
          const expected = row.operations[operation];
          const { requests, attempts = requests, code, executed, executedBecause, inferred } = expected;
          const { requests: counted, error } = seen.get(run) as Seen;
          expect(counted).toBe(requests * sendings(transport, row));
          expect(error).toMatchObject({ operation, code, inferred, codeSource: row.codeSource });
          expect(error).toMatchObject({ notRetried: expected.notRetried, method, path });
          expect(error.retryAfterMs).toBe(expected.retryAfterMs);
          expect(error.attempts.map((attempt) => attempt.number)).toEqual(upTo(attempts));
          expect(allowed(transport, row, executed)).toContain(error.executed);
          expect(error.executedBecause).toBe(error.executed === executed ? executedBecause : "no-answer");
        },
      );
    });
  });
}

// The fetch standard has fetch itself repeat what a 421 refused, once on another connection.
function sendings(transport: string, { server }: DecisionRow): number {
  return transport === "fetch" && "answer" in server && server.answer.status === 421 ? 2 : 1;
}

// A fetch function tells less of the network: it may not know that nothing ran, never the reverse.
function allowed(transport: string, { server }: DecisionRow, executed: string): readonly string[] {
  return transport === "fetch" && "network" in server && executed === "no" ? ["no", "unknown"] : [executed];
}

function upTo(count: number): readonly number[] {
  return Array.from({ length: count }, (_, i) => i + 1);
}
