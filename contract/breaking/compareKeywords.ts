import { isDeepStrictEqual } from "node:util";
import { affected, type Comparison, tell } from "./comparison.js";
import { flatten, type Schema } from "./document.js";
import { formatChange, typeChange } from "./types.js";

interface Bound {
  readonly value: number;
  readonly exclusive: boolean;
}

const lower = ["minLength", "minItems", "minProperties"];
const upper = ["maxLength", "maxItems", "maxProperties", "x-max-bytes"];
const exact = ["pattern", "multipleOf", "uniqueItems", "not", "const", "if", "then", "else"];
const applied = ["dependentRequired", "dependentSchemas", "propertyNames", "unevaluatedProperties"];

/** In what words `to` allows less than `from`: bounds, patterns and exclusions. */
function narrowings(from: Schema, to: Schema): string[] {
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
function change(keyword: string, before: Schema, after: Schema): string {
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

/** Compares what a schema says of values: type, format, bounds, default. */
export function compareValues(comparison: Comparison, before: Schema, after: Schema, where: string): void {
  compareTypes(comparison, before, after, where);
  // A request is broken when less is taken than before, an answer when more may come.
  const [from, to] = comparison.direction === "request" ? [before, after] : [after, before];
  for (const keyword of narrowings(from, to)) tell(comparison, where, change(keyword, before, after));
  if (comparison.direction === "request" && before["x-open"] === true && after["x-open"] !== true)
    tell(comparison, where, "no longer takes other texts (x-open)");
  compareDiscriminators(comparison, before, after, where);
  if (before.default !== undefined && !isDeepStrictEqual(before.default, after.default)) {
    tell(comparison, where, change("default", before, after));
  }
}

interface Discriminator {
  readonly propertyName: string;
  readonly mapping?: Readonly<Record<string, string>>;
}

function compareDiscriminators(comparison: Comparison, before: Schema, after: Schema, where: string): void {
  const old = before.discriminator as Discriminator | undefined;
  const now = after.discriminator as Discriminator | undefined;
  if (old === undefined) return;
  if (old.propertyName !== now?.propertyName)
    tell(comparison, where, `the discriminator was ${old.propertyName}, is ${now?.propertyName ?? "none"}`);
  for (const [name, schema] of Object.entries(old.mapping ?? {})) {
    const found = now?.mapping?.[name];
    if (now !== undefined && found !== schema)
      tell(comparison, where, `value ${name} of the discriminator was ${schema}, is ${found ?? "none"}`);
  }
}

// What allows more in a request, or less in an answer, breaks only the types that were generated.
function compareTypes(comparison: Comparison, before: Schema, after: Schema, where: string): void {
  const harmless = comparison.direction === "request" ? "wider" : "narrower";
  for (const [keyword, changed] of [
    ["type", typeChange(before, after)],
    ["format", formatChange(before, after)],
  ] as const) {
    if (changed === "none") continue;
    const whom =
      changed === harmless || changed === "alike" ? "users of generated code" : affected(comparison);
    tell(comparison, where, change(keyword, before, after), whom);
  }
}

/** New values of an answer break nobody: the contract says that they may appear, and the types are open. */
export function compareEnums(comparison: Comparison, before: Schema, after: Schema, where: string): void {
  if (before.enum === undefined) {
    if (after.enum !== undefined && comparison.direction === "request") {
      tell(comparison, where, "is now limited to an enumeration");
    }
    return;
  }
  if (after.enum === undefined) {
    if (comparison.direction === "answer")
      tell(comparison, where, "is no longer an enumeration", "users of generated code");
    return;
  }
  const kept = new Set(after.enum);
  for (const value of before.enum.filter((value) => !kept.has(value))) {
    const whom = comparison.direction === "request" ? "callers" : "users of generated code";
    tell(comparison, where, `value ${value} is gone`, whom);
  }
}

/** What allows more in a request, or promises more of an answer, changes the types that were generated. */
export function compareOptional(comparison: Comparison, before: Schema, after: Schema, where: string): void {
  const isRequest = comparison.direction === "request";
  const [more, less] = isRequest ? [before, after] : [after, before];
  for (const name of more.required ?? []) {
    const isKept = before.properties?.[name] !== undefined && after.properties?.[name] !== undefined;
    if (!isKept || less.required?.includes(name)) continue;
    const what = isRequest ? "may now be left out" : "is now always there";
    tell(comparison, `${where}.${name}`, what, "users of generated code");
  }
}

/** What a generated client refuses, or fills in, where the service answers otherwise. */
export function compareRefusals(comparison: Comparison, before: Schema, after: Schema, where: string): void {
  const report = (what: string): void => tell(comparison, where, what, "users of generated code");
  for (const keyword of narrowings(before, after)) report(change(keyword, before, after));
  if (before.enum === undefined && after.enum !== undefined) report("is now limited to an enumeration");
  if (before.default === undefined && after.default !== undefined) report(change("default", before, after));
  if (before.additionalProperties === true && after.additionalProperties === undefined)
    report("no longer says that further properties may come");
}

/** Generated code has a constructor, or a type of its own, without what is read-only. */
export function compareReadOnly(comparison: Comparison, before: Schema, after: Schema, where: string): void {
  for (const [name, property] of Object.entries(before.properties ?? {})) {
    const found = after.properties?.[name];
    if (found === undefined) continue;
    const old = flatten(comparison.before, property).readOnly === true;
    const now = flatten(comparison.after, found).readOnly === true;
    // In a request the field is told to be gone.
    if (old === now || (now && comparison.direction === "request")) continue;
    const what = now ? "is now read-only" : "is no longer read-only";
    tell(comparison, `${where}.${name}`, what, "users of generated code");
  }
}
