import { type Document, type Parameter, resolve, type Schema } from "./document.js";
import type { OperationShape } from "./operations.js";

/** Writes the tables the client works from: codes, operations and the rules of what is sent. */
export function generateContract(document: Document, operations: readonly OperationShape[]): string {
  return [
    `import type { Code } from "./types.js";\n`,
    `/** The contract's operations. */\nexport type OperationId =\n${operations
      .map(({ id }) => `  | ${JSON.stringify(id)}`)
      .join("\n")};\n`,
    codesTable(document),
    operationsTable(operations),
    requestsTable(document, operations),
  ].join("\n");
}

/** Writes the good answers that the stand-in begins with. */
export function generateExamples(operations: readonly OperationShape[]): string {
  const rows = operations.map(({ id, answer: { status, contentType, example } }) => {
    const row = { status: Number(status), contentType, value: example };
    return `  ${id}: ${JSON.stringify(row)},\n`;
  });
  return (
    `import type { OperationId } from "./contract.js";\n\n` +
    "/** The first example of each operation's good answer; one without a body has neither type nor value. */\n" +
    "export const examples: Readonly<\n" +
    "  Record<OperationId, { readonly status: number; readonly contentType?: string; readonly value?: unknown }>\n" +
    `> = {\n${rows.join("")}};\n`
  );
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

function operationsTable(operations: readonly OperationShape[]): string {
  const rows = operations.map(({ id, method, path, kind, timeoutMs, bytesPerSecond, ...shape }) => {
    const { maxResponseBytes, answer, operation } = shape;
    const row = {
      method,
      path,
      kind,
      timeoutMs,
      bytesPerSecond,
      maxResponseBytes,
      answer: answer.kind === "json" ? undefined : answer.kind,
      accept: answer.kind === "json" ? undefined : answer.contentType,
      whenUnknown: operation["x-when-unknown"] ?? whenUnknown[kind],
    };
    return `  ${id}: ${JSON.stringify(row)},\n`;
  });
  return `${rowTypes}\n/** Each operation of the contract. */\nexport const operations: Readonly<Record<OperationId, OperationRow>> = {\n${rows.join("")}};\n`;
}

// What is said of a call that may have run, where its operation has no words of its own.
const whenUnknown: Readonly<Partial<Record<string, string>>> = {
  start: "It may have been started: look at it through the service's other operations before repeating.",
  append: "It may have been added: look for it through the service's other operations before repeating.",
};

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
  /** What its answer is read as. A JSON object unless given. */
  readonly answer?: "none" | "bytes" | "text";
  /** The media type of an answer that is not JSON. */
  readonly accept?: string;
  /** Of a start and an append: what to tell the caller of a call that may have run. */
  readonly whenUnknown?: string;
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
  "enum",
  "x-max-bytes",
] as const;
const otherWords =
  "title description format example x-enumNames x-enum-descriptions default deprecated x-source x-unstated x-enumDescriptions items properties".split(
    " ",
  );

function requestsTable(document: Document, operations: readonly OperationShape[]): string {
  const rows = operations.map(({ id, body, parameters }) => {
    const row = {
      contentType: body?.contentType,
      file: body?.file,
      optional: body?.required === false ? true : undefined,
      body: body && rulesOf(document, body.schema, id),
      query: parametersOf(document, parameters.query, id),
      headers: parametersOf(document, parameters.header, id),
    };
    return `  ${id}: ${JSON.stringify(row)},\n`;
  });
  return (
    "/** The rules of each operation's request, in the words of JSON Schema. */\n" +
    `export const requests = {\n${rows.join("")}} as const;\n`
  );
}

// As an object whose fields they are: it is checked as a body is.
function parametersOf(document: Document, parameters: readonly Parameter[], id: string): object | undefined {
  if (parameters.length === 0) return undefined;
  const required = parameters.filter((each) => each.required === true).map(({ name }) => name);
  const fields = parameters.map(({ name, schema }) => [name, rulesOf(document, schema, `${id}.${name}`)]);
  return { type: "object", ...(required.length > 0 && { required }), properties: Object.fromEntries(fields) };
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
