import { describe, expect, test } from "vitest";
import { type ContractSchema, schemaNamed } from "../support/contract.js";

const here = "test/contract/contractSchemas.test.ts";

// Fields as the service's tables write them: "name: type", then "read-only" or "deprecated".
const tables: Readonly<Record<string, readonly string[]>> = {
  RerankRequest: [
    "query: string",
    "documents: array of string",
    "model: string",
    "top_n: int64",
    "return_documents: boolean",
    "task: string",
  ],
  RerankResponse: ["object: string", "model: string", "data: array of RerankResult", "usage: RerankUsage"],
  RerankResult: ["index: int64", "relevance_score: number", "document: string"],
  RerankUsage: ["prompt_tokens: int64", "total_tokens: int64"],
  JobResumption: [],
  DeploymentScale: ["replicaCount: int64"],
  DeploymentScaleResult: [],
  DatasetUpload: ["file: string, binary"],
  DatasetFile: [
    "id: string",
    "object: string",
    "bytes: int64",
    "created_at: int64",
    "filename: string",
    "purpose: string",
  ],
  ReinforcementFineTuningJob: [
    "name: string, read-only",
    "displayName: string",
    "createTime: string, date-time, read-only",
    "completedTime: string, date-time, read-only",
    "dataset: string",
    "evaluationDataset: string",
    "evalAutoCarveout: boolean",
    "state: JobState, read-only",
    "status: Status, read-only",
    "createdBy: string, read-only",
    "trainingConfig: BaseTrainingConfig",
    "evaluator: string",
    "trackerConfig: TrackerConfig",
    "objectStorageAConfig: ObjectStorageAConfig",
    "objectStorageBConfig: ObjectStorageBConfig",
    "outputStats: string, read-only",
    "jobProgress: JobProgress, read-only",
    "inferenceParameters: InferenceParameters",
    "chunkSize: int32",
    "outputMetrics: string, read-only",
    "maxInferenceReplicaCount: int32",
    "nodeCount: int32",
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
    "percent: int32",
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
    "responseCandidatesCount: int32",
    "extraBody: string",
  ],
  LossConfig: ["method: LossMethod", "klBeta: number, float", "dpo: DpoConfig", "orpo: OrpoConfig"],
  DpoConfig: ["beta: number, float", "refCacheConcurrency: int32", "refCacheBatchSize: int32"],
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

function describeField([name, schema]: [string, ContractSchema]): string {
  const marks = [schema.readOnly ? ", read-only" : "", schema.deprecated ? ", deprecated" : ""];
  return `${name}: ${typeOf(schema)}${marks.join("")}`;
}

describe("the fields of", () => {
  test.each(Object.entries(tables))("%s are those of the service's table", (name, fields) => {
    const found = Object.entries(schemaNamed(name).properties ?? {}).map(describeField);
    expect(found, `a change of the service's belongs into "tables" of ${here}, too`).toEqual(fields);
  });
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

test("the job has 30 fields", () => {
  expect(Object.keys(schemaNamed("ReinforcementFineTuningJob").properties ?? {})).toHaveLength(30);
});

test("acceleratorSeconds maps strings to strings of the int64 format", () => {
  expect(schemaNamed("AcceleratorSeconds").additionalProperties).toMatchObject({
    type: "string",
    format: "int64",
  });
});
