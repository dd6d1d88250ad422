// Texts of what differs from what a row expects, as lists: an empty list where nothing differs.
import { isDeepStrictEqual } from "node:util";

/** A text in a list, if it holds. */
export const when = (is: boolean, text: string): readonly string[] => (is ? [text] : []);

export const shown = (value: unknown): string => JSON.stringify(value) ?? "none";

export function different(name: string, is: unknown, due: unknown): readonly string[] {
  return when(!isDeepStrictEqual(is, due), `${name}: ${shown(is)} instead of ${shown(due)}`);
}

/** A time that is out of its limits. */
export function outside(what: string, ms: number, least = 0, most: number = Infinity): readonly string[] {
  return [
    ...when(ms < least, `${what}: ${ms} ms, and at least ${least} are due`),
    ...when(ms > most, `${what}: ${ms} ms, and at most ${most} are due`),
  ];
}
