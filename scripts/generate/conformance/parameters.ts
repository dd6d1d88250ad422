// parameters.json: every figure of the rules, read from the code that decides by them.
import { timesOf } from "../../../src/call/call.js";
import { readErrorBody } from "../../../src/call/errorResponse.js";
import { networkFailure } from "../../../src/call/noResponse.js";
import type { CallSettings } from "../../../src/call/types.js";
import { codeOfGrpcNumber, type StatusCode } from "../../../src/errors/codes.js";
import { httpStatuses, type OperationRow, operations } from "../../../src/generated/contract.js";
import {
  backoff,
  budget,
  codeOfHttpStatus,
  defaultConnectMs,
  defaultMaxRetries,
  events,
  rowOfStatus,
  statusRows,
} from "../../../src/policy/decisions.js";
import { eventOfCode } from "../../../src/policy/ofResponse.js";
import { decideRetry, type RetryCause } from "../../../src/policy/retry.js";
import { maxErrorBytes } from "../../../src/transport/exchange.js";
import { faults, slackMs, transportFailure } from "./expectations.js";

/** What stands in parameters.json below its revision. */
export function parameters(): Record<string, unknown> {
  return {
    maxRetries: defaultMaxRetries,
    backoff: backoffRule(),
    retryAfter: {
      longestMs: backoff.longestRetryAfterMs,
      jitter: {
        share: backoff.jitterShare,
        leastMs: backoff.jitterLeastMs,
        mostMs: backoff.jitterMostMs,
        ofTimeLeft: backoff.jitterShare,
      },
      headers: { "retry-after-ms": "milliseconds", "retry-after": "seconds, or an HTTP date" },
      body: "retryDelay of google.rpc.RetryInfo, in error.details or details",
      several: "the longest",
    },
    budget: {
      retries: budget.full / budget.retryCost,
      retryCost: 1,
      successGain: budget.successGain / budget.retryCost,
    },
    deadlines: deadlineRule(),
    answers: { maxBytes: ofEach(({ maxResponseBytes }) => maxResponseBytes), maxErrorBytes },
    errorBody: { codeFields: codeOrder(), messageFields: messageOrder() },
    codes: codeTable(),
    statuses: statusTable(),
    events: eventTable(),
    network: networkTable(),
    disagreement: { code: "body", retries: "fewest", executed: "worst" },
    executed: { order: ["no", "unknown", "yes"], ofSeveralAttempts: "the last of the order" },
    measured: { slackMs },
  };
}

// The same code that waits says by how much a wait grows, and what chance does.
function backoffRule(): Record<string, unknown> {
  const unavailable: RetryCause = { events: ["unavailable"], code: "UNAVAILABLE", retryAfterMs: undefined };
  const wait = (retries: number, random: number): number => {
    const { waitMs } = decideRetry(unavailable, {
      operation: "request",
      idempotent: true,
      retries,
      maxRetries: 9,
      timeLeftMs: Number.MAX_SAFE_INTEGER,
      budget: budget.full,
      replayable: true,
      freshKey: false,
      random,
    });
    return waitMs ?? 0;
  };
  const { baseMs, exhaustedBaseMs, capMs } = backoff;
  const full = wait(0, 0) === 0 && wait(0, 1) === baseMs;
  if (!full) throw new Error("The jitter is no longer full: say in README.md what it is.");
  return { baseMs, exhaustedBaseMs, factor: wait(1, 1) / wait(0, 1), capMs, jitter: "full" };
}

function deadlineRule(): Record<string, unknown> {
  return {
    timeoutMs: ofEach(({ timeoutMs }) => timeoutMs),
    uploadBytesPerSecond: rows.find(({ bytesPerSecond }) => bytesPerSecond)?.bytesPerSecond,
    attemptShare: { repeatable: attemptShare(true), else: attemptShare(false) },
    connectTimeoutMs: defaultConnectMs,
  };
}

// The part of the whole time that one attempt may take.
function attemptShare(idempotent: boolean): number {
  const settings = { maxRetries: defaultMaxRetries, timeoutMs: 1000, idempotent } as CallSettings;
  return timesOf("request", settings).attemptTimeoutMs / 1000;
}

const rows: readonly OperationRow[] = Object.values(operations);

// A figure of each operation, by its id.
function ofEach<T>(figure: (row: OperationRow) => T): Record<string, T> {
  return Object.fromEntries(Object.entries(operations).map(([id, row]) => [id, figure(row)]));
}

function codeTable(): Record<string, unknown> {
  const numbers = Array.from({ length: 16 }, (_, index) => index + 1);
  const entries = Object.entries(eventOfCode).map(([code, event]) => [
    code,
    {
      httpStatus: httpStatuses[code as StatusCode],
      grpcNumber: numbers.find((number) => codeOfGrpcNumber(number) === code),
      event,
    },
  ]);
  return Object.fromEntries(entries);
}

// Each HTTP status that a response may have, by what it stands for where the body names no code.
function statusTable(): readonly unknown[] {
  const all = Array.from({ length: 499 }, (_, index) => index + 101).filter(
    (status) => status < 200 || status > 299,
  );
  const rows = statusRows.map((row) => {
    const statuses = all.filter((status) => rowOfStatus(status) === row);
    const stated = statuses.filter((status) => !codeOfHttpStatus(status).inferred);
    const [code, event] = row;
    return { code, event, statuses: ranges(statuses), notInferred: stated };
  });
  return rows;
}

// 520, 521, 522 -> "520-522".
function ranges(statuses: readonly number[]): readonly string[] {
  const found: [number, number][] = [];
  for (const status of statuses) {
    const last = found.at(-1);
    if (last?.[1] === status - 1) last[1] = status;
    else found.push([status, status]);
  }
  return found.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`));
}

function eventTable(): Record<string, unknown> {
  const entries = Object.entries(events).map(([event, { retries, executed }]) => {
    return [event, { retries: ofEach(({ kind }) => retries[kind]), executed }];
  });
  return Object.fromEntries(entries);
}

function networkTable(): Record<string, unknown> {
  const entries = Object.entries(faults).map(([name, fault]) => {
    const { events: happened, code, executed } = networkFailure(transportFailure(fault), (text) => text);
    return [name, { event: happened[0], code, executed }];
  });
  return Object.fromEntries(entries);
}

// How an error body is read, asked of the code that reads it: in which order its fields count.

const asIs = (text: string): string => text;

interface Field {
  readonly name: string;
  readonly put: (body: Record<string, unknown>, value: string) => void;
}

const within =
  (name: string): Field["put"] =>
  (body, value) => {
    const { error } = body;
    body.error = { ...(typeof error === "object" ? error : {}), [name]: value };
  };
const atRoot =
  (name: string): Field["put"] =>
  (body, value) => {
    body[name] = value;
  };

const codeFields: readonly Field[] = [
  { name: "code", put: atRoot("code") },
  { name: "error.code", put: within("code") },
  { name: "error.status", put: within("status") },
];

const messageFields: readonly Field[] = [
  { name: "title", put: atRoot("title") },
  { name: "detail", put: atRoot("detail") },
  { name: "Message", put: atRoot("Message") },
  { name: "message", put: atRoot("message") },
  { name: "error.message", put: within("message") },
];

const codes = ["ABORTED", "NOT_FOUND", "DATA_LOSS"];

/** The fields that may name a code, the one that counts first at the beginning. */
export function codeOrder(): readonly string[] {
  const values = new Map(codeFields.map((field, index) => [field, codes[index] ?? ""] as const));
  return ordered(
    codeFields,
    (field) => values.get(field) ?? "",
    (body) => readErrorBody(body, 500, asIs).code,
  );
}

/** The fields that may hold the message, in the same order. */
export function messageOrder(): readonly string[] {
  return ordered(
    messageFields,
    ({ name }) => name,
    (body) => readErrorBody(body, 500, asIs).message,
  );
}

function ordered(
  fields: readonly Field[],
  textOf: (field: Field) => string,
  read: (body: string) => string | undefined,
): readonly string[] {
  const left = new Set(fields);
  const order: string[] = [];
  while (left.size > 0) {
    const body = {};
    for (const field of left) field.put(body, textOf(field));
    const found = read(JSON.stringify(body));
    const winner = [...left].find((field) => textOf(field) === found);
    if (winner === undefined) throw new Error(`None of ${[...left].map(({ name }) => name)} is read.`);
    order.push(winner.name);
    left.delete(winner);
  }
  return order;
}
