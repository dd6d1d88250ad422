import { type Document, nameOf, resolve, type Schema } from "./document.js";
import type { OperationShape } from "./operations.js";
import type { PlacedParameter } from "./parameters.js";
import type { LineOf, Place } from "./reading.js";

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
  const rows = operations.map(({ id, body, parameters, lineOf }) => {
    const rulesAt: RulesAt = (schema, name, place) =>
      rulesOf(document, schema, { name, place, around: [], lineOf });
    const row = {
      contentType: body?.contentType,
      file: body?.file,
      optional: body?.required === false ? true : undefined,
      body: body && rulesAt(body.schema, id, body.place),
      query: fieldsOf(parameters.query, id, rulesAt),
      headers: fieldsOf(parameters.header, id, rulesAt),
    };
    return `  ${id}: ${JSON.stringify(row)},\n`;
  });
  return (
    "/** The rules of each operation's request, in the words of JSON Schema. */\n" +
    `export const requests = {\n${rows.join("")}} as const;\n`
  );
}

type RulesAt = (schema: Schema, name: string, place: Place) => object;

// Parameters as an object whose fields they are: it is checked as a body is.
function fieldsOf(list: readonly PlacedParameter[], id: string, rulesAt: RulesAt): object | undefined {
  if (list.length === 0) return undefined;
  const required = list.filter((each) => each.required === true).map(({ name }) => name);
  const fields = list.map(({ name, schema, place }) => [
    name,
    rulesAt(schema, `${id}.${name}`, [...place, "schema"]),
  ]);
  return { type: "object", ...(required.length > 0 && { required }), properties: Object.fromEntries(fields) };
}

interface Where {
  readonly name: string;
  readonly place: Place;
  /** The schemas that hold this one. */
  readonly around: readonly string[];
  readonly lineOf: LineOf;
}

function rulesOf(document: Document, schema: Schema, { name, place, around, lineOf }: Where): object {
  const found = resolve(document, schema);
  const refuse = (what: string, at: Place, file: string): never => {
    throw new Error(`openapi.yaml:${lineOf(at)}: ${name} has ${what}: teach it to ${file}.`);
  };
  const own = nameOf(schema);
  if (own !== undefined && around.includes(own))
    refuse(`the schema ${own} within itself, which is not supported`, place, "scripts/generate/contract.ts");
  for (const word of Object.keys(found)) {
    if (otherWords.includes(word) || (rules as readonly string[]).includes(word)) continue;
    refuse(
      `the rule ${word}, which nothing checks`,
      [...place, word],
      "src/options/validate.ts, then add it to scripts/generate/contract.ts",
    );
  }
  const within = (more: string, ...inner: string[]): Where => {
    return {
      name: name + more,
      place: [...place, ...inner],
      around: own ? [...around, own] : around,
      lineOf,
    };
  };
  const { items, properties } = found;
  const kept = rules.filter((word) => found[word] !== undefined).map((word) => [word, found[word]]);
  const fields = Object.entries(properties ?? {}).map(([field, each]) => [
    field,
    rulesOf(document, each, within(`.${field}`, "properties", field)),
  ]);
  return {
    ...Object.fromEntries(kept),
    ...(items && { items: rulesOf(document, items, within("[]", "items")) }),
    ...(properties && { properties: Object.fromEntries(fields) }),
  };
}
