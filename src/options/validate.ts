import { refusal } from "../errors/statusError.js";

/** The rules of a value, in those words of JSON Schema that the contract's requests use. */
export interface Rules {
  readonly type: string;
  readonly minimum?: number;
  /** The service's to judge, as is a closed object: the stand-in does (testing/strictRules.ts). */
  readonly pattern?: string;
  readonly minItems?: number;
  readonly items?: Rules;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Rules>>;
  readonly additionalProperties?: boolean;
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
 * @param owner The rules of the object that the value is a field of.
 * @throws StatusError `INVALID_ARGUMENT` or `OUT_OF_RANGE`, naming the first value that breaks a rule.
 */
export function validate(value: unknown, rules: Rules, name: string, owner?: Rules): void {
  const { type } = rules;
  if (!hasType(value, rules)) {
    const when = owner === undefined || isRequired(owner, name) ? "" : " when given";
    const not = type === "integer" && Number.isFinite(value) ? `, not ${value}` : "";
    throw refusal("INVALID_ARGUMENT", `${name} must be ${nouns[type]}${lengthOf(rules)}${when}${not}.`);
  }
  if (type === "object") validateFields(value as Readonly<Record<string, unknown>>, rules);
  else if (type === "array") validateItems(value as readonly unknown[], rules, name);
  else if ((value as number) < (rules.minimum as number)) {
    throw refusal("OUT_OF_RANGE", `${name} must be at least ${rules.minimum}, not ${value}.`);
  }
}

function hasType(value: unknown, { type, minItems }: Rules): boolean {
  if (type === "integer") return Number.isSafeInteger(value);
  if (type === "number") return Number.isFinite(value);
  if (Array.isArray(value)) return type === "array" && !(value.length < (minItems as number));
  return value !== null && typeof value === type;
}

function lengthOf({ minItems, items }: Rules): string {
  return minItems ? ` of at least ${minItems} ${items?.type}${minItems === 1 ? "" : "s"}` : "";
}

function isRequired({ required }: Rules, field: string): boolean {
  return required?.includes(field) === true;
}

// Own properties alone: a polluted Object.prototype fills in nothing.
function validateFields(value: Readonly<Record<string, unknown>>, rules: Rules): void {
  const { properties } = rules;
  for (const field in properties) {
    const content = Object.hasOwn(value, field) ? value[field] : undefined;
    const isMissing = content === undefined && !isRequired(rules, field);
    const found = Object.hasOwn(properties, field) ? properties[field] : undefined;
    if (found && !isMissing) validate(content, found, field, rules);
  }
}

function validateItems(list: readonly unknown[], { items }: Rules, name: string): void {
  if (items === undefined) return;
  const isText = items.type === "string";
  for (let index = 0; index < list.length; index++) {
    // Nothing is called, and no name built, for each of thousands of texts.
    if (!isText || typeof list[index] !== "string") validate(list[index], items, `${name}[${index}]`);
  }
}
