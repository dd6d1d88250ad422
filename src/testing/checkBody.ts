import type { RequestSchema } from "../generated/requests.js";

/** What a body breaks of the contract's rules, in a sentence; undefined when it keeps them. */
export function checkBody(value: unknown, schema: RequestSchema, what = "The body"): string | undefined {
  if (schema.type !== undefined && !isOfType(value, schema.type)) {
    return `${what} must be ${/^[aio]/.test(schema.type) ? "an" : "a"} ${schema.type}.`;
  }
  if (typeof value === "number" && schema.minimum !== undefined && value < schema.minimum) {
    return `${what} must be at least ${schema.minimum}.`;
  }
  if (
    typeof value === "string" &&
    schema.pattern !== undefined &&
    !new RegExp(schema.pattern, "u").test(value)
  ) {
    return `${what} must have the form ${schema.pattern}.`;
  }
  if (Array.isArray(value)) return checkItems(value, schema, what);
  return typeof value === "object" && value !== null ? checkFields(value, schema) : undefined;
}

function checkItems(value: readonly unknown[], schema: RequestSchema, what: string): string | undefined {
  const { items, minItems = 0 } = schema;
  if (value.length < minItems) return `${what} must have at least ${minItems} item.`;
  if (items === undefined) return undefined;
  for (let index = 0; index < value.length; index++) {
    const problem = checkBody(value[index], items, `${what}[${index}]`);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function checkFields(value: object, schema: RequestSchema): string | undefined {
  const { properties = {}, required = [], additionalProperties } = schema;
  const missing = required.find((field) => !Object.hasOwn(value, field));
  if (missing !== undefined) return `${missing} is required.`;
  for (const [field, content] of Object.entries(value)) {
    const rules = Object.hasOwn(properties, field) ? properties[field] : undefined;
    if (rules === undefined && additionalProperties === false) return `There is no field ${field}.`;
    const problem = rules && checkBody(content, rules, field);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function isOfType(value: unknown, type: string): boolean {
  if (type === "array") return Array.isArray(value);
  if (type === "object") return typeof value === "object" && value !== null && !Array.isArray(value);
  return type === "integer" ? Number.isInteger(value) : typeof value === type;
}
