// The floor: node:http with a keep-alive agent, and nothing around it.
import http from "node:http";
import { buffer } from "node:stream/consumers";

const documents: readonly string[] = ["a", "b", "c", "d"].map((name) => `${name}: ${"text ".repeat(14)}`);

/** A function that makes one rerank call; no fault is put in its way. */
export function openBareHttp(baseUrl: string): () => Promise<unknown> {
  const agent = new http.Agent({ keepAlive: true });
  const { hostname, port } = new URL(baseUrl);
  return () =>
    new Promise((resolve, reject) => {
      const bytes = Buffer.from(JSON.stringify({ query: "bare", documents }));
      const headers = { "content-type": "application/json", "content-length": bytes.byteLength };
      const options = { hostname, port, agent, headers, method: "POST", path: "/inference/v1/rerank" };
      const request = http.request(options, (response) => {
        buffer(response).then((body) => resolve(JSON.parse(body.toString())), reject);
      });
      request.on("error", reject).end(bytes);
    });
}
