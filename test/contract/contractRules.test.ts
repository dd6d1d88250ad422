import { expect, test } from "vitest";
import { type ContractSchema, contract, schemaNamed } from "../support/contract.js";

const schemas = Object.entries(contract.components.schemas);

function field(path: string): ContractSchema {
  const [schema = "", name = ""] = path.split(".");
  const found = schemaNamed(schema).properties?.[name];
  if (found === undefined) throw new Error(`The contract has no field ${path}.`);
  return found;
}

/** Every field of every schema that has the keyword, with its value. */
function everyField(keyword: string): Record<string, unknown> {
  const found = schemas.flatMap(([schema, { properties }]) =>
    Object.entries(properties ?? {})
      .filter(([, property]) => keyword in property)
      .map(([name, property]) => [`${schema}.${name}`, property[keyword]]),
  );
  return Object.fromEntries(found);
}

test("the job states are the service's 20", () => {
  expect(schemaNamed("JobState").enum).toEqual([
    "JOB_STATE_UNSPECIFIED",
    "JOB_STATE_CREATING",
    "JOB_STATE_RUNNING",
    "JOB_STATE_COMPLETED",
    "JOB_STATE_FAILED",
    "JOB_STATE_CANCELLED",
    "JOB_STATE_DELETING",
    "JOB_STATE_WRITING_RESULTS",
    "JOB_STATE_VALIDATING",
    "JOB_STATE_DELETING_CLEANING_UP",
    "JOB_STATE_PENDING",
    "JOB_STATE_EXPIRED",
    "JOB_STATE_RE_QUEUEING",
    "JOB_STATE_CREATING_INPUT_DATASET",
    "JOB_STATE_IDLE",
    "JOB_STATE_CANCELLING",
    "JOB_STATE_EARLY_STOPPED",
    "JOB_STATE_PAUSED",
    "JOB_STATE_DELETED",
    "JOB_STATE_ARCHIVED",
  ]);
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
  const defaults = schemas.filter(([, schema]) => "default" in schema).map(([name, s]) => [name, s.default]);
  expect(Object.fromEntries(defaults)).toEqual({
    LossMethod: "METHOD_UNSPECIFIED",
    Purpose: "PURPOSE_UNSPECIFIED",
    EncryptionState: "ENCRYPTION_STATE_UNSPECIFIED",
    JobState: "JOB_STATE_UNSPECIFIED",
  });
});

test("object of a rerank response is always list", () => {
  expect(field("RerankResponse.object").enum).toEqual(["list"]);
});

test("fields have the service's defaults and no others", () => {
  expect(everyField("default"), "a default of the service's belongs into this table, too").toEqual({
    "RerankRequest.return_documents": true,
    "ReinforcementFineTuningJob.chunkSize": 200,
    "ReinforcementFineTuningJob.maxInferenceReplicaCount": 1,
    "ReinforcementFineTuningJob.nodeCount": 1,
  });
});

test("fields have the service's limits and no others", () => {
  expect(everyField("minimum"), "a limit of the service's belongs into this table, too").toEqual({
    "RerankRequest.top_n": 1,
    "DeploymentScale.replicaCount": 0,
    "ReinforcementFineTuningJob.chunkSize": 1,
    "InferenceParameters.responseCandidatesCount": 2,
    "JobProgress.percent": 0,
  });
  expect(everyField("maximum")).toEqual({
    "ReinforcementFineTuningJob.chunkSize": 10_000,
    "JobProgress.percent": 100,
  });
  expect(everyField("exclusiveMinimum")).toEqual({ "DpoConfig.beta": 0 });
  expect(everyField("exclusiveMaximum")).toEqual({ "DpoConfig.beta": 0.5 });
  expect(everyField("minItems")).toEqual({ "RerankRequest.documents": 1 });
  expect(everyField("maxItems")).toEqual({});
  expect(everyField("x-max-bytes")).toEqual({ "DatasetUpload.file": 157_286_400 });
});

test("chunking is said to need more than 300 rows", () => {
  expect(field("ReinforcementFineTuningJob.chunkSize").description).toMatch(/more than 300 rows/);
});

test("required fields are the service's, and those without which a request means nothing", () => {
  const required = schemas.filter(([, s]) => s.required !== undefined).map(([name, s]) => [name, s.required]);
  expect(Object.fromEntries(required)).toEqual({
    RerankRequest: ["query", "documents"],
    RerankResponse: ["object", "model", "data", "usage"],
    RerankResult: ["index", "relevance_score"],
    RerankUsage: ["prompt_tokens", "total_tokens"],
    DeploymentScale: ["replicaCount"],
    DatasetUpload: ["file"],
    DatasetFile: ["id", "object", "bytes", "created_at", "filename", "purpose"],
    ReinforcementFineTuningJob: ["dataset", "evaluator"],
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
