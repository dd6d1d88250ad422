import { readFileSync } from "node:fs";
import { type Document, formOf, nameOf, type RetryKind, resolve, type Schema } from "./document.js";
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
    requestsTable(operations),
  ].join("\n");
}

/** Writes the valid responses that the mock server begins with. */
export function generateExamples(operations: readonly OperationShape[]): string {
  const rows = operations.map(({ id, response: { status, contentType, example } }) => {
    const row = { status: Number(status), contentType, value: example };
    return `  ${id}: ${JSON.stringify(row)},\n`;
  });
  return (
    `import type { OperationId } from "./contract.js";\n\n` +
    "/** The first example of each operation's valid response; one without a body has neither type nor value. */\n" +
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
    const { maxResponseBytes, response, operation } = shape;
    const row = {
      method,
      path,
      kind,
      timeoutMs,
      bytesPerSecond,
      maxResponseBytes,
      value: response.kind === "json" ? undefined : response.kind,
      accept: response.kind === "json" ? undefined : response.contentType,
      whenUnknown: operation["x-when-unknown"] ?? whenUnknown[kind],
    };
    return `  ${id}: ${JSON.stringify(row)},\n`;
  });
  return `${rowTypes}\n/** Each operation of the contract. */\nexport const operations: Readonly<Record<OperationId, OperationRow>> = {\n${rows.join("")}};\n`;
}

// What is said of a call that may have run, where its operation has no words of its own.
const whenUnknown: Readonly<Partial<Record<string, string>>> = {
  start: "It may have been started: check it with the service's other operations before you call again.",
  append: "It may have been added: check it with the service's other operations before you call again.",
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
  /** The most bytes of its response. */
  readonly maxResponseBytes: number;
  /** What its response is read as: nothing, bytes or a text. @default a JSON object */
  readonly value?: "none" | "bytes" | "text";
  /** The media type of a response that is not JSON. */
  readonly accept?: string;
  /** Of a start and an append: what to tell the caller of a call that may have run. */
  readonly whenUnknown?: string;
}
`;

function requestsTable(operations: readonly OperationShape[]): string {
  const rows = operations.map(({ id, body, rules }) => {
    const { words: _, ids: __, ...groups } = rules;
    const row = {
      contentType: body?.contentType,
      file: body?.file,
      optional: body?.required === false ? true : undefined,
      ...groups,
    };
    return `  ${id}: ${JSON.stringify(row)},\n`;
  });
  return (
    "/** The rules of each operation's request, in the words of JSON Schema. */\n" +
    `export const requests = {\n${rows.join("")}} as const;\n`
  );
}

// What src/options/validate.ts checks itself, because options need it too.
const always = new Set("type form x-open required properties items minItems minimum x-max-bytes".split(" "));
// Words that JavaScript keeps for itself.
const checkNames: Readonly<Record<string, string>> = { enum: "enumeration" };

/** The checks of the rules that src/options/validate.ts does not check itself; undefined while no request has one. */
export function generateRuleChecks(operations: readonly OperationShape[]): string | undefined {
  if (operations.every(({ rules }) => [...rules.words].every((word) => always.has(word)))) return undefined;
  const text = readFileSync(new URL("ruleChecks.ts", import.meta.url), "utf8");
  return text
    .slice(text.indexOf("import"))
    .replaceAll('"../../src/options/', '"./')
    .replaceAll('"../../src/', '"../');
}

/** Writes which rules are checked: those that the contract's requests have, so that a page loads no others. */
export function generateChecks(operations: readonly OperationShape[]): string {
  const words = new Set(operations.flatMap(({ rules }) => [...rules.words]));
  const checks = [...words].filter((word) => !always.has(word)).sort();
  const named = checks.map((word) => checkNames[word] ?? word);
  const table = checks.map((word, index) => (word === named[index] ? word : `${word}: ${named[index]}`));
  const ids = operations.flatMap(({ id, rules }) =>
    Object.entries(rules.ids ?? {}).map(([name, each]) => [id + name, each]),
  );
  return [
    ...(checks.length > 0
      ? [`import { ${["checkEach", ...named].join(", ")} } from "./ruleChecks.js";`]
      : []),
    `import type { Place, Rules } from "./rules.js";\n`,
    "/** Checks the rules that only some requests have; undefined while no request has one. */",
    `export const checkRules: ((value: unknown, place: Place) => void) | undefined = ${
      checks.length > 0 ? `checkEach({ ${table.join(", ")} })` : undefined
    };\n`,
    "/** The rules of the ids in paths, by operation and name; an id without rules is any text. */",
    `export const idRules: ReadonlyMap<string, Rules> | undefined = ${
      ids.length > 0 ? `new Map(${JSON.stringify(ids)})` : undefined
    };\n`,
  ].join("\n");
}

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

// All four are written: a client takes a missing `destructiveHint` for true.
const hints: Readonly<Record<RetryKind, object>> = {
  read: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true },
  set: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
  start: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  append: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
};

// Of a schema with many fields, only these: every client gives the whole list of tools to its model.
const shortened: Readonly<Record<string, readonly string[]>> = {
  ReinforcementFineTuningJob: ["name", "state", "status", "jobProgress"],
  JobProgress: ["percent"],
};

/** Writes each operation as a tool of the Model Context Protocol. */
export function generateTools(document: Document, operations: readonly OperationShape[]): string {
  const rows = operations.map((shape) => `  ${shape.id}: ${JSON.stringify(toolOf(document, shape))},\n`);
  return (
    `import type { OperationId } from "./contract.js";\n\n` +
    "/** An operation as a tool of the Model Context Protocol, without its name. */\n" +
    "export interface OperationTool {\n" +
    "  readonly title: string;\n  readonly description: string;\n" +
    "  readonly annotations: Readonly<Record<string, boolean>>;\n" +
    "  readonly inputSchema: {\n    readonly type: string;\n    readonly properties: Readonly<Record<string, object>>;\n" +
    "    readonly required: readonly string[];\n    readonly additionalProperties: boolean | object;\n  };\n" +
    "  /** Of a response that is a JSON object. */\n  readonly outputSchema?: object;\n}\n\n" +
    "/** Each operation as a tool. */\n" +
    `export const tools: Readonly<Record<OperationId, OperationTool>> = {\n${rows.join("")}};\n`
  );
}

function toolOf(document: Document, { operation, kind, parameters, body, response }: OperationShape): object {
  const { summary: title, description, "x-when-unknown": whenUnknown } = operation;
  const placed = [...parameters.path, ...parameters.query, ...parameters.header];
  const given = placed.filter(({ name }) => name !== "account_id");
  const fields = given.map(({ name, schema, description = "" }) => [
    name,
    { ...inlined(document, schema, words), description: firstOf(description) },
  ]);
  const sent: Inlined = body ? inlined(document, body.schema, words) : {};
  const file = body?.file && { [body.file]: { type: "string", description: "Its path below --root." } };
  const required = given.filter((each) => each.required).map(({ name }) => name);
  const asks = kind === "read" ? "" : "A person is asked before it is sent.";
  const unknown = whenUnknown && `If \`executed\` is unknown: ${whenUnknown}`;
  return {
    title,
    description: [firstOf(description), asks, unknown].filter(Boolean).join(" "),
    annotations: hints[kind],
    inputSchema: {
      type: "object",
      properties: { ...Object.fromEntries(fields), ...sent.properties, ...file },
      required: [...required, ...(body?.required ? (sent.required ?? []) : [])],
      // An unknown argument is a model's mistake, except in a body of any fields.
      additionalProperties: (sent.properties === undefined && sent.additionalProperties) || false,
    },
    outputSchema: response.schema && { ...inlined(document, response.schema, []), type: "object" },
  };
}

type Inlined = Pick<Schema, "additionalProperties" | "properties" | "required">;

const words = "type enum pattern minimum maximum exclusiveMinimum exclusiveMaximum minItems required".split(
  " ",
);

/**
 * A schema with all that it refers to in its place.
 * @param kept The words that are kept; none for a response, in which every field may be missing, null or new
 */
function inlined(document: Document, schema: Schema, kept: string[], around: string[] = []): Inlined {
  const name = nameOf(schema) ?? "";
  const whole = { ...resolve(document, schema), ...schema };
  const { description, properties = {}, items, oneOf, additionalProperties: more, "x-open": isOpen } = whole;
  if (around.includes(name)) return {};
  const inner = (part: Schema): object => inlined(document, part, kept, name ? [...around, name] : around);
  const shown = Object.entries(properties).filter(
    ([field]) => kept.length > 0 || (shortened[name]?.includes(field) ?? true),
  );
  return {
    ...Object.fromEntries(
      Object.entries(whole).filter(([word]) => kept.includes(word) && !(word === "enum" && isOpen)),
    ),
    ...(description && { description: firstOf(description) }),
    ...(shown.length > 0 && {
      properties: Object.fromEntries(shown.map(([field, part]) => [field, inner(part)])),
    }),
    ...(items && { items: inner(items) }),
    ...(kept.length > 0 && oneOf && { oneOf: oneOf.map(inner) }),
    ...(kept.length > 0 && more && { additionalProperties: typeof more === "object" ? inner(more) : more }),
  };
}
