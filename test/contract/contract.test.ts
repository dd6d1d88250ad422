import { describe, expect, test } from "vitest";
import { httpStatuses, meanings, operations } from "../../src/generated/contract.js";
import type { Code } from "../../src/generated/types.js";
import type { OperationId } from "../../src/index.js";
import {
  type ContractSchema,
  codeTable,
  contract,
  contractOperations,
  errorStatuses,
  idsWhere,
  isSafe,
  operationNamed,
  schemaNamed,
} from "../support/contract.js";

// The service's facts: whoever adds an operation writes what the service's document says of it here too. The last is
// the media type of its body, which it needs.
const operationTable = [
  [
    "resumeReinforcementFineTuningJob",
    "POST",
    "/v1/accounts/{account_id}/reinforcementFineTuningJobs/{reinforcement_fine_tuning_job_id}:resume",
    "application/json",
  ],
  ["rerankDocuments", "POST", "/inference/v1/rerank", "application/json"],
  [
    "scaleDeployment",
    "PATCH",
    "/v1/accounts/{account_id}/deployments/{deployment_id}:scale",
    "application/json",
  ],
  [
    "uploadDatasetFile",
    "POST",
    "/v1/accounts/{account_id}/datasets/{dataset_id}:upload",
    "multipart/form-data",
  ],
];

// What we decided of each: the method of clients, what a repeat does, the deadline, the most bytes of a response.
// What a call of an unknown outcome is told to look at.
const whenUnknown: Readonly<Record<string, string>> = {
  resumeReinforcementFineTuningJob:
    "The job may have been resumed: check the job with the service's other operations before you resume it again.",
  uploadDatasetFile:
    "The file may have been stored: check the dataset with the service's other operations before you upload it again.",
};

const decisions = {
  resumeReinforcementFineTuningJob: ["reinforcementFineTuningJobs.resume", "start", 30_000, 1024 * 1024],
  rerankDocuments: ["rerank", "read", 60_000, 64 * 1024 * 1024],
  scaleDeployment: ["deployments.scale", "set", 30_000, 1024 * 1024],
  uploadDatasetFile: [
    "datasets.upload",
    "append",
    { baseMs: 60_000, bytesPerSecond: 256 * 1024 },
    1024 * 1024,
  ],
};

test("the contract is OpenAPI 3.1.0 and carries the service's version 5.10.0", () => {
  expect(contract.openapi).toBe("3.1.0");
  expect(contract.info.version).toBe("5.10.0");
});

test("every operation needs a bearer key", () => {
  expect(contract.security).toEqual([{ bearerAuth: [] }]);
  expect(contract.components.securitySchemes).toMatchObject({
    bearerAuth: { type: "http", scheme: "bearer" },
  });
  for (const { operation } of contractOperations) expect(operation).not.toHaveProperty("security");
});

describe("codes", () => {
  test("the contract has the service's 17 codes in the order of its table", () => {
    expect(codeTable).toHaveLength(17);
    expect(schemaNamed("Code").enum).toEqual(codeTable.map(([code]) => code));
  });

  test("each code has the HTTP status and the meaning of the service's table", () => {
    const statuses = Object.fromEntries(codeTable.map(([code, httpStatus]) => [code, httpStatus]));
    const meanings = Object.fromEntries(codeTable.map(([code, , meaning]) => [code, meaning]));
    expect(schemaNamed("Code")["x-http-statuses"]).toEqual(statuses);
    expect(schemaNamed("Code")["x-enumDescriptions"]).toEqual(meanings);
  });

  test("the generated tables equal the service's", () => {
    const generated = Object.entries(httpStatuses).map(([code, httpStatus]) => [
      code,
      httpStatus,
      meanings[code as Code],
    ]);
    expect(generated).toEqual(codeTable);
    expect(Object.keys(meanings)).toEqual(Object.keys(httpStatuses));
  });
});

describe("operations", () => {
  test("the service's facts: the contract has exactly the operations of the table", () => {
    const found = contractOperations.map(({ method, path, operation: { operationId, requestBody } }) => {
      const types = Object.keys(requestBody?.content ?? {});
      return [operationId, method, path, ...(requestBody?.required ? types : [])];
    });
    expect(found).toEqual(operationTable);
  });

  // What tools for assistants show of an operation first, or alone.
  test.each(contractOperations)(
    "$operation.operationId is told in a first sentence of under 120 characters",
    ({ operation: { description } }) => {
      const [sentence = ""] = /^[A-Z][a-z]+s .*?\.(?= |$)/.exec(description.replaceAll(/\s+/g, " ")) ?? [];
      expect(sentence).not.toBe("");
      expect(sentence.length).toBeLessThan(120);
    },
  );

  test("the service's facts: each operation says what was decided of it where they are silent", () => {
    const found = contractOperations.map(({ operation }) => [
      operation.operationId,
      [
        operation["x-sdk-method"],
        operation["x-retry"],
        operation["x-timeout-ms"],
        operation["x-max-response-bytes"],
      ],
    ]);
    expect(Object.fromEntries(found)).toEqual(decisions);
    for (const { operation } of contractOperations)
      expect(operation["x-when-unknown"]).toBe(whenUnknown[operation.operationId]);
  });

  test.each(contractOperations)(
    "the generated row of $operation.operationId says what the contract says of it",
    ({ method, path, operation }) => {
      const { value, accept, ...row } = operations[operation.operationId as OperationId];
      const time = operation["x-timeout-ms"];
      const { baseMs, bytesPerSecond } = typeof time === "number" ? { baseMs: time } : time;
      expect(row).toEqual({
        method,
        path,
        kind: operation["x-retry"],
        timeoutMs: baseMs,
        bytesPerSecond,
        maxResponseBytes: operation["x-max-response-bytes"],
        whenUnknown: operation["x-when-unknown"] ?? (isSafe({ operation }) ? undefined : expect.any(String)),
      });
      const { content = {} } = operation.responses["200"] ?? {};
      if ("application/json" in content) expect([value, accept]).toEqual([undefined, undefined]);
    },
  );

  test("the generated table has no other row", () => {
    expect(Object.keys(operations)).toEqual(idsWhere(() => true));
  });

  test.each(contractOperations)(
    "$operation.operationId lists success, each error status and default",
    ({ operation: { responses } }) => {
      const found = Object.keys(responses);
      const [success = ""] = found.filter((status) => status.startsWith("2"));
      const statuses = [success, ...errorStatuses.map(([httpStatus]) => String(httpStatus)), "default"];
      expect(found.sort()).toEqual(statuses.sort());
    },
  );

  test.each(errorStatuses)(
    "status %i has one example for each of its codes, the first %s",
    (status, first) => {
      const response = operationNamed("rerankDocuments").responses[status];
      const shared = contract.components.responses[response?.$ref?.split("/").pop() ?? ""];
      const examples = shared?.content?.["application/json"]?.examples ?? {};
      const expected = codeTable.filter(([, httpStatus]) => httpStatus === status).map(([code]) => code);
      expect(Object.keys(examples)[0]).toBe(first);
      expect(Object.keys(examples).sort()).toEqual(expected.sort());
      for (const [name, { value }] of Object.entries(examples)) expect(value).toMatchObject({ code: name });
    },
  );
});

// Fields as the service's tables write them: "name: type", then what else they say of it. A change of the service's
// belongs here, too.
const tables: Readonly<Record<string, readonly string[]>> = {
  RerankRequest: [
    "query: string, required",
    "documents: array of string, required, at least 1 item",
    "model: string",
    "top_n: int64, at least 1",
    "return_documents: boolean, default true",
    "task: string",
  ],
  RerankResponse: [
    "object: string, required, list",
    "model: string, required",
    "data: array of RerankResult, required",
    "usage: RerankUsage, required",
  ],
  RerankResult: ["index: int64, required", "relevance_score: number, required", "document: string"],
  RerankUsage: ["prompt_tokens: int64, required", "total_tokens: int64, required"],
  JobResumption: [],
  DeploymentScale: ["replicaCount: int64, required, at least 0"],
  DeploymentScaleResult: [],
  DatasetUpload: ["file: string, binary, required, at most 157286400 bytes"],
  DatasetFile: [
    "id: string, required",
    "object: string, required",
    "bytes: int64, required",
    "created_at: int64, required",
    "filename: string, required",
    "purpose: string, required",
  ],
  ReinforcementFineTuningJob: [
    "name: string, read-only",
    "displayName: string",
    "createTime: string, date-time, read-only",
    "completedTime: string, date-time, read-only",
    "dataset: string, required",
    "evaluationDataset: string",
    "evalAutoCarveout: boolean",
    "state: JobState, read-only",
    "status: Status, read-only",
    "createdBy: string, read-only",
    "trainingConfig: BaseTrainingConfig",
    "evaluator: string, required",
    "trackerConfig: TrackerConfig",
    "objectStorageAConfig: ObjectStorageAConfig",
    "objectStorageBConfig: ObjectStorageBConfig",
    "outputStats: string, read-only",
    "jobProgress: JobProgress, read-only",
    "inferenceParameters: InferenceParameters",
    "chunkSize: int32, default 200, at least 1, at most 10000",
    "outputMetrics: string, read-only",
    "maxInferenceReplicaCount: int32, default 1",
    "nodeCount: int32, default 1",
    "lossConfig: LossConfig",
    "trainerLogsSignedUrl: string, read-only",
    "acceleratorSeconds: AcceleratorSeconds, read-only",
    "maxConcurrentRollouts: int32",
    "maxConcurrentEvaluations: int32",
    "purpose: Purpose",
    "useReservation: boolean",
    "encryptionState: EncryptionState, read-only",
  ],
  BaseTrainingConfig: [
    "outputModel: string",
    "baseModel: string",
    "warmStartFrom: string",
    "jinjaTemplate: string, deprecated",
    "learningRate: number, float",
    "maxContextLength: int32",
    "loraRank: int32",
    "epochs: int32",
    "batchSize: int32, deprecated",
    "gradientAccumulationSteps: int32, deprecated",
    "learningRateWarmupSteps: int32",
    "batchSizeSamples: int32",
    "optimizerWeightDecay: number, float",
    "trainerShardingScheme: TrainerShardingScheme",
    "loraAlpha: int32",
    "loraDropout: number, float",
    "loraTargetModules: array of string",
    "lrScheduler: LearningRateScheduler",
  ],
  TrainerShardingScheme: [
    "tensorParallelism: int32",
    "pipelineParallelism: int32",
    "contextParallelism: int32",
    "expertParallelism: int32",
    "sequenceParallelism: boolean",
  ],
  LearningRateScheduler: ["constant: ConstantSchedule", "linear: LinearSchedule", "cosine: CosineSchedule"],
  ConstantSchedule: [],
  LinearSchedule: ["minLrRatio: number, float", "decayRatio: number, float"],
  CosineSchedule: ["minLrRatio: number, float", "decayRatio: number, float"],
  TrackerConfig: [
    "enabled: boolean",
    "apiKey: string",
    "project: string",
    "entity: string",
    "runId: string",
    "url: string, read-only",
  ],
  ObjectStorageAConfig: ["credentialsSecret: string", "iamRoleArn: string"],
  ObjectStorageBConfig: [
    "credentialsSecret: string",
    "managedIdentityClientId: string, uuid",
    "tenantId: string, uuid",
  ],
  JobProgress: [
    "percent: int32, at least 0, at most 100",
    "epoch: int32",
    "totalInputRequests: int32",
    "totalProcessedRequests: int32",
    "successfullyProcessedRequests: int32",
    "failedRequests: int32",
    "outputRows: int32",
    "inputTokens: int32",
    "outputTokens: int32",
    "cachedInputTokenCount: int32",
  ],
  InferenceParameters: [
    "maxOutputTokens: int32",
    "temperature: number, float",
    "topP: number, float",
    "topK: int32",
    "responseCandidatesCount: int32, at least 2",
    "extraBody: string",
  ],
  LossConfig: ["method: LossMethod", "klBeta: number, float", "dpo: DpoConfig", "orpo: OrpoConfig"],
  DpoConfig: [
    "beta: number, float, more than 0, less than 0.5",
    "refCacheConcurrency: int32",
    "refCacheBatchSize: int32",
  ],
  OrpoConfig: ["lambda: number, float"],
  Status: ["code: Code", "message: string"],
};

function typeOf({ $ref, allOf, type, format, items }: ContractSchema): string {
  const reference = $ref ?? (allOf as ContractSchema[] | undefined)?.[0]?.$ref;
  if (reference !== undefined) return reference.split("/").pop() ?? "";
  if (type === "array") return `array of ${typeOf(items as ContractSchema)}`;
  if (type === "integer" && format !== undefined) return format;
  return format === undefined ? `${type}` : `${type}, ${format}`;
}

// What each keyword of a field says.
const words: Readonly<Record<string, (value: unknown) => string>> = {
  readOnly: () => "read-only",
  deprecated: () => "deprecated",
  enum: (values) => `${values}`,
  default: (value) => `default ${value}`,
  minimum: (value) => `at least ${value}`,
  maximum: (value) => `at most ${value}`,
  exclusiveMinimum: (value) => `more than ${value}`,
  exclusiveMaximum: (value) => `less than ${value}`,
  minItems: (value) => `at least ${value} item`,
  maxItems: (value) => `at most ${value} items`,
  "x-max-bytes": (value) => `at most ${value} bytes`,
};

function fieldsOf({ properties = {}, required = [] }: ContractSchema): string[] {
  return Object.entries(properties).map(([name, field]) => {
    const said = Object.entries(words).flatMap(([keyword, say]) =>
      keyword in field ? say(field[keyword]) : [],
    );
    const type = typeOf(field);
    return [`${name}: ${type}`, ...(required.includes(name) ? ["required"] : []), ...said].join(", ");
  });
}

describe("schemas", () => {
  test("the service's facts: each schema has the fields of its table", () => {
    const objects = Object.entries(contract.components.schemas).filter(([, { type }]) => type === "object");
    const found = objects.map(([name, schema]) => [name, fieldsOf(schema)]);
    expect(Object.fromEntries(found)).toEqual({ ...tables, AcceleratorSeconds: [] });
  });

  test.each([
    ["RerankRequest", "top_n"],
    ["RerankResult", "index"],
    ["RerankUsage", ""],
    ["DeploymentScale", "replicaCount"],
    ["DatasetFile", "bytes"],
    ["DatasetFile", "created_at"],
  ])("the 64 bits of %s %s are said to be our decision", (name, field) => {
    const { properties = {}, ...schema } = schemaNamed(name);
    expect((properties[field] ?? schema)["x-unstated"]).toMatch(/^Not stated:.* size.* Decided:.*64 bits/s);
  });

  test("acceleratorSeconds maps strings to strings of the int64 format", () => {
    const values = { type: "string", format: "int64" };
    expect(schemaNamed("AcceleratorSeconds").additionalProperties).toMatchObject(values);
  });

  test("chunking is said to need more than 300 rows", () => {
    expect(field("ReinforcementFineTuningJob.chunkSize").description).toMatch(/more than 300 rows/);
  });
});

function field(path: string): ContractSchema {
  const [schema = "", name = ""] = path.split(".");
  const found = schemaNamed(schema).properties?.[name];
  if (found === undefined) throw new Error(`The contract has no field ${path}.`);
  return found;
}

test("the job states are the service's 20", () => {
  const states =
    "UNSPECIFIED CREATING RUNNING COMPLETED FAILED CANCELLED DELETING WRITING_RESULTS " +
    "VALIDATING DELETING_CLEANING_UP PENDING EXPIRED RE_QUEUEING CREATING_INPUT_DATASET " +
    "IDLE CANCELLING EARLY_STOPPED PAUSED DELETED ARCHIVED";
  expect(schemaNamed("JobState").enum).toEqual(states.split(" ").map((state) => `JOB_STATE_${state}`));
});

test("the meanings of states are those the service gives", () => {
  expect(schemaNamed("JobState")["x-enumDescriptions"]).toMatchObject({
    JOB_STATE_UNSPECIFIED: "default",
    JOB_STATE_PAUSED: "paused, typically due to account suspension or manual intervention",
    JOB_STATE_DELETED: "deleted",
    JOB_STATE_ARCHIVED:
      "user-facing state of a job whose record is kept after deletion (for example within a checkpoint " +
      "retention window); the internal state is DELETED and public responses show ARCHIVED",
  });
});

test("the other enumerations are the service's, with their defaults", () => {
  const found = ["LossMethod", "Purpose", "EncryptionState"].map((name) => schemaNamed(name).enum);
  expect(found).toEqual([
    ["METHOD_UNSPECIFIED", "GRPO", "DAPO", "DPO", "ORPO", "GSPO_TOKEN"],
    ["PURPOSE_UNSPECIFIED", "PURPOSE_PILOT"],
    ["ENCRYPTION_STATE_UNSPECIFIED", "ENCRYPTION_STATE_PLAINTEXT", "ENCRYPTION_STATE_CMEK"],
  ]);
  const defaults = Object.entries(contract.components.schemas)
    .filter(([, schema]) => "default" in schema)
    .map(([name, s]) => [name, s.default]);
  expect(Object.fromEntries(defaults)).toEqual({
    LossMethod: "METHOD_UNSPECIFIED",
    Purpose: "PURPOSE_UNSPECIFIED",
    EncryptionState: "ENCRYPTION_STATE_UNSPECIFIED",
    JobState: "JOB_STATE_UNSPECIFIED",
  });
});

test("fields that exclude each other do so in the contract too", () => {
  expect(schemaNamed("BaseTrainingConfig").not).toMatchObject({ required: ["baseModel", "warmStartFrom"] });
  expect(schemaNamed("ObjectStorageBConfig").not).toMatchObject({
    required: ["credentialsSecret", "managedIdentityClientId"],
  });
  const { minProperties, maxProperties, properties } = schemaNamed("LearningRateScheduler");
  expect({ minProperties, maxProperties }).toEqual({ minProperties: 1, maxProperties: 1 });
  expect(Object.keys(properties ?? {})).toEqual(["constant", "linear", "cosine"]);
});

test("a resume request has no fields, and names of secrets and roles have the service's form", () => {
  expect(schemaNamed("JobResumption").additionalProperties).toBe(false);
  for (const path of ["ObjectStorageAConfig.credentialsSecret", "ObjectStorageBConfig.credentialsSecret"]) {
    const pattern = new RegExp(field(path).pattern as string);
    expect("accounts/acme/secrets/store").toMatch(pattern);
    expect("acme/store").not.toMatch(pattern);
  }
  const role = new RegExp(field("ObjectStorageAConfig.iamRoleArn").pattern as string);
  expect("arn:aws:iam::123456789012:role/reader").toMatch(role);
  expect("arn:aws:iam::123456789012:user/reader").not.toMatch(role);
});
