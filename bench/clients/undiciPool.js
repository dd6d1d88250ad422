// undici's Pool.request: what is below the package's own calls over a dispatcher.
import { Pool } from "undici";

export function open(baseUrl) {
  const pool = new Pool(baseUrl);
  return {
    async rerank(body) {
      const response = await pool.request({
        method: "POST",
        path: "/inference/v1/rerank",
        headers: { authorization: "Bearer bench-key", "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      return await response.body.json();
    },
  };
}
