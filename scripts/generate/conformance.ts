// What the decision table makes of every row of the conformance data: its expectations, and the README's table.
import { readAnswer } from "../../src/call/answer.js";
import { budget, defaultMaxRetries } from "../../src/call/decisions.js";
import { endedFailure, Failure, networkFailure } from "../../src/call/failure.js";
import { decideRetry, ranIn } from "../../src/call/retry.js";
import type { OperationId } from "../../src/generated/contract.js";
import { operations } from "../../src/generated/contract.js";
import {
  type Exchange,
  type FailureReason,
  type Phase,
  TransportFailure,
} from "../../src/transport/transport.js";

/** A row of retries.json: what happens is written by hand, what comes of it is not. */
export interface RetryRow {
  readonly event: string;
  readonly description: string;
  readonly server: {
    readonly answer?: {
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: unknown;
      readonly text?: string;
    };
    readonly network?: string;
  };
  readonly client?: {
    readonly maxRetries?: number;
    readonly repeatable?: boolean;
    readonly apiKey?: "function";
    readonly timeoutMs?: number;
    readonly attemptTimeoutMs?: number;
    readonly abort?: "before" | "received" | "answering";
  };
  readonly codeSource: string;
  readonly operations: Readonly<Record<OperationId, Expected>>;
}

/** What comes of a row for one operation. */
export interface Expected {
  readonly requests: number;
  readonly attempts?: number;
  readonly code: string;
  readonly executed: string;
  readonly executedBecause: string;
  readonly inferred: boolean;
  readonly notRetried: string;
}

// How the transport tells of each fault of the network; `seen` is whether the server saw a request.
const faults: Readonly<
  Record<string, { phase: Phase; reason?: FailureReason; code?: string; status?: number; seen: boolean }>
> = {
  refused: { phase: "connect", code: "ECONNREFUSED", seen: false },
  "name-not-found": { phase: "connect", code: "ENOTFOUND", seen: false },
  "name-server-busy": { phase: "connect", code: "EAI_AGAIN", seen: false },
  "connect-stalls": { phase: "connect", reason: "connect-timeout", seen: false },
  "tls-untrusted": { phase: "connect", code: "DEPTH_ZERO_SELF_SIGNED_CERT", seen: false },
  "tls-not-spoken": { phase: "connect", code: "EPROTO", seen: false },
  "tls-closed": { phase: "connect", code: "ECONNRESET", seen: false },
  "tls-certificate-wanted": {
    phase: "connect",
    code: "ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED",
    seen: false,
  },
  "tunnel-failed": { phase: "connect", reason: "proxy", status: 503, seen: false },
  "tunnel-refused": { phase: "connect", reason: "proxy", status: 403, seen: false },
  "tunnel-credentials": { phase: "connect", reason: "proxy", status: 407, seen: false },
  "reset-before-headers": { phase: "headers", code: "ECONNRESET", seen: true },
  "close-before-headers": { phase: "headers", code: "ECONNRESET", seen: true },
  silence: { phase: "headers", reason: "attempt-timeout", seen: true },
  "body-truncated": { phase: "body", seen: true },
  "body-chunk-cut": { phase: "body", seen: true },
  "body-reset": { phase: "body", seen: true },
  "body-bad-gzip": { phase: "body", seen: true },
  "body-stalls": { phase: "body", reason: "attempt-timeout", seen: true },
  "body-endless": { phase: "body", reason: "too-large", seen: true },
};

/** The same row with what the decision table makes of it. */
export function withExpectations(row: RetryRow): RetryRow {
  const { event, description, server, client } = row;
  const failure = failureOf(row);
  const { codeSource } = failure.details;
  const expected = (Object.keys(operations) as OperationId[]).map((operation) => [
    operation,
    expectedOf(row, failure, operation),
  ]);
  return {
    event,
    description,
    server,
    ...(client && { client }),
    codeSource,
    operations: Object.fromEntries(expected),
  };
}

function failureOf({ event, server, client }: RetryRow): Failure {
  const { answer } = server;
  if (answer) {
    const { status, headers = {}, body, text = body === undefined ? "" : JSON.stringify(body) } = answer;
    const read = readAnswer({ status, headers, text, bytes: new Uint8Array() }, [], () => ({}));
    if (read instanceof Failure) return read;
    throw new Error(`${event} is no failure.`);
  }
  const fault = faults[server.network ?? ""];
  if (fault === undefined) throw new Error(`${event} has a fault of the network that is not known here.`);
  const status = fault.phase === "body" ? 200 : fault.status;
  const exchange = { phase: fault.phase, status } as Exchange;
  if (client?.abort) {
    return endedFailure("aborted", 0, client.abort === "before" ? undefined : exchange, undefined);
  }
  const { timeoutMs, attemptTimeoutMs } = client ?? {};
  if (timeoutMs !== undefined && timeoutMs === attemptTimeoutMs) {
    return endedFailure("deadline", timeoutMs, exchange, undefined);
  }
  const cause = fault.code ? Object.assign(new Error(fault.code), { code: fault.code }) : undefined;
  const details = { phase: fault.phase, reason: fault.reason ?? "network", status, cause } as const;
  return networkFailure(new TransportFailure("The network failed.", details), [], String);
}

function expectedOf({ server, client }: RetryRow, { details }: Failure, operation: OperationId): Expected {
  const ended = attemptsOf(client ?? {}, details, operation);
  const attempts = details.requested === false ? 0 : ended.attempts;
  const seen = server.network === undefined || faults[server.network]?.seen ? attempts : 0;
  return {
    requests: seen,
    ...(seen !== attempts && { attempts }),
    code: details.code,
    ...ranIn(details),
    inferred: details.inferred ?? true,
    notRetried: details.notRetried ?? (details.requested === false ? "refused" : ended.notRetried),
  };
}

function attemptsOf(
  client: NonNullable<RetryRow["client"]>,
  details: Failure["details"],
  operation: OperationId,
): { readonly attempts: number; readonly notRetried: string } {
  const { repeatable, maxRetries = defaultMaxRetries, timeoutMs = 30_000 } = client;
  for (let retries = 0; ; retries++) {
    const { notRetried } = decideRetry({
      operation,
      repeatable,
      events: details.events,
      code: details.code,
      retries,
      maxRetries,
      retryAfterMs: details.retryAfterMs,
      timeLeftMs: timeoutMs,
      budget: budget.full,
      replayable: true,
      freshKey: client.apiKey === "function" && retries === 0,
      random: 0,
    });
    if (notRetried !== undefined) return { attempts: retries + 1, notRetried };
  }
}
