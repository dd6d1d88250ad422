import { createClient } from "tunerank";
import { createTestService } from "tunerank/testing";

Deno.test("a busy service is asked again", async () => {
  const service = createTestService();
  const client = createClient({ baseUrl: "https://test.example", apiKey: "key", fetch: service.fetch });
  service.fail("rerank", { code: "UNAVAILABLE", retryAfter: 0 });
  const { data } = await client.rerank({ query: "Paris", documents: ["Rome", "Paris"] });
  if (data[0]?.index !== 1 || service.requests.length !== 2) throw new Error("It was not asked again.");
});
