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
    const time = operation["x-timeout-ms"];
    const row = {
      method,
      path,
      kind: operation["x-retry"],
      timeoutMs: typeof time === "number" ? time : time.baseMs,
      ...(typeof time === "object" && { bytesPerSecond: time.bytesPerSecond }),
      maxResponseBytes: operation["x-max-response-bytes"],
    };
    return `  ${operation.operationId}: ${JSON.stringify(row)},\n`;
  });
  return `${rowTypes}\n/** Each operation of the contract. */\nexport const operations: Readonly<Record<OperationId, OperationRow>> = {\n${rows.join("")}};\n`;
}

const rowTypes = `/**
 * What sending an operation twice does: it changes nothing (\`read\`), leads to the same state (\`set\`), begins something
 * again (\`start\`) or adds something again (\`append\`).
 */
export type RetryKind = "read" | "set" | "start" | "append";

/** What the contract says of an operation. */
export interface OperationRow {
  readonly method: string;
  readonly path: string;
  /** Its \`x-retry\`. */
  readonly kind: RetryKind;
  /** Its default deadline in milliseconds. */
  readonly timeoutMs: number;
  /** Of one that sends a file: the slowest rate that the default deadline allows for. */
  readonly bytesPerSecond?: number;
  /** The most bytes of its answer. */
  readonly maxResponseBytes: number;
}
`;

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
