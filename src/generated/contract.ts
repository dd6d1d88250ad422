// Generated from openapi.yaml by `npm run generate`: do not edit.

import type { Code } from "./types.js";

/** The contract's operations. */
export type OperationId =
  | "resumeReinforcementFineTuningJob"
  | "rerankDocuments"
  | "scaleDeployment"
  | "uploadDatasetFile";

/** The HTTP status of each code. */
export const httpStatuses: Readonly<Record<Code, number>> = {
  OK: 200,
  CANCELLED: 499,
  UNKNOWN: 500,
  INVALID_ARGUMENT: 400,
  DEADLINE_EXCEEDED: 504,
  NOT_FOUND: 404,
  ALREADY_EXISTS: 409,
  PERMISSION_DENIED: 403,
  UNAUTHENTICATED: 401,
  RESOURCE_EXHAUSTED: 429,
  FAILED_PRECONDITION: 400,
  ABORTED: 409,
  OUT_OF_RANGE: 400,
  UNIMPLEMENTED: 501,
  INTERNAL: 500,
  UNAVAILABLE: 503,
  DATA_LOSS: 500,
};

/** The meaning of each code, in the service's words. */
export const meanings: Readonly<Record<Code, string>> = {
  OK: "success",
  CANCELLED: "cancelled, typically by the caller",
  UNKNOWN: "unknown error",
  INVALID_ARGUMENT: "argument is problematic regardless of system state",
  DEADLINE_EXCEEDED: "deadline expired before completion; a state-changing operation may still have completed",
  NOT_FOUND: "requested entity not found",
  ALREADY_EXISTS: "entity to create already exists",
  PERMISSION_DENIED: "caller lacks permission",
  UNAUTHENTICATED: "missing or invalid credentials",
  RESOURCE_EXHAUSTED: "quota or resource exhausted",
  FAILED_PRECONDITION: "system not in the state required; do not retry until state is fixed",
  ABORTED: "concurrency conflict; retry at a higher level",
  OUT_OF_RANGE: "attempted past the valid range",
  UNIMPLEMENTED: "not implemented or not enabled",
  INTERNAL: "broken internal invariant",
  UNAVAILABLE: "transient; retry with backoff",
  DATA_LOSS: "unrecoverable data loss or corruption",
};

/**
 * What sending an operation twice does: it changes nothing (`read`), leads to the same state (`set`), begins something
 * again (`start`) or adds something again (`append`).
 */
export type RetryKind = "read" | "set" | "start" | "append";

/** What the contract says of an operation. */
export interface OperationRow {
  readonly method: string;
  readonly path: string;
  /** Its `x-retry`. */
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

/** Each operation of the contract. */
export const operations: Readonly<Record<OperationId, OperationRow>> = {
  resumeReinforcementFineTuningJob: {"method":"POST","path":"/v1/accounts/{account_id}/reinforcementFineTuningJobs/{reinforcement_fine_tuning_job_id}:resume","kind":"start","timeoutMs":30000,"maxResponseBytes":1048576,"whenUnknown":"The job may have been resumed: check the job with the service's other operations before you resume it again."},
  rerankDocuments: {"method":"POST","path":"/inference/v1/rerank","kind":"read","timeoutMs":60000,"maxResponseBytes":67108864},
  scaleDeployment: {"method":"PATCH","path":"/v1/accounts/{account_id}/deployments/{deployment_id}:scale","kind":"set","timeoutMs":30000,"maxResponseBytes":1048576},
  uploadDatasetFile: {"method":"POST","path":"/v1/accounts/{account_id}/datasets/{dataset_id}:upload","kind":"append","timeoutMs":60000,"bytesPerSecond":262144,"maxResponseBytes":1048576,"whenUnknown":"The file may have been stored: check the dataset with the service's other operations before you upload it again."},
};

/** The rules of each operation's request, in the words of JSON Schema. */
export const requests = {
  resumeReinforcementFineTuningJob: {"contentType":"application/json","body":{"type":"object","additionalProperties":false}},
  rerankDocuments: {"contentType":"application/json","body":{"type":"object","required":["query","documents"],"properties":{"query":{"type":"string"},"documents":{"type":"array","minItems":1,"items":{"type":"string"}},"model":{"type":"string","pattern":"^accounts/[^/]+/models/[^/]+$"},"top_n":{"type":"integer","minimum":1},"return_documents":{"type":"boolean"},"task":{"type":"string"}}}},
  scaleDeployment: {"contentType":"application/json","body":{"type":"object","required":["replicaCount"],"properties":{"replicaCount":{"type":"integer","minimum":0}}}},
  uploadDatasetFile: {"contentType":"multipart/form-data","file":"file","body":{"type":"object","required":["file"],"properties":{"file":{"type":"string","x-max-bytes":157286400}}}},
} as const;
