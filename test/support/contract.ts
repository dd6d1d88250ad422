import { readFileSync } from "node:fs";
import { parse } from "yaml";
import type { OperationId } from "../../src/index.js";

/** One schema of the contract, as far as the tests look into it. */
export interface ContractSchema {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, ContractSchema>>;
  readonly [keyword: string]: unknown;
}

interface Media {
  readonly schema: ContractSchema;
  readonly examples: Readonly<Record<string, { readonly value: unknown }>>;
}

/** One response of the contract, or a reference to a shared one. */
interface ContractResponse {
  readonly $ref?: string;
  readonly content?: Readonly<Record<string, Media>>;
}

/** One operation of the contract. */
interface ContractOperation {
  readonly operationId: string;
  readonly description: string;
  readonly "x-retry": string;
  readonly "x-timeout-ms": number | { readonly baseMs: number; readonly bytesPerSecond: number };
  readonly "x-max-response-bytes": number;
  readonly "x-sdk-method": string;
  readonly "x-when-unknown"?: string;
  readonly requestBody?: { readonly required: boolean; readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<Record<string, ContractResponse>>;
}

/** openapi.yaml, read by a parser alone: none of the project's own readers stands between. */
export const contract: {
  readonly openapi: string;
  readonly info: { readonly version: string; readonly "x-contract-revision": string };
  readonly security: readonly unknown[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, ContractOperation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, ContractSchema>>;
    readonly responses: Readonly<Record<string, ContractResponse>>;
    readonly securitySchemes: Readonly<Record<string, unknown>>;
  };
} = parse(readFileSync(new URL("../../openapi.yaml", import.meta.url), "utf8"));

/** A schema by its name; a missing one fails the test. */
export function schemaNamed(name: string): ContractSchema {
  const schema = contract.components.schemas[name];
  if (schema === undefined) throw new Error(`The contract has no schema ${name}.`);
  return schema;
}

/** An operation with its method and path. */
interface PlacedOperation {
  readonly method: string;
  readonly path: string;
  readonly operation: ContractOperation;
}

/** Every operation, in the order of the contract. */
export const contractOperations: readonly PlacedOperation[] = Object.entries(contract.paths).flatMap(
  ([path, item]) =>
    // Beside its operations a path may have parameters.
    Object.entries(item)
      .filter(([, operation]) => !Array.isArray(operation))
      .map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
);

/** An operation by its id; a missing one fails the test. */
export function operationNamed(operationId: string): ContractOperation {
  const found = contractOperations.find(({ operation }) => operation.operationId === operationId);
  if (found === undefined) throw new Error(`The contract has no operation ${operationId}.`);
  return found.operation;
}

/** Whether the contract's kind of an operation makes a repeat safe. */
export const isSafe = ({ operation }: Pick<PlacedOperation, "operation">): boolean =>
  /^(read|set)$/.test(operation["x-retry"]);

/** The ids of the operations that fit, in the order of the contract. */
export const idsWhere = (fits: (each: PlacedOperation) => boolean): OperationId[] =>
  contractOperations.filter(fits).map(({ operation }) => operation.operationId as OperationId);

/** The first example of an operation's body, as `fetch` takes it; undefined for one without a body. */
export function exampleBody(operationId: string): string | FormData | undefined {
  const [media] = Object.entries(operationNamed(operationId).requestBody?.content ?? {});
  if (media === undefined) return undefined;
  const [type, { examples }] = media;
  const [example] = Object.values(examples);
  if (type !== "multipart/form-data") return JSON.stringify(example?.value);
  const form = new FormData();
  for (const [part, content] of Object.entries(example?.value as Record<string, string>))
    form.append(part, new Blob([content], { type: "text/plain" }), "train.jsonl");
  return form;
}

/** The examples of a successful response by name. */
export function responseExamples(operationId: string): [string, unknown][] {
  const examples = operationNamed(operationId).responses["200"]?.content?.["application/json"]?.examples;
  return Object.entries(examples ?? {}).map(([name, { value }]) => [name, value]);
}

/** The first example of a successful response. */
export function responseExample(operationId: string): unknown {
  return responseExamples(operationId)[0]?.[1];
}

// Tables of the service's interface document, typed here by hand on purpose: the contract is compared with them.

/** The codes in the order of the document's table: name, HTTP status, meaning. */
export const codeTable: readonly (readonly [code: string, httpStatus: number, meaning: string])[] = [
  ["OK", 200, "success"],
  ["CANCELLED", 499, "cancelled, typically by the caller"],
  ["UNKNOWN", 500, "unknown error"],
  ["INVALID_ARGUMENT", 400, "argument is problematic regardless of system state"],
  [
    "DEADLINE_EXCEEDED",
    504,
    "deadline expired before completion; a state-changing operation may still have completed",
  ],
  ["NOT_FOUND", 404, "requested entity not found"],
  ["ALREADY_EXISTS", 409, "entity to create already exists"],
  ["PERMISSION_DENIED", 403, "caller lacks permission"],
  ["UNAUTHENTICATED", 401, "missing or invalid credentials"],
  ["RESOURCE_EXHAUSTED", 429, "quota or resource exhausted"],
  ["FAILED_PRECONDITION", 400, "system not in the state required; do not retry until state is fixed"],
  ["ABORTED", 409, "concurrency conflict; retry at a higher level"],
  ["OUT_OF_RANGE", 400, "attempted past the valid range"],
  ["UNIMPLEMENTED", 501, "not implemented or not enabled"],
  ["INTERNAL", 500, "broken internal invariant"],
  ["UNAVAILABLE", 503, "transient; retry with backoff"],
  ["DATA_LOSS", 500, "unrecoverable data loss or corruption"],
];

/** The codes that are failures. */
export const failureTable: readonly (readonly [code: string, httpStatus: number])[] = codeTable
  .filter(([code]) => code !== "OK")
  .map(([code, httpStatus]) => [code, httpStatus]);

/** The error statuses of the table, each with the code of the contract's first example for it. */
export const errorStatuses: readonly (readonly [httpStatus: number, code: string])[] = [
  [400, "INVALID_ARGUMENT"],
  [401, "UNAUTHENTICATED"],
  [403, "PERMISSION_DENIED"],
  [404, "NOT_FOUND"],
  [409, "ALREADY_EXISTS"],
  [429, "RESOURCE_EXHAUSTED"],
  [499, "CANCELLED"],
  [500, "UNKNOWN"],
  [501, "UNIMPLEMENTED"],
  [503, "UNAVAILABLE"],
  [504, "DEADLINE_EXCEEDED"],
];
