import { readFileSync } from "node:fs";
import type { Document } from "./document.js";
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
