// Generated from openapi.yaml by `npm run generate`: do not edit.

/** An object with no fields: `{}`. */
export type JobResumption = Record<string, never>;

/** A query and the documents to rank against it. */
export interface RerankRequest {
    /**
     * What to search for.
     * @example How do I get back into my account when I forgot my password?
     */
    query: string;
    /** The documents to rank, at least 1. Each document is a string. */
    documents: readonly string[];
    /**
     * The name of the reranker model, in the form `accounts/<account>/models/<model_id>`.
     * @example accounts/acme/models/reranker-small
     */
    model?: string | undefined;
    /**
     * The number of most relevant documents to return. All documents when unset.
     * Range: at least 1.
     * Format: int64
     * @example 3
     */
    top_n?: number | undefined;
    /**
     * Whether the response contains the text of each document.
     * @default true
     */
    return_documents?: boolean | undefined;
    /**
     * A description of the task, which guides the ranking. Optional.
     * @example Find the help article that answers the customer's question.
     */
    task?: string | undefined;
}

/** The documents that were ranked, and what the ranking used. */
export interface RerankResponse {
    /**
     * Always `list`.
     */
    object: "list";
    /**
     * The model used.
     * @example accounts/acme/models/reranker-small
     */
    model: string;
    /** The ranked documents, ordered by relevance score, highest first. */
    data: RerankResult[];
    /** The tokens used. */
    usage: RerankUsage;
}

/** One ranked document. */
export interface RerankResult {
    /**
     * Which document this is. We read it as the position in the request's `documents`, from 0; what it counts is not documented.
     * Format: int64
     * @example 2
     */
    index: number;
    /**
     * How relevant the document is to the query; higher is more relevant. The range is not documented.
     * @example 0.962
     */
    relevance_score: number;
    /**
     * The text of the document. What is here when `return_documents` is false is not documented.
     * @example Our office in Lisbon is closed on public holidays.
     */
    document?: string;
}

/** The tokens that a rerank used. */
export interface RerankUsage {
    /**
     * Tokens of the prompt. How they are counted is not documented.
     * Format: int64
     * @example 131
     */
    prompt_tokens: number;
    /**
     * Tokens in total. How they relate to `prompt_tokens` is not documented.
     * Format: int64
     * @example 131
     */
    total_tokens: number;
}

/** The number of replicas that a deployment should have. */
export interface DeploymentScale {
    /**
     * The desired number of replicas. Zero is allowed.
     * Range: at least 0.
     * Format: int64
     * @example 2
     */
    replicaCount: number;
}

/** An object with no fields. */
export interface DeploymentScaleResult {
    [key: string]: unknown;
}

/** A form with one part, the file. */
export interface DatasetUpload {
    /**
     * The content of the file, at most 150 MB. Larger files use a separate upload-endpoint operation, which this contract does not describe.
     * Format: binary
     */
    file: string;
}

/** What the service made of the file. */
export interface DatasetFile {
    /**
     * The id of the stored file. Its form is not documented.
     * @example file-7d1f9a
     */
    id: string;
    /**
     * The kind of object. Its values are not documented.
     * @example file
     */
    object: string;
    /**
     * A number of bytes. What is counted is not documented.
     * Format: int64
     * @example 131
     */
    bytes: number;
    /**
     * When the file was created. The unit is not documented.
     * Format: int64
     * @example 1772442900
     */
    created_at: number;
    /**
     * The name of the file. Whether it is the name that was sent is not documented.
     * @example train.jsonl
     */
    filename: string;
    /**
     * What the file is for. The values are not documented; it is not the `Purpose` of a job.
     * @example fine-tune
     */
    purpose: string;
}

/** A reinforcement fine-tuning job: a training job that uses a dataset and an evaluator. */
export interface ReinforcementFineTuningJob {
    /**
     * Resource name of the job. Its form is not documented.
     * Read-only.
     * @example accounts/acme/reinforcementFineTuningJobs/answer-quality
     */
    readonly name?: string;
    /** A name to show to people. Its length and characters are not documented. */
    displayName?: string;
    /**
     * When the job was created.
     * Read-only.
     * Format: date-time
     * @example 2026-03-02T09:15:00Z
     */
    readonly createTime?: string;
    /**
     * When the job completed. Whether that includes failed and cancelled jobs is not documented.
     * Read-only.
     * Format: date-time
     * @example 2026-03-02T17:40:12Z
     */
    readonly completedTime?: string;
    /**
     * Name of the training dataset.
     * @example accounts/acme/datasets/support-answers
     */
    dataset: string;
    /** Name of a separate dataset for evaluation. */
    evaluationDataset?: string;
    /** Whether to carve the evaluation data out of the dataset automatically. */
    evalAutoCarveout?: boolean;
    /**
     * What the job is doing. The order of states is not documented; a newer service may send others.
     * Read-only.
     */
    readonly state?: JobState | (string & {});
    /**
     * A code and a message about the job. When they are set is not documented.
     * Read-only.
     */
    readonly status?: Status;
    /**
     * The e-mail address of the user who started the job.
     * Read-only.
     * @example ada@example.com
     */
    readonly createdBy?: string;
    /** Common training settings. */
    trainingConfig?: BaseTrainingConfig;
    /**
     * Evaluator resource name used by the job.
     * @example accounts/acme/evaluators/answer-grader
     */
    evaluator: string;
    /** Experiment-tracking account for logging progress. */
    trackerConfig?: TrackerConfig;
    /** Access settings for a dataset in one cloud object store. */
    objectStorageAConfig?: ObjectStorageAConfig;
    /** Access settings for a dataset in another cloud blob store. */
    objectStorageBConfig?: ObjectStorageBConfig;
    /**
     * Aggregated stats of the output dataset of the evaluation job. Their form is not documented.
     * Read-only.
     */
    readonly outputStats?: string;
    /**
     * How far the job has come.
     * Read-only.
     */
    readonly jobProgress?: JobProgress;
    /** Sampling parameters for rollouts. */
    inferenceParameters?: InferenceParameters;
    /**
     * Data chunking for rollout. Enabled when the dataset has more than 300 rows. The valid range is 1 to 10,000.
     * Range: at least 1, at most 10000.
     * Format: int32
     * @default 200
     */
    chunkSize?: number;
    /**
     * Metrics of what the job produced. Their form is not documented.
     * Read-only.
     */
    readonly outputMetrics?: string;
    /**
     * Maximum replicas of the deployment.
     * Format: int32
     * @default 1
     */
    maxInferenceReplicaCount?: number;
    /**
     * Nodes used by the job.
     * Format: int32
     * @default 1
     */
    nodeCount?: number;
    /** Loss method and hyperparameters. */
    lossConfig?: LossConfig;
    /**
     * Signed URL of the trainer log file (stdout/stderr). Filled only if the account has trainer log reading enabled.
     * Read-only.
     */
    readonly trainerLogsSignedUrl?: string;
    /**
     * Accelerator seconds used, keyed by accelerator type. Updated when the job completes or is cancelled.
     * Read-only.
     */
    readonly acceleratorSeconds?: AcceleratorSeconds;
    /**
     * Maximum concurrent rollouts.
     * Format: int32
     */
    maxConcurrentRollouts?: number;
    /**
     * Maximum concurrent evaluations.
     * Format: int32
     */
    maxConcurrentEvaluations?: number;
    /** What the job is scheduled for. */
    purpose?: Purpose | (string & {});
    /** Whether to try the account's reserved capacity before falling back to shared trainer capacity. */
    useReservation?: boolean;
    /**
     * How the artifacts of the job are stored. Stamped at creation from the account's encryption-key configuration and immutable afterwards.
     * Read-only.
     */
    readonly encryptionState?: EncryptionState | (string & {});
}

/** Accelerator seconds used, keyed by accelerator type. Each value is a 64-bit integer in decimal digits, sent as a string. */
export interface AcceleratorSeconds {
    [key: string]: string;
}

/** Common training settings. Only one of `baseModel` and `warmStartFrom` may be given. */
export interface BaseTrainingConfig {
    /** Model ID of the resulting model. The job ID is used when unset. */
    outputModel?: string;
    /** Base model to fine-tune. Only one of `baseModel` or `warmStartFrom` may be given. */
    baseModel?: string;
    /** Adapter model, in the service's own format, to continue from. Exclusive with `baseModel`. */
    warmStartFrom?: string;
    /**
     * Deprecated: literal templates are unsupported by Training V2; rendering comes from the base model's registered renderer.
     * @deprecated
     */
    jinjaTemplate?: string;
    /**
     * The learning rate. Its range and its default are not documented.
     * Format: float
     */
    learningRate?: number;
    /**
     * The largest context length. The unit and the default are not documented.
     * Format: int32
     */
    maxContextLength?: number;
    /**
     * Rank of the LoRA adapter. Its range and its default are not documented.
     * Format: int32
     */
    loraRank?: number;
    /**
     * Number of training epochs. The default is not documented.
     * Format: int32
     */
    epochs?: number;
    /**
     * Deprecated: legacy token budget; Training V2 batches by samples.
     * Format: int32
     * @deprecated
     */
    batchSize?: number;
    /**
     * Deprecated: Training V2 rejects it when set.
     * Format: int32
     * @deprecated
     */
    gradientAccumulationSteps?: number;
    /**
     * Number of warm-up steps. The default is not documented.
     * Format: int32
     */
    learningRateWarmupSteps?: number;
    /**
     * Samples per gradient batch.
     * Format: int32
     */
    batchSizeSamples?: number;
    /**
     * L2 weight decay.
     * Format: float
     */
    optimizerWeightDecay?: number;
    /** How the trainer is split over accelerators. */
    trainerShardingScheme?: TrainerShardingScheme;
    /**
     * Alpha of the LoRA adapter. Unset or 0 means trainer defaults.
     * Format: int32
     */
    loraAlpha?: number;
    /**
     * Dropout of the LoRA adapter. Its range and its default are not documented.
     * Format: float
     */
    loraDropout?: number;
    /** Names of the modules that the LoRA adapter targets. Optional. */
    loraTargetModules?: string[];
    /** How the learning rate changes after warm-up. When unset, the legacy constant schedule is used. */
    lrScheduler?: LearningRateScheduler;
}

/** How the trainer is split over accelerators. */
export interface TrainerShardingScheme {
    /**
     * Degree of tensor parallelism. 0 means unspecified (server default 1).
     * Format: int32
     */
    tensorParallelism?: number;
    /**
     * Degree of pipeline parallelism. 0 means unspecified (server default 1).
     * Format: int32
     */
    pipelineParallelism?: number;
    /**
     * Degree of context parallelism. 0 means unspecified (server default 1).
     * Format: int32
     */
    contextParallelism?: number;
    /**
     * Degree of expert parallelism. 0 means unspecified (server default 1).
     * Format: int32
     */
    expertParallelism?: number;
    /** Enables sequence parallelism. */
    sequenceParallelism?: boolean;
}

/** The schedule applied after warm-up. Exactly one variant is set, and it selects the schedule; `{}` sets none. When the scheduler is unset, a constant schedule is used. */
export interface LearningRateScheduler {
    /** Flat rate after warm-up. */
    constant?: ConstantSchedule;
    /** Linear decay from the peak rate. */
    linear?: LinearSchedule;
    /** Cosine annealing from the peak rate. */
    cosine?: CosineSchedule;
}

/** An object with no fields. */
export interface ConstantSchedule {
    [key: string]: unknown;
}

/** Linear decay from the peak rate. */
export interface LinearSchedule {
    /**
     * Floor rate as a fraction of the peak rate (0.0 decays to zero; 0.1 decays to 10%).
     * Format: float
     * @example 0.1
     */
    minLrRatio?: number;
    /**
     * Fraction of total steps over which to decay. 0 (unset) decays over the full run.
     * Format: float
     * @example 0.9
     */
    decayRatio?: number;
}

/** Cosine annealing from the peak rate. */
export interface CosineSchedule {
    /**
     * Floor rate as a fraction of the peak rate (0.0 decays to zero; 0.1 decays to 10%).
     * Format: float
     * @example 0.1
     */
    minLrRatio?: number;
    /**
     * Fraction of total steps over which to decay. 0 (unset) decays over the full run.
     * Format: float
     * @example 0.9
     */
    decayRatio?: number;
}

/** Experiment-tracking account for logging progress. */
export interface TrackerConfig {
    /** Enables tracking. */
    enabled?: boolean;
    /**
     * Key of the tracking service.
     * @example <API_KEY>
     */
    apiKey?: string;
    /** The project at the tracking service. Its form is not documented. */
    project?: string;
    /** The entity at the tracking service. Its form is not documented. */
    entity?: string;
    /** The id of the run at the tracking service. Its form is not documented. */
    runId?: string;
    /**
     * An address at the tracking service. What it shows is not documented.
     * Read-only.
     */
    readonly url?: string;
}

/** Access settings for a dataset in one cloud object store. */
export interface ObjectStorageAConfig {
    /**
     * Reference to a secret resource, in the form `accounts/{account_id}/secrets/{secret_id}`. The secret value is a JSON object holding an access key id and a secret access key.
     * @example accounts/acme/secrets/object-store-a
     */
    credentialsSecret?: string;
    /**
     * Role identifier (ARN format `arn:aws:iam::<account-id>:role/<role-name>`) assumed through identity federation.
     * @example arn:aws:iam::123456789012:role/dataset-reader
     */
    iamRoleArn?: string;
}

/** Access settings for a dataset in another cloud blob store. `credentialsSecret` and `managedIdentityClientId` exclude each other. */
export interface ObjectStorageBConfig {
    /**
     * Reference to a secret resource, in the form `accounts/{account_id}/secrets/{secret_id}`. The secret value is a JSON object holding exactly one of: connection_string, sas_token, account_key. Exclusive with `managedIdentityClientId`.
     * @example accounts/acme/secrets/blob-store-b
     */
    credentialsSecret?: string;
    /**
     * UUID of the managed identity client for workload identity federation. Exclusive with `credentialsSecret`.
     * Format: uuid
     * @example 0f8fad5b-d9cb-469f-a165-70867728950e
     */
    managedIdentityClientId?: string;
    /**
     * UUID of the tenant for workload identity federation.
     * Format: uuid
     * @example 7c9e6679-7425-40de-944b-e07fc1f90ae7
     */
    tenantId?: string;
}

/** How far a job has come. Read-only on the job. */
export interface JobProgress {
    /**
     * How much is done, in percent, from 0 to 100.
     * Range: at least 0, at most 100.
     * Format: int32
     */
    percent?: number;
    /**
     * Epoch the percent refers to, usually starting from 0. Optional for jobs that do not run in epochs.
     * Format: int32
     */
    epoch?: number;
    /**
     * Input requests/rows in the job.
     * Format: int32
     */
    totalInputRequests?: number;
    /**
     * Requests processed, successfully or failed.
     * Format: int32
     */
    totalProcessedRequests?: number;
    /**
     * Requests that were processed without a failure.
     * Format: int32
     */
    successfullyProcessedRequests?: number;
    /**
     * Requests whose processing failed.
     * Format: int32
     */
    failedRequests?: number;
    /**
     * Number of output rows. Which output is meant is not documented.
     * Format: int32
     */
    outputRows?: number;
    /**
     * Tokens of the input. Whether cached ones are included is not documented.
     * Format: int32
     */
    inputTokens?: number;
    /**
     * Tokens of the output. How they are counted is not documented.
     * Format: int32
     */
    outputTokens?: number;
    /**
     * Input tokens that hit the prompt cache.
     * Format: int32
     */
    cachedInputTokenCount?: number;
}

/** Sampling parameters for rollouts. */
export interface InferenceParameters {
    /**
     * Maximum tokens per response.
     * Format: int32
     */
    maxOutputTokens?: number;
    /**
     * Sampling temperature, typically 0 to 2. The default is not documented.
     * Format: float
     * @example 0.8
     */
    temperature?: number;
    /**
     * Top-p of the sampling, typically 0 to 1. The default is not documented.
     * Format: float
     * @example 0.95
     */
    topP?: number;
    /**
     * Limits selection to the top k tokens.
     * Format: int32
     */
    topK?: number;
    /**
     * Candidates per input. At least 2 are required.
     * Range: at least 2.
     * Format: int32
     */
    responseCandidatesCount?: number;
    /**
     * Additional inference parameters as a JSON string.
     * @example {}
     */
    extraBody?: string;
}

/** The loss method and its hyperparameters. */
export interface LossConfig {
    /** Which loss method the job uses. */
    method?: LossMethod | (string & {});
    /**
     * KL coefficient override for GRPO-like methods. Trainer default when unset.
     * Format: float
     */
    klBeta?: number;
    /** Settings for method DPO. */
    dpo?: DpoConfig;
    /** Settings for method ORPO. */
    orpo?: OrpoConfig;
}

/** Hyperparameters for method DPO. */
export interface DpoConfig {
    /**
     * The beta of DPO. Must be greater than 0 and less than 0.5. The default is not documented.
     * Range: greater than 0, less than 0.5.
     * Format: float
     * @example 0.1
     */
    beta?: number;
    /**
     * Maximum concurrent reference forward passes during cache warm-up.
     * Format: int32
     */
    refCacheConcurrency?: number;
    /**
     * Preference pairs per reference forward call.
     * Format: int32
     */
    refCacheBatchSize?: number;
}

/** Hyperparameters for method ORPO. */
export interface OrpoConfig {
    /**
     * Weight of the odds-ratio loss term.
     * Format: float
     */
    lambda?: number;
}

/** A code and a message. */
export interface Status {
    /** One of the codes of the service. */
    code?: Code | (string & {});
    /** Developer-facing message in English. */
    message?: string;
}

/**
 * Which loss method a job uses.
 *
 * - `METHOD_UNSPECIFIED`: default; behaves as GRPO
 * - `GRPO`: The meaning is not documented.
 * - `DAPO`: The meaning is not documented.
 * - `DPO`: The meaning is not documented.
 * - `ORPO`: The meaning is not documented.
 * - `GSPO_TOKEN`: The meaning is not documented.
 * @default METHOD_UNSPECIFIED
 */
export type LossMethod = "METHOD_UNSPECIFIED" | "GRPO" | "DAPO" | "DPO" | "ORPO" | "GSPO_TOKEN";

/**
 * What a job is scheduled for.
 *
 * - `PURPOSE_UNSPECIFIED`: default
 * - `PURPOSE_PILOT`: The meaning is not documented.
 * @default PURPOSE_UNSPECIFIED
 */
export type Purpose = "PURPOSE_UNSPECIFIED" | "PURPOSE_PILOT";

/**
 * How the artifacts of a job are stored.
 *
 * - `ENCRYPTION_STATE_UNSPECIFIED`: default; legacy rows, treated as plaintext
 * - `ENCRYPTION_STATE_PLAINTEXT`: artifacts stored unencrypted
 * - `ENCRYPTION_STATE_CMEK`: artifacts encrypted with a customer-managed key; reads must decrypt
 * @default ENCRYPTION_STATE_UNSPECIFIED
 */
export type EncryptionState = "ENCRYPTION_STATE_UNSPECIFIED" | "ENCRYPTION_STATE_PLAINTEXT" | "ENCRYPTION_STATE_CMEK";

/**
 * What a job is doing.
 *
 * - `JOB_STATE_UNSPECIFIED`: default
 * - `JOB_STATE_CREATING`: The meaning is not documented.
 * - `JOB_STATE_RUNNING`: The meaning is not documented.
 * - `JOB_STATE_COMPLETED`: The meaning is not documented.
 * - `JOB_STATE_FAILED`: The meaning is not documented.
 * - `JOB_STATE_CANCELLED`: The meaning is not documented.
 * - `JOB_STATE_DELETING`: The meaning is not documented.
 * - `JOB_STATE_WRITING_RESULTS`: The meaning is not documented.
 * - `JOB_STATE_VALIDATING`: The meaning is not documented.
 * - `JOB_STATE_DELETING_CLEANING_UP`: The meaning is not documented.
 * - `JOB_STATE_PENDING`: The meaning is not documented.
 * - `JOB_STATE_EXPIRED`: The meaning is not documented.
 * - `JOB_STATE_RE_QUEUEING`: The meaning is not documented.
 * - `JOB_STATE_CREATING_INPUT_DATASET`: The meaning is not documented.
 * - `JOB_STATE_IDLE`: The meaning is not documented.
 * - `JOB_STATE_CANCELLING`: The meaning is not documented.
 * - `JOB_STATE_EARLY_STOPPED`: The meaning is not documented.
 * - `JOB_STATE_PAUSED`: paused, typically due to account suspension or manual intervention
 * - `JOB_STATE_DELETED`: deleted
 * - `JOB_STATE_ARCHIVED`: user-facing state of a job whose record is kept after deletion (for example within a checkpoint retention window); the internal state is DELETED and public responses show ARCHIVED
 * @default JOB_STATE_UNSPECIFIED
 */
export type JobState = "JOB_STATE_UNSPECIFIED" | "JOB_STATE_CREATING" | "JOB_STATE_RUNNING" | "JOB_STATE_COMPLETED" | "JOB_STATE_FAILED" | "JOB_STATE_CANCELLED" | "JOB_STATE_DELETING" | "JOB_STATE_WRITING_RESULTS" | "JOB_STATE_VALIDATING" | "JOB_STATE_DELETING_CLEANING_UP" | "JOB_STATE_PENDING" | "JOB_STATE_EXPIRED" | "JOB_STATE_RE_QUEUEING" | "JOB_STATE_CREATING_INPUT_DATASET" | "JOB_STATE_IDLE" | "JOB_STATE_CANCELLING" | "JOB_STATE_EARLY_STOPPED" | "JOB_STATE_PAUSED" | "JOB_STATE_DELETED" | "JOB_STATE_ARCHIVED";

/**
 * The code of an error, or OK. `x-http-statuses` gives the HTTP status that each code maps to.
 *
 * - `OK`: success
 * - `CANCELLED`: cancelled, typically by the caller
 * - `UNKNOWN`: unknown error
 * - `INVALID_ARGUMENT`: argument is problematic regardless of system state
 * - `DEADLINE_EXCEEDED`: deadline expired before completion; a state-changing operation may still have completed
 * - `NOT_FOUND`: requested entity not found
 * - `ALREADY_EXISTS`: entity to create already exists
 * - `PERMISSION_DENIED`: caller lacks permission
 * - `UNAUTHENTICATED`: missing or invalid credentials
 * - `RESOURCE_EXHAUSTED`: quota or resource exhausted
 * - `FAILED_PRECONDITION`: system not in the state required; do not retry until state is fixed
 * - `ABORTED`: concurrency conflict; retry at a higher level
 * - `OUT_OF_RANGE`: attempted past the valid range
 * - `UNIMPLEMENTED`: not implemented or not enabled
 * - `INTERNAL`: broken internal invariant
 * - `UNAVAILABLE`: transient; retry with backoff
 * - `DATA_LOSS`: unrecoverable data loss or corruption
 */
export type Code = "OK" | "CANCELLED" | "UNKNOWN" | "INVALID_ARGUMENT" | "DEADLINE_EXCEEDED" | "NOT_FOUND" | "ALREADY_EXISTS" | "PERMISSION_DENIED" | "UNAUTHENTICATED" | "RESOURCE_EXHAUSTED" | "FAILED_PRECONDITION" | "ABORTED" | "OUT_OF_RANGE" | "UNIMPLEMENTED" | "INTERNAL" | "UNAVAILABLE" | "DATA_LOSS";

/** The body of an error response. Its shape is not documented: it may be any JSON value. */
export type ErrorBody = unknown;
