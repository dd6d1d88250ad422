/** The characters of a text, as they are or unescaped. */
export interface Characters {
  readonly text: string;
  readonly chars: string;
  /** Where in the text a character begins, its escape included; for their number: where the last one ends. */
  readonly startOf: (index: number) => number;
}

// HTML's names for the punctuation of ASCII, each before its character.
const htmlNames = new Map(
  Array.from(
    "excl!quot\"num#dollar$percnt%amp&apos'lpar(rpar)ast*midast*plus+comma,period.sol/colon:semi;lt<equals=gt>quest?commat@lsqb[lbrack[bsol\\rsqb]rbrack]hat^lowbar_underbar_grave`diacriticalgrave`lcub{lbrace{verbar|vert|verticalline|rcub}rbrace}".matchAll(
      /([a-z]+)(.)/g,
    ),
    ([, name = "", char = ""]) => [name, char.charCodeAt(0)],
  ),
);

const longestEscape = 18;
// Stands for a backslash that was escaped; the one that follows it is another's.
const inner = "\ue000";
const escapeAtEnd = /(?:(?:%|[\\\ue000]u00)([\da-f]{2})|&(?:#(x?[\da-f]{2,8})|([a-z]{2,16}));)$/i;

/**
 * Undoes what JSON, URLs and HTML escape of ASCII, also where one escaped what another had escaped before.
 * Backslashes are left out: a JSON writer may put one before a quote or a slash, and a second one two more.
 * Every spelling of a text comes out the same as the text itself does. Linear time.
 */
export function undoEscapes(text: string): Characters {
  const chars: string[] = [];
  const starts: number[] = [];
  for (let at = 0; at < text.length; at++) {
    chars.push(text.charAt(at));
    starts.push(at);
    // What an escape stood for may be the end of another.
    while (undoLast(chars)) starts.length = chars.length;
  }
  const undone = chars.filter((char) => !isBackslash(char)).join("");
  // A character begins where the backslashes before it do.
  const begins = starts.filter((_, i) => !isBackslash(chars[i - 1]));
  const startOf = (index: number): number =>
    index < undone.length ? (begins[index] as number) : text.length;
  return { text, chars: undone, startOf };
}

// Whether the characters ended with an escape, which is then replaced by what it stands for.
function undoLast(chars: string[]): boolean {
  const { length } = chars;
  const last = chars[length - 1];
  if (last === "\\" && chars[length - 2] === last) {
    chars.splice(-2, 2, inner);
    return true;
  }
  if (last !== ";" && chars[length - 3] !== "%" && !isBackslash(chars[length - 6])) return false;
  const [found = "", hex, number, name] = escapeAtEnd.exec(chars.slice(-longestEscape).join("")) ?? [];
  const code = name ? htmlNames.get(name.toLowerCase()) : Number(hex ? `0x${hex}` : `0${number}`);
  if (code === undefined || !(code < 127)) return false;
  const char = String.fromCharCode(code);
  chars.splice(-found.length, found.length, char === "\\" ? inner : char);
  return true;
}

function isBackslash(char: string | undefined): boolean {
  return char === "\\" || char === inner;
}
