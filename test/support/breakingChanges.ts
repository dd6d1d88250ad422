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
  readonly change: (d: Part) => void;
  /** What is told of it. */
  readonly breaks: readonly string[];
  /** What oasdiff makes of it, where it does not call it breaking: less than that, or nothing at all. */
  readonly oasdiff?: "warns" | "silent";
}

const ofAccounts = idsWhere(({ path }) => path.includes("{account_id}")).join(", ");
/** The ids of every operation. */
export const all: string = idsWhere(() => true).join(", ");

/** Changes that break someone. */
export const breakingChanges: readonly BreakingChange[] = [
  {
    name: "a request field becomes required",
    change: (d) => {
      schema(d, "RerankRequest").required.push("model");
    },
    breaks: ["RerankRequest.model, in requests: is now required. Breaks callers (rerankDocuments)."],
  },
  {
    name: "a new request field is required",
    change: (d) => {
      addRequired(d, "DeploymentScale", "reason");
    },
    breaks: ["DeploymentScale.reason, in requests: is now required. Breaks callers (scaleDeployment)."],
  },
  {
    name: "a request field is removed",
    change: (d) => {
      delete schema(d, "RerankRequest").properties.task;
    },
    breaks: ["RerankRequest.task, in requests: is gone. Breaks callers (rerankDocuments)."],
    oasdiff: "warns",
  },
  {
    name: "a request field changes its type",
    change: (d) => {
      field(d, "RerankRequest", "top_n").type = "string";
    },
    breaks: [
      "RerankRequest.top_n, in requests: type was integer, is string. Breaks callers (rerankDocuments).",
    ],
  },
  {
    name: "a request field gets a format",
    change: (d) => {
      field(d, "RerankRequest", "query").format = "uuid";
    },
    breaks: ["RerankRequest.query, in requests: format was none, is uuid. Breaks callers (rerankDocuments)."],
  },
  {
    name: "a least value is raised",
    change: (d) => {
      field(d, "DeploymentScale", "replicaCount").minimum = 1;
    },
    breaks: [
      "DeploymentScale.replicaCount, in requests: minimum was 0, is 1. Breaks callers (scaleDeployment).",
    ],
  },
  {
    name: "a least value is itself excluded",
    change: (d) => {
      makeExclusive(d);
    },
    breaks: [
      "DeploymentScale.replicaCount, in requests: minimum was 0, is 0, exclusive. Breaks callers (scaleDeployment).",
    ],
  },
  {
    name: "a largest value is set",
    change: (d) => {
      field(d, "RerankRequest", "top_n").maximum = 100;
    },
    breaks: ["RerankRequest.top_n, in requests: maximum was none, is 100. Breaks callers (rerankDocuments)."],
  },
  {
    name: "more items are needed",
    change: (d) => {
      field(d, "RerankRequest", "documents").minItems = 2;
    },
    breaks: ["RerankRequest.documents, in requests: minItems was 1, is 2. Breaks callers (rerankDocuments)."],
  },
  {
    name: "fewer items are taken",
    change: (d) => {
      field(d, "RerankRequest", "documents").maxItems = 1000;
    },
    breaks: [
      "RerankRequest.documents, in requests: maxItems was none, is 1000. Breaks callers (rerankDocuments).",
    ],
  },
  {
    name: "an item gets a largest length",
    change: (d) => {
      field(d, "RerankRequest", "documents").items.maxLength = 5;
    },
    breaks: [
      "RerankRequest.documents[], in requests: maxLength was none, is 5. Breaks callers (rerankDocuments).",
    ],
  },
  {
    name: "a pattern changes",
    change: (d) => {
      field(d, "RerankRequest", "model").pattern = "^models/";
    },
    breaks: [
      "RerankRequest.model, in requests: pattern was ^accounts/[^/]+/models/[^/]+$, is ^models/. Breaks callers (rerankDocuments).",
    ],
    oasdiff: "warns",
  },
  {
    name: "a request field is limited to an enumeration",
    change: (d) => {
      field(d, "RerankRequest", "task").enum = ["rank"];
    },
    breaks: [
      "RerankRequest.task, in requests: is now limited to an enumeration. Breaks callers (rerankDocuments).",
    ],
  },
  {
    name: "a default changes",
    change: (d) => {
      field(d, "RerankRequest", "return_documents").default = false;
    },
    breaks: [
      "RerankRequest.return_documents, in requests: default was true, is false. Breaks callers (rerankDocuments).",
    ],
    oasdiff: "silent",
  },
  {
    name: "two request fields exclude each other",
    change: (d) => {
      schema(d, "RerankRequest").not = { required: ["task", "top_n"] };
    },
    breaks: [
      'RerankRequest, in requests: not was none, is {"required":["task","top_n"]}. Breaks callers (rerankDocuments).',
    ],
    oasdiff: "silent",
  },
  {
    name: "no further fields are taken",
    change: (d) => {
      schema(d, "RerankRequest").additionalProperties = false;
    },
    breaks: [
      "RerankRequest.*, in requests: no further properties are taken. Breaks callers (rerankDocuments).",
    ],
    oasdiff: "silent",
  },
  {
    name: "a request field may no longer be sent",
    change: (d) => {
      field(d, "RerankRequest", "task").readOnly = true;
    },
    breaks: ["RerankRequest.task, in requests: is gone. Breaks callers (rerankDocuments)."],
    oasdiff: "silent",
  },
  {
    name: "a smaller file is taken",
    change: (d) => {
      field(d, "DatasetUpload", "file")["x-max-bytes"] = 150_000_000;
    },
    breaks: [
      "DatasetUpload.file, in requests: x-max-bytes was 157286400, is 150000000. Breaks callers (uploadDatasetFile).",
    ],
    oasdiff: "silent",
  },
  {
    name: "the name of the part changes",
    change: (d) => {
      rename(schema(d, "DatasetUpload"), "file", "data");
    },
    breaks: [
      "DatasetUpload.file, in requests: is gone. Breaks callers (uploadDatasetFile).",
      "DatasetUpload.data, in requests: is now required. Breaks callers (uploadDatasetFile).",
    ],
  },
  {
    name: "a request's media type is replaced",
    change: (d) => {
      replaceKey(d.paths[rerank].post.requestBody.content, "application/json", "text/plain");
    },
    breaks: ["request application/json: is gone. Breaks callers (rerankDocuments)."],
  },
  {
    name: "the encoding of the form changes",
    change: (d) => {
      d.paths[upload].post.requestBody.content["multipart/form-data"].encoding = {
        file: { contentType: "text/csv" },
      };
    },
    breaks: ["request multipart/form-data: its encoding changed. Breaks callers (uploadDatasetFile)."],
    oasdiff: "silent",
  },
  {
    name: "a request body is removed",
    change: (d) => {
      delete d.paths[resume].post.requestBody;
    },
    breaks: ["request body: is gone. Breaks callers (resumeReinforcementFineTuningJob)."],
  },
  {
    name: "a required parameter is added",
    change: (d) => {
      d.paths[rerank].post.parameters = [
        { name: "tenant", in: "query", required: true, schema: { type: "string" } },
      ];
    },
    breaks: ["query parameter tenant: is new and required. Breaks callers (rerankDocuments)."],
  },
  {
    name: "a parameter's ids get a pattern",
    change: (d) => {
      d.components.parameters.AccountId.schema.pattern = "^[a-z]+$";
    },
    breaks: [
      `path parameter account_id, in requests: pattern was none, is ^[a-z]+$. Breaks callers (${ofAccounts}).`,
    ],
  },
  {
    name: "a parameter is written another way",
    change: (d) => {
      d.components.parameters.DeploymentId.style = "label";
    },
    breaks: ["path parameter deployment_id: style is now label. Breaks callers (scaleDeployment)."],
    oasdiff: "silent",
  },
  {
    name: "an operation is removed",
    change: (d) => {
      delete d.paths[scale];
    },
    breaks: [
      "PATCH /v1/accounts/{account_id}/deployments/{deployment_id}:scale: is gone. Breaks callers (scaleDeployment).",
    ],
  },
  {
    name: "a path changes",
    change: (d) => {
      replaceKey(d.paths, rerank, "/v2/rerank");
    },
    breaks: ["POST /inference/v1/rerank: is gone. Breaks callers (rerankDocuments)."],
  },
  {
    name: "a method changes",
    change: (d) => {
      replaceKey(d.paths[scale], "patch", "put");
    },
    breaks: [
      "PATCH /v1/accounts/{account_id}/deployments/{deployment_id}:scale: is gone. Breaks callers (scaleDeployment).",
    ],
  },
  {
    name: "an operation gets another name",
    change: (d) => {
      d.paths[rerank].post.operationId = "rank";
    },
    breaks: ["operationId: is now rank. Breaks users of generated code (rerankDocuments)."],
    oasdiff: "silent",
  },
  {
    name: "a repeat is no longer safe",
    change: (d) => {
      d.paths[scale].patch["x-retry-safe"] = false;
    },
    breaks: ["x-retry-safe: was true: a repeat was safe, and is no more. Breaks callers (scaleDeployment)."],
    oasdiff: "silent",
  },
  {
    name: "a method gets another name",
    change: (d) => {
      d.paths[rerank].post["x-sdk-method"] = "rankings.create";
    },
    breaks: [
      "x-sdk-method: was rerank, is rankings.create. Breaks users of generated code (rerankDocuments).",
    ],
    oasdiff: "silent",
  },
  {
    name: "a retry class is stricter",
    change: (d) => {
      d.paths[rerank].post["x-retry"] = "start";
      delete d.paths[rerank].post["x-retry-safe"];
    },
    breaks: [
      "x-retry: was read, is start. Breaks certified clients (rerankDocuments).",
      "x-retry-safe: was true: a repeat was safe, and is no more. Breaks callers (rerankDocuments).",
    ],
    oasdiff: "silent",
  },
  {
    name: "a retry class allows more",
    change: (d) => {
      d.paths[resume].post["x-retry"] = "set";
    },
    breaks: ["x-retry: was start, is set. Breaks certified clients (resumeReinforcementFineTuningJob)."],
    oasdiff: "silent",
  },
  {
    name: "a deadline is shorter",
    change: (d) => {
      d.paths[scale].patch["x-timeout-ms"] = 29_999;
    },
    breaks: ["x-timeout-ms: was 30000, is 29999. Breaks callers (scaleDeployment)."],
    oasdiff: "silent",
  },
  {
    name: "a file has to be sent faster",
    change: (d) => {
      d.paths[upload].post["x-timeout-ms"].bytesPerSecond = 262_145;
    },
    breaks: [
      'x-timeout-ms: was {"baseMs":60000,"bytesPerSecond":262144}, is {"baseMs":60000,"bytesPerSecond":262145}. Breaks callers (uploadDatasetFile).',
    ],
    oasdiff: "silent",
  },
  {
    name: "a deadline is longer",
    change: (d) => {
      d.paths[scale].patch["x-timeout-ms"] = 30_001;
    },
    breaks: ["x-timeout-ms: was 30000, is 30001. Breaks certified clients (scaleDeployment)."],
    oasdiff: "silent",
  },
  {
    name: "a response may be smaller",
    change: (d) => {
      d.paths[rerank].post["x-max-response-bytes"] = 1_048_576;
    },
    breaks: ["x-max-response-bytes: was 67108864, is 1048576. Breaks readers of answers (rerankDocuments)."],
    oasdiff: "silent",
  },
  {
    name: "a response may be larger",
    change: (d) => {
      d.paths[scale].patch["x-max-response-bytes"] = 2_097_152;
    },
    breaks: ["x-max-response-bytes: was 1048576, is 2097152. Breaks certified clients (scaleDeployment)."],
    oasdiff: "silent",
  },
  {
    name: "the server's address changes",
    change: (d) => {
      d.servers[0].url = "{base_url}/v2";
    },
    breaks: ["server {base_url}: is gone. Breaks callers."],
    oasdiff: "silent",
  },
  {
    name: "another credential is needed",
    change: (d) => {
      addScheme(d);
      d.security = [{ bearerAuth: [], key: [] }];
    },
    breaks: [`security: bearerAuth will not do any more. Breaks callers (${all}).`],
    oasdiff: "silent",
  },
  {
    name: "the credential is sent another way",
    change: (d) => {
      d.components.securitySchemes.bearerAuth.scheme = "basic";
    },
    breaks: ["security scheme bearerAuth: credentials are sent in another way. Breaks callers."],
    oasdiff: "silent",
  },
  {
    name: "a response's field is removed",
    change: (d) => {
      drop(d, "RerankResult", "document");
    },
    breaks: ["RerankResult.document, in answers: is gone. Breaks readers of answers (rerankDocuments)."],
    oasdiff: "silent",
  },
  {
    name: "a response's field may be absent",
    change: (d) => {
      remove(schema(d, "RerankResponse").required, "usage");
    },
    breaks: [
      "RerankResponse.usage, in answers: is no longer always there. Breaks readers of answers (rerankDocuments).",
    ],
  },
  {
    name: "a response's field changes its type",
    change: (d) => {
      field(d, "DatasetFile", "bytes").type = "string";
    },
    breaks: [
      "DatasetFile.bytes, in answers: type was integer, is string. Breaks readers of answers (uploadDatasetFile).",
    ],
  },
  {
    name: "a type is set beside the reference of a response's field",
    change: (d) => {
      field(d, "ReinforcementFineTuningJob", "state").type = "integer";
    },
    breaks: [
      "ReinforcementFineTuningJob.state, in answers: type was none, is integer. Breaks readers of answers (resumeReinforcementFineTuningJob).",
    ],
    oasdiff: "silent",
  },
  {
    name: "a response's integer becomes any number",
    change: (d) => {
      field(d, "RerankUsage", "total_tokens").type = "number";
    },
    breaks: [
      "RerankUsage.total_tokens, in answers: type was integer, is number. Breaks readers of answers (rerankDocuments).",
    ],
  },
  {
    name: "a response's number may be larger",
    change: (d) => {
      field(d, "JobProgress", "percent").maximum = 200;
    },
    breaks: [
      "JobProgress.percent, in answers: maximum was 100, is 200. Breaks readers of answers (resumeReinforcementFineTuningJob).",
    ],
    oasdiff: "warns",
  },
  {
    name: "a response's pattern is dropped",
    change: (d) => {
      delete field(d, "ObjectStorageAConfig", "iamRoleArn").pattern;
    },
    breaks: [
      "ObjectStorageAConfig.iamRoleArn, in answers: pattern was ^arn:aws:iam::[^:]*:role/.+$, is none. Breaks readers of answers (resumeReinforcementFineTuningJob).",
    ],
  },
  {
    name: "a response's enumeration loses a value",
    change: (d) => {
      dropValue(d, "JobState", "JOB_STATE_PAUSED");
    },
    breaks: [
      "JobState, in answers: value JOB_STATE_PAUSED is gone. Breaks users of generated code (resumeReinforcementFineTuningJob).",
    ],
    oasdiff: "silent",
  },
  {
    name: "a response's object may hold more fields",
    change: (d) => {
      schema(d, "LearningRateScheduler").maxProperties = 2;
    },
    breaks: [
      "LearningRateScheduler, in answers: maxProperties was 1, is 2. Breaks readers of answers (resumeReinforcementFineTuningJob).",
    ],
  },
  {
    name: "a response's map gets other values",
    change: (d) => {
      schema(d, "AcceleratorSeconds").additionalProperties = { type: "integer" };
    },
    breaks: [
      "AcceleratorSeconds.*, in answers: type was string, is integer. Breaks readers of answers (resumeReinforcementFineTuningJob).",
      "AcceleratorSeconds.*, in answers: format was int64, is none. Breaks readers of answers (resumeReinforcementFineTuningJob).",
    ],
    oasdiff: "warns",
  },
  {
    name: "a status is removed",
    change: (d) => {
      delete d.paths[upload].post.responses["409"];
    },
    breaks: ["status 409: is gone. Breaks readers of answers (uploadDatasetFile)."],
    oasdiff: "silent",
  },
  {
    name: "a response's media type is replaced",
    change: (d) => {
      replaceKey(d.paths[rerank].post.responses["200"].content, "application/json", "text/csv");
    },
    breaks: ["status 200 application/json: is gone. Breaks readers of answers (rerankDocuments)."],
  },
  {
    name: "a header is removed",
    change: (d) => {
      delete d.components.responses.ResourceExhausted.headers["Retry-After"];
    },
    breaks: [`status 429 header Retry-After: is gone. Breaks readers of answers (${all}).`],
    oasdiff: "silent",
  },
  {
    name: "a code gets another HTTP status",
    change: (d) => {
      schema(d, "Code")["x-http-statuses"].ABORTED = 412;
    },
    breaks: ["Code ABORTED: was 409, is 412. Breaks readers of answers."],
    oasdiff: "silent",
  },
  {
    name: "a code is removed",
    change: (d) => {
      dropValue(d, "Code", "DATA_LOSS");
      delete schema(d, "Code")["x-http-statuses"].DATA_LOSS;
    },
    breaks: [
      "Code DATA_LOSS: has no HTTP status. Breaks readers of answers.",
      "Code, in answers: value DATA_LOSS is gone. Breaks users of generated code (resumeReinforcementFineTuningJob).",
    ],
    oasdiff: "silent",
  },
  {
    name: "a constant gets another name",
    change: (d) => {
      schema(d, "Purpose")["x-enumNames"][1] = "PurposeTrial";
    },
    breaks: ["Purpose PURPOSE_PILOT: its constant is now PurposeTrial. Breaks users of generated code."],
    oasdiff: "silent",
  },
  {
    name: "an enumeration's constants lose their names",
    change: (d) => {
      delete schema(d, "Purpose")["x-enumNames"];
    },
    breaks: ["Purpose: its constants have no names in x-enumNames any more. Breaks users of generated code."],
    oasdiff: "silent",
  },
  {
    name: "a schema that nothing refers to is removed",
    change: (d) => {
      d.components.schemas.RerankResponse.properties.usage = { type: "object" };
      delete d.components.schemas.RerankUsage;
    },
    breaks: [
      "RerankResponse.usage.prompt_tokens, in answers: is gone. Breaks readers of answers (rerankDocuments).",
      "RerankResponse.usage.total_tokens, in answers: is gone. Breaks readers of answers (rerankDocuments).",
      "schema RerankUsage: is gone. Breaks users of generated code.",
    ],
  },
  {
    name: "a request field may be any number, no longer only an integer",
    change: (d) => {
      field(d, "RerankRequest", "top_n").type = "number";
      delete field(d, "RerankRequest", "top_n").format;
    },
    breaks: [
      "RerankRequest.top_n, in requests: type was integer, is number. Breaks users of generated code (rerankDocuments).",
      "RerankRequest.top_n, in requests: format was int64, is none. Breaks users of generated code (rerankDocuments).",
    ],
    oasdiff: "silent",
  },
  {
    name: "a request field may be null",
    change: (d) => {
      field(d, "RerankRequest", "task").type = ["string", "null"];
    },
    breaks: [
      'RerankRequest.task, in requests: type was string, is ["string","null"]. Breaks users of generated code (rerankDocuments).',
    ],
    oasdiff: "silent",
  },
  {
    name: "a response's field may be null",
    change: (d) => {
      field(d, "RerankResult", "document").type = ["string", "null"];
    },
    breaks: [
      'RerankResult.document, in answers: type was string, is ["string","null"]. Breaks readers of answers (rerankDocuments).',
    ],
  },
  {
    name: "an integer's size is named",
    change: (d) => {
      delete field(d, "DatasetFile", "bytes").format;
    },
    breaks: [
      "DatasetFile.bytes, in answers: format was int64, is none. Breaks users of generated code (uploadDatasetFile).",
    ],
  },
  {
    name: "a response's integer may need 64 bits",
    change: (d) => {
      field(d, "JobProgress", "percent").format = "int64";
    },
    breaks: [
      "JobProgress.percent, in answers: format was int32, is int64. Breaks readers of answers (resumeReinforcementFineTuningJob).",
    ],
    oasdiff: "warns",
  },
  {
    name: "a response's field is no longer read-only",
    change: (d) => {
      delete field(d, "ReinforcementFineTuningJob", "name").readOnly;
    },
    breaks: [
      "ReinforcementFineTuningJob.name, in answers: is no longer read-only. Breaks users of generated code (resumeReinforcementFineTuningJob).",
    ],
    oasdiff: "silent",
  },
  {
    name: "a response's field becomes read-only",
    change: (d) => {
      field(d, "ReinforcementFineTuningJob", "displayName").readOnly = true;
    },
    breaks: [
      "ReinforcementFineTuningJob.displayName, in answers: is now read-only. Breaks users of generated code (resumeReinforcementFineTuningJob).",
    ],
    oasdiff: "silent",
  },
  {
    name: "an operation gets another tag",
    change: (d) => {
      d.paths[rerank].post.tags = ["Datasets"];
    },
    breaks: ["tag: was Rerank, is Datasets. Breaks users of generated code (rerankDocuments)."],
    oasdiff: "silent",
  },
  ...[
    ["const", "rank"],
    ["if", { minLength: 1 }],
    ["then", { maxLength: 5 }],
    ["dependentRequired", { task: ["top_n"] }],
    ["propertyNames", { maxLength: 5 }],
    ["unevaluatedProperties", false],
  ].map(([keyword, value]) => ({
    name: `a request gets ${keyword}`,
    change: (d: Part) => {
      schema(d, "RerankRequest")[keyword as string] = value;
    },
    breaks: [
      `RerankRequest, in requests: ${keyword} was none, is ${typeof value === "string" ? value : JSON.stringify(value)}. Breaks callers (rerankDocuments).`,
    ],
    ...(keyword === "unevaluatedProperties" && { oasdiff: "silent" as const }),
  })),
  {
    name: "a request field becomes optional",
    change: (d) => {
      remove(schema(d, "DeploymentScale").required, "replicaCount");
    },
    breaks: [
      "DeploymentScale.replicaCount, in requests: may now be left out. Breaks users of generated code (scaleDeployment).",
    ],
    oasdiff: "silent",
  },
  {
    name: "a request body becomes optional",
    change: (d) => {
      d.paths[resume].post.requestBody.required = false;
    },
    breaks: [
      "request body: may now be left out. Breaks users of generated code (resumeReinforcementFineTuningJob).",
    ],
    oasdiff: "silent",
  },
  {
    name: "a response's field is always there",
    change: (d) => {
      schema(d, "RerankResult").required.push("document");
    },
    breaks: [
      "RerankResult.document, in answers: is now always there. Breaks users of generated code (rerankDocuments).",
    ],
    oasdiff: "silent",
  },
  {
    name: "a response has no further fields",
    change: (d) => {
      schema(d, "RerankUsage").additionalProperties = false;
    },
    breaks: [
      "RerankUsage.*, in answers: no further properties are read. Breaks users of generated code (rerankDocuments).",
    ],
    oasdiff: "silent",
  },
  {
    name: "a schema gets another name",
    change: (d) => {
      renameSchema(d, "RerankUsage", "Usage");
    },
    breaks: ["schema RerankUsage: is now called Usage. Breaks users of generated code (rerankDocuments)."],
    oasdiff: "silent",
  },
];
