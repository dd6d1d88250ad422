import { createClient, isStatusError } from "../../../src/index.js";
import type { Operation } from "./tool.js";

/** What a caller understood of each answer, and of the one failure. */
export type Readings = Readonly<Record<Operation | "error", unknown>>;

/** The calls that every caller makes, made by our own client: the others are compared with these. */
export async function makeOwnCalls(env: Readonly<Record<string, string>>): Promise<Readings> {
  const { TUNERANK_BASE_URL: baseUrl = "", TUNERANK_API_KEY: apiKey = "", TUNERANK_FILE: file = "" } = env;
  await using client = createClient({ baseUrl, apiKey, accountId: "acme", maxRetries: 0 });
  const job = await client.reinforcementFineTuningJobs.resume("answer-quality");
  const ranked = await client.rerank({
    query: "capital of France",
    documents: ["Rome.", "Lyon.", "Paris."],
    model: "accounts/acme/models/reranker-small",
    top_n: 3,
    return_documents: true,
    task: "Find the capital.",
  });
  await client.deployments.scale("support-search", 2);
  const stored = await client.datasets.upload("support-answers", file);
  const error = await client.deployments.scale("missing", 0).catch((reason: unknown) => reason);
  if (!isStatusError(error)) throw new Error("The mock did not refuse.", { cause: error });
  const [best] = ranked.data;
  return {
    resume: {
      state: job.state,
      acceleratorSeconds: job.acceleratorSeconds?.["accelerator-type-a"],
      minLrRatio: job.trainingConfig?.lrScheduler?.cosine?.minLrRatio,
    },
    rerank: { index: best?.index, relevanceScore: best?.relevance_score, document: best?.document },
    scale: {},
    upload: { filename: stored.filename, bytes: stored.bytes },
    error: { status: error.httpStatus, code: error.code },
  };
}
