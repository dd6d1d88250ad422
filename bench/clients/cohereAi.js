import { CohereClientV2 } from "cohere-ai";

export function open(baseUrl) {
  const client = new CohereClientV2({ token: "bench-key", baseUrl });
  return {
    rerank: ({ query, documents, model, top_n }) => client.rerank({ query, documents, model, topN: top_n }),
  };
}
