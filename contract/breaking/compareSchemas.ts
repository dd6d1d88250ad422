import { isDeepStrictEqual } from "node:util";
import type { Report, Whom } from "./breaks.js";
import { change, narrowings } from "./constraints.js";
import { type Document, flatten, referenceOf, type Schema } from "./document.js";
import { formatChange, typeChange } from "./types.js";

/** Two contracts, the way a value travels between their sides, and where breaks are told. */
export interface Comparison {
  readonly before: Document;
  readonly after: Document;
  /** A request is made by the old side and read by the new one; an answer the other way round. */
  readonly direction: "request" | "answer";
  readonly report: Report;
  /** The pairs of named schemas compared so far: a schema may contain itself. */
  readonly seen: Set<string>;
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
  compareVariants(comparison, before, after, where);
  if (before.items !== undefined || after.items !== undefined) {
    compareSchemas(comparison, before.items ?? {}, after.items ?? {}, `${where}[]`);
  }
}

/** Who makes, or reads, the values of a direction. */
export function affected({ direction }: Comparison): Whom {
  return direction === "request" ? "callers" : "readers of answers";
}

function tell(comparison: Comparison, where: string, what: string, whom: Whom = affected(comparison)): void {
  comparison.report(`${where}, in ${comparison.direction}s`, what, whom);
}

function compareValues(comparison: Comparison, before: Schema, after: Schema, where: string): void {
  compareTypes(comparison, before, after, where);
  // A request is broken when less is taken than before, an answer when more may come.
  const [from, to] = comparison.direction === "request" ? [before, after] : [after, before];
  for (const keyword of narrowings(from, to)) tell(comparison, where, change(keyword, before, after));
  if (before.default !== undefined && !isDeepStrictEqual(before.default, after.default)) {
    tell(comparison, where, change("default", before, after));
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

// New values of an answer break nobody: the contract says that they may appear, and the types are open.
function compareEnums(comparison: Comparison, before: Schema, after: Schema, where: string): void {
  if (before.enum === undefined) {
    if (after.enum !== undefined && comparison.direction === "request") {
      tell(comparison, where, "is now limited to an enumeration");
    }
    return;
  }
  const kept = new Set(after.enum ?? (comparison.direction === "request" ? before.enum : []));
  for (const value of before.enum.filter((value) => !kept.has(value))) {
    const whom = comparison.direction === "request" ? "callers" : "users of generated code";
    tell(comparison, where, `value ${value} is gone`, whom);
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
  compareOthers(comparison, before.additionalProperties, after.additionalProperties, where);
}

// Generated code has a constructor, or a type of its own, without what is read-only.
function compareReadOnly(comparison: Comparison, before: Schema, after: Schema, where: string): void {
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
  } else if (before !== false && comparison.direction === "request") {
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
