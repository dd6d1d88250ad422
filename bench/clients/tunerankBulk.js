// rerankAll of the package as built.
import { pathToFileURL } from "node:url";

const entry = process.env.TUNERANK_BENCH_ENTRY;
const dist = entry ? pathToFileURL(entry) : new URL("../../dist/index.js", import.meta.url);
const { rerankAll } = await import(new URL("bulk/index.js", dist));
const { createClient } = await import(dist);

export function openBulk(baseUrl, dispatcher) {
  const client = createClient({ baseUrl, apiKey: "bench-key", accountId: "bench", dispatcher });
  return (requests, options) => rerankAll(client, requests, options);
}
