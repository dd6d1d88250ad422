import type { Report, Whom } from "./breaks.js";
import type { Document } from "./document.js";

/** The form for validators and servers, or the one that clients are generated from, which must refuse no answer. */
export type Form = "strict" | "clients";

/** Two contracts, the way a value travels between their sides, and where breaks are told. */
export interface Comparison {
  readonly before: Document;
  readonly after: Document;
  /** A request is made by the old side and read by the new one; an answer the other way round. */
  readonly direction: "request" | "answer";
  readonly form: Form;
  readonly report: Report;
  /** The pairs of named schemas compared so far: a schema may contain itself. */
  readonly seen: Set<string>;
}

/** Who makes, or reads, the values of a direction. */
export function affected({ direction }: Comparison): Whom {
  return direction === "request" ? "callers" : "readers of answers";
}

/** Reports a change of a place of a schema. */
export function tell(
  comparison: Comparison,
  where: string,
  what: string,
  whom: Whom = affected(comparison),
): void {
  comparison.report(`${where}, in ${comparison.direction}s`, what, whom);
}
