import Together from "together-ai";

export function open(baseUrl) {
  const client = new Together({ apiKey: "bench-key", baseURL: baseUrl });
  return { rerank: (body) => client.rerank.create(body) };
}
