import { type Document, nameOf, operationsOf, resolve, type Schema } from "./document.js";

/** Writes the public types: one named, documented type for each schema of the contract. */
export function generateTypes(document: Document): string {
  const answers = answerSchemas(document);
  return Object.entries(document.components.schemas)
    .filter(([, schema]) => !isBinaryForm(schema))
    .map(
      ([name, schema]) =>
        comment(schemaText(schema), "") + declaration(document, name, schema, answers.has(name)),
    )
    .join("\n");
}

function declaration(document: Document, name: string, schema: Schema, answer: boolean): string {
  if (schema.enum)
    return `export type ${name} =\n${schema.enum.map((value) => `  | ${JSON.stringify(value)}`).join("\n")};\n`;
  if (schema.oneOf) return exclusiveUnion(document, name, schema.oneOf);
  if (typeof schema.additionalProperties === "object") {
    const value = typeOf(document, schema.additionalProperties, answer);
    return `export interface ${name} {\n  readonly [key: string]: ${value};\n}\n`;
  }
  if (!schema.properties) {
    const value = schema.additionalProperties === false ? "never" : "unknown";
    return `export interface ${name} {\n  readonly [key: string]: ${value};\n}\n`;
  }
  const members = Object.entries(schema.properties).map(([key, property]) => {
    const required = schema.required?.includes(key) ?? false;
    return member(document, key, property, required, answer);
  });
  return `export interface ${name} {\n${members.join("")}}\n`;
}

function member(
  document: Document,
  key: string,
  property: Schema,
  required: boolean,
  answer: boolean,
): string {
  const type = typeOf(document, property, answer);
  // A caller may say undefined for "not given"; an answer never carries it.
  const optional = answer || required ? type : `${type} | undefined`;
  return `${comment(propertyText(property), "  ")}  ${key}${required ? "" : "?"}: ${optional};\n`;
}

// The document's oneOf of one-property variants accepts each key alone: TypeScript needs the others forbidden.
function exclusiveUnion(document: Document, name: string, variants: Schema[]): string {
  const keys = variants.flatMap((variant) => Object.keys(resolve(document, variant).properties ?? {}));
  const members = variants.map((variant) => {
    const own = Object.keys(resolve(document, variant).properties ?? {});
    const others = keys.filter((key) => !own.includes(key)).map((key) => `readonly ${key}?: never`);
    return `  | (${nameOf(variant)} & { ${others.join("; ")} })`;
  });
  return `export type ${name} =\n${members.join("\n")};\n`;
}

function typeOf(document: Document, schema: Schema, answer: boolean): string {
  const name = nameOf(schema);
  if (name !== undefined) {
    // Answers may carry values that are newer than this contract.
    const open = answer && document.components.schemas[name]?.enum !== undefined;
    return open ? `${name} | (string & {})` : name;
  }
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.type === "array")
    return `${answer ? "" : "readonly "}${typeOf(document, schema.items ?? {}, answer)}[]`;
  if (schema.type === "integer") return "number";
  if (schema.type === "string" || schema.type === "number" || schema.type === "boolean") return schema.type;
  throw new Error(`No public type is known for ${JSON.stringify(schema)}.`);
}

/** The schemas that answers are made of. */
function answerSchemas(document: Document): Set<string> {
  const found = new Set<string>();
  const visit = (schema: Schema): void => {
    const name = nameOf(schema);
    if (name !== undefined) {
      if (found.has(name)) return;
      found.add(name);
    }
    const { properties, items, oneOf } = resolve(document, schema);
    for (const part of [...Object.values(properties ?? {}), ...(items ? [items] : []), ...(oneOf ?? [])])
      visit(part);
  };
  for (const { operation } of operationsOf(document)) {
    for (const response of Object.values(operation.responses)) {
      for (const media of Object.values(response.content ?? {})) visit(media.schema);
    }
  }
  return found;
}

// The wrappers take a file, not the form that carries it.
function isBinaryForm(schema: Schema): boolean {
  return Object.values(schema.properties ?? {}).some(({ format }) => format === "binary");
}

function schemaText(schema: Schema): string {
  const meanings = Object.entries(schema["x-enumDescriptions"] ?? {}).map(
    ([value, text]) => `- \`${value}\`: ${text}`,
  );
  return [schema.description ?? "", ...(meanings.length > 0 ? ["", ...meanings] : [])].join("\n");
}

function propertyText(schema: Schema): string {
  const bounds = [
    schema.minimum !== undefined && `at least ${schema.minimum}`,
    schema.maximum !== undefined && `at most ${schema.maximum}`,
    schema.exclusiveMinimum !== undefined && `greater than ${schema.exclusiveMinimum}`,
    schema.exclusiveMaximum !== undefined && `less than ${schema.exclusiveMaximum}`,
  ].filter((bound) => bound !== false);
  const lines = [
    schema.description ?? "",
    ...(bounds.length > 0 ? [`Range: ${bounds.join(", ")}.`] : []),
    ...(schema.readOnly ? ["Read-only."] : []),
    ...(schema.default !== undefined ? [`@default ${JSON.stringify(schema.default)}`] : []),
    ...(schema.deprecated ? ["@deprecated"] : []),
  ];
  return lines.join("\n");
}

function comment(text: string, indent: string): string {
  const lines = text.trim().replaceAll("*/", "*\\/").split("\n");
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join("\n")}\n${indent} */\n`;
}
