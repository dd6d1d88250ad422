import { invalid } from "../errors/statusError.js";

/** Every name that options of a type may have, as a table kept beside the type. */
export type Names<T> = Readonly<Record<keyof T, 1>>;

/** Refuses a name that is not known: it would be ignored in silence. @throws StatusError naming the nearest */
export function checkNames(value: object, names: Readonly<Record<string, 1>>, what: string): void {
  // Without a prototype, so that these are its own.
  for (const name in value) {
    if (!Object.hasOwn(names, name))
      throw invalid(`${what} has no ${name}: ${suggestion(name, Object.keys(names))}`);
  }
}

/** Refuses another spelling of a field that is known; fields that are not known pass. @throws StatusError */
export function checkSpelling(body: object, fields: object, what: string): void {
  for (const name of Object.keys(body)) {
    if (Object.hasOwn(fields, name)) continue;
    const known = Object.keys(fields).find((field) => lettersOf(field) === lettersOf(name));
    if (known !== undefined) throw invalid(`${what} has ${name}: did you mean ${known}?`);
  }
}

/** What to write in place of a name that is not known. @param known At least one */
export function suggestion(name: string, known: readonly string[]): string {
  const near = known
    // Of its length: a long name is abbreviated.
    .map((candidate) => ({
      candidate,
      edits: editsBetween(lettersOf(name), lettersOf(candidate)) / candidate.length,
    }))
    .reduce((best, each) => (each.edits < best.edits ? each : best));
  return near.edits > 1 / 2 ? `it takes ${known.join(", ")}.` : `did you mean ${near.candidate}?`;
}

function lettersOf(name: string): string {
  return name.replace(/[_-]/g, "").toLowerCase();
}

// Levenshtein's distance, row by row. Nobody misspells a name of more than 64 characters.
function editsBetween(given: string, known: string): number {
  let row = Array.from({ length: known.length + 1 }, (_, index) => index);
  for (const [index, letter] of [...given.slice(0, 64)].entries()) {
    const next = [index + 1];
    for (let at = 0; at < known.length; at++) {
      const replaced = (row[at] as number) + (known[at] === letter ? 0 : 1);
      next.push(Math.min(replaced, (row[at + 1] as number) + 1, (next[at] as number) + 1));
    }
    row = next;
  }
  return row[known.length] as number;
}
