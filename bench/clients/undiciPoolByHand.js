// undici's Pool.request, with gzip, errors and retries written by hand.
import { gunzipSync } from "node:zlib";
import { Pool } from "undici";
import { byHand, headers, path } from "./byHand.js";

export function open(baseUrl, options) {
  const pool = new Pool(baseUrl, options);
  const sent = { ...headers, "accept-encoding": "gzip" };
  return {
    rerank: byHand(async (body) => {
      const {
        statusCode,
        headers: received,
        body: response,
      } = await pool.request({
        method: "POST",
        path,
        headers: sent,
        body,
      });
      const isGzip = received["content-encoding"] === "gzip";
      const value = isGzip ? JSON.parse(gunzipSync(await response.bytes())) : await response.json();
      return { status: statusCode, value };
    }),
  };
}
