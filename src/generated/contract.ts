// Generated from openapi.yaml by `npm run generate`: do not edit.

import type { Code } from "./types.js";

/** The contract's operations. */
export type OperationId =
  | "resumeReinforcementFineTuningJob"
  | "rerankDocuments"
  | "scaleDeployment"
  | "uploadDatasetFile";

/** The HTTP status and meaning of each code. */
export const codes: Readonly<Record<Code, { readonly httpStatus: number; readonly meaning: string }>> = {
  OK: { httpStatus: 200, meaning: "success" },
  CANCELLED: { httpStatus: 499, meaning: "cancelled, typically by the caller" },
  UNKNOWN: { httpStatus: 500, meaning: "unknown error" },
  INVALID_ARGUMENT: { httpStatus: 400, meaning: "argument is problematic regardless of system state" },
  DEADLINE_EXCEEDED: { httpStatus: 504, meaning: "deadline expired before completion; a state-changing operation may still have completed" },
  NOT_FOUND: { httpStatus: 404, meaning: "requested entity not found" },
  ALREADY_EXISTS: { httpStatus: 409, meaning: "entity to create already exists" },
  PERMISSION_DENIED: { httpStatus: 403, meaning: "caller lacks permission" },
  UNAUTHENTICATED: { httpStatus: 401, meaning: "missing or invalid credentials" },
  RESOURCE_EXHAUSTED: { httpStatus: 429, meaning: "quota or resource exhausted" },
  FAILED_PRECONDITION: { httpStatus: 400, meaning: "system not in the state required; do not retry until state is fixed" },
  ABORTED: { httpStatus: 409, meaning: "concurrency conflict; retry at a higher level" },
  OUT_OF_RANGE: { httpStatus: 400, meaning: "attempted past the valid range" },
  UNIMPLEMENTED: { httpStatus: 501, meaning: "not implemented or not enabled" },
  INTERNAL: { httpStatus: 500, meaning: "broken internal invariant" },
  UNAVAILABLE: { httpStatus: 503, meaning: "transient; retry with backoff" },
  DATA_LOSS: { httpStatus: 500, meaning: "unrecoverable data loss or corruption" },
};

/** How each operation is asked for, and whether sending it twice is safe. */
export const operations: Readonly<
  Record<OperationId, { readonly method: string; readonly path: string; readonly retrySafe: boolean }>
> = {
  resumeReinforcementFineTuningJob: {"method":"POST","path":"/v1/accounts/{account_id}/reinforcementFineTuningJobs/{reinforcement_fine_tuning_job_id}:resume","retrySafe":false},
  rerankDocuments: {"method":"POST","path":"/inference/v1/rerank","retrySafe":true},
  scaleDeployment: {"method":"PATCH","path":"/v1/accounts/{account_id}/deployments/{deployment_id}:scale","retrySafe":true},
  uploadDatasetFile: {"method":"POST","path":"/v1/accounts/{account_id}/datasets/{dataset_id}:upload","retrySafe":false},
};

/** The rules of each operation's request body, in the words of JSON Schema. */
export const requests = {
  resumeReinforcementFineTuningJob: {"contentType":"application/json","body":{"type":"object","additionalProperties":false}},
  rerankDocuments: {"contentType":"application/json","body":{"type":"object","required":["query","documents"],"properties":{"query":{"type":"string"},"documents":{"type":"array","minItems":1,"items":{"type":"string"}},"model":{"type":"string","pattern":"^accounts/[^/]+/models/[^/]+$"},"top_n":{"type":"integer","minimum":1},"return_documents":{"type":"boolean"},"task":{"type":"string"}}}},
  scaleDeployment: {"contentType":"application/json","body":{"type":"object","required":["replicaCount"],"properties":{"replicaCount":{"type":"integer","minimum":0}}}},
  uploadDatasetFile: {"contentType":"multipart/form-data","body":{"type":"object","required":["file"],"properties":{"file":{"type":"string","x-max-bytes":157286400}}}},
} as const;
