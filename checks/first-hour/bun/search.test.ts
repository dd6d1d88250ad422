import { expect, test } from "bun:test";
import { createClient } from "tunerank";
import { createTestService } from "tunerank/testing";

test("a busy service is asked again", async () => {
  const service = createTestService();
  const client = createClient({ baseUrl: "https://test.example", apiKey: "key", fetch: service.fetch });
  service.fail("rerank", { code: "UNAVAILABLE", retryAfter: 0 });
  const { data } = await client.rerank({ query: "Paris", documents: ["Rome", "Paris"] });
  expect(data[0]?.index).toBe(1);
  expect(service.requests.length).toBe(2);
});
