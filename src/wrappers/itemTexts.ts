import { invalid } from "../errors/statusError.js";

/** Gives the texts that an item is ranked by: one, or its parts. @throws StatusError that names the item */
export type TextsOf = (index: number) => readonly string[];

/** Makes that function of the caller's own, which are checked as they are called. */
export function textsOfItems<T>(
  items: readonly T[],
  text: (item: T, index: number) => string,
  split: ((text: string, item: T) => readonly string[]) | undefined,
): TextsOf {
  if (typeof text !== "function") throw invalid("text must be a function.");
  if (split !== undefined && typeof split !== "function") throw invalid("split must be a function.");
  return (index) => {
    const item = items[index] as T;
    const whole = called("text", index, () => text(item, index));
    if (typeof whole !== "string")
      throw invalid(`text must give a string for items[${index}], not ${typeOf(whole)}.`);
    if (split === undefined) return [whole];
    const parts = called("split", index, () => split(whole, item));
    if (!Array.isArray(parts) || parts.length === 0 || parts.some((part) => typeof part !== "string"))
      throw invalid(`split must give a list of at least 1 string for items[${index}].`);
    return parts;
  };
}

function called<R>(name: string, index: number, call: () => R): R {
  try {
    return call();
  } catch (cause) {
    throw invalid(`${name} failed for items[${index}].`, { cause });
  }
}

function typeOf(value: unknown): string {
  return value === null ? "null" : typeof value;
}
