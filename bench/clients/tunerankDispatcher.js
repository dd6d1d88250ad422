// The package as built, over a Pool of undici.
import { Pool } from "undici";

const { createClient } = await import(process.env.TUNERANK_BENCH_ENTRY ?? "../../dist/index.js");

export function open(baseUrl, options) {
  const dispatcher = new Pool(baseUrl, options);
  const client = createClient({ baseUrl, apiKey: "bench-key", accountId: "bench", dispatcher });
  return {
    rerank: (body, options) => client.rerank(body, options),
    upload: (path, options) => client.datasets.upload("bench", path, options),
  };
}
