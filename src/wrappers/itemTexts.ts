import { invalid } from "../errors/statusError.js";

/** Checks every text, and keeps those of the first batch only; the others are asked for again when they are sent. */
export function checkTexts<T>(
  items: readonly T[],
  text: (item: T, index: number) => string,
  batchSize: number,
): (batch: number) => string[] {
  const textOf = textFunction(items, text);
  const textsFrom = (offset: number): string[] =>
    items.slice(offset, offset + batchSize).map((_, index) => textOf(offset + index));
  const first = textsFrom(0);
  for (let index = batchSize; index < items.length; index++) textOf(index);
  return (batch) => (batch === 0 ? first : textsFrom(batch * batchSize));
}

function textFunction<T>(
  items: readonly T[],
  text: (item: T, index: number) => string,
): (index: number) => string {
  if (typeof text !== "function") throw invalid("text must be a function.");
  return (index) => {
    let found: unknown;
    try {
      found = text(items[index] as T, index);
    } catch (cause) {
      throw invalid(`text failed for items[${index}].`, { cause });
    }
    if (typeof found === "string") return found;
    const type = found === null ? "null" : typeof found;
    throw invalid(`text must give a string for items[${index}], not ${type}.`);
  };
}
