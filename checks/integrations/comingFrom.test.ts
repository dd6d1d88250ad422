import assert from "node:assert/strict";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";
import { runProgram } from "./support/program.ts";
import { firstBody, server, service } from "./support/service.ts";

const page = await readFile(new URL("../../docs/guide/coming-from.md", import.meta.url), "utf8");

// Responds as the other services do, and keeps what they were asked.
const asked: { path: string | undefined; body: Readonly<Record<string, unknown>> }[] = [];
const others = createServer(async (request, response) => {
  let body = "";
  for await (const chunk of request) body += chunk;
  asked.push({ path: request.url, body: JSON.parse(body) });
  const ranked = [{ index: 1, relevance_score: 0.9, document: { text: "Paris is the capital of France." } }];
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ id: "1", results: ranked, data: ranked, usage: { total_tokens: 9 } }));
}).listen(0, "127.0.0.1");
await once(others, "listening");
const RERANK_URL = `http://127.0.0.1:${(others.address() as AddressInfo).port}`;
after(() => others.close());

const parts: readonly [title: string, name: string, path: string, printed: string][] = [
  ["cohere-ai", "cohere", "/v2/rerank", "Paris is the capital of France. true\n"],
  ["together-ai", "together", "/rerank", "Paris\n"],
  ["voyageai", "voyage", "/rerank", "Paris is the capital of France. true\n"],
  ["Jina", "jina", "/v1/rerank", "Paris is the capital of France.\n"],
  ["OpenAI-compatible servers", "openai", "/v1/rerank", "Paris is the capital of France.\n"],
];

for (const [title, name, path, printed] of parts) {
  test(`${title}: the program before and the program after print the same`, async () => {
    asked.length = 0;
    for (const part of ["Before", "After"]) {
      const output = await runProgram(`documented/comingFrom/${name}${part}.ts`, server.url, { RERANK_URL });
      assert.equal(output, printed);
    }
    assert.deepEqual(
      asked.map((each) => each.path),
      [path],
    );
    assert.equal(service.requests.length, 1);
    const [query, length] = [asked[0]?.body.query, 2];
    assert.equal(firstBody().query, query);
    assert.equal((firstBody().documents as unknown[]).length, length);
  });
}

test("every part of the page is here", () => {
  const titles = [...page.matchAll(/^## (.*)$/gm)].map(([, title]) => title);
  assert.deepEqual(
    titles,
    parts.map(([title]) => title),
  );
});
