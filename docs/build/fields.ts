// Tables of fields: of bodies, responses, parameters and the parts of a job.
import type { Contract, Schema } from "./contract.js";
import { code, prose, table, unstated } from "./markdown.js";

/** A line of a table of fields. */
export interface Field {
  readonly name: string;
  /** Whether it must be there, and who says so. */
  readonly note: string;
  readonly schema: Schema;
}

/** What the fields are of. */
export type Way = "request" | "response";

/** The fields of a schema, and below them those of what only it has. */
export function fieldsOf(contract: Contract, schema: Schema, way: Way): string {
  const fields = listed(schema, way);
  if (fields.length === 0) return "It has no fields: `{}`.\n";
  const inner = fields.flatMap((field) => within(contract, field, way));
  return [fieldTable(contract, fields), ...inner].join("\n");
}

function listed(owner: Schema, way: Way): Field[] {
  const { properties = {}, required = [] } = owner;
  const isOurs = /^Not stated: (which fields are (required|always there)|whether the field is required)/;
  const decided = isOurs.test(owner["x-unstated"]?.trim() ?? "") ? ", we assume" : "";
  // A response's field that must be there is nothing to do for the reader.
  const notes = way === "request" ? [`required${decided}`, "optional"] : ["", `optional${decided}`];
  return Object.entries(properties).map(([name, schema]) => {
    return { name, note: notes[required.includes(name) ? 0 : 1] ?? "", schema };
  });
}

// The fields of what only this response has; the parts of a job have a page.
function within(
  contract: Contract,
  { name, schema }: Field,
  way: Way,
  around: readonly string[] = [],
): string[] {
  const inner = namedBy(schema.items ?? schema);
  const shape = inner === undefined ? undefined : contract.schemas[inner];
  if (inner === undefined || !shape?.properties || jobParts(contract).includes(inner)) return [];
  if (around.includes(inner)) return [];
  const prefix = `${name}${schema.items ? "[]" : ""}.`;
  const fields = listed(shape, way).map((field) => ({ ...field, name: `${prefix}${field.name}` }));
  const names = Object.keys(shape.properties).join(", ");
  const title = `::: details ${schema.items ? "Each item of " : ""}${name}: ${names}`;
  const own = `${title}\n${unstated(shape, name)}\n\n${fieldTable(contract, fields)}\n:::\n`;
  return [own, ...fields.flatMap((field) => within(contract, field, way, [...around, inner]))];
}

/** One table of fields. */
export function fieldTable(contract: Contract, fields: readonly Field[]): string {
  const rows = fields.map(({ name, note, schema }) => [
    `${code(name)}${note === "" ? "" : ` ${chip(note)}`}`,
    typeOf(contract, schema),
    [prose(wordsOf(contract, schema)), rules(schema), unstated(schema, name)].filter(Boolean).join(" "),
  ]);
  return `${table(["Field", "Type", "Meaning"], rows)}\n`;
}

function chip(note: string): string {
  return `<span class="chip${note.startsWith("required") ? " required" : ""}">${note}</span>`;
}

// A field that points to a schema says what it is for itself; if it does not, the schema does.
function wordsOf(contract: Contract, schema: Schema): string {
  if (schema.description !== undefined) return schema.description;
  const name = namedBy(schema);
  return name === undefined ? "" : (contract.schemas[name]?.description?.split("\n\n")[0] ?? "");
}

function rules(schema: Schema): string {
  const said = [
    schema.readOnly && "Read-only.",
    schema.deprecated && "Deprecated.",
    schema.default !== undefined && `Default ${code(JSON.stringify(schema.default))}.`,
    limitOf(schema) && `${limitOf(schema)}.`,
  ];
  return said.filter(Boolean).join(" ");
}

/** What bounds a value. */
export function limitOf(schema: Schema): string {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, pattern } = schema;
  const bytes = schema["x-max-bytes"];
  return [
    minimum !== undefined && `At least ${minimum}`,
    maximum !== undefined && `${minimum === undefined ? "At" : "at"} most ${maximum}`,
    exclusiveMinimum !== undefined && `Greater than ${exclusiveMinimum}`,
    exclusiveMaximum !== undefined && `less than ${exclusiveMaximum}`,
    schema.multipleOf !== undefined && `A multiple of ${schema.multipleOf}`,
    ...countsOf(schema),
    pattern !== undefined && `Form ${code(pattern)}`,
    bytes !== undefined && `At most ${bytes.toLocaleString("en")} bytes, the larger reading of 150 MB`,
  ]
    .filter(Boolean)
    .join(", ");
}

function countsOf(schema: Schema): (string | false)[] {
  const counted = (words: string, count: number | undefined, noun: string): string | false =>
    count !== undefined && `${words} ${count} ${noun}${count === 1 ? "" : "s"}`;
  return [
    counted("At least", schema.minLength, "character"),
    counted("At most", schema.maxLength, "character"),
    counted("At least", schema.minItems, "item"),
    counted("At most", schema.maxItems, "item"),
    schema.uniqueItems === true && "No two items equal",
    counted("At least", schema.minProperties, "field"),
    counted("At most", schema.maxProperties, "field"),
  ];
}

function typeOf(contract: Contract, schema: Schema): string {
  const name = namedBy(schema);
  if (name !== undefined) {
    const { enum: values } = contract.schemas[name] ?? {};
    if (values !== undefined) return `[${name}](/enums/${name}.md)`;
    if (!jobParts(contract).includes(name)) return "object";
    return `[${name}](/reference/job.md#${name.toLowerCase()})`;
  }
  // "array of numbers (double)".
  if (schema.items) return `array of ${typeOf(contract, schema.items).replace(/^\w+/, "$&s")}`;
  if (typeof schema.additionalProperties === "object") {
    return `map of ${typeOf(contract, schema.additionalProperties)}`;
  }
  return `${schema.type ?? "any"}${schema.format === undefined ? "" : ` (${schema.format})`}`;
}

function namedBy({ $ref, allOf }: Schema): string | undefined {
  return ($ref ?? allOf?.[0]?.$ref)?.split("/").pop();
}

/** The schema with a page of its own. */
export const job = "ReinforcementFineTuningJob";

/** Every schema that a job is made of, in the order in which one meets them. */
export function jobParts({ schemas }: Contract): string[] {
  const found: string[] = [];
  const visit = (name: string): void => {
    const schema = schemas[name];
    if (schema === undefined || schema.enum !== undefined || found.includes(name)) return;
    found.push(name);
    for (const property of Object.values(schema.properties ?? {})) {
      for (const each of [property, property.items ?? {}]) visit(namedBy(each) ?? "");
    }
  };
  visit(job);
  return found;
}
