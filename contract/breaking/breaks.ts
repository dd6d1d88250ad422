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
