import type { RetryRow as Row, RowExpected, RowStep } from "../../../src/conformance/data.js";
import type { OperationId } from "../../../src/generated/contract.js";

/** A row of retries.json: what happens is written by hand, what comes of it is not. */
export interface RetryRow extends Omit<Row, "operations"> {
  /** Whether the waits of all its calls are judged together. */
  readonly jitter?: true;
  readonly operations: Readonly<Record<OperationId, Expected>>;
}

/** What comes of a row for one operation. */
export type Expected = RowExpected & { readonly attempts?: number };

/** What the nth request of a row meets, counted from 0: the last of a sequence meets all that follow. */
export function stepOf({ server }: Pick<RetryRow, "server">, index: number): RowStep {
  if (!("sequence" in server)) return server;
  const step = server.sequence[Math.min(index, server.sequence.length - 1)];
  if (step === undefined) throw new Error("A sequence has no step.");
  return step;
}
