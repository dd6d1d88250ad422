import { type Client, createClient } from "tunerank";
import { createTestService } from "tunerank/testing";
import { beforeEach, expect, test } from "vitest";

// Your code. It is given the client, and so a test's own.
async function bestArticle(client: Client, query: string) {
  const articles = ["Invoices are PDF files.", "Reset your password."];
  const options = { text: String, topN: 1 };
  const [best] = await client.rerank.items(query, articles, options);
  return best?.item;
}

const service = createTestService();
const client = createClient({
  baseUrl: "https://service.test",
  apiKey: "test-key",
  fetch: service.fetch,
});

beforeEach(() => service.reset());

test("finds the article that the words are in", async () => {
  expect(await bestArticle(client, "password")).toBe(
    "Reset your password.",
  );
  expect(service.requests.map(({ path }) => path)).toEqual([
    "/inference/v1/rerank",
  ]);
});

test("hands on what the service refuses", async () => {
  service.fail("rerank", { code: "PERMISSION_DENIED" });
  await expect(bestArticle(client, "password")).rejects.toMatchObject({
    code: "PERMISSION_DENIED",
    executed: "no",
  });
});
