import { define, memberOf, tagOf, textFor, valueOr } from "../values.js";

/** One way to write a key. */
interface KeyForm {
  readonly chars: string;
  /** How many of its first or last characters are recognised where a text is cut. */
  readonly leastPart: number;
}

/** Shorter, a key or a part of one could be part of any word. */
const leastCharacters = 8;

/** A key as it is. */
function plainForm(chars: string): KeyForm {
  return { chars, leastPart: leastCharacters };
}

/** What to look for in an unescaped text: the key, also in base64. */
function keyForms(key: string): readonly KeyForm[] {
  const { chars } = undoEscapes(key);
  // What looks like an escape in the key itself is one character of it.
  const leastPart = Math.max(1, leastCharacters - (key.length - chars.length));
  // Base64 is that of bytes: where a secret has other characters, its bytes are a secret of their own.
  const base64 = /[^\0-\xff]/.test(key) ? [] : base64Of(key);
  const urlSafe = base64.map((form) => form.replaceAll("+", "-").replaceAll("/", "_"));
  // Nothing is left of a key of backslashes.
  const unescaped = chars === "" ? [] : [{ chars, leastPart }];
  return [...unescaped, ...[...new Set([...base64, ...urlSafe])].map(plainForm)];
}

function base64Of(key: string): string[] {
  const whole = btoa(key);
  return key.length < leastCharacters
    ? [whole, whole.replace(/=+$/, "")]
    : [0, 1, 2].map((offset) => base64At(offset, key));
}

// Only the characters that the key alone decides, when it stands after so many other bytes.
function base64At(offset: number, key: string): string {
  const bits = 8 * offset;
  const from = Math.ceil(bits / 6);
  return btoa("\0".repeat(offset) + key).slice(from, Math.floor((bits + 8 * key.length) / 6));
}

/** From one index of a text's characters up to another. */
export type Span = readonly [from: number, to: number];

/**
 * Where a form stands in a text. Linear time.
 * @param cut Whether to look for its beginning where the text ends, and for its end where the text begins, too.
 */
function findForm(form: KeyForm, source: Characters, cut: boolean): readonly Span[] {
  const { length } = form.chars;
  const spans: Span[] = [];
  if (!cut && length > source.chars.length) return spans;
  const lengths = matchedLengths(form.chars, source.chars);
  for (let i = 0; i < lengths.length; i++) if (lengths[i] === length) spans.push([i + 1 - length, i + 1]);
  return cut ? [...spans, ...findParts(form, source, lengths)] : spans;
}

// What is left of an escape that was cut.
const escapeBegun = /^[\\%&][#\w\\%&;]*$/;
const escapeEnded = /^(?:u?[\da-f]{1,4}|#?\w{0,16};)$/i;
// Also one of several that escaped each other.
const longestNesting = 50;

function findParts(form: KeyForm, { text, chars, startOf }: Characters, lengths: Uint16Array): Span[] {
  const { length } = chars;
  const ending = partAtEnd(form, form.leastPart, lengths, (rest) =>
    escapeBegun.test(text.slice(startOf(length - rest))),
  );
  const first = reversed(chars.slice(0, form.chars.length + longestNesting));
  const beginning = partAtEnd(form, form.leastPart, matchedLengths(reversed(form.chars), first), (rest) =>
    escapeEnded.test(chars.slice(0, rest)),
  );
  return [
    [0, beginning],
    [length - ending, length],
  ];
}

// How many characters at the end are part of the form, with the part of an escape behind it.
function partAtEnd(
  { chars }: KeyForm,
  least: number,
  lengths: Uint16Array,
  isEscape: (rest: number) => boolean,
): number {
  for (let rest = 0; rest <= longestNesting; rest++) {
    const length = lengths.at(-1 - rest) ?? 0;
    if (length === chars.length) return 0;
    if (length >= least && (rest === 0 || isEscape(rest))) return length + rest;
  }
  return 0;
}

function reversed(text: string): string {
  return text.split("").reverse().join("");
}

// After each character, how much of the form's beginning the text ends with (Knuth, Morris and Pratt).
function matchedLengths(form: string, chars: string): Uint16Array {
  const own = new Uint16Array(form.length);
  const lengths = new Uint16Array(chars.length);
  const follow = (into: Uint16Array, text: string, from: number): void => {
    let length = 0;
    for (let i = from; i < text.length; i++) {
      while (length > 0 && form[length] !== text[i]) length = own[length - 1] as number;
      if (form[length] === text[i]) length++;
      into[i] = length;
    }
  };
  follow(own, form, 1);
  follow(lengths, chars, 0);
  return lengths;
}
/** The characters of a text, as they are or unescaped. */
interface Characters {
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
function undoEscapes(text: string): Characters {
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

/**
 * Takes a key out of a text, however JSON, URLs, HTML or base64 write it.
 * @param cut Whether the text may end or begin within the key, as the text of a body that came in part.
 */
export type Redact = (text: string, cut?: boolean) => string;

/** Redacts one key. A key of fewer than 8 characters is taken out only where it is a whole value. Linear time. */
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
    const unescaped = undoEscapes(text);
    // As it is as well: unescaping may make one character of what stands before the key and its beginning.
    const asItIs = { text, chars: text, startOf: (index: number) => index };
    return replace(text, [
      ...find(plainForm(key), asItIs),
      ...forms.flatMap((form) => find(form, unescaped)),
    ]);
  };
}

/** Whether a key stands in quotes, as an env file's may: they are sent, but are no part of the secret. */
export function isQuoted(key: string): boolean {
  return /^(["']).+\1$/.test(key);
}

export function redactorOf(secrets: readonly string[]): Redact {
  const all = secrets.flatMap((key) => (isQuoted(key) ? [key, key.slice(1, -1)] : key)).map(redactor);
  // What cannot be searched is not shown.
  return (text, cut) => valueOr(() => all.reduce((left, redact) => redact(left, cut), text), "[redacted]");
}

/** The value with the key taken out of its strings, and of the names of its properties. */
export function redactValues(redact: Redact, value: unknown): unknown {
  if (typeof value === "string") return redact(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => redactValues(redact, item));
  const names = new Set(Object.keys(value));
  const left = Object.entries(value).map(([name, item]) => [
    newName(name, redact, names),
    redactValues(redact, item),
  ]);
  return Object.fromEntries(left);
}

// A name is no whole value: a short key is left in it, as behind any other character. Names that are the same without
// the key are numbered, so that no property is lost.
function newName(name: string, redact: Redact, names: Set<string>): string {
  const redacted = redact(`\uffff${name}`).slice(1);
  let free = redacted;
  for (let number = 2; free !== name && names.has(free); number++) free = `${redacted} ${number}`;
  names.add(free);
  return free;
}

const keptFields = ["name", "code", "errno", "syscall", "hostname", "address", "port"] as const;

/**
 * A copy of a cause that keeps only what says what happened: network errors can hold the bytes that caused them.
 * Undefined for what is no error, or cannot be copied. Never throws.
 */
export function redactCause(redact: Redact, cause: unknown, depth = 0): unknown {
  return valueOr(() => copyOf(redact, cause, depth), undefined);
}

function copyOf(redact: Redact, cause: unknown, depth: number): unknown {
  if (typeof cause === "string") return redact(cause);
  if (!isError(cause) || depth > 3) return undefined;
  const shown = (value: unknown) => redactCause(redact, value, depth + 1);
  const inner = shown(memberOf(cause, "cause"));
  const message = redact(textFor(memberOf(cause, "message") ?? ""));
  const copy = new Error(message, inner === undefined ? undefined : { cause: inner });
  for (const name of keptFields) {
    const value = memberOf(cause, name);
    const kept = typeof value === "number" ? value : shown(value);
    // Not by assignment, which fails where a program has frozen Error.prototype and so its `name`.
    if (kept !== undefined) define(copy, { [name]: kept }, true);
  }
  // Those of an AggregateError; a name has no more addresses.
  const errors = memberOf(cause, "errors");
  if (Array.isArray(errors)) Object.assign(copy, { errors: errors.slice(0, 16).map(shown) });
  copy.stack = (shown(memberOf(cause, "stack")) ?? message) as string;
  return copy;
}

// Under Jest the errors of Node are of another realm than the program's.
function isError(value: unknown): value is Error {
  return value instanceof Error || tagOf(value) === "Error";
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
function isWholeValue([from, to]: Span, { chars }: Characters): boolean {
  if (from > 0 && !/[\s":=]/.test(chars.charAt(from - 1))) return false;
  const before = chars.slice(Math.max(0, from - reach), from);
  const after = chars.slice(to, to + reach);
  return surroundings.some(([left, right]) => left.test(before) && right.test(after));
}
