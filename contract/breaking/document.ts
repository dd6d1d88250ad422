import { isDeepStrictEqual } from "node:util";

/** A schema of a contract, as far as it is compared. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  nullable?: boolean;
  format?: string;
  default?: unknown;
  enum?: unknown[];
  required?: string[];
  properties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  items?: Schema;
  allOf?: Schema[];
  oneOf?: Schema[];
  anyOf?: Schema[];
  readOnly?: boolean;
  writeOnly?: boolean;
  deprecated?: boolean;
  [keyword: string]: unknown;
}

/** A parameter, or a header of an answer. */
export interface Parameter {
  name?: string;
  in?: string;
  deprecated?: boolean;
  required?: boolean;
  style?: string;
  explode?: boolean;
  schema?: Schema;
}

export type Content = Record<
  string,
  { schema?: Schema; encoding?: Record<string, { contentType?: string }> }
>;

export interface RequestBody {
  required?: boolean;
  content: Content;
}

export interface Response {
  headers?: Record<string, Parameter>;
  content?: Content;
}

export type SecurityRequirements = Record<string, string[]>[];

export interface Operation {
  operationId?: string;
  tags?: string[];
  deprecated?: boolean;
  parameters?: Parameter[];
  requestBody?: RequestBody;
  responses: Record<string, Response>;
  security?: SecurityRequirements;
  "x-sdk-method"?: string;
  "x-retry"?: string;
  "x-retry-safe"?: boolean;
  "x-timeout-ms"?: number | { baseMs: number; bytesPerSecond: number };
  "x-max-response-bytes"?: number;
}

/** A contract, as far as it is compared. */
export interface Document {
  info?: { version?: string; "x-contract-revision"?: string };
  servers?: { url: string }[];
  security?: SecurityRequirements;
  paths: Record<string, Record<string, Operation> & { parameters?: Parameter[] }>;
  components?: {
    schemas?: Record<string, Schema>;
    securitySchemes?: Record<string, unknown>;
  };
}

/** One operation with where it is found and all its parameters. */
export interface Endpoint {
  readonly name: string;
  readonly operation: Operation;
  readonly parameters: readonly Parameter[];
}

const methods = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

/** Every operation by its method and path. */
export function endpointsOf(document: Document): Map<string, Endpoint> {
  const endpoints = Object.entries(document.paths).flatMap(([path, item]) =>
    methods.flatMap((method) => {
      const operation = item[method];
      if (operation === undefined) return [];
      const name = `${method.toUpperCase()} ${path}`;
      const parameters = [...(item.parameters ?? []), ...(operation.parameters ?? [])];
      return [[name, { name: operation.operationId ?? name, operation, parameters }] as const];
    }),
  );
  return new Map(endpoints);
}

/** What a reference points to, or the thing itself. */
export function resolve<T extends object>(document: Document, node: T): T {
  const { $ref } = node as { $ref?: unknown };
  if (typeof $ref !== "string") return node;
  const steps = $ref.replace(/^#\//, "").split("/");
  let found: unknown = document;
  for (const step of steps) {
    const key = decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~");
    found = (found as Record<string, unknown> | undefined)?.[key];
  }
  if (found === undefined) throw new Error(`The contract has no ${$ref}.`);
  return resolve(document, found as T);
}

/** A schema that stands for a component: its name, and what is said beside the reference. */
export function referenceOf(schema: Schema): { name: string; target: Schema; beside: Schema } | undefined {
  const { $ref, allOf, ...beside } = schema;
  const reference = $ref ?? (allOf?.length === 1 ? allOf[0]?.$ref : undefined);
  if (reference === undefined) return undefined;
  return { name: reference.split("/").pop() ?? "", target: { $ref: reference }, beside };
}

/** A schema with its reference, and its allOf, written into it. */
export function flatten(document: Document, schema: Schema): Schema {
  const { $ref, allOf = [], ...own } = schema;
  const parts = [...($ref === undefined ? [] : [resolve(document, { $ref })]), ...allOf];
  let whole: Schema = own;
  for (const part of parts) {
    const flat = flatten(document, part);
    const properties = { ...flat.properties, ...whole.properties };
    const required = [...(flat.required ?? []), ...(whole.required ?? [])];
    whole = { ...flat, ...whole };
    if (Object.keys(properties).length > 0) whole.properties = properties;
    if (required.length > 0) whole.required = required;
  }
  // The bytes of a file: named by a media type in 3.1, by a format in 3.0.
  if (whole.contentMediaType === "application/octet-stream") whole = { ...whole, format: "binary" };
  return whole;
}

/** What a change of type or format does to the values that are allowed. */
export type TypeChange = "none" | "alike" | "wider" | "narrower" | "other";

const everything = ["null", "boolean", "object", "array", "number", "integer", "string"];
// Each format of numbers with those whose every value it holds.
const sizes: Readonly<Record<string, readonly string[]>> = {
  int64: ["int32"],
  double: ["float"],
};

/** How the type of a value changed: a number may be an integer, and nullable is a type of its own. */
export function typeChange(before: Schema, after: Schema): TypeChange {
  if (before.type === undefined && after.type !== undefined) return "other";
  const [old, now] = [typesOf(before), typesOf(after)];
  if (isDeepStrictEqual([...old].sort(), [...now].sort())) return "none";
  if ([...old].every((type) => now.has(type))) return "wider";
  return [...now].every((type) => old.has(type)) ? "narrower" : "other";
}

/** How the format of a value changed. An integer without a size is as good as one of 64 bits. */
export function formatChange(before: Schema, after: Schema): TypeChange {
  const widest = { integer: "int64", number: "double" }[String(after.type)];
  const [old, now] = [before.format, after.format];
  if (old === now) return "none";
  const isSameType = isDeepStrictEqual(before.type, after.type);
  if (isSameType && (old ?? widest) === (now ?? widest)) return "alike";
  if (now === undefined) return "wider";
  if (old === undefined) return "narrower";
  if (sizes[now]?.includes(old)) return "wider";
  return sizes[old]?.includes(now) ? "narrower" : "other";
}

function typesOf({ type, nullable }: Schema): Set<string> {
  const named = type === undefined ? everything : [type].flat();
  const types = new Set(named as string[]);
  if (types.has("number")) types.add("integer");
  if (nullable === true) types.add("null");
  return types;
}
