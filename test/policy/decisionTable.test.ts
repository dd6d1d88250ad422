import { Agent } from "undici";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { RowResponse } from "../../src/conformance/data.js";
import type { AttemptEvent, ClientOptions, StatusError } from "../../src/index.js";
import { canaryKey } from "../support/canary.js";
import { type OperationCall, operationCalls, transports } from "../support/clients.js";
import { TestClock } from "../support/clock.js";
import { type DecisionRow, decisionRows } from "../support/decisionRows.js";
import {
  callOf,
  head,
  respond,
  type Seen,
  send,
  serve,
  statusErrorOf,
  succeeds,
} from "../support/faults/runFault.js";

// Each row with a response, of one operation over one transport, by turns: what a real server counts, and how the call ends.
// Those of the network are among the faults of test/transport/faults.test.ts; test/all/conformance.test.ts has every row with
// every operation over every transport.
const dispatcher = new Agent();
const none = { agent: undefined, maxConnections: undefined, connectTimeoutMs: undefined };
const ways: typeof transports = [...transports, { name: "dispatcher", options: { ...none, dispatcher } }];
// Node's fetch makes a lost connection of 101 and 407, and undici one of 101.
const isHidden = (way: string, { event }: DecisionRow): boolean =>
  (way !== "node:http" && event === "status-101") || (way === "fetch" && event.includes("407"));

const runs = decisionRows.flatMap((row, at) => {
  const { server } = row;
  if (!("answer" in server)) return [];
  const turn = ways[at % ways.length] as (typeof ways)[number];
  const way = isHidden(turn.name, row) ? (ways[0] as typeof turn) : turn;
  const operation = operationCalls[at % operationCalls.length] as OperationCall;
  return [{ row, way, operation, answer: server.answer }];
});
type Run = (typeof runs)[number];

function bytesOf({ status, headers, body, text }: RowResponse): Buffer {
  if (status < 200 || status === 204 || status === 304) return Buffer.from(head(status, headers));
  return respond(status, text ?? (body === undefined ? "" : JSON.stringify(body)), headers);
}

const clock = new TestClock();
const seen = new Map<Run, Seen>();

async function act({ way, operation, row, answer }: Run): Promise<Seen> {
  const place = await serve({ request: send(bytesOf(answer)) });
  const { apiKey, repeatable: idempotent, abort: _, ...rest } = row.client ?? {};
  const client = { timeoutMs: undefined, ...rest, ...(apiKey && { apiKey: () => canaryKey }) };
  // By then the wait it tells of has begun.
  const onAttempt = ({ waitMs }: AttemptEvent) => void setImmediate(() => clock.pass(waitMs ?? 0));
  const call: OperationCall["call"] = (client) => operation.call(client, { idempotent });
  const fault = {
    name: row.event,
    start: async () => place,
    outcomes: succeeds,
    client: client as ClientOptions,
  };
  const found = await callOf(fault, { ...operation, call }, { ...way.options, onAttempt }, place, undefined);
  await place.close();
  return { ...found, left: Promise.resolve(0) };
}

beforeAll(async () => {
  clock.install();
  try {
    // One after another on one clock.
    for (const run of runs) seen.set(run, await act(run));
  } finally {
    clock.remove();
  }
});
afterAll(() => dispatcher.destroy());

test.each(runs)("$row.event: $row.description ($operation.operation over $way.name)", (run) => {
  const { row, operation, way, answer } = run;
  const { operation: id, method, path } = operation;
  const { requests, attempts = requests, retryAfterMs, ...expected } = row.operations[id];
  const { code, executed, executedBecause, inferred, notRetried } = expected;
  const found = seen.get(run) as Seen;
  const error = statusErrorOf(found) as StatusError;
  // The fetch standard has fetch itself repeat what a 421 refused, once on another connection.
  expect(found.requests).toBe(requests * (way.name === "fetch" && answer.status === 421 ? 2 : 1));
  expect(error).toMatchObject({ code, executed, executedBecause, inferred, codeSource: row.codeSource });
  expect(error).toMatchObject({ notRetried, operation: id, method, path });
  expect(error.retryAfterMs).toBe(retryAfterMs);
  expect(error.attempts.map(({ number }) => number)).toEqual(
    Array.from({ length: attempts }, (_, i) => i + 1),
  );
});
