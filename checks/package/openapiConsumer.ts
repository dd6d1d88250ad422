// What users write against tunerank/openapi-fetch, which needs the types of `fetch`; only checked, never run.
import { createClient } from "tunerank";
import { createOpenapiClient, type paths } from "tunerank/openapi-fetch";

const api = createOpenapiClient<paths>(createClient());

export async function use(): Promise<number> {
  const body = { query: "q", documents: ["d"] };
  const { data, error } = await api.POST("/inference/v1/rerank", { body, timeoutMs: 5_000 });
  if (error) throw new Error(error.code);
  // @ts-expect-error: the contract has no such operation
  await api.GET("/inference/v1/rerank", {});
  return data.usage.total_tokens;
}
