import { isDeepStrictEqual } from "node:util";
import { affected, type Comparison, tell } from "./comparison.js";
import { type Document, flatten, formatChange, referenceOf, type Schema, typeChange } from "./document.js";

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

/** Reports what a new schema breaks for those who send or read values of the old one. */
export function compareSchemas(comparison: Comparison, old: Schema, now: Schema, at: string): void {
  const before = referenceOf(old);
  const after = referenceOf(now);
  if (before === undefined || after === undefined) {
    compareInline(comparison, old, now, at);
    return;
  }
  // What is said beside a reference belongs to this place, the rest to the named schema wherever it is used.
  compareInline(comparison, before.beside, after.beside, at);
  const pair = `${before.name} ${after.name}`;
  if (comparison.seen.has(pair)) return;
  comparison.seen.add(pair);
  if (after.name !== before.name && comparison.after.components?.schemas?.[before.name] === undefined) {
    comparison.report(`schema ${before.name}`, `is now called ${after.name}`, "users of generated code");
  }
  compareInline(comparison, before.target, after.target, before.name);
}

function compareInline(comparison: Comparison, old: Schema, now: Schema, where: string): void {
  const before = flatten(comparison.before, old);
  const after = flatten(comparison.after, now);
  compareValues(comparison, before, after, where);
  compareEnums(comparison, before, after, where);
  compareProperties(comparison, before, after, where);
  if (comparison.form === "clients" && comparison.direction === "answer")
    compareRefusals(comparison, before, after, where);
  compareVariants(comparison, before, after, where);
  if (before.items !== undefined || after.items !== undefined) {
    compareSchemas(comparison, before.items ?? {}, after.items ?? {}, `${where}[]`);
  }
}

function compareProperties(comparison: Comparison, before: Schema, after: Schema, where: string): void {
  const old = visibleProperties(comparison, comparison.before, before);
  const now = visibleProperties(comparison, comparison.after, after);
  for (const [name, property] of Object.entries(old)) {
    const found = now[name];
    if (found === undefined) tell(comparison, `${where}.${name}`, "is gone");
    else compareSchemas(comparison, property, found, `${where}.${name}`);
  }
  compareReadOnly(comparison, before, after, where);
  const isRequest = comparison.direction === "request";
  const isHidden = (name: string): boolean =>
    after.properties?.[name] !== undefined && now[name] === undefined;
  const [less, more] = isRequest ? [before, after] : [after, before];
  for (const name of more.required ?? []) {
    if (less.required?.includes(name) || isHidden(name) || (!isRequest && now[name] === undefined)) continue;
    tell(comparison, `${where}.${name}`, isRequest ? "is now required" : "is no longer always there");
  }
  compareOptional(comparison, before, after, where);
  compareOthers(comparison, before.additionalProperties, after.additionalProperties, where);
}

// Read-only properties are not sent, write-only ones not answered.
function visibleProperties(
  { direction }: Comparison,
  document: Document,
  schema: Schema,
): Record<string, Schema> {
  const hidden = direction === "request" ? "readOnly" : "writeOnly";
  const entries = Object.entries(schema.properties ?? {});
  return Object.fromEntries(entries.filter(([, property]) => !flatten(document, property)[hidden]));
}

function compareOthers(
  comparison: Comparison,
  before: boolean | Schema | undefined,
  after: boolean | Schema | undefined,
  where: string,
): void {
  const others = `${where}.*`;
  if (typeof before === "object") {
    if (after === false) tell(comparison, others, "is gone");
    else compareSchemas(comparison, before, typeof after === "object" ? after : {}, others);
  } else if (comparison.direction === "answer") {
    // Closed types refuse what a newer service adds; what was closed is read as having nothing else.
    if (before !== false && after === false)
      tell(comparison, others, "no further properties are read", "users of generated code");
    if (before === false && after !== false) tell(comparison, others, "further properties may come");
  } else if (before !== false) {
    if (after === false) tell(comparison, others, "no further properties are taken");
    else if (typeof after === "object") compareSchemas(comparison, {}, after, others);
  }
}

function compareVariants(comparison: Comparison, before: Schema, after: Schema, where: string): void {
  const isRequest = comparison.direction === "request";
  const whom = isRequest ? "callers" : "users of generated code";
  for (const keyword of ["oneOf", "anyOf"] as const) {
    const old = variantsOf(before[keyword]);
    const now = variantsOf(after[keyword]);
    if (old === undefined || now === undefined) {
      if (old === undefined && now !== undefined && isRequest) tell(comparison, where, `has now ${keyword}`);
      if (old !== undefined && now === undefined && !isRequest) tell(comparison, where, `has no ${keyword}`);
      continue;
    }
    for (const [name, variant] of old) {
      const found = now.get(name);
      if (found === undefined) tell(comparison, where, `variant ${name} is gone`, whom);
      else compareSchemas(comparison, variant, found, `${where}<${name}>`);
    }
    for (const name of now.keys()) {
      if (!isRequest && !old.has(name)) tell(comparison, where, `variant ${name} is new`);
    }
  }
}

function variantsOf(variants: Schema[] | undefined): Map<string, Schema> | undefined {
  if (variants === undefined) return undefined;
  return new Map(variants.map((variant) => [referenceOf(variant)?.name ?? JSON.stringify(variant), variant]));
}
