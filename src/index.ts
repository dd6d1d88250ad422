/**
 * The client, its errors and its types.
 *
 * @module tunerank
 */

export { type Client, type ConnectionOption, createClient, type SharedOptions } from "./client.js";
export {
  type Attempt,
  type CodeSource,
  type Executed,
  type ExecutedBecause,
  httpStatusOfCode,
  type NotRetried,
  type OperationName,
  type StatusCode,
  type StatusErrorDetails,
  type Target,
} from "./errors/codes.js";

export { isStatusError, StatusError } from "./errors/statusError.js";
export type { BlobLike, ReadableStreamLike, UploadFile, UrlLike } from "./files/fileSource.js";
export type { OperationId } from "./generated/contract.js";
export type {
  AcceleratorSeconds,
  BaseTrainingConfig,
  Code,
  ConstantSchedule,
  CosineSchedule,
  DatasetFile,
  DpoConfig,
  EncryptionState,
  InferenceParameters,
  JobProgress,
  JobState,
  LearningRateScheduler,
  LinearSchedule,
  LossConfig,
  LossMethod,
  ObjectStorageAConfig,
  ObjectStorageBConfig,
  OrpoConfig,
  Purpose,
  ReinforcementFineTuningJob,
  RerankRequest,
  RerankResponse,
  RerankResult,
  RerankUsage,
  Status,
  TrackerConfig,
  TrainerShardingScheme,
} from "./generated/types.js";
export type * from "./options/types.js";
export { type CodeOfStatus, codeOfHttpStatus } from "./policy/decisions.js";
export type * from "./ranking/types.js";
export type * from "./wrappers/contractMethods.js";
export type { Datasets } from "./wrappers/datasets.js";
export type { Deployments } from "./wrappers/deployments.js";
export { type ReinforcementFineTuningJobs, throwIfFailed } from "./wrappers/reinforcementFineTuningJobs.js";
export type { Rerank } from "./wrappers/rerank.js";
export type {
  QueryValue,
  RequestOptions,
  ServiceCall,
  ServiceRequest,
  UploadOptions,
  UploadProgress,
} from "./wrappers/types.js";
