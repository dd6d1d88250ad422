// What users write against each entry of the package; only checked, never run.
import { type Client, createClient, isStatusError, type RerankRequest, throwIfFailed } from "tunerank";
import { createRerankingModel } from "tunerank/ai-sdk";
import { type RerankAllResults, rerankAll } from "tunerank/bulk";
import { createDocumentCompressor } from "tunerank/langchain";
import { type OpenTelemetryApi, traceCalls } from "tunerank/opentelemetry";
import { mayRetry } from "tunerank/queues";
import { type Activities, type CallFailure, createActivities } from "tunerank/temporal";
import { rerankMany } from "tunerank/temporal/workflows";
import { createTestService } from "tunerank/testing";

const service = createTestService({ deployments: { prod: 1 } });
service.fail("rerank", { status: 503, code: "UNAVAILABLE", times: 2, retryAfter: 1 });
const client: Client = createClient({
  baseUrl: "https://api.example.com",
  apiKey: () => "key",
  fetch: service.fetch,
});
const body: RerankRequest = { query: "q", documents: ["d"], top_n: 1 };

export async function use(): Promise<number> {
  try {
    const { data, attempts } = await client.rerank(body, { timeoutMs: 5_000 }).withResponse();
    const items = await client.rerank.items("q", [{ text: "a" }], { text: (item) => item.text, topN: 1 });
    throwIfFailed(await client.reinforcementFineTuningJobs.resume("job-1"));
    await client.deployments.scale("prod", attempts.length);
    const { bytes } = await client.datasets.upload("reviews", new Uint8Array([1]), { name: "f" });
    return (data.data[0]?.relevance_score ?? 0) + bytes + (items[0]?.item.text.length ?? 0);
  } catch (error) {
    if (isStatusError(error, "NOT_FOUND")) return error.httpStatus ?? 0;
    throw error;
  }
}

export async function useMore(api: OpenTelemetryApi): Promise<string> {
  const stop = traceCalls(api, { attempts: false });
  const { name } = await client.request<{ name: string }>({
    method: "GET",
    path: "/v1/accounts/a/datasets/d",
  });
  stop();
  return name;
}

export const model: { readonly specificationVersion: "v3" } = createRerankingModel(
  client,
  "accounts/a/models/m",
);
export const newer: { readonly specificationVersion: "v4" } = createRerankingModel(
  client,
  "accounts/a/models/m",
  {
    specificationVersion: "v4",
  },
);
export const compressed: Promise<{ pageContent: string; metadata: object }[]> = createDocumentCompressor(
  client,
).compressDocuments([{ pageContent: "a", metadata: {} }], "q");
export const activities: Activities = createActivities(client, {
  readChunk: (n, list = "") => [{ id: `${list}-${n}`, query: "q", documents: ["d"] }],
  writePart: (_chunk, _part, rows) => void rows.map(({ error }) => error?.executed),
  readParts: () => [],
});
export const results: RerankAllResults<number> = rerankAll(client, [{ ...body, id: 1 }], { maxPauseMs: 0 });
export async function bulk(error: unknown): Promise<CallFailure["executed"] | number> {
  if (!mayRetry(error)) return "unknown";
  const { ranked } = await rerankMany({ chunks: 3, reference: "nightly" });
  return ranked;
}
