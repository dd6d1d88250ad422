import {
  compareEnums,
  compareOptional,
  compareReadOnly,
  compareRefusals,
  compareValues,
} from "./compareKeywords.js";
import { type Comparison, tell } from "./comparison.js";
import { type Document, flatten, referenceOf, type Schema } from "./document.js";

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
