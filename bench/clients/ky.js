import ky from "ky";

export function open(baseUrl) {
  const client = ky.create({ prefixUrl: baseUrl, headers: { authorization: "Bearer bench-key" } });
  return { rerank: (json) => client.post("inference/v1/rerank", { json }).json() };
}
