// The rules of what a request sends, in the words that src/options checks; what nothing checks is refused by its line.
import {
  type Document,
  formOf,
  nameOf,
  type Place,
  type PlacedParameter,
  type Reading,
  resolve,
  type Schema,
} from "./document.js";

/** The rules of a request, by where its values stand. */
export interface RequestRules {
  readonly ids: object | undefined;
  readonly query: object | undefined;
  readonly headers: object | undefined;
  readonly body: object | undefined;
  /** The words of all of them. */
  readonly words: ReadonlySet<string>;
}

/** A schema while its rules are read. */
interface RulesAt {
  readonly document: Document;
  readonly name: string;
  readonly place: Place;
  /** The schemas that hold this one. */
  readonly around: readonly string[];
  readonly refuse: (name: string, what: string, place: Place, advice?: string) => void;
  /** Receives each word that has to be checked. */
  readonly words: Set<string>;
}

const notChecked =
  ", which nothing checks: teach it to scripts/generate/ruleChecks.ts and scripts/generate/rules.ts.";

type Words = Readonly<Record<string, unknown>>;

const numbers = "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf enum x-open";
const wordsOf: Readonly<Record<string, readonly string[]>> = {
  string: "minLength maxLength pattern enum x-open x-max-bytes".split(" "),
  integer: numbers.split(" "),
  number: numbers.split(" "),
  boolean: ["enum", "x-open"],
  array: "items minItems maxItems uniqueItems".split(" "),
  object:
    "required properties additionalProperties minProperties maxProperties oneOf discriminator not".split(" "),
};
const annotations =
  "type title description format example examples default deprecated readOnly writeOnly externalDocs xml allOf".split(
    " ",
  );

/** Reads the rules of a request; all that nothing checks is refused at once. */
export function readRules(
  reading: Reading,
  parameters: Readonly<Record<"path" | "query" | "header", readonly PlacedParameter[]>>,
  body: { readonly schema: Schema; readonly place: Place } | undefined,
): RequestRules {
  const { document, operation, collect, refuse } = reading;
  const words = new Set<string>();
  const at = (schema: Schema, inner: string, place: Place): object => {
    const refused: RulesAt["refuse"] = (name, what, where, advice = notChecked) => {
      collect(() => refuse(what, where, { name, advice }));
    };
    const name = (operation.operationId ?? "") + inner;
    return rulesOf(schema, { document, name, place, around: [], refuse: refused, words });
  };
  const fields = (list: readonly PlacedParameter[]) =>
    list.map(({ name, schema, place }) => [name, at(schema, `.${name}`, [...place, "schema"])] as const);
  const group = (list: readonly PlacedParameter[]): object | undefined => {
    const required = list.filter((each) => each.required === true).map(({ name }) => name);
    const properties = Object.fromEntries(fields(list));
    return list.length > 0
      ? { type: "object", ...(required.length > 0 && { required }), properties }
      : undefined;
  };
  // An id without rules is any text.
  const ids = fields(parameters.path).filter(([, rules]) => Object.keys(rules).length > 1);
  return {
    ids: ids.length > 0 ? Object.fromEntries(ids) : undefined,
    query: group(parameters.query),
    headers: group(parameters.header),
    body: body && at(body.schema, "", body.place),
    words,
  };
}

/** The rules of a schema; what has none is left out. */
function rulesOf(schema: Schema, at: RulesAt): object {
  const { name, place, around, refuse } = at;
  const own = nameOf(schema);
  if (own !== undefined && around.includes(own)) {
    refuse(name, `the schema ${own} within itself`, place);
    return {};
  }
  const found = wholeOf(schema, at);
  const { type, ...rules } = found;
  const known = wordsOf[type ?? ""] ?? [];
  for (const word of Object.keys(found)) {
    if (known.includes(word) || annotations.includes(word)) continue;
    if (word.startsWith("x-") && word !== "x-max-bytes") continue;
    const why = anyWords.has(word) ? `the rule ${word} with type: ${type ?? "any"}` : `the rule ${word}`;
    refuse(name, why, [...place, word]);
  }
  if (type !== undefined && !(type in wordsOf)) refuse(name, `the type ${type}`, [...place, "type"]);
  const inner: Inner = (part, more, ...steps) =>
    rulesOf(part, {
      ...at,
      name: name + more,
      place: [...place, ...steps],
      around: own ? [...around, own] : around,
    });
  const kept = Object.entries(rules as Words).filter(([word]) => known.includes(word) && word in plain);
  if (found.enum !== undefined) checkEnum(found.enum, at);
  const { "x-open": isOpen, ...plainRules } = Object.fromEntries(kept);
  const all = {
    type,
    ...plainRules,
    ...(found.enum && isOpen === true && { "x-open": true }),
    ...(found.format === "date-time" && { format: "date-time" }),
    ...patternOf(found, at),
    ...partsOf(found, at, inner),
  };
  for (const word of Object.keys(all)) if (!isLeftToService(word, found)) at.words.add(word);
  return all;
}

const plain = Object.fromEntries(
  [
    ..."minLength maxLength enum x-open x-max-bytes minimum maximum exclusiveMinimum exclusiveMaximum".split(
      " ",
    ),
    ..."multipleOf minItems maxItems uniqueItems minProperties maxProperties".split(" "),
  ].map((word) => [word, true]),
);
const anyWords: ReadonlySet<string> = new Set(Object.values(wordsOf).flat());

type Inner = (part: Schema, more: string, ...steps: readonly (string | number)[]) => object;

// A newer service may accept other values, and fields that this contract lacks.
function isLeftToService(word: string, { additionalProperties, "x-open": isOpen = false }: Schema): boolean {
  if (word === "additionalProperties") return additionalProperties === false;
  return isOpen && (word === "pattern" || word === "enum");
}

function checkEnum(values: readonly unknown[], { name, place, refuse }: RulesAt): void {
  if (values.some((each) => typeof each === "object")) refuse(name, "an enum of objects", [...place, "enum"]);
}

function patternOf(schema: Schema, { name, place, refuse }: RulesAt): object {
  const { pattern } = schema;
  if (pattern === undefined) return {};
  try {
    new RegExp(pattern, "u");
  } catch {
    refuse(
      name,
      `the pattern ${pattern}, which is none with JavaScript's flag u`,
      [...place, "pattern"],
      ".",
    );
  }
  const form = formOf(schema);
  if (form === undefined)
    refuse(
      name,
      "a pattern",
      [...place, "pattern"],
      ': its description must say "in the form `...`", and it needs an example.',
    );
  return { pattern, ...(schema["x-open"] !== true && { form }) };
}

function partsOf(schema: Schema, at: RulesAt, inner: Inner): object {
  const { items, properties, additionalProperties: others, required = [], not } = schema;
  const silent = { ...at, refuse: () => {} };
  // What is read-only is not sent.
  const isSent = (field: string): boolean =>
    properties?.[field] === undefined || wholeOf(properties[field], silent).readOnly !== true;
  const fields = Object.entries(properties ?? {})
    .filter(([field]) => isSent(field))
    .map(([field, each]) => [field, inner(each, `.${field}`, "properties", field)]);
  const needed = required.filter(isSent);
  return {
    ...(needed.length > 0 && { required: needed }),
    ...(properties && { properties: Object.fromEntries(fields) }),
    ...(items && { items: inner(items, "[]", "items") }),
    ...(others === false && { additionalProperties: false }),
    ...(typeof others === "object" &&
      Object.keys(others).length > 0 && {
        additionalProperties: inner(others, ".*", "additionalProperties"),
      }),
    ...variantsOf(schema, at, inner),
    ...(not && exclusionOf(not, at)),
  };
}

function variantsOf(
  { oneOf, discriminator }: Schema,
  { name, place, refuse }: RulesAt,
  inner: Inner,
): object {
  if (oneOf === undefined && discriminator === undefined) return {};
  if (oneOf === undefined || discriminator === undefined) {
    const [has, lacks] = oneOf ? ["oneOf", "discriminator"] : ["discriminator", "oneOf"];
    refuse(name, `${has} without ${lacks}`, [...place, has as string]);
    return {};
  }
  const { propertyName, mapping = {} } = discriminator;
  const nameless = oneOf.findIndex((each) => nameOf(each) === undefined);
  if (nameless >= 0) refuse(name, "a variant without a name", [...place, "oneOf", nameless]);
  const variants = oneOf.flatMap((each, index) => {
    const own = nameOf(each) ?? "";
    const values = Object.keys(mapping).filter((value) => mapping[value]?.split("/").pop() === own);
    const rules = inner(each, `<${own}>`, "oneOf", index);
    return (values.length > 0 ? values : [own]).map((value) => [value, rules] as const);
  });
  return { oneOf: { propertyName, variants: Object.fromEntries(variants) } };
}

function exclusionOf(not: Schema, { name, place, refuse }: RulesAt): object {
  const { required, ...others } = not;
  const isEmpty = Object.entries(others).every(
    ([word]) => word === "properties" || annotations.includes(word),
  );
  if (required && isEmpty) return { not: { required } };
  refuse(name, "not with more than required", [...place, "not"]);
  return {};
}

/** A schema with what it refers to, and its allOf, in one. */
function wholeOf(schema: Schema, at: RulesAt): Schema {
  const { $ref, allOf = [], ...own } = schema;
  let whole: Schema = own;
  for (const part of [...($ref === undefined ? [] : [{ $ref }]), ...allOf]) {
    const { properties, required, ...others } = wholeOf(part.$ref ? resolve(at.document, part) : part, at);
    for (const [word, value] of Object.entries(others)) {
      const known = (whole as Words)[word];
      if (!anyWords.has(word) || known === undefined || known === value) continue;
      at.refuse(at.name, `the rule ${word} twice`, [...at.place, "allOf"]);
    }
    whole = { ...others, ...whole };
    if (properties) whole.properties = { ...properties, ...whole.properties };
    if (required) whole.required = [...required, ...(whole.required ?? [])];
  }
  return whole.type === undefined && isObject(whole) ? { ...whole, type: "object" } : whole;
}

function isObject({ properties, additionalProperties, oneOf }: Schema): boolean {
  return (properties ?? additionalProperties ?? oneOf) !== undefined;
}
