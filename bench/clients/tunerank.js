// The package as built, through its public API only.
const { createClient } = await import(process.env.TUNERANK_BENCH_ENTRY ?? "../../dist/index.js");

export function open(baseUrl) {
  const client = createClient({ baseUrl, apiKey: "bench-key", accountId: "bench" });
  return {
    rerank: (body, options) => client.rerank(body, options),
    rerankItems: (...given) => client.rerank.items(...given),
    upload: (path, options) => client.datasets.upload("bench", path, options),
  };
}
