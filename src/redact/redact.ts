import { define, memberOf, tagOf, textFor, valueOr } from "../values.js";
import {
  type Characters,
  findForm,
  type KeyForm,
  keyForms,
  leastCharacters,
  plainForm,
  type Span,
  undoEscapes,
} from "./keyForms.js";

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
