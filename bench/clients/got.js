import got from "got";

export function open(baseUrl) {
  const client = got.extend({ prefixUrl: baseUrl, headers: { authorization: "Bearer bench-key" } });
  return { rerank: (json) => client.post("inference/v1/rerank", { json }).json() };
}
