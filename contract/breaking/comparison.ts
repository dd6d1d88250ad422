import type { Document } from "./document.js";

/** Who is broken by a change. */
export type Whom = "callers" | "readers of answers" | "users of generated code" | "certified clients";

/** One way in which a new contract breaks what was built on the old one. */
export interface Break {
  /** The operations it is found in; none when it concerns them all. */
  readonly operations: readonly string[];
  readonly where: string;
  readonly what: string;
  readonly whom: Whom;
}

/** Reports a break. */
export type Report = (where: string, what: string, whom: Whom) => void;

/** Collects breaks; one found in several operations is told once. */
export class Breaks {
  readonly #found = new Map<string, { operations: string[]; where: string; what: string; whom: Whom }>();

  reporter(operation?: string): Report {
    return (where, what, whom) => {
      const key = JSON.stringify([where, what, whom]);
      const known = this.#found.get(key) ?? { operations: [], where, what, whom };
      if (operation !== undefined && !known.operations.includes(operation)) known.operations.push(operation);
      this.#found.set(key, known);
    };
  }

  list(): Break[] {
    return [...this.#found.values()];
  }
}

/** A break as one line for people. */
export function describeBreak({ operations, where, what, whom }: Break): string {
  const found = operations.length > 0 ? ` (${operations.join(", ")})` : "";
  return `${where}: ${what}. Breaks ${whom}${found}.`;
}

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
