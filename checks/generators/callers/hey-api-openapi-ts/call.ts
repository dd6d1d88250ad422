// Calls the client that @hey-api/openapi-ts made.
import { openAsBlob } from "node:fs";
import { basename } from "node:path";
import { client } from "./client/client.gen.js";
import {
  rerankDocuments,
  resumeReinforcementFineTuningJob,
  scaleDeployment,
  uploadDatasetFile,
} from "./client/sdk.gen.js";

const {
  TUNERANK_BASE_URL = "",
  TUNERANK_API_KEY = "",
  TUNERANK_FILE = "",
  TUNERANK_JOBS = "",
  TUNERANK_ERRORS = "",
} = process.env;
client.setConfig({ baseUrl: TUNERANK_BASE_URL, auth: TUNERANK_API_KEY });

async function resume(id: string) {
  const { data: job } = await resumeReinforcementFineTuningJob({
    throwOnError: true,
    path: { account_id: "acme", reinforcement_fine_tuning_job_id: id },
    body: {},
  });
  return {
    state: job.state ?? null,
    code: job.status?.code ?? null,
    percent: job.jobProgress?.percent ?? null,
    displayName: job.displayName ?? null,
    minLrRatio: job.trainingConfig?.lrScheduler?.cosine?.minLrRatio ?? null,
    acceleratorSeconds: job.acceleratorSeconds?.["accelerator-type-a"] ?? null,
  };
}

async function scale(id: string, replicaCount: number) {
  return await scaleDeployment({ path: { account_id: "acme", deployment_id: id }, body: { replicaCount } });
}

const resumed = await resume("answer-quality");
const { data: ranked } = await rerankDocuments({
  throwOnError: true,
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
const { data: scaled } = await scale("support-search", 2);
const { data: stored } = await uploadDatasetFile({
  throwOnError: true,
  path: { account_id: "acme", dataset_id: "support-answers" },
  body: { file: new File([await openAsBlob(TUNERANK_FILE)], basename(TUNERANK_FILE)) },
});
const { error, response } = await scale("missing", 0);
const jobs: Record<string, unknown> = {};
for (const id of TUNERANK_JOBS.split(",")) {
  jobs[id] = await resume(id).catch((reason: unknown) => ({ failed: String(reason) }));
}
const errors: unknown[] = [];
for (let row = 0; row < Number(TUNERANK_ERRORS); row++) {
  errors.push(await scale(`error-${row}`, 0).then(({ response }) => response?.status, String));
}

console.log(
  JSON.stringify({
    resume: resumed,
    rerank: { index: best?.index, relevanceScore: best?.relevance_score, document: best?.document },
    scale: scaled,
    upload: { filename: stored.filename, bytes: stored.bytes },
    error: { status: response?.status, code: (error as { code?: string }).code },
    jobs,
    errors,
  }),
);
