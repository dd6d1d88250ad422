import { readFileSync } from "node:fs";
import type { ErrorRow, RowClient, RowResponse } from "../../src/conformance/data.js";
import type { OperationId } from "../../src/index.js";
import { budget } from "../../src/policy/decisions.js";
import { type Decision, decideRetry, type RetryCause, type RetryState } from "../../src/policy/retry.js";

/** What must come of a call. */
interface Expected {
  readonly requests: number;
  readonly attempts?: number;
  readonly code: string;
  readonly executed: string;
  readonly executedBecause: string;
  readonly inferred: boolean;
  readonly notRetried: string;
  readonly retryAfterMs?: number;
}

/** One event of contract/conformance/retries.json. */
export interface DecisionRow {
  readonly event: string;
  readonly description: string;
  /** What it does with every request. */
  readonly server: { readonly answer: RowResponse } | { readonly network: string };
  readonly client?: RowClient;
  readonly codeSource: string;
  readonly message?: string;
  readonly operations: Readonly<Record<OperationId, Expected>>;
}

/** A file of contract/conformance/, read by a parser alone. */
export function conformanceFile(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`../../contract/conformance/${name}`, import.meta.url), "utf8"));
}

/** Every row. */
export const allRows: readonly Pick<DecisionRow, "event">[] = rowsOf("retries.json");

/** The decision table: the rows of one call whose requests all meet the same, which is a failure of every operation. */
export const decisionRows: readonly DecisionRow[] = rowsOf<DecisionRow>("retries.json").filter(
  ({ server, client, operations }) =>
    !("sequence" in server) &&
    (client === undefined || !("calls" in client)) &&
    !Object.values(operations).some((expected) => "value" in expected),
);

/** The error responses. */
export const errorRows: readonly ErrorRow[] = rowsOf("errors.json");

function rowsOf<T>(name: string): readonly T[] {
  return (conformanceFile(name) as { rows: readonly T[] }).rows;
}

/** A failure, and what else decides. */
export type RetryInput = RetryCause & RetryState;

/** A rerank whose first attempt failed with UNAVAILABLE. */
export const usual: RetryInput = {
  operation: "rerankDocuments",
  idempotent: undefined,
  events: ["unavailable"],
  code: "UNAVAILABLE",
  retries: 0,
  maxRetries: 2,
  retryAfterMs: undefined,
  timeLeftMs: 60_000,
  budget: budget.full,
  replayable: true,
  freshKey: false,
  random: 0.5,
};

/** The decision about both. */
export function decideOf(input: RetryInput): Decision {
  return decideRetry(input, input);
}
