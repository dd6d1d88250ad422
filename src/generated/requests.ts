// Generated from openapi.yaml by `npm run generate`: do not edit.

import type { OperationId } from "./contract.js";

/** The rules of a request body, in the words of JSON Schema. */
export interface RequestSchema {
  readonly type?: string;
  readonly format?: string;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean;
  readonly minItems?: number;
  readonly minimum?: number;
  readonly pattern?: string;
  readonly "x-max-bytes"?: number;
  readonly items?: RequestSchema;
  readonly properties?: Readonly<Record<string, RequestSchema>>;
}

/** What each operation takes as its request body. */
export const requestBodies: Readonly<
  Record<OperationId, { readonly contentType: string; readonly schema: RequestSchema }>
> = {
  resumeReinforcementFineTuningJob: {"contentType":"application/json","schema":{"type":"object","additionalProperties":false}},
  rerankDocuments: {"contentType":"application/json","schema":{"type":"object","required":["query","documents"],"properties":{"query":{"type":"string"},"documents":{"type":"array","minItems":1,"items":{"type":"string"}},"model":{"type":"string","pattern":"^accounts/[^/]+/models/[^/]+$"},"top_n":{"type":"integer","minimum":1},"return_documents":{"type":"boolean"},"task":{"type":"string"}}}},
  scaleDeployment: {"contentType":"application/json","schema":{"type":"object","required":["replicaCount"],"properties":{"replicaCount":{"type":"integer","minimum":0}}}},
  uploadDatasetFile: {"contentType":"multipart/form-data","schema":{"type":"object","required":["file"],"properties":{"file":{"type":"string","format":"binary","x-max-bytes":157286400}}}},
};
