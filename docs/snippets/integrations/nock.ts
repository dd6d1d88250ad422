import assert from "node:assert/strict";
import nock from "nock";
import { createClient } from "tunerank";

nock.disableNetConnect();
const service = nock("https://service.test", {
  reqheaders: { authorization: "Bearer test-key" },
});
service
  .post("/inference/v1/rerank", { query: "q", documents: ["a", "b"] })
  .reply(200, { data: [{ index: 1, relevance_score: 0.9 }] });
service
  .patch("/v1/accounts/acme/deployments/missing:scale")
  .reply(404, { code: "NOT_FOUND" });
service
  .post("/v1/accounts/acme/datasets/reviews:upload", /"train\.jsonl"/)
  .reply(200, { id: "file-1", bytes: 3 });

const client = createClient({
  baseUrl: "https://service.test",
  apiKey: "test-key",
  accountId: "acme",
});
const { data } = await client.rerank({ query: "q", documents: ["a", "b"] });
assert.equal(data[0]?.index, 1);

await assert.rejects(client.deployments.scale("missing", 0), {
  code: "NOT_FOUND",
});

const file = new Blob(["{}\n"]);
const stored = await client.datasets.upload("reviews", file, {
  name: "train.jsonl",
});
assert.equal(stored.bytes, 3);
assert.ok(service.isDone());
