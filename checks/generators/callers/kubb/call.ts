// Calls the client that Kubb made.
import { openAsBlob } from "node:fs";
import { basename } from "node:path";
import { isAxiosError } from "axios";
import {
  rerankDocuments,
  resumeReinforcementFineTuningJob,
  scaleDeployment,
  uploadDatasetFile,
} from "./client/index.ts";

const {
  TUNERANK_BASE_URL = "",
  TUNERANK_API_KEY = "",
  TUNERANK_FILE = "",
  TUNERANK_JOBS = "",
  TUNERANK_ERRORS = "",
} = process.env;
const options = { baseURL: TUNERANK_BASE_URL, headers: { authorization: `Bearer ${TUNERANK_API_KEY}` } };

async function resume(id: string) {
  const job = await resumeReinforcementFineTuningJob("acme", id, {}, options);
  return {
    state: job.state ?? null,
    code: job.status?.code ?? null,
    percent: job.jobProgress?.percent ?? null,
    displayName: job.displayName ?? null,
    minLrRatio: job.trainingConfig?.lrScheduler?.cosine?.minLrRatio ?? null,
    acceleratorSeconds: job.acceleratorSeconds?.["accelerator-type-a"] ?? null,
  };
}

async function fail(id: string) {
  try {
    await scaleDeployment("acme", id, { replicaCount: 0 }, options);
  } catch (error) {
    if (isAxiosError(error)) return { status: error.response?.status, code: error.response?.data?.code };
    throw error;
  }
  throw new Error(`not refused: ${id}`);
}

const resumed = await resume("answer-quality");
const ranked = await rerankDocuments(
  {
    query: "capital of France",
    documents: ["Rome.", "Lyon.", "Paris."],
    model: "accounts/acme/models/reranker-small",
    top_n: 3,
    return_documents: true,
    task: "Find the capital.",
  },
  options,
);
const best = ranked.data[0];
const scaled = await scaleDeployment("acme", "support-search", { replicaCount: 2 }, options);
const file = new File([await openAsBlob(TUNERANK_FILE)], basename(TUNERANK_FILE));
const stored = await uploadDatasetFile("acme", "support-answers", { file }, options);
const missing = await fail("missing");
const jobs: Record<string, unknown> = {};
for (const id of TUNERANK_JOBS.split(",")) {
  jobs[id] = await resume(id).catch((reason: unknown) => ({ failed: String(reason) }));
}
const errors: unknown[] = [];
for (let row = 0; row < Number(TUNERANK_ERRORS); row++) {
  errors.push(await fail(`error-${row}`).then(({ status }) => status, String));
}

console.log(
  JSON.stringify({
    resume: resumed,
    rerank: { index: best?.index, relevanceScore: best?.relevance_score, document: best?.document },
    scale: scaled,
    upload: { filename: stored.filename, bytes: stored.bytes },
    error: missing,
    jobs,
    errors,
  }),
);
