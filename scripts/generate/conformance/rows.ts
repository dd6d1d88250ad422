import type { RowClient, RowStep } from "../../../src/conformance/data.js";
import type { OperationId } from "../../../src/generated/contract.js";

/** A row of retries.json: what happens is written by hand, what comes of it is not. */
export interface RetryRow {
  readonly event: string;
  readonly description: string;
  readonly server: RowStep | { readonly sequence: readonly RowStep[] };
  readonly client?: RowClient;
  readonly message?: string;
  /** Whether the waits of all its calls are judged together. */
  readonly jitter?: true;
  readonly needs?: readonly string[];
  readonly codeSource?: string;
  readonly operations: Readonly<Record<OperationId, Expected>>;
}

/** What comes of a row for one operation. */
export interface Expected {
  readonly requests: number;
  readonly attempts?: number;
  readonly requestsByCall?: readonly number[];
  readonly value?: true;
  readonly code?: string;
  readonly executed?: string;
  readonly executedBecause?: string;
  readonly inferred?: boolean;
  readonly notRetried?: string;
  readonly retryAfterMs?: number;
  readonly minWaitMs?: number;
  readonly maxWaitMs?: number;
  readonly minTotalWaitMs?: number;
  readonly minSpreadMs?: number;
}

/** What the nth request of a row meets, counted from 0: the last of a sequence meets all that follow. */
export function stepOf({ server }: Pick<RetryRow, "server">, index: number): RowStep {
  if (!("sequence" in server)) return server;
  const step = server.sequence[Math.min(index, server.sequence.length - 1)];
  if (step === undefined) throw new Error("A sequence has no step.");
  return step;
}
