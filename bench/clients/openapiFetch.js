// openapi-fetch over Node's own fetch.
import createClient from "openapi-fetch";

export function open(baseUrl) {
  const client = createClient({ baseUrl, headers: { authorization: "Bearer bench-key" } });
  return {
    async rerank(body) {
      const { data, response } = await client.POST("/inference/v1/rerank", { body });
      if (!response.ok) throw new Error(`HTTP ${response.status}`);
      return data;
    },
  };
}
