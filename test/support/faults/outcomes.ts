import type { Executed, OperationId, StatusCode } from "../../../src/index.js";
import { operationCalls } from "../clients.js";
import { type DecisionRow, decisionRows } from "../decisionRows.js";

/** What must come of a call. */
export interface Outcome {
  readonly code: StatusCode | "OK";
  readonly executed?: Executed;
  readonly inferred?: boolean;
  readonly codeSource?: string;
  /** Requests the server counts. */
  readonly requests: number;
  /** Requests the client makes. */
  readonly attempts: number;
}

/** What must come of a call of each operation. */
export type Outcomes = Readonly<Record<OperationId, Outcome>>;

/** The outcomes of an event of the decision table. @param seen False when the server can count no request. */
export function like(event: string, { seen = true }: { seen?: boolean } = {}): Outcomes {
  const row = decisionRows.find((candidate) => candidate.event === event);
  if (row === undefined) throw new Error(`The decision table has no event ${event}.`);
  return outcomesOf(row, seen);
}

/** The outcomes of a row of the decision table. */
export function outcomesOf({ operations, codeSource }: DecisionRow, seen = true): Outcomes {
  const outcomes = Object.entries(operations).map(([operation, expected]) => {
    const { requests, attempts = requests, code, executed, inferred } = expected;
    return [operation, { code, executed, inferred, codeSource, requests: seen ? requests : 0, attempts }];
  });
  return Object.fromEntries(outcomes) as Outcomes;
}

/** Success with the last of so many requests. */
export function successAfter(requests: number): Outcome {
  return { code: "OK", requests, attempts: requests };
}

const success = successAfter(1);

/** Success at once, of every operation. */
export const succeeds: Outcomes = succeeding(operationCalls);

/** The outcomes of an event that the first repeat does not meet. */
export function onceLike(event: string): Outcomes {
  const outcomes = Object.entries(like(event)).map(([operation, outcome]) => [
    operation,
    outcome.requests > 1 ? successAfter(2) : outcome,
  ]);
  return Object.fromEntries(outcomes) as Outcomes;
}

/** The same of a connection that was used before: what may not be sent twice takes a new one, and does not meet it. */
export function onceOnReuse(event: string): Outcomes {
  return { ...onceLike(event), ...succeeding(operationCalls.filter(({ safe }) => !safe)) };
}

function succeeding(calls: typeof operationCalls): Outcomes {
  return Object.fromEntries(calls.map(({ operation }) => [operation, success])) as Outcomes;
}
