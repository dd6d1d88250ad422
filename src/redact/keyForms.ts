import { undoEscapes } from "./undoEscapes.js";

/** One way to write a key. */
export interface KeyForm {
  readonly chars: string;
  /** How many of its first or last characters are recognised where a text is cut. */
  readonly leastPart: number;
}

/** Shorter, a key or a part of one could be part of any word. */
export const leastCharacters = 8;

/** A key as it is. */
export function plainForm(chars: string): KeyForm {
  return { chars, leastPart: leastCharacters };
}

/** What to look for in an unescaped text: the key, also in base64. */
export function keyForms(key: string): readonly KeyForm[] {
  const { chars } = undoEscapes(key);
  // What looks like an escape in the key itself is one character of it.
  const leastPart = Math.max(1, leastCharacters - (key.length - chars.length));
  const whole = btoa(key);
  const base64 =
    key.length < leastCharacters
      ? [whole, whole.replace(/=+$/, "")]
      : [0, 1, 2].map((offset) => base64At(offset, key));
  const urlSafe = base64.map((form) => form.replaceAll("+", "-").replaceAll("/", "_"));
  // Nothing is left of a key of backslashes.
  const unescaped = chars === "" ? [] : [{ chars, leastPart }];
  return [...unescaped, ...[...new Set([...base64, ...urlSafe])].map(plainForm)];
}

// Only the characters that the key alone decides, when it stands after so many other bytes.
function base64At(offset: number, key: string): string {
  const bits = 8 * offset;
  const from = Math.ceil(bits / 6);
  return btoa("\0".repeat(offset) + key).slice(from, Math.floor((bits + 8 * key.length) / 6));
}
