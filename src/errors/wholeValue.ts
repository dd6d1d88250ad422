import type { Span } from "./findForm.js";
import type { Characters } from "./undoEscapes.js";

// What stands on both sides of a whole value. Where the text ends, so may the value.
const surroundings: readonly (readonly [before: RegExp, after: RegExp])[] = [
  // The text is the value.
  [/^\s*$/, /^\s*$/],
  // A JSON string, but not a field's name.
  [/"$/, /^(?:"(?!\s*:)|$)/],
  // A header's value; in a JSON string an escape begins where its line ends.
  [/:\s*$/, /^\s*(?:["\r\n\\]|$)/],
  // A query's.
  [/=$/, /^(?:[\s"'&#;,]|$)/],
  [/\bbearer\s+$/i, /^(?![\w~+/=-]|\.\w)/],
];
const reach = 16;

/** Whether what stands there is a whole value: a JSON string, a header's or a query's value, or a bearer token. */
export function isWholeValue([from, to]: Span, { chars }: Characters): boolean {
  if (from > 0 && !/[\s":=]/.test(chars.charAt(from - 1))) return false;
  const before = chars.slice(Math.max(0, from - reach), from);
  const after = chars.slice(to, to + reach);
  return surroundings.some(([left, right]) => left.test(before) && right.test(after));
}
