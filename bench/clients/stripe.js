// stripe has no rerank: its raw request is used, on a path it sends JSON to.
import Stripe from "stripe";

export function open(baseUrl) {
  const { hostname, port } = new URL(baseUrl);
  const client = new Stripe("sk_test_bench", { host: hostname, port, protocol: "http", telemetry: false });
  return { rerank: (body) => client.rawRequest("POST", "/v2/rerank", body) };
}
