import { readFile } from "node:fs/promises";
import { parse } from "yaml";

/** A schema of the contract, as far as the generators read it. */
export interface Schema {
  $ref?: string;
  title?: string;
  type?: string;
  format?: string;
  description?: string;
  default?: unknown;
  deprecated?: boolean;
  readOnly?: boolean;
  writeOnly?: boolean;
  enum?: string[];
  required?: string[];
  properties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  items?: Schema;
  allOf?: Schema[];
  oneOf?: Schema[];
  discriminator?: { propertyName: string; mapping?: Record<string, string> };
  not?: Schema;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  minItems?: number;
  pattern?: string;
  example?: unknown;
  "x-open"?: boolean;
  "x-max-bytes"?: number;
  "x-enumDescriptions"?: Record<string, string>;
  "x-http-statuses"?: Record<string, number>;
}

/** What sending an operation twice does: the kinds of `x-retry`. */
export type RetryKind = "read" | "set" | "start" | "append";

/** Whether a repeat of an operation is safe: the `x-retry-safe` of the published documents. */
export function isSafe({ "x-retry": kind }: Pick<Operation, "x-retry">): boolean {
  return kind === "read" || kind === "set";
}

/** The name of a method in a sentence: what stands behind its group. */
export function shortName(method: string): string {
  return method.split(".").pop() ?? method;
}

/** One operation of the contract. */
export interface Operation {
  operationId: string;
  summary: string;
  description: string;
  "x-retry": RetryKind;
  "x-timeout-ms": number | { baseMs: number; bytesPerSecond: number };
  "x-max-response-bytes": number;
  "x-sdk-method": string;
  "x-when-unknown"?: string;
  parameters?: object[];
  requestBody?: { required?: boolean; content: Record<string, { schema: Schema }> };
  responses: Record<string, unknown>;
}

/** A parameter of an operation. */
export interface Parameter {
  name: string;
  in: string;
  description?: string;
  required?: boolean;
  style?: string;
  explode?: boolean;
  schema: Schema;
  example?: unknown;
  examples?: Record<string, { value?: unknown }>;
}

/** The contract, as far as the generators read it. */
export interface Document {
  info: { version: string; "x-contract-revision": string };
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema>; [kind: string]: Record<string, unknown> };
}

/** Reads the contract. */
export async function readDocument(path: string): Promise<Document> {
  return parse(await readFile(path, "utf8")) as Document;
}

const methods = /^(get|put|post|delete|options|head|patch|trace)$/;

/** An operation, and the parameters of its path. */
export interface FoundOperation {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
  readonly shared: readonly object[];
}

/** Every operation in the contract's order. */
export function operationsOf(document: Document): FoundOperation[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item ?? {})
      .filter(([method]) => methods.test(method))
      .map(([method, operation]) => {
        const shared = (item.parameters ?? []) as unknown as object[];
        return { method: method.toUpperCase(), path, operation: operation ?? {}, shared };
      }),
  );
}

/** References to every component that responses are made of. */
export function responseComponents(document: Document): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    for (const [key, part] of Object.entries(value)) {
      if (key !== "$ref") visit(part);
      else if (!found.has(part)) {
        found.add(part);
        const [, , kind = "", name = ""] = part.split("/");
        visit(document.components[kind]?.[name]);
      }
    }
  };
  for (const { operation } of operationsOf(document)) visit(operation.responses);
  return found;
}

/** The form in words, with an example, that a pattern stands for; undefined where its schema does not say it. */
export function formOf({ description = "", example }: Schema): string | undefined {
  const form = /\b(?:form|format) `([^`]+)`/.exec(description)?.[1];
  return form === undefined || example === undefined ? undefined : `${form}, such as ${example}`;
}

/** The name of the component a reference points to. */
export function nameOf(schema: Schema): string | undefined {
  return (schema.$ref ?? schema.allOf?.[0]?.$ref)?.split("/").pop();
}

/** The component a schema refers to, or the schema itself. */
export function resolve(document: Document, schema: Schema): Schema {
  const name = nameOf(schema);
  const found = name === undefined ? schema : document.components.schemas[name];
  if (found === undefined) throw new Error(`The contract has no schema ${name}.`);
  return found;
}
