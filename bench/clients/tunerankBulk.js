// rerankAll of the package as built.
const entry = process.env.TUNERANK_BENCH_ENTRY;
const { rerankAll } = await import(entry ? new URL("bulk/index.js", entry) : "../../dist/bulk/index.js");
const { createClient } = await import(entry ?? "../../dist/index.js");

export function openBulk(baseUrl, dispatcher) {
  const client = createClient({ baseUrl, apiKey: "bench-key", accountId: "bench", dispatcher });
  return (requests, options) => rerankAll(client, requests, options);
}
