import { type Document, operationsOf, resolve, type Schema } from "./document.js";

// What a validator needs; descriptions and examples are for people.
const kept = [
  "type",
  "format",
  "required",
  "additionalProperties",
  "minItems",
  "minimum",
  "pattern",
  "x-max-bytes",
] as const;

const left = ["description", "example", "default", "x-unstated", "items", "properties"];

/** Writes the schema of each operation's request body, with nothing but its rules. */
export function generateRequests(document: Document): string {
  const rows = operationsOf(document).map(({ operation }) => {
    const [[contentType, media] = []] = Object.entries(operation.requestBody.content);
    if (contentType === undefined || media === undefined) {
      throw new Error(`${operation.operationId} has no request body.`);
    }
    const row = { contentType, schema: rulesOf(document, media.schema) };
    return `  ${operation.operationId}: ${JSON.stringify(row)},\n`;
  });
  return [
    `import type { OperationId } from "./contract.js";\n`,
    schemaType,
    "/** What each operation takes as its request body. */\n" +
      "export const requestBodies: Readonly<\n" +
      "  Record<OperationId, { readonly contentType: string; readonly schema: RequestSchema }>\n" +
      `> = {\n${rows.join("")}};\n`,
  ].join("\n");
}

const schemaType = `/** The rules of a request body, in the words of JSON Schema. */
export interface RequestSchema {
  readonly type?: string;
  readonly format?: string;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean;
  readonly minItems?: number;
  readonly minimum?: number;
  readonly pattern?: string;
  readonly "x-max-bytes"?: number;
  readonly items?: RequestSchema;
  readonly properties?: Readonly<Record<string, RequestSchema>>;
}
`;

function rulesOf(document: Document, schema: Schema): object {
  const found = resolve(document, schema);
  const { items, properties } = found;
  const lost = Object.keys(found).filter((key) => ![...kept, ...left].includes(key));
  if (lost.length > 0)
    throw new Error(`A request has rules that src/testing/checkBody.ts does not know: ${lost}.`);
  const rules = kept.filter((key) => found[key] !== undefined).map((key) => [key, found[key]]);
  const fields = Object.entries(properties ?? {}).map(([name, field]) => [name, rulesOf(document, field)]);
  return {
    ...Object.fromEntries(rules),
    ...(items && { items: rulesOf(document, items) }),
    ...(properties && { properties: Object.fromEntries(fields) }),
  };
}
