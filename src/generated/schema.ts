// Generated from openapi.yaml by `npm run generate`: do not edit.

export interface paths {
    readonly "/v1/accounts/{account_id}/reinforcementFineTuningJobs/{reinforcement_fine_tuning_job_id}:resume": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Resume a reinforcement fine-tuning job
         * @description Resumes a reinforcement fine-tuning job, a training job that uses a dataset and an evaluator,
         *     and answers with the job. The request body is required and has no fields: send `{}`.
         *
         *     Interface document: Endpoints / Resume a reinforcement fine-tuning job.
         */
        readonly post: operations["resumeReinforcementFineTuningJob"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/inference/v1/rerank": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Rerank documents
         * @description Scores documents against a query by relevance, and answers with the most relevant ones, the
         *     highest score first. The interface document calls this operation's bearer key an auth token.
         *
         *     Interface document: Endpoints / Rerank documents.
         */
        readonly post: operations["rerankDocuments"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/accounts/{account_id}/deployments/{deployment_id}:scale": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        /**
         * Scale a deployment
         * @description Scales a deployment to the given number of replicas. Zero is allowed.
         *
         *     Interface document: Endpoints / Scale a deployment.
         */
        readonly patch: operations["scaleDeployment"];
        readonly trace?: never;
    };
    readonly "/v1/accounts/{account_id}/datasets/{dataset_id}:upload": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Upload a dataset file
         * @description Uploads a dataset file in a single multipart request with one form part, `file`. Files of up to
         *     150 MB are accepted; larger files use a separate upload-endpoint operation.
         *
         *     Interface document: Endpoints / Upload dataset file.
         */
        readonly post: operations["uploadDatasetFile"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /**
         * @description An object with no fields: `{}`.
         *
         *     Interface document: Endpoints / Resume a reinforcement fine-tuning job.
         */
        readonly ResumeReinforcementFineTuningJobRequest: Record<string, unknown>;
        /**
         * @description A query and the documents to rank against it.
         *
         *     Interface document: Endpoints / Rerank documents.
         */
        readonly RerankRequest: {
            /**
             * @description The search query.
             * @example How do I get back into my account when I forgot my password?
             */
            readonly query: string;
            /** @description The documents to rank, at least 1. Each document is a string. */
            readonly documents: readonly string[];
            /**
             * @description The name of the reranker model, in the form `accounts/<account>/models/<model_id>`.
             * @example accounts/acme/models/reranker-small
             */
            readonly model?: string;
            /**
             * @description The number of most relevant documents to return. All documents when unset.
             * @example 3
             */
            readonly top_n?: number;
            /**
             * @description Whether the document text is in the response.
             * @default true
             */
            readonly return_documents?: boolean;
            /**
             * @description An optional task description that guides the ranking.
             * @example Find the help article that answers the customer's question.
             */
            readonly task?: string;
        };
        /**
         * @description The ranked documents.
         *
         *     Interface document: Endpoints / Rerank documents.
         */
        readonly RerankResponse: {
            /**
             * @description Always `list`.
             * @enum {string}
             */
            readonly object: "list";
            /**
             * @description The model used.
             * @example accounts/acme/models/reranker-small
             */
            readonly model: string;
            /** @description The ranked documents, ordered by relevance score, highest first. */
            readonly data: readonly components["schemas"]["RerankResult"][];
            /** @description The tokens used. */
            readonly usage: components["schemas"]["RerankUsage"];
        };
        /**
         * @description One ranked document.
         *
         *     Interface document: Endpoints / Rerank documents.
         */
        readonly RerankResult: {
            /**
             * @description The index of the document.
             * @example 2
             */
            readonly index: number;
            /**
             * @description The relevance score of the document.
             * @example 0.962
             */
            readonly relevance_score: number;
            /**
             * @description The text of the document.
             * @example Our office in Lisbon is closed on public holidays.
             */
            readonly document?: string;
        };
        /**
         * @description The tokens that a rerank used.
         *
         *     Interface document: Endpoints / Rerank documents.
         */
        readonly RerankUsage: {
            /**
             * @description Prompt tokens.
             * @example 131
             */
            readonly prompt_tokens: number;
            /**
             * @description Total tokens.
             * @example 131
             */
            readonly total_tokens: number;
        };
        /**
         * @description How many replicas a deployment should have.
         *
         *     Interface document: Endpoints / Scale a deployment.
         */
        readonly ScaleDeploymentRequest: {
            /**
             * @description The desired number of replicas. Zero is allowed.
             * @example 2
             */
            readonly replicaCount: number;
        };
        /**
         * @description An object with no fields.
         *
         *     Interface document: Endpoints / Scale a deployment.
         */
        readonly ScaleDeploymentResponse: {
            readonly [key: string]: unknown;
        };
        /**
         * @description A form with one part.
         *
         *     Interface document: Endpoints / Upload dataset file.
         */
        readonly UploadDatasetFileRequest: {
            /**
             * Format: binary
             * @description The content of the file, "up to 150 MB" in this single request. Larger files use a separate
             *     upload-endpoint operation, which this contract does not describe.
             *
             *     Interface document: Endpoints / Upload dataset file; Limits.
             */
            readonly file: string;
        };
        /**
         * @description What the service made of the file.
         *
         *     Interface document: Endpoints / Upload dataset file.
         */
        readonly UploadDatasetFileResponse: {
            /**
             * @description ID.
             * @example file-7d1f9a
             */
            readonly id: string;
            /**
             * @description Object.
             * @example file
             */
            readonly object: string;
            /**
             * @description Bytes.
             * @example 131
             */
            readonly bytes: number;
            /**
             * @description Created at.
             * @example 1772442900
             */
            readonly created_at: number;
            /**
             * @description File name.
             * @example train.jsonl
             */
            readonly filename: string;
            /**
             * @description Purpose.
             * @example fine-tune
             */
            readonly purpose: string;
        };
        /**
         * @description A reinforcement fine-tuning job: a training job that uses a dataset and an evaluator.
         *
         *     Interface document: Resources and their fields / Reinforcement fine-tuning job.
         */
        readonly ReinforcementFineTuningJob: {
            /**
             * @description Name of the job.
             * @example accounts/acme/reinforcementFineTuningJobs/answer-quality
             */
            readonly name?: string;
            /** @description Display name. */
            readonly displayName?: string;
            /**
             * Format: date-time
             * @description Creation time.
             * @example 2026-03-02T09:15:00Z
             */
            readonly createTime?: string;
            /**
             * Format: date-time
             * @description Completion time of the job.
             * @example 2026-03-02T17:40:12Z
             */
            readonly completedTime?: string;
            /**
             * @description Name of the training dataset.
             * @example accounts/acme/datasets/support-answers
             */
            readonly dataset: string;
            /** @description Name of a separate dataset for evaluation. */
            readonly evaluationDataset?: string;
            /** @description Whether to carve the evaluation data out of the dataset automatically. */
            readonly evalAutoCarveout?: boolean;
            /** @description State of the job. */
            readonly state?: components["schemas"]["JobState"];
            /** @description Status of the job. */
            readonly status?: components["schemas"]["Status"];
            /**
             * @description The e-mail address of the user who started the job.
             * @example ada@example.com
             */
            readonly createdBy?: string;
            /** @description Common training settings. */
            readonly trainingConfig?: components["schemas"]["BaseTrainingConfig"];
            /**
             * @description Evaluator resource name used by the job.
             * @example accounts/acme/evaluators/answer-grader
             */
            readonly evaluator: string;
            /** @description Experiment-tracking account for logging progress. */
            readonly trackerConfig?: components["schemas"]["TrackerConfig"];
            /** @description Access settings for a dataset in one cloud object store. */
            readonly objectStorageAConfig?: components["schemas"]["ObjectStorageAConfig"];
            /** @description Access settings for a dataset in another cloud blob store. */
            readonly objectStorageBConfig?: components["schemas"]["ObjectStorageBConfig"];
            /** @description Aggregated stats of the output dataset of the evaluation job. */
            readonly outputStats?: string;
            /** @description Progress of the job. */
            readonly jobProgress?: components["schemas"]["JobProgress"];
            /** @description Sampling parameters for rollouts. */
            readonly inferenceParameters?: components["schemas"]["InferenceParameters"];
            /**
             * Format: int32
             * @description Data chunking for rollout. Enabled when the dataset has more than 300 rows. The valid range is 1 to 10,000.
             * @default 200
             */
            readonly chunkSize?: number;
            /** @description Output metrics. */
            readonly outputMetrics?: string;
            /**
             * Format: int32
             * @description Maximum replicas of the deployment.
             * @default 1
             */
            readonly maxInferenceReplicaCount?: number;
            /**
             * Format: int32
             * @description Nodes used by the job.
             * @default 1
             */
            readonly nodeCount?: number;
            /** @description Loss method and hyperparameters. */
            readonly lossConfig?: components["schemas"]["LossConfig"];
            /** @description Signed URL of the trainer log file (stdout/stderr). Filled only if the account has trainer log reading enabled. */
            readonly trainerLogsSignedUrl?: string;
            /** @description Accelerator seconds used, keyed by accelerator type. Updated when the job completes or is cancelled. */
            readonly acceleratorSeconds?: components["schemas"]["AcceleratorSeconds"];
            /**
             * Format: int32
             * @description Maximum concurrent rollouts.
             */
            readonly maxConcurrentRollouts?: number;
            /**
             * Format: int32
             * @description Maximum concurrent evaluations.
             */
            readonly maxConcurrentEvaluations?: number;
            /** @description Scheduling purpose. */
            readonly purpose?: components["schemas"]["Purpose"];
            /** @description Whether to try the account's reserved capacity before falling back to shared trainer capacity. */
            readonly useReservation?: boolean;
            /** @description Stamped at creation from the account's encryption-key configuration and immutable afterwards. */
            readonly encryptionState?: components["schemas"]["EncryptionState"];
        };
        /**
         * @description Accelerator seconds used, keyed by accelerator type. Each value is a 64-bit integer in decimal
         *     digits, sent as a string because it may be larger than a JavaScript number can hold exactly.
         *
         *     Interface document: Resources and their fields / Reinforcement fine-tuning job.
         */
        readonly AcceleratorSeconds: {
            readonly [key: string]: string;
        };
        /**
         * @description Common training settings. Only one of `baseModel` and `warmStartFrom` may be given.
         *
         *     Interface document: Resources and their fields / BaseTrainingConfig.
         */
        readonly BaseTrainingConfig: {
            /** @description Model ID of the resulting model. The job ID is used when unset. */
            readonly outputModel?: string;
            /** @description Base model to fine-tune. Only one of `baseModel` or `warmStartFrom` may be given. */
            readonly baseModel?: string;
            /** @description Adapter model, in the service's own format, to continue from. Exclusive with `baseModel`. */
            readonly warmStartFrom?: string;
            /**
             * @deprecated
             * @description Deprecated: literal templates are unsupported by Training V2; rendering comes from the base model's registered renderer.
             */
            readonly jinjaTemplate?: string;
            /**
             * Format: float
             * @description Learning rate.
             */
            readonly learningRate?: number;
            /**
             * Format: int32
             * @description Maximum context length.
             */
            readonly maxContextLength?: number;
            /**
             * Format: int32
             * @description LoRA rank.
             */
            readonly loraRank?: number;
            /**
             * Format: int32
             * @description Epochs.
             */
            readonly epochs?: number;
            /**
             * Format: int32
             * @deprecated
             * @description Deprecated: legacy token budget; Training V2 batches by samples.
             */
            readonly batchSize?: number;
            /**
             * Format: int32
             * @deprecated
             * @description Deprecated: Training V2 rejects it when set.
             */
            readonly gradientAccumulationSteps?: number;
            /**
             * Format: int32
             * @description Warm-up steps.
             */
            readonly learningRateWarmupSteps?: number;
            /**
             * Format: int32
             * @description Samples per gradient batch.
             */
            readonly batchSizeSamples?: number;
            /**
             * Format: float
             * @description L2 weight decay.
             */
            readonly optimizerWeightDecay?: number;
            /** @description Trainer sharding scheme. */
            readonly trainerShardingScheme?: components["schemas"]["TrainerShardingScheme"];
            /**
             * Format: int32
             * @description LoRA alpha. Unset or 0 means trainer defaults.
             */
            readonly loraAlpha?: number;
            /**
             * Format: float
             * @description LoRA dropout.
             */
            readonly loraDropout?: number;
            /** @description Optional LoRA target module names. */
            readonly loraTargetModules?: readonly string[];
            /** @description Learning-rate scheduler. When unset, the legacy constant schedule is used. */
            readonly lrScheduler?: components["schemas"]["LearningRateScheduler"];
        };
        /**
         * @description Trainer sharding scheme.
         *
         *     Interface document: Resources and their fields / TrainerShardingScheme.
         */
        readonly TrainerShardingScheme: {
            /**
             * Format: int32
             * @description Tensor parallelism. 0 means unspecified (server default 1).
             */
            readonly tensorParallelism?: number;
            /**
             * Format: int32
             * @description Pipeline parallelism. 0 means unspecified (server default 1).
             */
            readonly pipelineParallelism?: number;
            /**
             * Format: int32
             * @description Context parallelism. 0 means unspecified (server default 1).
             */
            readonly contextParallelism?: number;
            /**
             * Format: int32
             * @description Expert parallelism. 0 means unspecified (server default 1).
             */
            readonly expertParallelism?: number;
            /** @description Enables sequence parallelism. */
            readonly sequenceParallelism?: boolean;
        };
        /**
         * @description The schedule applied after warm-up. Exactly one variant is set, and it selects the schedule; `{}`
         *     sets none. When the scheduler is unset, a constant schedule is used.
         *
         *     Interface document: Resources and their fields / LearningRateScheduler.
         */
        readonly LearningRateScheduler: {
            /** @description Flat rate after warm-up. */
            readonly constant?: components["schemas"]["ConstantSchedule"];
            /** @description Linear decay from the peak rate. */
            readonly linear?: components["schemas"]["LinearSchedule"];
            /** @description Cosine annealing from the peak rate. */
            readonly cosine?: components["schemas"]["CosineSchedule"];
        };
        /**
         * @description An object with no fields.
         *
         *     Interface document: Resources and their fields / LearningRateScheduler.
         */
        readonly ConstantSchedule: {
            readonly [key: string]: unknown;
        };
        /**
         * @description Linear decay from the peak rate.
         *
         *     Interface document: Resources and their fields / LearningRateScheduler.
         */
        readonly LinearSchedule: {
            /**
             * Format: float
             * @description Floor rate as a fraction of the peak rate (0.0 decays to zero; 0.1 decays to 10%).
             * @example 0.1
             */
            readonly minLrRatio?: number;
            /**
             * Format: float
             * @description Fraction of total steps over which to decay. 0 (unset) decays over the full run.
             * @example 0.9
             */
            readonly decayRatio?: number;
        };
        /**
         * @description Cosine annealing from the peak rate.
         *
         *     Interface document: Resources and their fields / LearningRateScheduler.
         */
        readonly CosineSchedule: {
            /**
             * Format: float
             * @description Floor rate as a fraction of the peak rate (0.0 decays to zero; 0.1 decays to 10%).
             * @example 0.1
             */
            readonly minLrRatio?: number;
            /**
             * Format: float
             * @description Fraction of total steps over which to decay. 0 (unset) decays over the full run.
             * @example 0.9
             */
            readonly decayRatio?: number;
        };
        /**
         * @description Experiment-tracking account for logging progress.
         *
         *     Interface document: Resources and their fields / TrackerConfig.
         */
        readonly TrackerConfig: {
            /** @description Enables tracking. */
            readonly enabled?: boolean;
            /**
             * @description Key of the tracking service.
             * @example <API_KEY>
             */
            readonly apiKey?: string;
            /** @description Project. */
            readonly project?: string;
            /** @description Entity. */
            readonly entity?: string;
            /** @description Run ID. */
            readonly runId?: string;
            /** @description URL. */
            readonly url?: string;
        };
        /**
         * @description Access settings for a dataset in one cloud object store.
         *
         *     Interface document: Resources and their fields / ObjectStorageAConfig.
         */
        readonly ObjectStorageAConfig: {
            /**
             * @description Reference to a secret resource, in the form `accounts/{account_id}/secrets/{secret_id}`. The secret value is a JSON object holding an access key id and a secret access key.
             * @example accounts/acme/secrets/object-store-a
             */
            readonly credentialsSecret?: string;
            /**
             * @description Role identifier (ARN format `arn:aws:iam::<account-id>:role/<role-name>`) assumed through identity federation.
             * @example arn:aws:iam::123456789012:role/dataset-reader
             */
            readonly iamRoleArn?: string;
        };
        /**
         * @description Access settings for a dataset in another cloud blob store. `credentialsSecret` and
         *     `managedIdentityClientId` exclude each other.
         *
         *     Interface document: Resources and their fields / ObjectStorageBConfig.
         */
        readonly ObjectStorageBConfig: {
            /**
             * @description Reference to a secret resource, in the form `accounts/{account_id}/secrets/{secret_id}`. The secret value is a JSON object holding exactly one of: connection_string, sas_token, account_key. Exclusive with `managedIdentityClientId`.
             * @example accounts/acme/secrets/blob-store-b
             */
            readonly credentialsSecret?: string;
            /**
             * Format: uuid
             * @description Managed identity client for workload identity federation. Exclusive with `credentialsSecret`.
             * @example 0f8fad5b-d9cb-469f-a165-70867728950e
             */
            readonly managedIdentityClientId?: string;
            /**
             * Format: uuid
             * @description Tenant ID for workload identity federation.
             * @example 7c9e6679-7425-40de-944b-e07fc1f90ae7
             */
            readonly tenantId?: string;
        };
        /**
         * @description Progress of a job. Read-only on the job.
         *
         *     Interface document: Resources and their fields / JobProgress.
         */
        readonly JobProgress: {
            /**
             * Format: int32
             * @description Percent, 0 to 100.
             */
            readonly percent?: number;
            /**
             * Format: int32
             * @description Epoch the percent refers to, usually starting from 0. Optional for jobs that do not run in epochs.
             */
            readonly epoch?: number;
            /**
             * Format: int32
             * @description Input requests/rows in the job.
             */
            readonly totalInputRequests?: number;
            /**
             * Format: int32
             * @description Requests processed, successfully or failed.
             */
            readonly totalProcessedRequests?: number;
            /**
             * Format: int32
             * @description Successfully processed requests.
             */
            readonly successfullyProcessedRequests?: number;
            /**
             * Format: int32
             * @description Failed requests.
             */
            readonly failedRequests?: number;
            /**
             * Format: int32
             * @description Output rows.
             */
            readonly outputRows?: number;
            /**
             * Format: int32
             * @description Input tokens.
             */
            readonly inputTokens?: number;
            /**
             * Format: int32
             * @description Output tokens.
             */
            readonly outputTokens?: number;
            /**
             * Format: int32
             * @description Input tokens that hit the prompt cache.
             */
            readonly cachedInputTokenCount?: number;
        };
        /**
         * @description Sampling parameters for rollouts.
         *
         *     Interface document: Resources and their fields / InferenceParameters.
         */
        readonly InferenceParameters: {
            /**
             * Format: int32
             * @description Maximum tokens per response.
             */
            readonly maxOutputTokens?: number;
            /**
             * Format: float
             * @description Temperature, typically 0 to 2.
             * @example 0.8
             */
            readonly temperature?: number;
            /**
             * Format: float
             * @description Top P, typically 0 to 1.
             * @example 0.95
             */
            readonly topP?: number;
            /**
             * Format: int32
             * @description Limits selection to the top k tokens.
             */
            readonly topK?: number;
            /**
             * Format: int32
             * @description Candidates per input. At least 2 are required.
             */
            readonly responseCandidatesCount?: number;
            /**
             * @description Additional inference parameters as a JSON string.
             * @example {"seed": 7}
             */
            readonly extraBody?: string;
        };
        /**
         * @description Loss method and hyperparameters.
         *
         *     Interface document: Resources and their fields / LossConfig.
         */
        readonly LossConfig: {
            /** @description Loss method. */
            readonly method?: components["schemas"]["LossMethod"];
            /**
             * Format: float
             * @description KL coefficient override for GRPO-like methods. Trainer default when unset.
             */
            readonly klBeta?: number;
            /** @description For method DPO. */
            readonly dpo?: components["schemas"]["DpoConfig"];
            /** @description For method ORPO. */
            readonly orpo?: components["schemas"]["OrpoConfig"];
        };
        /**
         * @description Hyperparameters for method DPO.
         *
         *     Interface document: Resources and their fields / LossConfig.
         */
        readonly DpoConfig: {
            /**
             * Format: float
             * @description Beta. Must be greater than 0 and less than 0.5.
             * @example 0.1
             */
            readonly beta?: number;
            /**
             * Format: int32
             * @description Maximum concurrent reference forward passes during cache warm-up.
             */
            readonly refCacheConcurrency?: number;
            /**
             * Format: int32
             * @description Preference pairs per reference forward call.
             */
            readonly refCacheBatchSize?: number;
        };
        /**
         * @description Hyperparameters for method ORPO.
         *
         *     Interface document: Resources and their fields / LossConfig.
         */
        readonly OrpoConfig: {
            /**
             * Format: float
             * @description Weight of the odds-ratio loss term.
             */
            readonly lambda?: number;
        };
        /**
         * @description A code and a message.
         *
         *     Interface document: Resources and their fields / Status.
         */
        readonly Status: {
            /** @description The code. */
            readonly code?: components["schemas"]["Code"];
            /** @description Developer-facing message in English. */
            readonly message?: string;
        };
        /**
         * @description Loss method.
         *
         *     Interface document: Resources and their fields / LossConfig.
         * @default METHOD_UNSPECIFIED
         * @enum {string}
         */
        readonly LossMethod: "METHOD_UNSPECIFIED" | "GRPO" | "DAPO" | "DPO" | "ORPO" | "GSPO_TOKEN";
        /**
         * @description Scheduling purpose of a job.
         *
         *     Interface document: Resources and their fields / Enumerations.
         * @default PURPOSE_UNSPECIFIED
         * @enum {string}
         */
        readonly Purpose: "PURPOSE_UNSPECIFIED" | "PURPOSE_PILOT";
        /**
         * @description How the artifacts of a job are stored.
         *
         *     Interface document: Resources and their fields / Enumerations.
         * @default ENCRYPTION_STATE_UNSPECIFIED
         * @enum {string}
         */
        readonly EncryptionState: "ENCRYPTION_STATE_UNSPECIFIED" | "ENCRYPTION_STATE_PLAINTEXT" | "ENCRYPTION_STATE_CMEK";
        /**
         * @description State of a job.
         *
         *     Interface document: States and transitions.
         * @default JOB_STATE_UNSPECIFIED
         * @enum {string}
         */
        readonly JobState: "JOB_STATE_UNSPECIFIED" | "JOB_STATE_CREATING" | "JOB_STATE_RUNNING" | "JOB_STATE_COMPLETED" | "JOB_STATE_FAILED" | "JOB_STATE_CANCELLED" | "JOB_STATE_DELETING" | "JOB_STATE_WRITING_RESULTS" | "JOB_STATE_VALIDATING" | "JOB_STATE_DELETING_CLEANING_UP" | "JOB_STATE_PENDING" | "JOB_STATE_EXPIRED" | "JOB_STATE_RE_QUEUEING" | "JOB_STATE_CREATING_INPUT_DATASET" | "JOB_STATE_IDLE" | "JOB_STATE_CANCELLING" | "JOB_STATE_EARLY_STOPPED" | "JOB_STATE_PAUSED" | "JOB_STATE_DELETED" | "JOB_STATE_ARCHIVED";
        /**
         * @description The code of an error, or OK. `x-http-statuses` gives the HTTP status that each code maps to.
         *
         *     Interface document: Errors.
         * @enum {string}
         */
        readonly Code: "OK" | "CANCELLED" | "UNKNOWN" | "INVALID_ARGUMENT" | "DEADLINE_EXCEEDED" | "NOT_FOUND" | "ALREADY_EXISTS" | "PERMISSION_DENIED" | "UNAUTHENTICATED" | "RESOURCE_EXHAUSTED" | "FAILED_PRECONDITION" | "ABORTED" | "OUT_OF_RANGE" | "UNIMPLEMENTED" | "INTERNAL" | "UNAVAILABLE" | "DATA_LOSS";
        /**
         * @description The body of an error response.
         *
         *     Interface document: Errors.
         */
        readonly ErrorBody: {
            readonly [key: string]: unknown;
        };
    };
    responses: {
        /** @description Bad request. The code is `INVALID_ARGUMENT`, `FAILED_PRECONDITION` or `OUT_OF_RANGE`. */
        readonly BadRequest: {
            headers: {
                readonly "x-request-id": components["headers"]["RequestId"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description The request has no valid credentials. The code is `UNAUTHENTICATED`. */
        readonly Unauthenticated: {
            headers: {
                readonly "x-request-id": components["headers"]["RequestId"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description The caller is authenticated but lacks permission. The code is `PERMISSION_DENIED`. */
        readonly PermissionDenied: {
            headers: {
                readonly "x-request-id": components["headers"]["RequestId"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description A requested entity was not found. The code is `NOT_FOUND`. */
        readonly NotFound: {
            headers: {
                readonly "x-request-id": components["headers"]["RequestId"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description A conflict. The code is `ALREADY_EXISTS` or `ABORTED`. */
        readonly Conflict: {
            headers: {
                readonly "x-request-id": components["headers"]["RequestId"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description A quota or resource is exhausted. The code is `RESOURCE_EXHAUSTED`. */
        readonly ResourceExhausted: {
            headers: {
                readonly "x-request-id": components["headers"]["RequestId"];
                readonly "Retry-After": components["headers"]["RetryAfter"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description The request was cancelled. The code is `CANCELLED`. */
        readonly Cancelled: {
            headers: {
                readonly "x-request-id": components["headers"]["RequestId"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description A failure of the service. The code is `UNKNOWN`, `INTERNAL` or `DATA_LOSS`. */
        readonly InternalServerError: {
            headers: {
                readonly "x-request-id": components["headers"]["RequestId"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description The operation is not implemented or not enabled. The code is `UNIMPLEMENTED`. */
        readonly Unimplemented: {
            headers: {
                readonly "x-request-id": components["headers"]["RequestId"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description The service is unavailable for the moment. The code is `UNAVAILABLE`. */
        readonly Unavailable: {
            headers: {
                readonly "x-request-id": components["headers"]["RequestId"];
                readonly "Retry-After": components["headers"]["RetryAfter"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description The deadline expired before completion. The code is `DEADLINE_EXCEEDED`. A state-changing operation may still have completed. */
        readonly DeadlineExceeded: {
            headers: {
                readonly "x-request-id": components["headers"]["RequestId"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description Any status that the table of codes does not list, for example one that a proxy sends. */
        readonly UnexpectedError: {
            headers: {
                readonly "x-request-id": components["headers"]["RequestId"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["ErrorBody"];
            };
        };
    };
    parameters: {
        /**
         * @description The account that the resource lives under.
         * @example acme
         */
        readonly AccountId: string;
        /**
         * @description The reinforcement fine-tuning job.
         * @example answer-quality
         */
        readonly ReinforcementFineTuningJobId: string;
        /**
         * @description The deployment.
         * @example support-search
         */
        readonly DeploymentId: string;
        /**
         * @description The dataset.
         * @example support-answers
         */
        readonly DatasetId: string;
    };
    requestBodies: never;
    headers: {
        /**
         * @description An id of the request, to quote when asking about it. The client reads `x-request-id`, else `request-id`.
         * @example req-5f3a9c1e
         */
        readonly RequestId: string;
        /**
         * @description How long to wait before the next try, as a number of seconds or an HTTP date.
         * @example 1
         */
        readonly RetryAfter: string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    readonly resumeReinforcementFineTuningJob: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description The account that the resource lives under.
                 * @example acme
                 */
                readonly account_id: components["parameters"]["AccountId"];
                /**
                 * @description The reinforcement fine-tuning job.
                 * @example answer-quality
                 */
                readonly reinforcement_fine_tuning_job_id: components["parameters"]["ReinforcementFineTuningJobId"];
            };
            readonly cookie?: never;
        };
        /** @description An object with no fields. */
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["ResumeReinforcementFineTuningJobRequest"];
            };
        };
        readonly responses: {
            /** @description The reinforcement fine-tuning job. */
            readonly 200: {
                headers: {
                    readonly "x-request-id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ReinforcementFineTuningJob"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthenticated"];
            readonly 403: components["responses"]["PermissionDenied"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 429: components["responses"]["ResourceExhausted"];
            readonly 499: components["responses"]["Cancelled"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 501: components["responses"]["Unimplemented"];
            readonly 503: components["responses"]["Unavailable"];
            readonly 504: components["responses"]["DeadlineExceeded"];
            readonly default: components["responses"]["UnexpectedError"];
        };
    };
    readonly rerankDocuments: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description The query, the documents and how to rank them. */
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["RerankRequest"];
            };
        };
        readonly responses: {
            /** @description The ranked documents. */
            readonly 200: {
                headers: {
                    readonly "x-request-id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["RerankResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthenticated"];
            readonly 403: components["responses"]["PermissionDenied"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 429: components["responses"]["ResourceExhausted"];
            readonly 499: components["responses"]["Cancelled"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 501: components["responses"]["Unimplemented"];
            readonly 503: components["responses"]["Unavailable"];
            readonly 504: components["responses"]["DeadlineExceeded"];
            readonly default: components["responses"]["UnexpectedError"];
        };
    };
    readonly scaleDeployment: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description The account that the resource lives under.
                 * @example acme
                 */
                readonly account_id: components["parameters"]["AccountId"];
                /**
                 * @description The deployment.
                 * @example support-search
                 */
                readonly deployment_id: components["parameters"]["DeploymentId"];
            };
            readonly cookie?: never;
        };
        /** @description The desired number of replicas. */
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["ScaleDeploymentRequest"];
            };
        };
        readonly responses: {
            /** @description An object with no fields. */
            readonly 200: {
                headers: {
                    readonly "x-request-id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ScaleDeploymentResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthenticated"];
            readonly 403: components["responses"]["PermissionDenied"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 429: components["responses"]["ResourceExhausted"];
            readonly 499: components["responses"]["Cancelled"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 501: components["responses"]["Unimplemented"];
            readonly 503: components["responses"]["Unavailable"];
            readonly 504: components["responses"]["DeadlineExceeded"];
            readonly default: components["responses"]["UnexpectedError"];
        };
    };
    readonly uploadDatasetFile: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description The account that the resource lives under.
                 * @example acme
                 */
                readonly account_id: components["parameters"]["AccountId"];
                /**
                 * @description The dataset.
                 * @example support-answers
                 */
                readonly dataset_id: components["parameters"]["DatasetId"];
            };
            readonly cookie?: never;
        };
        /** @description A multipart form with one part, `file`, that holds the content of the file. */
        readonly requestBody: {
            readonly content: {
                readonly "multipart/form-data": components["schemas"]["UploadDatasetFileRequest"];
            };
        };
        readonly responses: {
            /** @description What the service made of the file. */
            readonly 200: {
                headers: {
                    readonly "x-request-id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["UploadDatasetFileResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthenticated"];
            readonly 403: components["responses"]["PermissionDenied"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 429: components["responses"]["ResourceExhausted"];
            readonly 499: components["responses"]["Cancelled"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 501: components["responses"]["Unimplemented"];
            readonly 503: components["responses"]["Unavailable"];
            readonly 504: components["responses"]["DeadlineExceeded"];
            readonly default: components["responses"]["UnexpectedError"];
        };
    };
}
