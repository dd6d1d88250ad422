// Generated from openapi.yaml by `npm run generate`: do not edit.

import type { OperationId } from "./contract.js";

/** The first example of each operation's valid response; one without a body has neither type nor value. */
export const examples: Readonly<
  Record<OperationId, { readonly status: number; readonly contentType?: string; readonly value?: unknown }>
> = {
  resumeReinforcementFineTuningJob: {"status":200,"contentType":"application/json","value":{"name":"accounts/acme/reinforcementFineTuningJobs/answer-quality","displayName":"Answer quality, second run","createTime":"2026-03-02T09:15:00Z","dataset":"accounts/acme/datasets/support-answers","evalAutoCarveout":true,"state":"JOB_STATE_RUNNING","status":{"code":"OK","message":"The job is running."},"createdBy":"ada@example.com","trainingConfig":{"outputModel":"support-answers-v2","baseModel":"accounts/acme/models/base-8b","learningRate":0.0001,"maxContextLength":8192,"loraRank":16,"epochs":2,"batchSizeSamples":32,"lrScheduler":{"cosine":{"minLrRatio":0.1,"decayRatio":0.9}}},"evaluator":"accounts/acme/evaluators/answer-grader","jobProgress":{"percent":40,"epoch":0,"totalInputRequests":1200,"totalProcessedRequests":480,"successfullyProcessedRequests":477,"failedRequests":3,"outputRows":477,"inputTokens":412800,"outputTokens":96250,"cachedInputTokenCount":208400},"chunkSize":200,"maxInferenceReplicaCount":1,"nodeCount":1,"lossConfig":{"method":"GRPO","klBeta":0.02}}},
  rerankDocuments: {"status":200,"contentType":"application/json","value":{"object":"list","model":"accounts/acme/models/reranker-small","data":[{"index":2,"relevance_score":0.962,"document":"If you forgot your password, choose Reset on the sign-in page."},{"index":4,"relevance_score":0.718,"document":"A reset link is valid for thirty minutes; ask for a new one after that."},{"index":1,"relevance_score":0.305,"document":"A password needs twelve characters and must differ from your last five."}],"usage":{"prompt_tokens":131,"total_tokens":131}}},
  scaleDeployment: {"status":200,"contentType":"application/json","value":{}},
  uploadDatasetFile: {"status":200,"contentType":"application/json","value":{"id":"file-7d1f9a","object":"file","bytes":131,"created_at":1772442900,"filename":"train.jsonl","purpose":"fine-tune"}},
};
