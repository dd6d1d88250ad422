import assert from "node:assert/strict";
import { test } from "node:test";
import { createClient } from "tunerank";
import { createTestService } from "tunerank/testing";

test("a busy service is asked again", async () => {
  const service = createTestService();
  const client = createClient({ baseUrl: "https://test.example", apiKey: "key", fetch: service.fetch });
  service.fail("rerank", { code: "UNAVAILABLE", retryAfter: 0 });
  const { data } = await client.rerank({ query: "Paris", documents: ["Rome", "Paris"] });
  assert.equal(data[0].index, 1);
  assert.equal(service.requests.length, 2);
});
