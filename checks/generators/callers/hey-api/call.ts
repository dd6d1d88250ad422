// Calls the client that @hey-api/openapi-ts made.
import { openAsBlob } from "node:fs";
import { basename } from "node:path";
import { createClient } from "./service/client/index.js";
import {
  rerankDocuments,
  resumeReinforcementFineTuningJob,
  scaleDeployment,
  uploadDatasetFile,
} from "./service/sdk.gen.js";

const { TUNERANK_BASE_URL = "", TUNERANK_API_KEY = "", TUNERANK_FILE = "" } = process.env;
const client = createClient({ baseUrl: TUNERANK_BASE_URL, auth: TUNERANK_API_KEY });
const throwing = { client, throwOnError: true } as const;

const { data: job } = await resumeReinforcementFineTuningJob({
  ...throwing,
  path: { account_id: "acme", reinforcement_fine_tuning_job_id: "answer-quality" },
  body: {},
});
const { data: ranked } = await rerankDocuments({
  ...throwing,
  body: {
    query: "capital of France",
    documents: ["Rome.", "Lyon.", "Paris."],
    model: "accounts/acme/models/reranker-small",
    top_n: 3,
    return_documents: true,
    task: "Find the capital.",
  },
});
const best = ranked.data[0];
const { data: scaled } = await scaleDeployment({
  ...throwing,
  path: { account_id: "acme", deployment_id: "support-search" },
  body: { replicaCount: 2 },
});
const { data: stored } = await uploadDatasetFile({
  ...throwing,
  path: { account_id: "acme", dataset_id: "support-answers" },
  body: { file: new File([await openAsBlob(TUNERANK_FILE)], basename(TUNERANK_FILE)) },
});
const { error, response } = await scaleDeployment({
  client,
  path: { account_id: "acme", deployment_id: "missing" },
  body: { replicaCount: 0 },
});

console.log(
  JSON.stringify({
    resume: {
      state: job.state,
      acceleratorSeconds: job.acceleratorSeconds?.["accelerator-type-a"],
      minLrRatio: job.trainingConfig?.lrScheduler?.cosine?.minLrRatio,
    },
    rerank: { index: best?.index, relevanceScore: best?.relevance_score, document: best?.document },
    scale: scaled,
    upload: { filename: stored.filename, bytes: stored.bytes },
    error: { status: response?.status, code: error?.code },
  }),
);
