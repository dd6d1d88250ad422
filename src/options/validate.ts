import { refusal } from "../errors/statusError.js";

/** The rules of a value, in those words of JSON Schema that the contract's requests use. */
export interface Rules {
  readonly type: string;
  readonly minimum?: number;
  readonly pattern?: string;
  readonly minItems?: number;
  readonly items?: Rules;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Rules>>;
  readonly additionalProperties?: boolean;
}

/** Which rule a value breaks, in a sentence that names the value. */
export interface Problem {
  readonly code: "INVALID_ARGUMENT" | "OUT_OF_RANGE";
  readonly message: string;
}

/** Says what is wrong with a value; undefined when nothing is. */
export type Check<T = unknown> = (value: T, name: string) => Problem | undefined;

/** Makes a check of the rules that {@link compile} leaves out. */
export type More = (rules: Rules) => Check<never> | undefined;

type Types = Readonly<Record<string, readonly [noun: string, has: (value: unknown) => boolean]>>;

const types: Types = {
  array: ["a list", Array.isArray],
  boolean: ["true or false", (value) => typeof value === "boolean"],
  integer: ["a whole number", Number.isSafeInteger],
  number: ["a finite number", Number.isFinite],
  object: ["an object", (value) => typeof value === "object" && value !== null && !Array.isArray(value)],
  string: ["a string", (value) => typeof value === "string"],
};

/** @throws StatusError when a check finds something wrong. */
export function validate(value: unknown, check: Check, name: string): void {
  const found = check(value, name);
  if (found) throw refusal(found.code, found.message);
}

/**
 * Makes a check of types, bounds and required fields. Patterns and closed objects are the service's to judge.
 * @param more Checks them too, where given.
 */
export function compile(rules: Rules, more?: More, when = ""): Check {
  const { type } = rules;
  const [noun, has] = types[type] as Types[string];
  const check = contentCheck(rules, more) as Check | undefined;
  return (value, name) => {
    if (has(value)) return check?.(value, name);
    return problem(
      name,
      noun + when + (type === "integer" && Number.isFinite(value) ? `, not ${value}` : ""),
    );
  };
}

/** A problem of the value `name`. */
export function problem(
  name: string,
  wanted: string,
  code: Problem["code"] = "INVALID_ARGUMENT",
): Problem {
  return { code, message: `${name} must be ${wanted}.` };
}

function contentCheck(rules: Rules, more: More | undefined): Check<never> | undefined {
  const { minimum, items, properties } = rules;
  if (items) return itemCheck(rules, items, more);
  if (properties) return fieldCheck(properties, rules, more);
  if (minimum === undefined) return more?.(rules);
  return (value: number, name) =>
    value < minimum ? problem(name, `at least ${minimum}, not ${value}`, "OUT_OF_RANGE") : undefined;
}

function itemCheck({ minItems = 0 }: Rules, items: Rules, more: More | undefined): Check<never> {
  const check = compile(items, more);
  const [, has] = types[items.type] as Types[string];
  const isBare = !contentCheck(items, more);
  return (list: readonly unknown[], name) => {
    if (list.length < minItems) return problem(name, `a list of at least ${minItems} ${items.type}`);
    for (let index = 0; index < list.length; index++) {
      // Nothing more is called, and no name built, for each of thousands that fit.
      if (isBare && has(list[index])) continue;
      const found = check(list[index], `${name}[${index}]`);
      if (found) return found;
    }
    return undefined;
  };
}

// Own properties alone: a polluted Object.prototype fills in nothing.
function fieldCheck(
  properties: NonNullable<Rules["properties"]>,
  rules: Rules,
  more: More | undefined,
): Check<never> {
  const checks = Object.entries(properties).map(([field, each]) => {
    const isRequired = rules.required?.includes(field);
    return { field, isRequired, check: compile(each, more, isRequired ? "" : " when given") };
  });
  return (value: Readonly<Record<string, unknown>>) => {
    for (const { field, isRequired, check } of checks) {
      const content = Object.hasOwn(value, field) ? value[field] : undefined;
      const found = content === undefined && !isRequired ? undefined : check(content, field);
      if (found) return found;
    }
    return undefined;
  };
}
