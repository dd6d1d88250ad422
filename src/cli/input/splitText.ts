import { UsageError } from "../context.js";

/**
 * Returns a function that cuts a text into parts, as `--split` says; undefined without `--split`.
 * @throws UsageError
 */
export function splitOf(characters: number | undefined): ((text: string) => readonly string[]) | undefined {
  if (characters === undefined) return undefined;
  // A character may take two UTF-16 units, so a part needs room for two.
  if (!Number.isInteger(characters) || characters < 2)
    throw new UsageError("--split must be a whole number of at least 2.");
  return (text) => partsOf(text, characters);
}

// Cuts a text into parts. Each part but the last ends behind a blank, if there is one in the part's second half.
function partsOf(text: string, most: number): readonly string[] {
  const parts: string[] = [];
  let from = 0;
  while (text.length - from > most) {
    const blank = /\s(?=\S*$)/.exec(text.slice(from + (most >> 1), from + most));
    const end = blank === null ? from + most : from + (most >> 1) + blank.index + 1;
    const isInPair = /[\ud800-\udbff]/.test(text[end - 1] as string);
    parts.push(text.slice(from, isInPair ? end - 1 : end));
    from = isInPair ? end - 1 : end;
  }
  return [...parts, text.slice(from)];
}
