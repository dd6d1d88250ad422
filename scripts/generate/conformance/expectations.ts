// What the decision table makes of every row of the conformance data: its expectations, and the README's table.

import { readFileSync } from "node:fs";
import type { RowStep } from "../../../src/conformance/data.js";
import type { Failure } from "../../../src/errors/failure.js";
import { type OperationId, operations } from "../../../src/generated/contract.js";
import { budget, defaultMaxRetries } from "../../../src/policy/decisions.js";
import { nothingSent, type Ran, worse } from "../../../src/policy/retry.js";
import { failureOf, isSeen, isStalling } from "./failures.js";
import { type Expected, type RetryRow, stepOf } from "./rows.js";
import { boundsOf, decideBoth, fullBudget, type Wait } from "./waits.js";

/** The same row with what the decision table makes of it. */
export function withExpectations(row: RetryRow): RetryRow {
  const { event, description, server, client, message, jitter, once } = row;
  const ids = (Object.keys(operations) as OperationId[]).filter((id) => concerns(row, id));
  const played = ids.map((operation) => play(row, operation));
  const sources = new Set(played.flatMap(({ codeSource }) => codeSource ?? []));
  const [codeSource] = sources;
  if (sources.size > 1)
    throw new Error(`${placeOf(event)}: ${event} has another codeSource for some operations.`);
  const needs = needsOf(row);
  return {
    event,
    description,
    server,
    ...(client && { client }),
    ...(needs.length > 0 && { needs }),
    ...(codeSource && { codeSource }),
    ...(message !== undefined && { message }),
    ...(jitter && { jitter }),
    ...(once && { once }),
    operations: Object.fromEntries(played.map(({ operation, expected }) => [operation, expected])) as Record<
      OperationId,
      Expected
    >,
  };
}

function placeOf(event: string): string {
  const file = "contract/conformance/retries.json";
  const text = readFileSync(new URL(`../../../${file}`, import.meta.url), "utf8");
  return `${file}:${text.slice(0, text.search(new RegExp(`"event": ?"${event}"`))).split("\n").length}`;
}

// How a good response's JSON is read concerns those that respond with JSON.
function concerns({ server }: RetryRow, operation: OperationId): boolean {
  const steps = "sequence" in server ? server.sequence : [server];
  const isGood = (step: RowStep): boolean =>
    "answer" in step && step.answer.status >= 200 && step.answer.status < 300;
  return operations[operation].value === undefined || !steps.some(isGood);
}

interface Played {
  readonly operation: OperationId;
  readonly expected: Expected;
  readonly codeSource: string | undefined;
}

// A row under way: what its client has left, and what its server has seen.
interface Play {
  readonly row: RetryRow;
  readonly operation: OperationId;
  budgetLeft: number;
  made: number;
  seen: number;
  readonly waits: Wait[];
}

interface Ended {
  readonly attempts: number;
  readonly failure?: Failure;
  readonly ran?: Ran;
  readonly notRetried?: string | undefined;
}

function play(row: RetryRow, operation: OperationId): Played {
  const { calls = 1 } = row.client ?? {};
  const state: Play = { row, operation, budgetLeft: fullBudget, made: 0, seen: 0, waits: [] };
  const byCall: number[] = [];
  let ended = playCall(state);
  byCall.push(ended.attempts);
  while (byCall.length < calls) {
    ended = playCall(state);
    byCall.push(ended.attempts);
  }
  const { failure } = ended;
  const expected = {
    requests: state.seen,
    ...(calls === 1 && state.seen !== ended.attempts && { attempts: ended.attempts }),
    ...(calls > 1 && { requestsByCall: byCall }),
    ...(failure === undefined ? { value: true as const } : errorOf(ended, failure)),
    ...boundsOf(state.waits, row.jitter === true),
  };
  return { operation, expected, codeSource: failure?.codeSource };
}

function errorOf({ ran, notRetried }: Ended, failure: Failure): Omit<Expected, "requests"> {
  const { executed, executedBecause } = ran ?? nothingSent;
  return {
    code: failure.code,
    executed,
    executedBecause,
    inferred: failure.inferred ?? true,
    notRetried: failure.notRetried ?? notRetried ?? "refused",
    ...(failure.retryAfterMs !== undefined && { retryAfterMs: failure.retryAfterMs }),
  };
}

function playCall(state: Play): Ended {
  const { row } = state;
  let ran = nothingSent;
  let fresh = row.client?.apiKey === "function";
  for (let retries = 0; ; retries++) {
    const step = stepOf(row, state.made);
    const failure = failureOf(row, step, state.operation);
    if (failure?.requested === false) return { attempts: retries, failure, ran };
    state.made += 1;
    if (isSeen(step)) state.seen += 1;
    if (failure === undefined) {
      state.budgetLeft = Math.min(budget.full, state.budgetLeft + budget.successGain);
      return { attempts: retries + 1 };
    }
    ran = worse(ran, failure);
    const { first, wait } = decideBoth(failure, stateOf(state, { retries, fresh }));
    if (first.notRetried !== undefined) {
      return { attempts: retries + 1, failure, ran, notRetried: first.notRetried };
    }
    if (failure.httpStatus === 401) fresh = false;
    state.budgetLeft -= budget.retryCost;
    if (isSeen(step)) state.waits.push(withStall(wait, row, isStalling(step)));
  }
}

// A server that does not respond measures from the request on.
function withStall({ least, most }: Wait, { client }: RetryRow, stalls: boolean): Wait {
  return { least: stalls ? 0 : least, most: most + (stalls ? (client?.attemptTimeoutMs ?? 0) : 0) };
}

function stateOf(
  { row, operation, budgetLeft }: Play,
  { retries, fresh }: { retries: number; fresh: boolean },
) {
  const { repeatable, maxRetries = defaultMaxRetries, timeoutMs = 30_000 } = row.client ?? {};
  return {
    operation,
    idempotent: repeatable,
    retries,
    maxRetries,
    timeLeftMs: timeoutMs,
    budget: budgetLeft,
    replayable: true,
    freshKey: fresh,
  };
}

// HTTP libraries hide these: fetch makes a lost connection of the first two, and sends a third time what 421 refused.
const hiddenStatuses: ReadonlySet<number> = new Set([101, 407, 421]);

/** The names of what a row needs, besides plain calls with `maxRetries`. README.md says what each means. */
export function needsOf({ client = {}, server }: RetryRow): readonly string[] {
  const steps = "sequence" in server ? server.sequence : [server];
  const named = [
    client.apiKey && "key-function",
    client.repeatable !== undefined && "repeatable",
    client.abort && "abort",
    client.timeoutMs !== undefined && "timeout",
    client.attemptTimeoutMs !== undefined && "attempt-timeout",
    client.connectTimeoutMs !== undefined && "connect-timeout",
    ...steps.flatMap((step) => {
      if ("answer" in step) return hiddenStatuses.has(step.answer.status) && `status-${step.answer.status}`;
      return "network" in step && ofNetwork(step.network);
    }),
  ].filter((name) => typeof name === "string");
  return [...new Set(named)];
}

function ofNetwork(network: string): string | undefined {
  if (/^tls-(certificate-wanted|expired|other-name)$/.test(network)) return "ca-certificate";
  return network.startsWith("tunnel-") ? "proxy" : undefined;
}
