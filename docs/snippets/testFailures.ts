import assert from "node:assert/strict";
import { createClient } from "tunerank";
import { createTestService } from "tunerank/testing";

const service = createTestService();
const client = createClient({
  baseUrl: "https://service.test",
  apiKey: "test-key",
  accountId: "acme",
  fetch: service.fetch,
});

// The service is busy twice: rerank is sent three times.
service.fail("rerank", { code: "UNAVAILABLE", times: 2 });
await client.rerank({ query: "q", documents: ["d"] });
assert.equal(service.requests.length, 3);

// A proxy says 502: an upload may have happened, and is not sent again.
service.fail("upload", { status: 502 });
const upload = client.datasets.upload("reviews", new Blob(["{}\n"]), {
  name: "train.jsonl",
});
await assert.rejects(upload, { code: "UNAVAILABLE", executed: "unknown" });
assert.equal(service.requests.length, 4);

// A good answer of your own, until service.reset().
service.answer("rerank", { object: "list", model: "mine", data: [] });
const { model } = await client.rerank({ query: "q", documents: ["d"] });
assert.equal(model, "mine");
