import { isDeepStrictEqual } from "node:util";
import type { Schema } from "./document.js";

/** What a change of type or format does to the values that are allowed. */
export type TypeChange = "none" | "alike" | "wider" | "narrower" | "other";

const everything = ["null", "boolean", "object", "array", "number", "integer", "string"];
// Each format of numbers with those whose every value it holds.
const sizes: Readonly<Record<string, readonly string[]>> = {
  int64: ["int32"],
  double: ["float"],
};

/** How the type of a value changed: a number may be an integer, and nullable is a type of its own. */
export function typeChange(before: Schema, after: Schema): TypeChange {
  if (before.type === undefined && after.type !== undefined) return "other";
  const [old, now] = [typesOf(before), typesOf(after)];
  if (isDeepStrictEqual([...old].sort(), [...now].sort())) return "none";
  if ([...old].every((type) => now.has(type))) return "wider";
  return [...now].every((type) => old.has(type)) ? "narrower" : "other";
}

/** How the format of a value changed. An integer without a size is as good as one of 64 bits. */
export function formatChange(before: Schema, after: Schema): TypeChange {
  const widest = { integer: "int64", number: "double" }[String(after.type)];
  const [old, now] = [before.format, after.format];
  if (old === now) return "none";
  const isSameType = isDeepStrictEqual(before.type, after.type);
  if (isSameType && (old ?? widest) === (now ?? widest)) return "alike";
  if (now === undefined) return "wider";
  if (old === undefined) return "narrower";
  if (sizes[now]?.includes(old)) return "wider";
  return sizes[old]?.includes(now) ? "narrower" : "other";
}

function typesOf({ type, nullable }: Schema): Set<string> {
  const named = type === undefined ? everything : [type].flat();
  const types = new Set(named as string[]);
  if (types.has("number")) types.add("integer");
  if (nullable === true) types.add("null");
  return types;
}
