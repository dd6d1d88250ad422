// The checks of rules that today's contract does not have. A contract that has one gets this file as src/options/ruleChecks.ts.
import { amount, invalid, refusal } from "../../src/errors/statusError.js";
import type { Place, Rules } from "../../src/options/rules.js";
import { ownValue, wholeParts } from "../../src/values.js";

type Fields = Readonly<Record<string, unknown>>;

/**
 * A function that checks a value, whose type is right, by each of its rules that is in `checks`.
 * @param checks For each rule its check, which throws a StatusError if the value breaks the rule.
 */
export function checkEach(
  checks: Readonly<Record<string, (value: never, limit: never, place: Place) => void>>,
): (value: unknown, place: Place) => void {
  return (value, place) => {
    const { rules } = place;
    for (const [word, check] of Object.entries(checks)) {
      const limit = ownValue(rules, word as keyof Rules);
      const isOpen =
        word === "enum" ? ownValue(rules, "x-open") : word === "pattern" && !ownValue(rules, "form");
      if (limit !== undefined && !isOpen) check(value as never, limit as never, place);
    }
  };
}

/** Checks the rule `enum`: the value must be one of a list. */
export function enumeration(value: unknown, values: readonly unknown[], { name }: Pick<Place, "name">): void {
  if (!values.includes(value)) throw invalid(name, `${name} must be one of ${values.join(", ")}.`);
}

export function pattern(
  value: string,
  source: string,
  { name, rules }: { name: string; rules: Pick<Rules, "form"> },
): void {
  if (!new RegExp(source, "u").test(value)) throw invalid(name, `${name} must have the form ${rules.form}.`);
}

/** Checks the only format that is kept as a rule: a date and time of RFC 3339. */
export function format(value: string, _: string, { name }: Place): void {
  const isOne = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i.test(value);
  if (!isOne || Number.isNaN(Date.parse(value)))
    throw invalid(name, `${name} must be a date and time, such as 2026-03-02T09:15:00Z.`);
}

// Characters are counted as JSON Schema does: one outside the basic plane counts once.
export function minLength(value: string, least: number, { name }: Place): void {
  atLeast([...value].length, least, name, "character");
}

export function maxLength(value: string, most: number, { name }: Place): void {
  if (value.length > most) atMost([...value].length, most, name, "character");
}

export function maximum(value: number, most: number, { name }: Place): void {
  if (value > most) throw outOfRange(name, `${name} must be at most ${most}, not ${value}.`);
}

export function exclusiveMinimum(value: number, bound: number, { name }: Place): void {
  if (value <= bound) throw outOfRange(name, `${name} must be greater than ${bound}, not ${value}.`);
}

export function exclusiveMaximum(value: number, bound: number, { name }: Place): void {
  if (value >= bound) throw outOfRange(name, `${name} must be less than ${bound}, not ${value}.`);
}

export function multipleOf(value: number, step: number, { name }: Place): void {
  // The quotient of two decimals is whole to 15 digits only: 0.3 / 0.1 is 2.9999999999999996.
  if (Number.isInteger(Number((value / step).toPrecision(15)))) return;
  throw outOfRange(name, `${name} must be a multiple of ${step}, not ${value}.`);
}

export function maxItems(list: readonly unknown[], most: number, { name }: Place): void {
  atMost(list.length, most, name, "item");
}

export function uniqueItems(list: readonly unknown[], isUnique: boolean, { name }: Place): void {
  if (!isUnique) return;
  const seen = new Map<unknown, number>();
  for (const [index, item] of list.entries()) {
    const text = textOf(item);
    const first = seen.get(text);
    if (first !== undefined)
      throw invalid(
        `${name}[${index}]`,
        `${name}[${index}] is the same as ${name}[${first}]: no two items may be equal.`,
      );
    seen.set(text, index);
  }
}

export function minProperties(value: Fields, least: number, { name }: Place): void {
  atLeast(fieldsOf(value).length, least, name, "field");
}

export function maxProperties(value: Fields, most: number, { name }: Place): void {
  atMost(fieldsOf(value).length, most, name, "field");
}

/**
 * Checks the values of fields without rules of their own. Unknown fields pass: the service may be newer than this
 * client.
 */
export function additionalProperties(
  value: Fields,
  others: boolean | Rules,
  { name, rules, validate }: Place,
): void {
  if (typeof others === "boolean") return;
  const known = ownValue(rules, "properties") ?? {};
  for (const field of fieldsOf(value)) {
    if (Object.hasOwn(known, field)) continue;
    validate(value[field], others, `${name}.${field}`);
  }
}

export function oneOf(
  value: Fields,
  { propertyName, variants }: Required<Rules>["oneOf"],
  place: Place,
): void {
  const { name, validate } = place;
  const kind = ownValue(value, propertyName);
  const variant = ownValue(variants, kind as string);
  const field = wholeParts.test(name) ? propertyName : `${name}.${propertyName}`;
  if (typeof kind === "string" && variant !== undefined) validate(value, variant, name);
  else throw invalid(field, `${field} must be one of ${Object.keys(variants).join(", ")}.`);
}

/** Checks the rule `not` with `required`: an object may not have all of these fields at once. */
export function not(value: Fields, { required }: Required<Rules>["not"], { name }: Place): void {
  const given = fieldsOf(value);
  if (required.every((field) => given.includes(field)))
    throw invalid(name, `${name} may not have ${required.join(" and ")} at once.`);
}

// A field that is undefined is not sent.
function fieldsOf(value: Fields): string[] {
  return Object.keys(value).filter((field) => value[field] !== undefined);
}

function atLeast(count: number, least: number, name: string, noun: string): void {
  if (count < least) throw invalid(name, `${name} must have at least ${amount(least, noun)}, not ${count}.`);
}

function atMost(count: number, most: number, name: string, noun: string): void {
  if (count > most) throw invalid(name, `${name} must have at most ${amount(most, noun)}, not ${count}.`);
}

// Turns a value into a text by which equal values are found; an object of a class stays itself, equal to no other.
function textOf(value: unknown): unknown {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value !== "object" || value === null) return String(value);
  const prototype = Object.getPrototypeOf(value);
  if (Array.isArray(value)) return `[${value.map(textOf).join()}]`;
  if (prototype !== null && prototype !== Object.prototype) return value;
  const fields = fieldsOf(value as Fields).sort();
  return `{${fields.map((field) => `${JSON.stringify(field)}:${textOf((value as Fields)[field])}`).join()}}`;
}

function outOfRange(name: string, message: string): Error {
  return refusal("OUT_OF_RANGE", name, message);
}
