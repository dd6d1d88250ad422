// Calls the client that swagger-typescript-api made. It takes ":resume" and the like for a parameter of the path.
import { openAsBlob } from "node:fs";
import { basename } from "node:path";
import { Api } from "./client/Api.js";

const {
  TUNERANK_BASE_URL = "",
  TUNERANK_API_KEY = "",
  TUNERANK_FILE = "",
  TUNERANK_JOBS = "",
  TUNERANK_ERRORS = "",
} = process.env;
const headers = { authorization: `Bearer ${TUNERANK_API_KEY}` };
const { v1, inference } = new Api({ baseUrl: TUNERANK_BASE_URL, baseApiParams: { headers } });

async function resume(id: string) {
  const { data: job } = await v1.resumeReinforcementFineTuningJob("acme", id, ":resume", {});
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
    await v1.scaleDeployment("acme", id, ":scale", { replicaCount: 0 });
  } catch (error) {
    // What it throws is the answer of fetch, with the body in `error` where that is JSON.
    if (error instanceof Response) return { status: error.status, code: Object(Object(error).error).code };
    throw error;
  }
  throw new Error(`not refused: ${id}`);
}

const resumed = await resume("answer-quality");
const { data: ranked } = await inference.rerankDocuments({
  query: "capital of France",
  documents: ["Rome.", "Lyon.", "Paris."],
  model: "accounts/acme/models/reranker-small",
  top_n: 3,
  return_documents: true,
  task: "Find the capital.",
});
const best = ranked.data[0];
const { data: scaled } = await v1.scaleDeployment("acme", "support-search", ":scale", { replicaCount: 2 });
const file = new File([await openAsBlob(TUNERANK_FILE)], basename(TUNERANK_FILE));
const { data: stored } = await v1.uploadDatasetFile("acme", "support-answers", ":upload", { file });
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
