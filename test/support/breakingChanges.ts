import { idsWhere } from "./contract.js";
import {
  addRequired,
  addScheme,
  drop,
  dropValue,
  field,
  makeExclusive,
  type Part,
  remove,
  rename,
  renameSchema,
  replaceKey,
  rerank,
  resume,
  scale,
  schema,
  upload,
} from "./contractParts.js";

/** A change to a copy of the contract. */
export interface BreakingChange {
  readonly name: string;
  readonly change: (d: Part) => unknown;
  /** What is told of it. */
  readonly breaks: readonly string[];
  /** What oasdiff makes of it, where it does not call it breaking: less than that, or nothing at all. */
  readonly oasdiff?: "warns" | "silent";
}

/** The same in a row; a single text is all that is told. */
export type ChangeRow = readonly [
  name: string,
  change: BreakingChange["change"],
  breaks: string | readonly string[],
  oasdiff?: "warns" | "silent" | undefined,
];

/** The changes of a table. */
export function changesOf(rows: readonly ChangeRow[]): readonly BreakingChange[] {
  return rows.map(([name, change, breaks, oasdiff]) => ({
    ...{ name, change, breaks: [breaks].flat() as readonly string[] },
    ...(oasdiff && { oasdiff }),
  }));
}

const ofAccounts = idsWhere(({ path }) => path.includes("{account_id}")).join(", ");
/** The ids of every operation. */
export const all: string = idsWhere(() => true).join(", ");

/** Changes that break someone. */
export const breakingChanges: readonly BreakingChange[] = changesOf([
  [
    "a request field becomes required",
    (d) => schema(d, "RerankRequest").required.push("model"),
    "RerankRequest.model, in requests: is now required. Breaks callers (rerankDocuments).",
  ],
  [
    "a new request field is required",
    (d) => addRequired(d, "DeploymentScale", "reason"),
    "DeploymentScale.reason, in requests: is now required. Breaks callers (scaleDeployment).",
  ],
  [
    "a request field is removed",
    (d) => delete schema(d, "RerankRequest").properties.task,
    "RerankRequest.task, in requests: is gone. Breaks callers (rerankDocuments).",
    "warns",
  ],
  [
    "a request field changes its type",
    (d) => (field(d, "RerankRequest", "top_n").type = "string"),
    "RerankRequest.top_n, in requests: type was integer, is string. Breaks callers (rerankDocuments).",
  ],
  [
    "a request field gets a format",
    (d) => (field(d, "RerankRequest", "query").format = "uuid"),
    "RerankRequest.query, in requests: format was none, is uuid. Breaks callers (rerankDocuments).",
  ],
  [
    "a least value is raised",
    (d) => (field(d, "DeploymentScale", "replicaCount").minimum = 1),
    "DeploymentScale.replicaCount, in requests: minimum was 0, is 1. Breaks callers (scaleDeployment).",
  ],
  [
    "a least value is itself excluded",
    (d) => makeExclusive(d),
    "DeploymentScale.replicaCount, in requests: minimum was 0, is 0, exclusive. Breaks callers (scaleDeployment).",
  ],
  [
    "a largest value is set",
    (d) => (field(d, "RerankRequest", "top_n").maximum = 100),
    "RerankRequest.top_n, in requests: maximum was none, is 100. Breaks callers (rerankDocuments).",
  ],
  [
    "more items are needed",
    (d) => (field(d, "RerankRequest", "documents").minItems = 2),
    "RerankRequest.documents, in requests: minItems was 1, is 2. Breaks callers (rerankDocuments).",
  ],
  [
    "fewer items are taken",
    (d) => (field(d, "RerankRequest", "documents").maxItems = 1000),
    "RerankRequest.documents, in requests: maxItems was none, is 1000. Breaks callers (rerankDocuments).",
  ],
  [
    "an item gets a largest length",
    (d) => (field(d, "RerankRequest", "documents").items.maxLength = 5),
    "RerankRequest.documents[], in requests: maxLength was none, is 5. Breaks callers (rerankDocuments).",
  ],
  [
    "a pattern changes",
    (d) => (field(d, "RerankRequest", "model").pattern = "^models/"),
    "RerankRequest.model, in requests: pattern was ^accounts/[^/]+/models/[^/]+$, is ^models/. Breaks callers (rerankDocuments).",
    "warns",
  ],
  [
    "a request field is limited to an enumeration",
    (d) => (field(d, "RerankRequest", "task").enum = ["rank"]),
    "RerankRequest.task, in requests: is now limited to an enumeration. Breaks callers (rerankDocuments).",
  ],
  [
    "a default changes",
    (d) => (field(d, "RerankRequest", "return_documents").default = false),
    "RerankRequest.return_documents, in requests: default was true, is false. Breaks callers (rerankDocuments).",
    "silent",
  ],
  [
    "two request fields exclude each other",
    (d) => (schema(d, "RerankRequest").not = { required: ["task", "top_n"] }),
    'RerankRequest, in requests: not was none, is {"required":["task","top_n"]}. Breaks callers (rerankDocuments).',
    "silent",
  ],
  [
    "no further fields are taken",
    (d) => (schema(d, "RerankRequest").additionalProperties = false),
    "RerankRequest.*, in requests: no further properties are taken. Breaks callers (rerankDocuments).",
    "silent",
  ],
  [
    "a request field may no longer be sent",
    (d) => (field(d, "RerankRequest", "task").readOnly = true),
    "RerankRequest.task, in requests: is gone. Breaks callers (rerankDocuments).",
    "silent",
  ],
  [
    "a smaller file is taken",
    (d) => (field(d, "DatasetUpload", "file")["x-max-bytes"] = 150_000_000),
    "DatasetUpload.file, in requests: x-max-bytes was 157286400, is 150000000. Breaks callers (uploadDatasetFile).",
    "silent",
  ],
  [
    "the name of the part changes",
    (d) => rename(schema(d, "DatasetUpload"), "file", "data"),
    [
      "DatasetUpload.file, in requests: is gone. Breaks callers (uploadDatasetFile).",
      "DatasetUpload.data, in requests: is now required. Breaks callers (uploadDatasetFile).",
    ],
  ],
  [
    "a request's media type is replaced",
    (d) => replaceKey(d.paths[rerank].post.requestBody.content, "application/json", "text/plain"),
    "request application/json: is gone. Breaks callers (rerankDocuments).",
  ],
  [
    "the encoding of the form changes",
    (d) =>
      (d.paths[upload].post.requestBody.content["multipart/form-data"].encoding = {
        file: { contentType: "text/csv" },
      }),
    "request multipart/form-data: its encoding changed. Breaks callers (uploadDatasetFile).",
    "silent",
  ],
  [
    "a request body is removed",
    (d) => delete d.paths[resume].post.requestBody,
    "request body: is gone. Breaks callers (resumeReinforcementFineTuningJob).",
  ],
  [
    "a required parameter is added",
    (d) =>
      (d.paths[rerank].post.parameters = [
        { name: "tenant", in: "query", required: true, schema: { type: "string" } },
      ]),
    "query parameter tenant: is new and required. Breaks callers (rerankDocuments).",
  ],
  [
    "a parameter's ids get a pattern",
    (d) => (d.components.parameters.AccountId.schema.pattern = "^[a-z]+$"),
    `path parameter account_id, in requests: pattern was none, is ^[a-z]+$. Breaks callers (${ofAccounts}).`,
  ],
  [
    "a parameter is written another way",
    (d) => (d.components.parameters.DeploymentId.style = "label"),
    "path parameter deployment_id: style is now label. Breaks callers (scaleDeployment).",
    "silent",
  ],
  [
    "an operation is removed",
    (d) => delete d.paths[scale],
    "PATCH /v1/accounts/{account_id}/deployments/{deployment_id}:scale: is gone. Breaks callers (scaleDeployment).",
  ],
  [
    "a path changes",
    (d) => replaceKey(d.paths, rerank, "/v2/rerank"),
    "POST /inference/v1/rerank: is gone. Breaks callers (rerankDocuments).",
  ],
  [
    "a method changes",
    (d) => replaceKey(d.paths[scale], "patch", "put"),
    "PATCH /v1/accounts/{account_id}/deployments/{deployment_id}:scale: is gone. Breaks callers (scaleDeployment).",
  ],
  [
    "an operation gets another name",
    (d) => (d.paths[rerank].post.operationId = "rank"),
    "operationId: is now rank. Breaks users of generated code (rerankDocuments).",
    "silent",
  ],
  [
    "a repeat is no longer safe",
    (d) => (d.paths[scale].patch["x-retry-safe"] = false),
    "x-retry-safe: was true: a repeat was safe, and is no more. Breaks callers (scaleDeployment).",
    "silent",
  ],
  [
    "a method gets another name",
    (d) => (d.paths[rerank].post["x-sdk-method"] = "rankings.create"),
    "x-sdk-method: was rerank, is rankings.create. Breaks users of generated code (rerankDocuments).",
    "silent",
  ],
  [
    "a retry class is stricter",
    (d) => {
      d.paths[rerank].post["x-retry"] = "start";
      delete d.paths[rerank].post["x-retry-safe"];
    },
    [
      "x-retry: was read, is start. Breaks certified clients (rerankDocuments).",
      "x-retry-safe: was true: a repeat was safe, and is no more. Breaks callers (rerankDocuments).",
    ],
    "silent",
  ],
  [
    "a retry class allows more",
    (d) => (d.paths[resume].post["x-retry"] = "set"),
    "x-retry: was start, is set. Breaks certified clients (resumeReinforcementFineTuningJob).",
    "silent",
  ],
  [
    "a deadline is shorter",
    (d) => (d.paths[scale].patch["x-timeout-ms"] = 29_999),
    "x-timeout-ms: was 30000, is 29999. Breaks callers (scaleDeployment).",
    "silent",
  ],
  [
    "a file has to be sent faster",
    (d) => (d.paths[upload].post["x-timeout-ms"].bytesPerSecond = 262_145),
    'x-timeout-ms: was {"baseMs":60000,"bytesPerSecond":262144}, is {"baseMs":60000,"bytesPerSecond":262145}. Breaks callers (uploadDatasetFile).',
    "silent",
  ],
  [
    "a deadline is longer",
    (d) => (d.paths[scale].patch["x-timeout-ms"] = 30_001),
    "x-timeout-ms: was 30000, is 30001. Breaks certified clients (scaleDeployment).",
    "silent",
  ],
  [
    "a response may be smaller",
    (d) => (d.paths[rerank].post["x-max-response-bytes"] = 1_048_576),
    "x-max-response-bytes: was 67108864, is 1048576. Breaks readers of answers (rerankDocuments).",
    "silent",
  ],
  [
    "a response may be larger",
    (d) => (d.paths[scale].patch["x-max-response-bytes"] = 2_097_152),
    "x-max-response-bytes: was 1048576, is 2097152. Breaks certified clients (scaleDeployment).",
    "silent",
  ],
  [
    "the server's address changes",
    (d) => (d.servers[0].url = "{base_url}/v2"),
    "server {base_url}: is gone. Breaks callers.",
    "silent",
  ],
  [
    "another credential is needed",
    (d) => {
      addScheme(d);
      d.security = [{ bearerAuth: [], key: [] }];
    },
    `security: bearerAuth will not do any more. Breaks callers (${all}).`,
    "silent",
  ],
  [
    "the credential is sent another way",
    (d) => (d.components.securitySchemes.bearerAuth.scheme = "basic"),
    "security scheme bearerAuth: credentials are sent in another way. Breaks callers.",
    "silent",
  ],
  [
    "a response's field is removed",
    (d) => drop(d, "RerankResult", "document"),
    "RerankResult.document, in answers: is gone. Breaks readers of answers (rerankDocuments).",
    "silent",
  ],
  [
    "a response's field may be absent",
    (d) => remove(schema(d, "RerankResponse").required, "usage"),
    "RerankResponse.usage, in answers: is no longer always there. Breaks readers of answers (rerankDocuments).",
  ],
  [
    "a response's field changes its type",
    (d) => (field(d, "DatasetFile", "bytes").type = "string"),
    "DatasetFile.bytes, in answers: type was integer, is string. Breaks readers of answers (uploadDatasetFile).",
  ],
  [
    "a type is set beside the reference of a response's field",
    (d) => (field(d, "ReinforcementFineTuningJob", "state").type = "integer"),
    "ReinforcementFineTuningJob.state, in answers: type was none, is integer. Breaks readers of answers (resumeReinforcementFineTuningJob).",
    "silent",
  ],
  [
    "a response's integer becomes any number",
    (d) => (field(d, "RerankUsage", "total_tokens").type = "number"),
    "RerankUsage.total_tokens, in answers: type was integer, is number. Breaks readers of answers (rerankDocuments).",
  ],
  [
    "a response's number may be larger",
    (d) => (field(d, "JobProgress", "percent").maximum = 200),
    "JobProgress.percent, in answers: maximum was 100, is 200. Breaks readers of answers (resumeReinforcementFineTuningJob).",
    "warns",
  ],
  [
    "a response's pattern is dropped",
    (d) => delete field(d, "ObjectStorageAConfig", "iamRoleArn").pattern,
    "ObjectStorageAConfig.iamRoleArn, in answers: pattern was ^arn:aws:iam::[^:]*:role/.+$, is none. Breaks readers of answers (resumeReinforcementFineTuningJob).",
  ],
  [
    "a response's enumeration loses a value",
    (d) => dropValue(d, "JobState", "JOB_STATE_PAUSED"),
    "JobState, in answers: value JOB_STATE_PAUSED is gone. Breaks users of generated code (resumeReinforcementFineTuningJob).",
    "silent",
  ],
  [
    "a response's object may hold more fields",
    (d) => (schema(d, "LearningRateScheduler").maxProperties = 2),
    "LearningRateScheduler, in answers: maxProperties was 1, is 2. Breaks readers of answers (resumeReinforcementFineTuningJob).",
  ],
  [
    "a response's map gets other values",
    (d) => (schema(d, "AcceleratorSeconds").additionalProperties = { type: "integer" }),
    [
      "AcceleratorSeconds.*, in answers: type was string, is integer. Breaks readers of answers (resumeReinforcementFineTuningJob).",
      "AcceleratorSeconds.*, in answers: format was int64, is none. Breaks readers of answers (resumeReinforcementFineTuningJob).",
    ],
    "warns",
  ],
  [
    "a status is removed",
    (d) => delete d.paths[upload].post.responses["409"],
    "status 409: is gone. Breaks readers of answers (uploadDatasetFile).",
    "silent",
  ],
  [
    "a response's media type is replaced",
    (d) => replaceKey(d.paths[rerank].post.responses["200"].content, "application/json", "text/csv"),
    "status 200 application/json: is gone. Breaks readers of answers (rerankDocuments).",
  ],
  [
    "a header is removed",
    (d) => delete d.components.responses.ResourceExhausted.headers["Retry-After"],
    `status 429 header Retry-After: is gone. Breaks readers of answers (${all}).`,
    "silent",
  ],
  [
    "a code gets another HTTP status",
    (d) => (schema(d, "Code")["x-http-statuses"].ABORTED = 412),
    "Code ABORTED: was 409, is 412. Breaks readers of answers.",
    "silent",
  ],
  [
    "a code is removed",
    (d) => {
      dropValue(d, "Code", "DATA_LOSS");
      delete schema(d, "Code")["x-http-statuses"].DATA_LOSS;
    },
    [
      "Code DATA_LOSS: has no HTTP status. Breaks readers of answers.",
      "Code, in answers: value DATA_LOSS is gone. Breaks users of generated code (resumeReinforcementFineTuningJob).",
    ],
    "silent",
  ],
  [
    "a constant gets another name",
    (d) => (schema(d, "Purpose")["x-enumNames"][1] = "PurposeTrial"),
    "Purpose PURPOSE_PILOT: its constant is now PurposeTrial. Breaks users of generated code.",
    "silent",
  ],
  [
    "an enumeration's constants lose their names",
    (d) => delete schema(d, "Purpose")["x-enumNames"],
    "Purpose: its constants have no names in x-enumNames any more. Breaks users of generated code.",
    "silent",
  ],
  [
    "a schema that nothing refers to is removed",
    (d) => {
      d.components.schemas.RerankResponse.properties.usage = { type: "object" };
      delete d.components.schemas.RerankUsage;
    },
    [
      "RerankResponse.usage.prompt_tokens, in answers: is gone. Breaks readers of answers (rerankDocuments).",
      "RerankResponse.usage.total_tokens, in answers: is gone. Breaks readers of answers (rerankDocuments).",
      "schema RerankUsage: is gone. Breaks users of generated code.",
    ],
  ],
  [
    "a request field may be any number, no longer only an integer",
    (d) => {
      field(d, "RerankRequest", "top_n").type = "number";
      delete field(d, "RerankRequest", "top_n").format;
    },
    [
      "RerankRequest.top_n, in requests: type was integer, is number. Breaks users of generated code (rerankDocuments).",
      "RerankRequest.top_n, in requests: format was int64, is none. Breaks users of generated code (rerankDocuments).",
    ],
    "silent",
  ],
  [
    "a request field may be null",
    (d) => (field(d, "RerankRequest", "task").type = ["string", "null"]),
    'RerankRequest.task, in requests: type was string, is ["string","null"]. Breaks users of generated code (rerankDocuments).',
    "silent",
  ],
  [
    "a response's field may be null",
    (d) => (field(d, "RerankResult", "document").type = ["string", "null"]),
    'RerankResult.document, in answers: type was string, is ["string","null"]. Breaks readers of answers (rerankDocuments).',
  ],
  [
    "an integer's size is named",
    (d) => delete field(d, "DatasetFile", "bytes").format,
    "DatasetFile.bytes, in answers: format was int64, is none. Breaks users of generated code (uploadDatasetFile).",
  ],
  [
    "a response's integer may need 64 bits",
    (d) => (field(d, "JobProgress", "percent").format = "int64"),
    "JobProgress.percent, in answers: format was int32, is int64. Breaks readers of answers (resumeReinforcementFineTuningJob).",
    "warns",
  ],
  [
    "a response's field is no longer read-only",
    (d) => delete field(d, "ReinforcementFineTuningJob", "name").readOnly,
    "ReinforcementFineTuningJob.name, in answers: is no longer read-only. Breaks users of generated code (resumeReinforcementFineTuningJob).",
    "silent",
  ],
  [
    "a response's field becomes read-only",
    (d) => (field(d, "ReinforcementFineTuningJob", "displayName").readOnly = true),
    "ReinforcementFineTuningJob.displayName, in answers: is now read-only. Breaks users of generated code (resumeReinforcementFineTuningJob).",
    "silent",
  ],
  [
    "an operation gets another tag",
    (d) => (d.paths[rerank].post.tags = ["Datasets"]),
    "tag: was Rerank, is Datasets. Breaks users of generated code (rerankDocuments).",
    "silent",
  ],
  ...[
    ["const", "rank"],
    ["if", { minLength: 1 }],
    ["then", { maxLength: 5 }],
    ["dependentRequired", { task: ["top_n"] }],
    ["propertyNames", { maxLength: 5 }],
    ["unevaluatedProperties", false],
  ].map(
    ([keyword, value]): ChangeRow => [
      `a request gets ${keyword}`,
      (d) => (schema(d, "RerankRequest")[keyword as string] = value),
      `RerankRequest, in requests: ${keyword} was none, is ${typeof value === "string" ? value : JSON.stringify(value)}. Breaks callers (rerankDocuments).`,
      keyword === "unevaluatedProperties" ? "silent" : undefined,
    ],
  ),
  [
    "a request field becomes optional",
    (d) => remove(schema(d, "DeploymentScale").required, "replicaCount"),
    "DeploymentScale.replicaCount, in requests: may now be left out. Breaks users of generated code (scaleDeployment).",
    "silent",
  ],
  [
    "a request body becomes optional",
    (d) => (d.paths[resume].post.requestBody.required = false),
    "request body: may now be left out. Breaks users of generated code (resumeReinforcementFineTuningJob).",
    "silent",
  ],
  [
    "a response's field is always there",
    (d) => schema(d, "RerankResult").required.push("document"),
    "RerankResult.document, in answers: is now always there. Breaks users of generated code (rerankDocuments).",
    "silent",
  ],
  [
    "a response has no further fields",
    (d) => (schema(d, "RerankUsage").additionalProperties = false),
    "RerankUsage.*, in answers: no further properties are read. Breaks users of generated code (rerankDocuments).",
    "silent",
  ],
  [
    "a schema gets another name",
    (d) => renameSchema(d, "RerankUsage", "Usage"),
    "schema RerankUsage: is now called Usage. Breaks users of generated code (rerankDocuments).",
    "silent",
  ],
]);
