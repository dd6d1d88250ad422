import { type Document, formOf, resolve, type Schema } from "./document.js";
import type { OperationShape } from "./operations.js";

/** Writes what the contract says of each operation, its parameters and its fields, for the help of the command line. */
export function generateDescriptions(document: Document, operations: readonly OperationShape[]): string {
  const rows = operations.map(({ operation, body, parameters }) => {
    const { properties = {} } = body ? resolve(document, body.schema) : {};
    const fields = Object.entries(properties).map(([name, field]) => [
      name,
      firstOf(describe(document, field)),
    ]);
    const told = Object.values(parameters)
      .flat()
      .map(({ name, description = "" }) => [name, firstOf(description)]);
    const texts = {
      method: operation["x-sdk-method"],
      summary: operation.summary,
      description: firstOf(operation.description),
      parameters: Object.fromEntries(told) as Record<string, string>,
      fields: Object.fromEntries(fields) as Record<string, string>,
    };
    return `  ${operation.operationId}: ${JSON.stringify(texts)},\n`;
  });
  return (
    `import type { OperationId } from "./contract.js";\n\n` +
    "/** What the contract says of an operation, of its parameters and of the fields of its body; and its name in clients. */\n" +
    "export interface Description {\n" +
    "  readonly method: string;\n  readonly summary: string;\n  readonly description: string;\n" +
    "  readonly parameters: Readonly<Record<string, string>>;\n  readonly fields: Readonly<Record<string, string>>;\n}\n\n" +
    "/** The same of each operation. */\n" +
    `export const descriptions: Readonly<Record<OperationId, Description>> = {\n${rows.join("")}};\n\n` +
    formsTable(document)
  );
}

// A person reads the form and an example, not a regular expression.
function formsTable(document: Document): string {
  // Of two fields of one form, the first gives the example.
  const rows = new Map(patternsIn(document, "").reverse());
  const lines = [...rows].map(
    ([pattern, form]) => `  ${JSON.stringify(pattern)}: ${JSON.stringify(form)},\n`,
  );
  return (
    "/** The form that each pattern of the contract stands for, with an example. */\n" +
    `export const forms: Readonly<Record<string, string>> = {\n${lines.join("")}};\n`
  );
}

function patternsIn(value: unknown, where: string): [pattern: string, form: string][] {
  if (typeof value !== "object" || value === null) return [];
  const { pattern } = value as Schema;
  const found = Object.entries(value).flatMap(([name, part]) => patternsIn(part, `${where}/${name}`));
  return typeof pattern === "string" ? [[pattern, formIn(value, where)], ...found] : found;
}

function formIn(schema: Schema, where: string): string {
  const form = formOf(schema);
  if (form !== undefined) return form;
  throw new Error(
    `${where.slice(1)} has a pattern: its description must say "in the form \`...\`", and it needs an example.`,
  );
}

function describe(document: Document, schema: Schema): string {
  return schema.description ?? resolve(document, schema).description ?? "";
}

/** The first sentence of a description: what follows is detail. */
export function firstOf(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return /^.*?\.(?= |$)/.exec(line)?.[0] ?? line;
}
