import { amount, invalid, refusal } from "../errors/statusError.js";
import { ownValue, tagOf, WithoutPrototype, wholeParts } from "../values.js";
import { checkRules } from "./contractChecks.js";
import type { Rules } from "./rules.js";

/** The rules of a request, from the contract. */
export interface RequestRules {
  readonly contentType?: string;
  /** The name of the form part that holds the file. */
  readonly file?: string;
  /** Whether the body may be left out. */
  readonly optional?: boolean;
  readonly body?: Rules;
  readonly query?: Rules;
  readonly headers?: Rules;
}

const nouns: Readonly<Record<string, string>> = {
  array: "a list",
  boolean: "true or false",
  integer: "a whole number",
  number: "a finite number",
  object: "an object",
  string: "a string",
};

/**
 * Checks a value against its rules; fields without rules pass.
 *
 * @param when Added to the message for a wrong type.
 * @throws StatusError `INVALID_ARGUMENT` or `OUT_OF_RANGE`, naming the first value that breaks a rule.
 */
export function validate(value: unknown, rules: Rules, name: string, when = ""): void {
  const { type } = rules;
  const isFit =
    type === "integer"
      ? Number.isSafeInteger(value)
      : type === "number"
        ? Number.isFinite(value)
        : Array.isArray(value)
          ? type === "array" && !(value.length < (ownValue(rules, "minItems") as number))
          : value !== null && typeof value === type;
  if (type && !isFit) {
    const not = type === "integer" && Number.isFinite(value) ? `, not ${value}` : "";
    const least = ownValue(rules, "minItems");
    const length = least ? ` of at least ${amount(least, `${ownValue(rules, "items")?.type}`)}` : "";
    throw invalid(name, `${name} must be ${nouns[type]}${length}${when}${not}.`);
  }
  if (type === "object") {
    // Own properties only: a polluted Object.prototype must not fill in a field.
    const properties = ownValue(rules, "properties") ?? {};
    const within = wholeParts.test(name) ? "" : `${name}.`;
    const required = ownValue(rules, "required");
    for (const field of Object.keys(properties)) {
      const content = ownValue(value as Readonly<Record<string, unknown>>, field);
      const isRequired = required?.includes(field);
      if (isRequired || content !== undefined)
        validate(content, properties[field] as Rules, within + field, isRequired ? "" : " when given");
    }
  }
  const items = type === "array" ? ownValue(rules, "items") : undefined;
  if (items !== undefined) {
    const list = value as readonly unknown[];
    const isText = items.type === "string" && Object.keys(items).length === 1;
    for (let index = 0; index < list.length; index++) {
      // A list of texts is checked without a call for each text: 10,000 documents take a fraction of a millisecond.
      if (!isText || typeof list[index] !== "string") validate(list[index], items, `${name}[${index}]`);
    }
  }
  const minimum = typeof value === "number" ? ownValue(rules, "minimum") : undefined;
  if (minimum !== undefined && (value as number) < minimum)
    throw refusal("OUT_OF_RANGE", name, `${name} must be at least ${minimum}, not ${value}.`);
  checkRules?.(value, { name, rules, validate });
}

/** Checks an option's value and returns the value to use. @throws StatusError */
export type Check<T> = (value: unknown, what: string) => T;

/** Every name that a type of options may have, with its check; 1 if the code that uses the option checks it. */
export type OptionTable<T> = Readonly<Record<keyof T, 1 | Check<unknown>>>;

const nothing: object = Object.freeze(Object.create(null));

/**
 * Copies an object's own properties and its class's accessors: a polluted Object.prototype adds nothing to the copy.
 * @param table The names that the object may have, with their checks; without a table, all names are allowed. An unknown
 * name is rejected, which would otherwise be ignored silently. @throws StatusError that names the nearest known option
 */
export function ownProperties<T extends object>(
  value: T | undefined,
  what: string,
  table?: OptionTable<object>,
): T {
  if (value === undefined) return nothing as T;
  validate(value, { type: "object" }, what);
  const own = Object.assign(new WithoutPrototype(), value) as T;
  if (Object.getPrototypeOf(value) !== Object.prototype)
    addAccessors(own as Record<string, unknown>, value, what);
  if (table === undefined) return own;
  const checks: Readonly<Record<string, 1 | Check<unknown>>> = table;
  const found = own as Record<string, unknown>;
  const within = what === "options" ? "" : `${what}.`;
  for (const name in found) {
    if (Object.hasOwn(checks, name)) continue;
    const known = suggestion(name, Object.keys(checks));
    throw invalid(within + name, `Unknown option ${within}${name}: ${known}`);
  }
  for (const name in found) {
    const check = checks[name];
    if (typeof check === "function" && found[name] !== undefined)
      found[name] = check(found[name], within + name);
  }
  return own;
}

function addAccessors(own: Record<string, unknown>, value: object, what: string): void {
  const kind = tagOf(value);
  // A Map or a Promise has no properties of its own, and would be taken for empty options.
  if (kind !== "Object" && Object.keys(own).length === 0)
    throw invalid(what, `${what} must be a plain object, not ${kind}.`);
  // Walks up the prototype chain, but not to its root: Object.prototype, perhaps of another realm.
  for (let holder = value; Object.getPrototypeOf(holder); holder = Object.getPrototypeOf(holder)) {
    for (const [name, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(holder)))
      if (Object.hasOwn(descriptor, "get") && !(name in own)) own[name] = Reflect.get(value, name);
  }
}

/** Rejects another spelling of a known field; unknown fields pass. @throws StatusError */
export function checkSpelling(body: object, fields: object, what: string): void {
  for (const name of Object.keys(body)) {
    if (Object.hasOwn(fields, name)) continue;
    const known = Object.keys(fields).find((field) => lettersOf(field) === lettersOf(name));
    if (known !== undefined) throw invalid(name, `${what} has ${name}: did you mean ${known}?`);
  }
}

// Former names of options, with their present names.
const renamed: Readonly<Record<string, string>> = { repeatable: "idempotent", maxHoldMs: "maxPauseMs" };

/** Suggests what to write for an unknown name. */
export function suggestion(name: string, known: readonly string[]): string {
  const now = ownValue(renamed, name) ?? "";
  if (known.includes(now)) return `it is renamed to ${now}.`;
  const [near] = known
    // Counts edits per letter of the known name: long names are often abbreviated, which takes many edits.
    .map((word) => ({ word, edits: editsBetween(lettersOf(name), lettersOf(word)) / word.length }))
    .sort((a, b) => a.edits - b.edits);
  return near && near.edits <= 1 / 2 ? `did you mean ${near.word}?` : `use one of ${known.join(", ")}.`;
}

/** A name without the marks and capitals in which spellings differ: `topn` of `top_n` and `topN`. */
export function lettersOf(name: string): string {
  return name.replace(/[_-]/g, "").toLowerCase();
}

/** Turns a name of the contract into that of the argument: "dataset_id" into "datasetId". */
export function camelCase(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** The number of edits between two names (Levenshtein distance). Reads 64 characters of `given`: no name is longer. */
export function editsBetween(given: string, known: string): number {
  let row = Array.from({ length: known.length + 1 }, (_, index) => index);
  for (const [index, letter] of [...given.slice(0, 64)].entries()) {
    const next = [index + 1];
    for (let at = 0; at < known.length; at++) {
      const replaced = (row[at] as number) + (known[at] === letter ? 0 : 1);
      next.push(Math.min(replaced, (row[at + 1] as number) + 1, (next[at] as number) + 1));
    }
    row = next;
  }
  return row[known.length] as number;
}
