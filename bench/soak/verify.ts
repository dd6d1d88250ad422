// Holds what became of each call against what the service says it did.
import type { Attempt, Executed, StatusCode } from "../../src/index.js";

/** One request, as the service saw it. */
export interface LogEntry {
  readonly call: number;
  readonly payload: string;
  /** Whether the operation was done. */
  readonly ran: boolean;
  readonly faulty: boolean;
}

/** One call, as its caller saw it. */
export interface CallRecord {
  readonly call: number;
  readonly operation: string;
  readonly payload: string;
  /** Absent while the call has not settled. */
  outcome?: "right" | "wrong" | "failed";
  /** Both of a call that failed. */
  code?: StatusCode;
  executed?: Executed;
  attempts?: readonly Attempt[];
}

/** One line for each thing that does not agree; empty when nothing was lost. */
export function problemsOf(records: readonly CallRecord[], log: readonly LogEntry[]): string[] {
  const seen = new Map<number, LogEntry[]>(records.map(({ call }) => [call, []]));
  const problems: string[] = [];
  for (const entry of log) {
    const entries = seen.get(entry.call);
    if (entries) entries.push(entry);
    else problems.push(`call ${entry.call}: the service saw a request of it after it had settled`);
  }
  for (const record of records) {
    const found = problemOf(record, seen.get(record.call) ?? []);
    if (found) problems.push(`call ${record.call} (${record.operation}): ${found}`);
  }
  return problems;
}

function problemOf(record: CallRecord, entries: readonly LogEntry[]): string | undefined {
  const { operation, outcome, executed, attempts = [] } = record;
  if (outcome === undefined) return "lost: it never settled";
  if (outcome === "wrong") return "its response was to something else";
  const ran = entries.filter((entry) => entry.ran).length;
  const responded = attempts.filter(({ httpStatus }) => httpStatus !== undefined).length;
  if (entries.some(({ payload }) => payload !== record.payload)) return "the service read something else";
  if (entries.length > attempts.length || entries.length < responded) {
    return `${attempts.length} attempts, ${entries.length} requests at the service`;
  }
  if (outcome === "right" && ran === 0) return "a success, but the service did nothing";
  if (executed === "no" && ran > 0) return `executed is "no", but the service did it`;
  if (executed === "yes" && ran === 0) return `executed is "yes", but the service did nothing`;
  if ((operation === "resume" || operation === "upload") && ran > 1) return `done ${ran} times`;
  return undefined;
}
