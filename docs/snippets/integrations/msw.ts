import assert from "node:assert/strict";
import { HttpResponse, http } from "msw";
import { setupServer } from "msw/node";
import { createClient } from "tunerank";

const url = "https://service.test";
const server = setupServer(
  http.post(`${url}/inference/v1/rerank`, () =>
    HttpResponse.json({
      object: "list",
      model: "reranker",
      data: [{ index: 1, relevance_score: 0.9 }],
      usage: { prompt_tokens: 7, total_tokens: 7 },
    }),
  ),
  // MSW reads ":scale" as a parameter of its own, so it is looked at here.
  http.patch(`${url}/v1/accounts/acme/deployments/:last`, ({ params }) => {
    if (params.last === "prod:scale") return HttpResponse.json({});
    return HttpResponse.json({ code: "NOT_FOUND" }, { status: 404 });
  }),
  http.post(
    `${url}/v1/accounts/acme/datasets/:last`,
    async ({ request }) => {
      const file = (await request.formData()).get("file") as File;
      const { size: bytes, name: filename } = file;
      return HttpResponse.json({ id: "file-1", bytes, filename });
    },
  ),
);
server.listen({ onUnhandledFrame: "error" }); // MSW 2: onUnhandledRequest

const client = createClient({
  baseUrl: url,
  apiKey: "test-key",
  accountId: "acme",
});
const { data } = await client.rerank({ query: "q", documents: ["a", "b"] });
assert.equal(data[0]?.index, 1);

await client.deployments.scale("prod", 0);
await assert.rejects(client.deployments.scale("missing", 0), {
  code: "NOT_FOUND",
});

const file = new Blob(["{}\n"]);
const stored = await client.datasets.upload("reviews", file, {
  name: "train.jsonl",
});
assert.equal(stored.bytes, 3);
server.close();
