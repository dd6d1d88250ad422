import { isDeepStrictEqual } from "node:util";
import type { Schema } from "./document.js";

interface Bound {
  readonly value: number;
  readonly exclusive: boolean;
}

const lower = ["minLength", "minItems", "minProperties"];
const upper = ["maxLength", "maxItems", "maxProperties", "x-max-bytes"];
const exact = ["pattern", "multipleOf", "uniqueItems", "not", "const", "if", "then", "else"];
const applied = ["dependentRequired", "dependentSchemas", "propertyNames", "unevaluatedProperties"];

/** In what words `to` allows less than `from`: bounds, patterns and exclusions. */
export function narrowings(from: Schema, to: Schema): string[] {
  return [
    ...lower.filter((keyword) => number(to, keyword) > number(from, keyword, -Infinity)),
    ...upper.filter((keyword) => number(to, keyword) < number(from, keyword, Infinity)),
    ...exact.filter((keyword) => to[keyword] !== undefined && !isDeepStrictEqual(from[keyword], to[keyword])),
    ...applied.filter((keyword) => isRule(to[keyword]) && !isDeepStrictEqual(from[keyword], to[keyword])),
    ...(isTighter(bound(from, "minimum"), bound(to, "minimum"), 1) ? ["minimum"] : []),
    ...(isTighter(bound(from, "maximum"), bound(to, "maximum"), -1) ? ["maximum"] : []),
  ];
}

// `true` where a schema may stand allows everything.
function isRule(value: unknown): boolean {
  return value !== undefined && value !== true;
}

/** A keyword of both schemas as text, for a message. */
export function change(keyword: string, before: Schema, after: Schema): string {
  const text = (schema: Schema): string => {
    const inclusive = schema[keyword];
    const exclusive = schema[`exclusive${keyword[0]?.toUpperCase()}${keyword.slice(1)}`];
    const parts = [inclusive, exclusive === undefined ? undefined : `${exclusive}, exclusive`];
    const shown = parts.filter((part) => part !== undefined).map((part) => show(part));
    return shown.join(" and ") || "none";
  };
  return `${keyword} was ${text(before)}, is ${text(after)}`;
}

function show(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function number(schema: Schema, keyword: string, otherwise = Number.NaN): number {
  const value = schema[keyword];
  return typeof value === "number" ? value : otherwise;
}

// The narrower of the inclusive and the exclusive bound.
function bound(schema: Schema, keyword: "minimum" | "maximum"): Bound | undefined {
  const sign = keyword === "minimum" ? 1 : -1;
  const value = number(schema, keyword);
  const exclusive = number(schema, keyword === "minimum" ? "exclusiveMinimum" : "exclusiveMaximum");
  if (Number.isNaN(value) && Number.isNaN(exclusive)) return undefined;
  if (Number.isNaN(exclusive) || sign * value > sign * exclusive) return { value, exclusive: false };
  return { value: exclusive, exclusive: true };
}

function isTighter(from: Bound | undefined, to: Bound | undefined, sign: 1 | -1): boolean {
  if (to === undefined) return false;
  if (from === undefined || sign * to.value > sign * from.value) return true;
  return to.value === from.value && to.exclusive && !from.exclusive;
}
