import { forms } from "../generated/descriptions.js";
import type { Rules } from "../options/validate.js";

/** What the service may refuse in a valid value, and the client leaves to it: another form, values that are not listed, unknown fields. */
export function strictProblem(value: unknown, rules: Rules, name: string): string | undefined {
  const { pattern, enum: listed, items, properties = {}, additionalProperties } = rules;
  if (pattern !== undefined && !new RegExp(pattern, "u").test(value as string)) {
    return `${name} must have the form ${forms[pattern]}.`;
  }
  if (listed !== undefined && !listed.includes(value as string)) {
    return `${name} must be one of ${listed.join(", ")}.`;
  }
  // Of a long text, each character would be an entry.
  const entries = typeof value === "object" && value !== null ? Object.entries(value) : [];
  const parts = entries.map(([key, part]) => {
    const found = items ?? (Object.hasOwn(properties, key) ? properties[key] : undefined);
    if (found) return strictProblem(part, found, items ? `${name}[${key}]` : key);
    return additionalProperties === false ? `There is no field ${key}.` : undefined;
  });
  return parts.find((problem) => problem !== undefined);
}
