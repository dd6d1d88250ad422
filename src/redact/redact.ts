import { define, memberOf, tagOf, textFor, valueOr } from "../values.js";

/** One spelling of a key, such as its base64. */
interface KeyForm {
  readonly chars: string;
  /** Where a text was cut, at least this many of the form's first or last characters count as a part of the key. */
  readonly leastPart: number;
}

// A key, or a part of a key, with fewer characters could be part of any word.
const leastCharacters = 8;

/** The spellings to look for in an unescaped text: the key, and the key in base64. */
function keyForms(key: string): readonly KeyForm[] {
  const { chars } = undoEscapes(key);
  // In `chars`, an escape sequence within the key is one character, so fewer characters are enough.
  const leastPart = Math.max(1, leastCharacters - (key.length - chars.length));
  // btoa takes bytes only: if a secret has other characters, its bytes are given as a separate secret.
  const isBytes = !/[^\0-\xff]/.test(key);
  const whole = isBytes && key.length < leastCharacters ? btoa(key) : "";
  // The characters of base64 that depend on the key alone, if `offset` other bytes stand before it.
  const at = (offset: number): string => {
    const end = Math.floor((8 * (offset + key.length)) / 6);
    return btoa("\0".repeat(offset) + key).slice(Math.ceil((8 * offset) / 6), end);
  };
  const base64 = whole ? [whole, whole.replace(/=+$/, "")] : isBytes ? [0, 1, 2].map(at) : [];
  const urlSafe = base64.map((form) => form.replaceAll("+", "-").replaceAll("/", "_"));
  // A key of backslashes only is empty without its escapes.
  const unescaped = chars === "" ? [] : [{ chars, leastPart }];
  const encoded = [...new Set([...base64, ...urlSafe])];
  return [...unescaped, ...encoded.map((form) => ({ chars: form, leastPart: leastCharacters }))];
}

/** A range of a text's characters, from one index up to another. */
export type Span = readonly [from: number, to: number];

/**
 * Finds a spelling of the key in a text. Linear time.
 * @param cut Whether to look also for the key's beginning where the text ends, and for its end where the text begins.
 */
function findForm(form: KeyForm, { text, chars, startOf }: Characters, cut: boolean): readonly Span[] {
  const { length } = form.chars;
  const spans: Span[] = [];
  const lengths = matchedLengths(form.chars, chars);
  for (let i = 0; i < lengths.length; i++) if (lengths[i] === length) spans.push([i + 1 - length, i + 1]);
  if (!cut) return spans;
  const all = chars.length;
  const ending = partAtEnd(form, lengths, (rest) => escapeBegun.test(text.slice(startOf(all - rest))));
  const first = reversed(chars.slice(0, length + longestNesting));
  const beginning = partAtEnd(form, matchedLengths(reversed(form.chars), first), (rest) =>
    escapeEnded.test(chars.slice(0, rest)),
  );
  return [...spans, [0, beginning], [all - ending, all]];
}

// Match the beginning of an escape sequence whose end was cut off, and the end of one whose beginning was cut off.
const escapeBegun = /^[\\%&][#\w\\%&;]*$/;
const escapeEnded = /^(?:u?[\da-f]{1,4}|#?\w{0,16};)$/i;
// The maximum length of one part of an escape sequence, in characters, even if it was escaped several times.
const longestNesting = 50;

// How many characters at the end of a text are the key's beginning in this spelling, with part of an escape after it.
function partAtEnd(
  { chars, leastPart }: KeyForm,
  lengths: Uint16Array,
  isEscape: (rest: number) => boolean,
): number {
  for (let rest = 0; rest <= longestNesting; rest++) {
    const length = lengths.at(-1 - rest) ?? 0;
    if (length === chars.length) return 0;
    if (length >= leastPart && (rest === 0 || isEscape(rest))) return length + rest;
  }
  return 0;
}

function reversed(text: string): string {
  return text.split("").reverse().join("");
}

// For each index of `chars`, the length of the longest prefix of `form` that ends there (Knuth-Morris-Pratt).
function matchedLengths(form: string, chars: string): Uint16Array {
  const text = form + chars;
  const lengths = new Uint16Array(text.length);
  let length = 0;
  for (let i = 1; i < text.length; i++) {
    // Knuth-Morris-Pratt: `text` begins with the form, whose own lengths tell how to go on after a mismatch.
    if (i === form.length) length = 0;
    while (length > 0 && form[length] !== text[i]) length = lengths[length - 1] as number;
    if (form[length] === text[i]) length++;
    lengths[i] = length;
  }
  return lengths.subarray(form.length);
}

/** The characters of a text, as they are or unescaped. */
interface Characters {
  readonly text: string;
  readonly chars: string;
  /** Where a character, or its escape, begins in the text; for an index after the last character: the text's end. */
  readonly startOf: (index: number) => number;
}

function asItIs(text: string): Characters {
  return { text, chars: text, startOf: (index) => index };
}

// HTML's names for ASCII punctuation, each followed by its character.
const htmlNames = new Map(
  Array.from(
    "excl!quot\"num#dollar$percnt%amp&apos'lpar(rpar)ast*midast*plus+comma,period.sol/colon:semi;lt<equals=gt>quest?commat@lsqb[lbrack[bsol\\rsqb]rbrack]hat^lowbar_underbar_grave`diacriticalgrave`lcub{lbrace{verbar|vert|verticalline|rcub}rbrace}".matchAll(
      /([a-z]+)(.)/g,
    ),
    ([, name = "", char = ""]) => [name, char.charCodeAt(0)],
  ),
);

const longestEscape = 18;
// Stands for an escaped backslash while escapes are undone, so that it does not form a pair with a backslash after it.
const inner = "\ue000";
const escapeAtEnd = /(?:(?:%|[\\\ue000]u00)([\da-f]{2})|&(?:#(x?[\da-f]{2,8})|([a-z]{2,16}));)$/i;

/**
 * Undoes the escapes of ASCII in JSON, URLs and HTML, also if they were applied one after the other.
 * Backslashes are left out: JSON writers put different numbers of them before a quote or a slash.
 * Every escaped form of a text gives the same result as the text itself. Linear time.
 */
function undoEscapes(text: string): Characters {
  // Most texts have no escape.
  if (!/[\\%&\ue000]/.test(text)) return asItIs(text);
  const chars: string[] = [];
  const starts: number[] = [];
  for (let at = 0; at < text.length; at++) {
    chars.push(text.charAt(at));
    starts.push(at);
    // The character that an escape stood for may be the end of another escape.
    while (undoLast(chars)) starts.length = chars.length;
  }
  const undone = chars.filter((char) => !isBackslash(char)).join("");
  // A character begins where the backslashes before it begin.
  const begins = starts.filter((_, i) => !isBackslash(chars[i - 1]));
  const startOf = (index: number): number =>
    index < undone.length ? (begins[index] as number) : text.length;
  return { text, chars: undone, startOf };
}

// Replaces an escape at the end by the character it stands for. Returns whether there was one.
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

/**
 * Removes a key from a text, in every form that JSON, URLs, HTML or base64 give it.
 * @param cut Whether the text may begin or end within the key, as the text of an incomplete body may.
 */
export type Redact = ((text: string, cut?: boolean) => string) & {
  /** The most characters that a key takes in a text, escaped. */
  readonly reach?: number;
};

/** Redacts one key. A key of fewer than 8 characters is removed only if it is a whole value. Linear time. */
export function redactor(key: string): Redact {
  const isShort = key.length < leastCharacters;
  let forms: readonly KeyForm[] | undefined;
  return (text, cut = false) => {
    if (key === "" || text === "") return text;
    forms ??= keyForms(key);
    const find = (form: KeyForm, source: Characters): readonly Span[] =>
      findForm(form, source, cut && !isShort)
        .filter((span) => !isShort || isWholeValue(span, source))
        .map(([from, to]) => [source.startOf(from), source.startOf(to)]);
    const undone = undoEscapes(text);
    // Most texts do not contain the key: this check finds that out at a tenth of the cost of the search below.
    if (!cut && !text.includes(key) && !forms.some(({ chars }) => undone.chars.includes(chars))) return text;
    // The text is searched as it is, too: unescaping may join the key's beginning with the characters before it.
    return replace(text, [
      ...find({ chars: key, leastPart: leastCharacters }, asItIs(text)),
      ...forms.flatMap((form) => find(form, undone)),
    ]);
  };
}

/** Whether a key stands in quotes, as in some env files: the quotes are sent, but are no part of the secret. */
export function isQuoted(key: string): boolean {
  return /^(["']).+\1$/.test(key);
}

// Kept for the next text: to find the forms of a key costs more than to search a text for them.
let lastSecrets = "";
let lastRedactor: Redact = (text) => text;

export function redactorOf(secrets: readonly string[]): Redact {
  const joined = secrets.join("\0");
  if (joined === lastSecrets) return lastRedactor;
  let all: readonly Redact[] | undefined;
  lastSecrets = joined;
  // A text that cannot be searched is not shown at all.
  const redact: Redact = (text, cut) =>
    valueOr(() => {
      all ??= secrets.flatMap((key) => (isQuoted(key) ? [key, key.slice(1, -1)] : key)).map(redactor);
      return all.reduce((left, each) => each(left, cut), text);
    }, "[redacted]");
  const longest = Math.max(0, ...secrets.map(({ length }) => length));
  lastRedactor = Object.assign(redact, { reach: longestEscape * longest });
  return lastRedactor;
}

/** A copy of a value without the key in its strings and in the names of its properties. */
export function redactValues(redact: Redact, value: unknown): unknown {
  if (typeof value === "string") return redact(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => redactValues(redact, item));
  const names = new Set(Object.keys(value));
  const left = Object.entries(value).map(([name, item]) => {
    // A short key stays in a name: the character put before it keeps the redactor from taking the name for a whole value.
    const redacted = redact(`\uffff${name}`).slice(1);
    let free = redacted;
    // Names that are the same without the key are numbered, so that no property is lost.
    for (let number = 2; free !== name && names.has(free); number++) free = `${redacted} ${number}`;
    names.add(free);
    return [free, redactValues(redact, item)];
  });
  return Object.fromEntries(left);
}

const keptFields = ["name", "code", "errno", "syscall", "hostname", "address", "port"] as const;

/**
 * A redacted copy of an error's cause with only the fields that describe it: network errors can hold the bytes sent.
 * A string is redacted. Undefined if the cause is neither an error nor a string, or cannot be copied. Never throws.
 */
export function redactCause(redact: Redact, cause: unknown, depth = 0): unknown {
  return valueOr(() => copyOf(redact, cause, depth));
}

function copyOf(redact: Redact, cause: unknown, depth: number): unknown {
  if (typeof cause === "string") return redact(cause);
  // Under Jest, Node's errors belong to another realm than the program's Error class.
  if (!(cause instanceof Error || tagOf(cause) === "Error") || depth > 3) return undefined;
  const shown = (value: unknown) => redactCause(redact, value, depth + 1);
  const inner = shown(memberOf(cause, "cause"));
  const message = redact(textFor(memberOf(cause, "message") ?? ""));
  const copy = new Error(message, inner === undefined ? undefined : { cause: inner });
  for (const name of keptFields) {
    const value = memberOf(cause, name);
    const kept = typeof value === "number" ? value : shown(value);
    // Defined, not assigned: an assignment of `name` fails if a program has frozen Error.prototype.
    if (kept !== undefined) define(copy, { [name]: kept }, true);
  }
  // The errors of an AggregateError, one for each address of a host; at most 16 are kept.
  const errors = memberOf(cause, "errors");
  if (Array.isArray(errors)) Object.assign(copy, { errors: errors.slice(0, 16).map(shown) });
  copy.stack = (shown(memberOf(cause, "stack")) ?? message) as string;
  return copy;
}

function replace(text: string, spans: readonly Span[]): string {
  let replaced = "";
  let at = 0;
  for (const [from, to] of [...spans].sort(([a], [b]) => a - b)) {
    if (from === to) continue;
    if (from >= at) replaced += `${text.slice(at, from)}[redacted]`;
    at = Math.max(at, to);
  }
  return replaced + text.slice(at);
}

// Patterns of the text before and after a whole value. A value may also end where the text ends.
const surroundings: readonly (readonly [before: RegExp, after: RegExp])[] = [
  // The whole text, but for white space.
  [/^\s*$/, /^\s*$/],
  // A JSON string, but not a field's name.
  [/"$/, /^(?:"(?!\s*:)|$)/],
  // A header's value. In a JSON string an escape such as \n ends the header's line, so a backslash ends the value, too.
  [/:\s*$/, /^\s*(?:["\r\n\\]|$)/],
  // The value of a query parameter.
  [/=$/, /^(?:[\s"'&#;,]|$)/],
  [/\bbearer\s+$/i, /^(?![\w~+/=-]|\.\w)/],
];
const reach = 16;

/** Whether a range of the text is a whole value: a JSON string, a header's or a query's value, or a bearer token. */
function isWholeValue([from, to]: Span, { chars }: Characters): boolean {
  if (from > 0 && !/[\s":=]/.test(chars.charAt(from - 1))) return false;
  const before = chars.slice(Math.max(0, from - reach), from);
  const after = chars.slice(to, to + reach);
  return surroundings.some(([left, right]) => left.test(before) && right.test(after));
}
