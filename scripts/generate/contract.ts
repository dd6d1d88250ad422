import { type Document, operationsOf, resolve, type Schema } from "./document.js";

const limitKeys = ["minimum", "maximum", "minItems", "x-max-bytes"] as const;
const limitNames: Readonly<Record<string, string>> = { "x-max-bytes": "maxBytes" };

/** Writes the tables the client works from: codes, operations and the limits of what is sent. */
export function generateContract(document: Document): string {
  const operations = operationsOf(document);
  return [
    `import type { Code } from "./types.js";\n`,
    `/** The contract's version. */\nexport const contractVersion: string = ${JSON.stringify(document.info.version)};\n`,
    `/** The contract's operations. */\nexport type OperationId =\n${operations
      .map(({ operation }) => `  | ${JSON.stringify(operation.operationId)}`)
      .join("\n")};\n`,
    codesTable(document),
    operationsTable(operations),
    limitsTable(document, operations),
  ].join("\n");
}

function codesTable(document: Document): string {
  const code = document.components.schemas.Code;
  const rows = (code?.enum ?? []).map((name) => {
    const httpStatus = code?.["x-http-statuses"]?.[name];
    const meaning = JSON.stringify(code?.["x-enumDescriptions"]?.[name]);
    return `  ${name}: { httpStatus: ${httpStatus}, meaning: ${meaning} },\n`;
  });
  return (
    "/** The HTTP status and meaning of each code. */\n" +
    "export const codes: Readonly<Record<Code, { readonly httpStatus: number; readonly meaning: string }>> = {\n" +
    `${rows.join("")}};\n`
  );
}

function operationsTable(operations: ReturnType<typeof operationsOf>): string {
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

function limitsTable(document: Document, operations: ReturnType<typeof operationsOf>): string {
  const limits = operations.map(
    ({ operation }) => [operation.operationId, limitsOf(document, operation)] as const,
  );
  const types = limits.map(([id, fields]) => `  readonly ${id}: ${typeText(fields)};\n`);
  const values = limits.map(([id, fields]) => `  ${id}: ${JSON.stringify(fields)},\n`);
  return (
    "/** The contract's limits on the fields of each operation's request. */\n" +
    `export const limits: {\n${types.join("")}} = {\n${values.join("")}};\n`
  );
}

type Limits = Record<string, Record<string, number>>;

function limitsOf(
  document: Document,
  operation: { requestBody: { content: Record<string, { schema: Schema }> } },
): Limits {
  const found: Limits = {};
  for (const { schema } of Object.values(operation.requestBody.content)) {
    for (const [field, property] of Object.entries(resolve(document, schema).properties ?? {})) {
      for (const key of limitKeys) {
        const value = property[key];
        if (value !== undefined) found[field] = { ...found[field], [limitNames[key] ?? key]: value };
      }
    }
  }
  return found;
}

function typeText(fields: Limits): string {
  const members = Object.entries(fields).map(([field, rules]) => {
    const names = Object.keys(rules).map((rule) => `readonly ${rule}: number`);
    return `readonly ${field}: { ${names.join("; ")} }`;
  });
  return members.length === 0 ? "Readonly<Record<string, never>>" : `{ ${members.join("; ")} }`;
}
