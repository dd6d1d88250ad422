import { idsWhere } from "./contract.js";

/** Any part of a copy of the contract. */
// biome-ignore lint/suspicious/noExplicitAny: a change reaches into any depth of a document
export type Part = any;

export const rerank: string = "/inference/v1/rerank";
export const scale: string = "/v1/accounts/{account_id}/deployments/{deployment_id}:scale";
export const upload: string = "/v1/accounts/{account_id}/datasets/{dataset_id}:upload";
export const resume: string =
  "/v1/accounts/{account_id}/reinforcementFineTuningJobs/{reinforcement_fine_tuning_job_id}:resume";

export function schema(d: Part, name: string): Part {
  return d.components.schemas[name];
}

export function field(d: Part, name: string, property: string): Part {
  return schema(d, name).properties[property];
}

export function addRequired(d: Part, name: string, property: string): void {
  schema(d, name).properties[property] = { type: "string" };
  schema(d, name).required.push(property);
}

/** Replaces the least number of replicas by an exclusive one. */
export function makeExclusive(d: Part): void {
  const replicas = field(d, "DeploymentScale", "replicaCount");
  delete replicas.minimum;
  replicas.exclusiveMinimum = 0;
}

export function remove(list: unknown[], value: unknown): void {
  list.splice(list.indexOf(value), 1);
}

export function drop(d: Part, name: string, property: string): void {
  delete schema(d, name).properties[property];
}

export function replaceKey(owner: Part, key: string, by: string): void {
  owner[by] = owner[key];
  delete owner[key];
}

/** Gives a required property another name. */
export function rename(object: Part, property: string, by: string): void {
  replaceKey(object.properties, property, by);
  remove(object.required, property);
  object.required.push(by);
}

export function addValue(d: Part, name: string, value: string, constant: string): void {
  schema(d, name).enum.unshift(value);
  schema(d, name)["x-enumNames"].unshift(constant);
}

export function dropValue(d: Part, name: string, value: string): void {
  const { enum: values, "x-enumNames": constants } = schema(d, name);
  constants.splice(values.indexOf(value), 1);
  remove(values, value);
}

/** Gives a schema another name, with all that refers to it. */
export function renameSchema(d: Part, name: string, by: string): void {
  replaceKey(d.components.schemas, name, by);
  const visit = (part: Part): void => {
    if (part.$ref === `#/components/schemas/${name}`) part.$ref = `#/components/schemas/${by}`;
    for (const inner of Object.values(part)) if (typeof inner === "object" && inner !== null) visit(inner);
  };
  visit(d);
}

export function addScheme(d: Part): void {
  d.components.securitySchemes.key = { type: "apiKey", in: "header", name: "x-key" };
}

/** Turns the order of an object's keys round. */
export function reverse(object: Part): void {
  for (const key of Object.keys(object).reverse()) {
    const value = object[key];
    delete object[key];
    object[key] = value;
  }
}

/** A change to a copy of the contract. */
export interface BreakingChange {
  readonly name: string;
  readonly change: (d: Part) => unknown;
  /** What is told of it. */
  readonly breaks: readonly string[];
  /** What oasdiff makes of it: that it breaks, less than that, or nothing at all. */
  readonly oasdiff: "breaks" | "warns" | "silent";
}

/** Changes by what is told of each, a line for each break. */
export function changesOf(
  oasdiff: BreakingChange["oasdiff"],
  changes: Readonly<Record<string, BreakingChange["change"]>>,
): readonly BreakingChange[] {
  return Object.entries(changes).map(([name, change]) => ({
    name,
    change,
    breaks: name.split("\n"),
    oasdiff,
  }));
}

// A keyword of the request is compared as a whole.
const keywords = {
  const: "rank",
  if: { minLength: 1 },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { maxLength: 5 },
  dependentRequired: { task: ["top_n"] },
  propertyNames: { maxLength: 5 },
};

const ofAccounts = idsWhere(({ path }) => path.includes("{account_id}")).join(", ");
/** The ids of every operation. */
export const all: string = idsWhere(() => true).join(", ");

/** Changes that break someone. */
export const breakingChanges: readonly BreakingChange[] = [
  ...changesOf("breaks", {
    "RerankRequest.model, in requests: is now required. Breaks callers (rerankDocuments).": (d) =>
      schema(d, "RerankRequest").required.push("model"),
    "DeploymentScale.reason, in requests: is now required. Breaks callers (scaleDeployment).": (d) =>
      addRequired(d, "DeploymentScale", "reason"),
    "RerankRequest.top_n, in requests: type was integer, is string. Breaks callers (rerankDocuments).": (d) =>
      (field(d, "RerankRequest", "top_n").type = "string"),
    "RerankRequest.query, in requests: format was none, is uuid. Breaks callers (rerankDocuments).": (d) =>
      (field(d, "RerankRequest", "query").format = "uuid"),
    "DeploymentScale.replicaCount, in requests: minimum was 0, is 1. Breaks callers (scaleDeployment).": (
      d,
    ) => (field(d, "DeploymentScale", "replicaCount").minimum = 1),
    "DeploymentScale.replicaCount, in requests: minimum was 0, is 0, exclusive. Breaks callers (scaleDeployment).":
      (d) => makeExclusive(d),
    "RerankRequest.top_n, in requests: maximum was none, is 100. Breaks callers (rerankDocuments).": (d) =>
      (field(d, "RerankRequest", "top_n").maximum = 100),
    "RerankRequest.documents, in requests: minItems was 1, is 2. Breaks callers (rerankDocuments).": (d) =>
      (field(d, "RerankRequest", "documents").minItems = 2),
    "RerankRequest.documents, in requests: maxItems was none, is 1000. Breaks callers (rerankDocuments).": (
      d,
    ) => (field(d, "RerankRequest", "documents").maxItems = 1000),
    "RerankRequest.documents[], in requests: maxLength was none, is 5. Breaks callers (rerankDocuments).": (
      d,
    ) => (field(d, "RerankRequest", "documents").items.maxLength = 5),
    "RerankRequest.task, in requests: is now limited to an enumeration. Breaks callers (rerankDocuments).": (
      d,
    ) => (field(d, "RerankRequest", "task").enum = ["rank"]),
    "DatasetUpload.file, in requests: is gone. Breaks callers (uploadDatasetFile).\nDatasetUpload.data, in requests: is now required. Breaks callers (uploadDatasetFile).":
      (d) => rename(schema(d, "DatasetUpload"), "file", "data"),
    "request application/json: is gone. Breaks callers (rerankDocuments).": (d) =>
      replaceKey(d.paths[rerank].post.requestBody.content, "application/json", "text/plain"),
    "request body: is gone. Breaks callers (resumeReinforcementFineTuningJob).": (d) =>
      delete d.paths[resume].post.requestBody,
    "query parameter tenant: is new and required. Breaks callers (rerankDocuments).": (d) =>
      (d.paths[rerank].post.parameters = [
        { name: "tenant", in: "query", required: true, schema: { type: "string" } },
      ]),
    [`path parameter account_id, in requests: pattern was none, is ^[a-z]+$. Breaks callers (${ofAccounts}).`]:
      (d) => (d.components.parameters.AccountId.schema.pattern = "^[a-z]+$"),
    "PATCH /v1/accounts/{account_id}/deployments/{deployment_id}:scale: is gone. Breaks callers (scaleDeployment).":
      (d) => delete d.paths[scale],
    "POST /inference/v1/rerank: is gone. Breaks callers (rerankDocuments).": (d) =>
      replaceKey(d.paths, rerank, "/v2/rerank"),
    "RerankResponse.usage, in answers: is no longer always there. Breaks readers of answers (rerankDocuments).":
      (d) => remove(schema(d, "RerankResponse").required, "usage"),
    "DatasetFile.bytes, in answers: type was integer, is string. Breaks readers of answers (uploadDatasetFile).":
      (d) => (field(d, "DatasetFile", "bytes").type = "string"),
    "RerankUsage.total_tokens, in answers: type was integer, is number. Breaks readers of answers (rerankDocuments).":
      (d) => (field(d, "RerankUsage", "total_tokens").type = "number"),
    "ObjectStorageAConfig.iamRoleArn, in answers: pattern was ^arn:aws:iam::[^:]*:role/.+$, is none. Breaks readers of answers (resumeReinforcementFineTuningJob).":
      (d) => delete field(d, "ObjectStorageAConfig", "iamRoleArn").pattern,
    "LearningRateScheduler, in answers: maxProperties was 1, is 2. Breaks readers of answers (resumeReinforcementFineTuningJob).":
      (d) => (schema(d, "LearningRateScheduler").maxProperties = 2),
    "status 200 application/json: is gone. Breaks readers of answers (rerankDocuments).": (d) =>
      replaceKey(d.paths[rerank].post.responses["200"].content, "application/json", "text/csv"),
    "RerankResponse.usage.prompt_tokens, in answers: is gone. Breaks readers of answers (rerankDocuments).\nRerankResponse.usage.total_tokens, in answers: is gone. Breaks readers of answers (rerankDocuments).\nschema RerankUsage: is gone. Breaks users of generated code.":
      (d) => {
        d.components.schemas.RerankResponse.properties.usage = { type: "object" };
        delete d.components.schemas.RerankUsage;
      },
    'RerankResult.document, in answers: type was string, is ["string","null"]. Breaks readers of answers (rerankDocuments).':
      (d) => (field(d, "RerankResult", "document").type = ["string", "null"]),
    "DatasetFile.bytes, in answers: format was int64, is none. Breaks users of generated code (uploadDatasetFile).":
      (d) => delete field(d, "DatasetFile", "bytes").format,
  }),
  ...changesOf("breaks", {
    "PATCH /v1/accounts/{account_id}/deployments/{deployment_id}:scale: is gone. Breaks callers (scaleDeployment).":
      (d) => replaceKey(d.paths[scale], "patch", "put"),
  }),
  ...changesOf("warns", {
    "RerankRequest.task, in requests: is gone. Breaks callers (rerankDocuments).": (d) =>
      delete schema(d, "RerankRequest").properties.task,
    "RerankRequest.model, in requests: pattern was ^accounts/[^/]+/models/[^/]+$, is ^models/. Breaks callers (rerankDocuments).":
      (d) => (field(d, "RerankRequest", "model").pattern = "^models/"),
    "JobProgress.percent, in answers: maximum was 100, is 200. Breaks readers of answers (resumeReinforcementFineTuningJob).":
      (d) => (field(d, "JobProgress", "percent").maximum = 200),
    "AcceleratorSeconds.*, in answers: type was string, is integer. Breaks readers of answers (resumeReinforcementFineTuningJob).\nAcceleratorSeconds.*, in answers: format was int64, is none. Breaks readers of answers (resumeReinforcementFineTuningJob).":
      (d) => (schema(d, "AcceleratorSeconds").additionalProperties = { type: "integer" }),
    "JobProgress.percent, in answers: format was int32, is int64. Breaks readers of answers (resumeReinforcementFineTuningJob).":
      (d) => (field(d, "JobProgress", "percent").format = "int64"),
  }),
  ...changesOf("silent", {
    "RerankRequest, in requests: unevaluatedProperties was none, is false. Breaks callers (rerankDocuments).":
      (d) => (schema(d, "RerankRequest").unevaluatedProperties = false),
    "RerankRequest.return_documents, in requests: default was true, is false. Breaks callers (rerankDocuments).":
      (d) => (field(d, "RerankRequest", "return_documents").default = false),
    'RerankRequest, in requests: not was none, is {"required":["task","top_n"]}. Breaks callers (rerankDocuments).':
      (d) => (schema(d, "RerankRequest").not = { required: ["task", "top_n"] }),
    "RerankRequest.*, in requests: no further properties are taken. Breaks callers (rerankDocuments).": (d) =>
      (schema(d, "RerankRequest").additionalProperties = false),
    "RerankRequest.task, in requests: is gone. Breaks callers (rerankDocuments).": (d) =>
      (field(d, "RerankRequest", "task").readOnly = true),
    "DatasetUpload.file, in requests: x-max-bytes was 157286400, is 150000000. Breaks callers (uploadDatasetFile).":
      (d) => (field(d, "DatasetUpload", "file")["x-max-bytes"] = 150_000_000),
    "request multipart/form-data: its encoding changed. Breaks callers (uploadDatasetFile).": (d) =>
      (d.paths[upload].post.requestBody.content["multipart/form-data"].encoding = {
        file: { contentType: "text/csv" },
      }),
    "path parameter deployment_id: style is now label. Breaks callers (scaleDeployment).": (d) =>
      (d.components.parameters.DeploymentId.style = "label"),
    "operationId: is now rank. Breaks users of generated code (rerankDocuments).": (d) =>
      (d.paths[rerank].post.operationId = "rank"),
    "x-retry-safe: was true: a repeat was safe, and is no more. Breaks callers (scaleDeployment).": (d) =>
      (d.paths[scale].patch["x-retry-safe"] = false),
    "x-sdk-method: was rerank, is rankings.create. Breaks users of generated code (rerankDocuments).": (d) =>
      (d.paths[rerank].post["x-sdk-method"] = "rankings.create"),
    "x-retry: was read, is start. Breaks certified clients (rerankDocuments).\nx-retry-safe: was true: a repeat was safe, and is no more. Breaks callers (rerankDocuments).":
      (d) => {
        d.paths[rerank].post["x-retry"] = "start";
        delete d.paths[rerank].post["x-retry-safe"];
      },
    "x-retry: was start, is set. Breaks certified clients (resumeReinforcementFineTuningJob).": (d) =>
      (d.paths[resume].post["x-retry"] = "set"),
    "x-timeout-ms: was 30000, is 29999. Breaks callers (scaleDeployment).": (d) =>
      (d.paths[scale].patch["x-timeout-ms"] = 29_999),
    'x-timeout-ms: was {"baseMs":60000,"bytesPerSecond":262144}, is {"baseMs":60000,"bytesPerSecond":262145}. Breaks callers (uploadDatasetFile).':
      (d) => (d.paths[upload].post["x-timeout-ms"].bytesPerSecond = 262_145),
    "x-timeout-ms: was 30000, is 30001. Breaks certified clients (scaleDeployment).": (d) =>
      (d.paths[scale].patch["x-timeout-ms"] = 30_001),
    "x-max-response-bytes: was 67108864, is 1048576. Breaks readers of answers (rerankDocuments).": (d) =>
      (d.paths[rerank].post["x-max-response-bytes"] = 1_048_576),
    "x-max-response-bytes: was 1048576, is 2097152. Breaks certified clients (scaleDeployment).": (d) =>
      (d.paths[scale].patch["x-max-response-bytes"] = 2_097_152),
    "server {base_url}: is gone. Breaks callers.": (d) => (d.servers[0].url = "{base_url}/v2"),
    [`security: bearerAuth will not do any more. Breaks callers (${all}).`]: (d) => {
      addScheme(d);
      d.security = [{ bearerAuth: [], key: [] }];
    },
    "security scheme bearerAuth: credentials are sent in another way. Breaks callers.": (d) =>
      (d.components.securitySchemes.bearerAuth.scheme = "basic"),
    "RerankResult.document, in answers: is gone. Breaks readers of answers (rerankDocuments).": (d) =>
      drop(d, "RerankResult", "document"),
    "ReinforcementFineTuningJob.state, in answers: type was none, is integer. Breaks readers of answers (resumeReinforcementFineTuningJob).":
      (d) => (field(d, "ReinforcementFineTuningJob", "state").type = "integer"),
    "JobState, in answers: value JOB_STATE_PAUSED is gone. Breaks users of generated code (resumeReinforcementFineTuningJob).":
      (d) => dropValue(d, "JobState", "JOB_STATE_PAUSED"),
    "status 409: is gone. Breaks readers of answers (uploadDatasetFile).": (d) =>
      delete d.paths[upload].post.responses["409"],
    [`status 429 header Retry-After: is gone. Breaks readers of answers (${all}).`]: (d) =>
      delete d.components.responses.ResourceExhausted.headers["Retry-After"],
    "Code ABORTED: was 409, is 412. Breaks readers of answers.": (d) =>
      (schema(d, "Code")["x-http-statuses"].ABORTED = 412),
    "Code DATA_LOSS: has no HTTP status. Breaks readers of answers.\nCode, in answers: value DATA_LOSS is gone. Breaks users of generated code (resumeReinforcementFineTuningJob).":
      (d) => {
        dropValue(d, "Code", "DATA_LOSS");
        delete schema(d, "Code")["x-http-statuses"].DATA_LOSS;
      },
    "Purpose PURPOSE_PILOT: its constant is now PurposeTrial. Breaks users of generated code.": (d) =>
      (schema(d, "Purpose")["x-enumNames"][1] = "PurposeTrial"),
    "Purpose: its constants have no names in x-enumNames any more. Breaks users of generated code.": (d) =>
      delete schema(d, "Purpose")["x-enumNames"],
    "RerankRequest.top_n, in requests: type was integer, is number. Breaks users of generated code (rerankDocuments).\nRerankRequest.top_n, in requests: format was int64, is none. Breaks users of generated code (rerankDocuments).":
      (d) => {
        field(d, "RerankRequest", "top_n").type = "number";
        delete field(d, "RerankRequest", "top_n").format;
      },
    'RerankRequest.task, in requests: type was string, is ["string","null"]. Breaks users of generated code (rerankDocuments).':
      (d) => (field(d, "RerankRequest", "task").type = ["string", "null"]),
    "ReinforcementFineTuningJob.name, in answers: is no longer read-only. Breaks users of generated code (resumeReinforcementFineTuningJob).":
      (d) => delete field(d, "ReinforcementFineTuningJob", "name").readOnly,
    "ReinforcementFineTuningJob.displayName, in answers: is now read-only. Breaks users of generated code (resumeReinforcementFineTuningJob).":
      (d) => (field(d, "ReinforcementFineTuningJob", "displayName").readOnly = true),
    "tag: was Rerank, is Datasets. Breaks users of generated code (rerankDocuments).": (d) =>
      (d.paths[rerank].post.tags = ["Datasets"]),
    "DeploymentScale.replicaCount, in requests: may now be left out. Breaks users of generated code (scaleDeployment).":
      (d) => remove(schema(d, "DeploymentScale").required, "replicaCount"),
    "request body: may now be left out. Breaks users of generated code (resumeReinforcementFineTuningJob).": (
      d,
    ) => (d.paths[resume].post.requestBody.required = false),
    "RerankResult.document, in answers: is now always there. Breaks users of generated code (rerankDocuments).":
      (d) => schema(d, "RerankResult").required.push("document"),
    "RerankUsage.*, in answers: no further properties are read. Breaks users of generated code (rerankDocuments).":
      (d) => (schema(d, "RerankUsage").additionalProperties = false),
    "schema RerankUsage: is now called Usage. Breaks users of generated code (rerankDocuments).": (d) =>
      renameSchema(d, "RerankUsage", "Usage"),
  }),
  ...changesOf(
    "breaks",
    Object.fromEntries(
      Object.entries(keywords).map(([keyword, value]) => [
        `RerankRequest, in requests: ${keyword} was none, is ${typeof value === "string" ? value : JSON.stringify(value)}. Breaks callers (rerankDocuments).`,
        (d: Part) => (schema(d, "RerankRequest")[keyword] = value),
      ]),
    ),
  ),
];

/** Changes of the form for clients that only its making can bring about, or that only change generated code. */
export const clientFormChanges: readonly BreakingChange[] = [
  ...changesOf("breaks", {
    [`status 404 */*: is gone. Breaks readers of answers (${all}).`]: (d) =>
      (d.components.responses.NotFound.content = { "application/json": { schema: {} } }),
  }),
  ...changesOf("silent", {
    "RerankResult.document, in answers: is now always there. Breaks users of generated code (rerankDocuments).":
      (d) => schema(d, "RerankResult").required.push("document"),
    "RerankRequest.documents, in requests: may now be left out. Breaks users of generated code (rerankDocuments).":
      (d) => remove(schema(d, "RerankRequest").required, "documents"),
    "request body: may now be left out. Breaks users of generated code (resumeReinforcementFineTuningJob).": (
      d,
    ) => (d.paths[resume].post.requestBody.required = false),
    "RerankUsage.*, in answers: no further properties are read. Breaks users of generated code (rerankDocuments).":
      (d) => (schema(d, "RerankUsage").additionalProperties = false),
    "RerankUsage, in answers: no longer says that further properties may come. Breaks users of generated code (rerankDocuments).":
      (d) => delete schema(d, "RerankUsage").additionalProperties,
    "ReinforcementFineTuningJob.state, in answers: is now limited to an enumeration. Breaks users of generated code (resumeReinforcementFineTuningJob).":
      (d) => {
        const state = field(d, "ReinforcementFineTuningJob", "state");
        state.enum = state["x-extensible-enum"];
      },
    "status default: is new. Breaks users of generated code (rerankDocuments).": (d) =>
      (d.paths[rerank].post.responses.default = { $ref: "#/components/responses/BadRequest" }),
    "ReinforcementFineTuningJob.chunkSize, in answers: default was none, is 200. Breaks users of generated code (resumeReinforcementFineTuningJob).":
      (d) => (field(d, "ReinforcementFineTuningJob", "chunkSize").default = 200),
    "JobProgress.percent, in answers: maximum was none, is 100. Breaks users of generated code (resumeReinforcementFineTuningJob).":
      (d) => (field(d, "JobProgress", "percent").maximum = 100),
    "ObjectStorageBConfig.tenantId, in answers: format was none, is uuid. Breaks users of generated code (resumeReinforcementFineTuningJob).":
      (d) => (field(d, "ObjectStorageBConfig", "tenantId").format = "uuid"),
    "DatasetUpload.file, in requests: format was binary, is none. Breaks users of generated code (uploadDatasetFile).":
      (d) => delete field(d, "DatasetUpload", "file").format,
  }),
];

const harmless: Readonly<Record<string, BreakingChange["change"]>> = {
  "texts and examples change": (d) => {
    d.info.description = "x";
    field(d, "RerankRequest", "query").description = "x";
    field(d, "RerankRequest", "query").example = "x";
    delete d.paths[rerank].post["x-unstated"];
  },
  "the version changes": (d) => (d.info.version = "5.11.0"),
  "an optional request field is added": (d) =>
    (schema(d, "RerankRequest").properties.language = { type: "string" }),
  "a least value is lowered": (d) => (field(d, "RerankRequest", "top_n").minimum = 0),
  "fewer items are needed": (d) => delete field(d, "RerankRequest", "documents").minItems,
  "a pattern is dropped from a request": (d) => delete field(d, "RerankRequest", "model").pattern,
  "a larger file is taken": (d) => (field(d, "DatasetUpload", "file")["x-max-bytes"] = 314_572_800),
  "a field is deprecated": (d) => (field(d, "RerankRequest", "task").deprecated = true),
  "a default is stated": (d) => (field(d, "RerankRequest", "task").default = "rank"),
  "a closed request is opened": (d) => (schema(d, "JobResumption").additionalProperties = true),
  "a further media type is taken": (d) =>
    (d.paths[rerank].post.requestBody.content["text/plain"] = { schema: { type: "string" } }),
  "an optional parameter is added": (d) =>
    (d.paths[rerank].post.parameters = [{ name: "trace", in: "query", schema: { type: "string" } }]),
  "a field is added to a response": (d) => {
    schema(d, "RerankResult").properties.score = { type: "number" };
    schema(d, "RerankResult").required.push("score");
  },
  "a response's enumeration gets a value": (d) =>
    addValue(d, "JobState", "JOB_STATE_FROZEN", "JobStateFrozen"),
  "a response's number is limited": (d) => (field(d, "RerankResult", "relevance_score").minimum = 0),
  "a response's fields exclude each other": (d) => (schema(d, "RerankResult").not = { required: ["a", "b"] }),
  "a status is added": (d) =>
    (d.paths[rerank].post.responses["422"] = { $ref: "#/components/responses/BadRequest" }),
  "a header is added": (d) =>
    (d.components.responses.Conflict.headers["Retry-After"] = { $ref: "#/components/headers/RetryAfter" }),
  "an operation is added": (d) =>
    (d.paths["/v1/models"] = {
      get: {
        operationId: "listModels",
        "x-retry-safe": true,
        responses: { default: { $ref: "#/components/responses/UnexpectedError" } },
      },
    }),
  "a repeat becomes safe": (d) => (d.paths[resume].post["x-retry-safe"] = true),
  "another credential will do as well": (d) => {
    addScheme(d);
    d.security = [{ bearerAuth: [] }, { key: [] }];
  },
  "a code is added": (d) => {
    addValue(d, "Code", "TOO_EARLY", "CodeTooEarly");
    schema(d, "Code")["x-http-statuses"].TOO_EARLY = 425;
  },
  "a file's own encoding is no longer written out": (d) =>
    delete d.paths[upload].post.requestBody.content["multipart/form-data"].encoding,
  "unevaluatedProperties allows everything": (d) => (schema(d, "RerankRequest").unevaluatedProperties = true),
  "a reference stands in an allOf": (d) => {
    field(d, "RerankResponse", "usage").allOf = [{ $ref: field(d, "RerankResponse", "usage").$ref }];
    delete field(d, "RerankResponse", "usage").$ref;
  },
  "the order of everything changes": (d) => {
    reverse(d.paths);
    reverse(d.components.schemas);
    for (const one of Object.values(d.components.schemas) as Part[]) {
      reverse(one.properties ?? {});
      one.required?.reverse();
    }
  },
};

/** Changes that break nobody; whether oasdiff calls one breaking all the same. */
export const harmlessChanges: readonly Omit<BreakingChange, "breaks">[] = Object.entries(harmless).map(
  ([name, change]) => ({ name, change, oasdiff: name.includes("allOf") ? "breaks" : "silent" }),
);
