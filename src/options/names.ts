import { invalid } from "../errors/statusError.js";

/** Every name that options of a type may have, as a table kept beside the type. */
export type Names<T> = Readonly<Record<keyof T, 1>>;

/** Refuses a name that is not known: it would be ignored in silence. @throws StatusError naming the nearest */
export function checkNames(value: object, names: Readonly<Record<string, 1>>, what: string): void {
  // Without a prototype, so that these are its own.
  for (const name in value) {
    if (!Object.hasOwn(names, name)) throw unknownName(name, Object.keys(names), what);
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

function unknownName(name: string, known: readonly string[], what: string): Error {
  const near = nearest(name, known);
  if (near === undefined) return invalid(`${what} has no ${name}: it takes ${known.join(", ")}.`);
  return invalid(`${what} has no ${name}: did you mean ${near}?`);
}

/** The known name that somebody may have meant; undefined when none is like it. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  let best: string | undefined;
  // Of its length: a long name is abbreviated.
  let fewest = 1 / 2;
  for (const candidate of known) {
    const edits = editsBetween(lettersOf(name), lettersOf(candidate)) / candidate.length;
    if (edits > fewest || (edits === fewest && best !== undefined)) continue;
    best = candidate;
    fewest = edits;
  }
  return best;
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
