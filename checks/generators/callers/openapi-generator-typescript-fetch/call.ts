// Calls the client that openapi-generator made.
import { openAsBlob } from "node:fs";
import { basename } from "node:path";
import {
  Configuration,
  DatasetsApi,
  DeploymentsApi,
  ReinforcementFineTuningJobsApi,
  RerankApi,
  ResponseError,
} from "./client";

const {
  TUNERANK_BASE_URL = "",
  TUNERANK_API_KEY = "",
  TUNERANK_FILE = "",
  TUNERANK_JOBS = "",
  TUNERANK_ERRORS = "",
} = process.env;
const configuration = new Configuration({ basePath: TUNERANK_BASE_URL, accessToken: TUNERANK_API_KEY });
const deployments = new DeploymentsApi(configuration);

async function resume(id: string) {
  const api = new ReinforcementFineTuningJobsApi(configuration);
  const job = await api.resumeReinforcementFineTuningJob({
    accountId: "acme",
    reinforcementFineTuningJobId: id,
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

async function scale(deploymentId: string, replicaCount: number) {
  return await deployments.scaleDeployment({
    accountId: "acme",
    deploymentId,
    deploymentScale: { replicaCount },
  });
}

async function fail(id: string) {
  try {
    await scale(id, 0);
  } catch (error) {
    if (error instanceof ResponseError) return error.response;
    throw error;
  }
  throw new Error(`not refused: ${id}`);
}

async function main() {
  const resumed = await resume("answer-quality");
  const ranked = await new RerankApi(configuration).rerankDocuments({
    rerankRequest: {
      query: "capital of France",
      documents: ["Rome.", "Lyon.", "Paris."],
      model: "accounts/acme/models/reranker-small",
      topN: 3,
      returnDocuments: true,
      task: "Find the capital.",
    },
  });
  const best = ranked.data[0];
  const scaled = await scale("support-search", 2);
  const file = new File([await openAsBlob(TUNERANK_FILE)], basename(TUNERANK_FILE));
  const stored = await new DatasetsApi(configuration).uploadDatasetFile({
    accountId: "acme",
    datasetId: "support-answers",
    file,
  });
  const missing = await fail("missing");
  const jobs: Record<string, unknown> = {};
  for (const id of TUNERANK_JOBS.split(",")) {
    jobs[id] = await resume(id).catch((reason: unknown) => ({ failed: String(reason) }));
  }
  const errors: unknown[] = [];
  for (let row = 0; row < Number(TUNERANK_ERRORS); row++) {
    errors.push(await fail(`error-${row}`).then(({ status }) => status, String));
  }
  const { code } = (await missing.json()) as { code?: string };
  console.log(
    JSON.stringify({
      resume: resumed,
      rerank: { index: best?.index, relevanceScore: best?.relevanceScore, document: best?.document },
      scale: scaled,
      upload: { filename: stored.filename, bytes: stored.bytes },
      error: { status: missing.status, code },
      jobs,
      errors,
    }),
  );
}

void main();
