import { type Document, type Operation, operationsOf, resolve, type Schema } from "./document.js";

type Operations = ReturnType<typeof operationsOf>;

/** Writes the tables the client works from: codes, operations and the rules of what is sent. */
export function generateContract(document: Document): string {
  const operations = operationsOf(document);
  return [
    `import type { Code } from "./types.js";\n`,
    `/** The contract's operations. */\nexport type OperationId =\n${operations
      .map(({ operation }) => `  | ${JSON.stringify(operation.operationId)}`)
      .join("\n")};\n`,
    codesTable(document),
    operationsTable(operations),
    requestsTable(document, operations),
  ].join("\n");
}

function codesTable(document: Document): string {
  const code = document.components.schemas.Code;
  const names = code?.enum ?? [];
  const statuses = names.map((name) => `  ${name}: ${code?.["x-http-statuses"]?.[name]},\n`);
  const meanings = names.map(
    (name) => `  ${name}: ${JSON.stringify(code?.["x-enumDescriptions"]?.[name])},\n`,
  );
  return (
    "/** The HTTP status of each code. */\n" +
    `export const httpStatuses: Readonly<Record<Code, number>> = {\n${statuses.join("")}};\n\n` +
    "/** The meaning of each code, in the service's words. */\n" +
    `export const meanings: Readonly<Record<Code, string>> = {\n${meanings.join("")}};\n`
  );
}

function operationsTable(operations: Operations): string {
  const rows = operations.map(({ method, path, operation }) => {
    const row = { method, path, retrySafe: operation["x-retry-safe"] };
    return `  ${operation.operationId}: ${JSON.stringify(row)},\n`;
  });
  return (
    "/** How each operation is asked for, and whether sending it twice is safe. */\n" +
    "export const operations: Readonly<\n" +
    "  Record<OperationId, { readonly method: string; readonly path: string; readonly retrySafe: boolean }>\n" +
    `> = {\n${rows.join("")}};\n`
  );
}

// What options/validate.ts and the wrappers read; the rest of a schema is for people.
const rules = [
  "type",
  "required",
  "additionalProperties",
  "minItems",
  "minimum",
  "pattern",
  "x-max-bytes",
] as const;
const otherWords = "description format example default deprecated x-source x-unstated items properties".split(
  " ",
);

function requestsTable(document: Document, operations: Operations): string {
  const rows = operations.map(({ operation }) => {
    const [contentType, { schema }] = contentOf(operation);
    const row = { contentType, body: rulesOf(document, schema, operation.operationId) };
    return `  ${operation.operationId}: ${JSON.stringify(row)},\n`;
  });
  return (
    "/** The rules of each operation's request body, in the words of JSON Schema. */\n" +
    `export const requests = {\n${rows.join("")}} as const;\n`
  );
}

/** The one media type of an operation's request body. */
export function contentOf({ operationId, requestBody }: Operation): [string, { schema: Schema }] {
  const [content] = Object.entries(requestBody.content);
  if (content === undefined) throw new Error(`${operationId} has no request body.`);
  return content;
}

function rulesOf(document: Document, schema: Schema, where: string): object {
  const found = resolve(document, schema);
  const { items, properties } = found;
  for (const word of Object.keys(found)) {
    if (otherWords.includes(word) || (rules as readonly string[]).includes(word)) continue;
    throw new Error(
      `${where} has the rule ${word}, which nothing checks: teach it to src/options/validate.ts, then add it here.`,
    );
  }
  const kept = rules.filter((word) => found[word] !== undefined).map((word) => [word, found[word]]);
  const fields = Object.entries(properties ?? {}).map(([name, field]) => [
    name,
    rulesOf(document, field, `${where}.${name}`),
  ]);
  return {
    ...Object.fromEntries(kept),
    ...(items && { items: rulesOf(document, items, `${where}[]`) }),
    ...(properties && { properties: Object.fromEntries(fields) }),
  };
}
