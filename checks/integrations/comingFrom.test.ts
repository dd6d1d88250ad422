import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";
import { runProgram } from "./support/program.ts";
import { firstBody, server, service } from "./support/service.ts";

const page = await readFile(new URL("../../docs/guide/coming-from.md", import.meta.url), "utf8");
const folder = new URL("documented/comingFrom/", import.meta.url);
await mkdir(folder, { recursive: true });

// Answers as the other services do, and keeps what they were asked.
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
after(async () => {
  others.close();
  await rm(folder, { recursive: true });
});

const parts: readonly [title: string, path: string, printed: string][] = [
  ["cohere-ai", "/v2/rerank", "Paris is the capital of France. true\n"],
  ["together-ai", "/rerank", "Paris\n"],
  ["voyageai", "/rerank", "Paris is the capital of France. true\n"],
  ["Jina", "/v1/rerank", "Paris is the capital of France.\n"],
  ["OpenAI-compatible servers", "/v1/rerank", "Paris is the capital of France.\n"],
];

for (const [title, path, printed] of parts) {
  test(`${title}: the program before and the program after print the same`, async () => {
    const [, part = ""] = page.split(`\n## ${title}\n`);
    const [own = ""] = part.split("\n## ");
    const programs = [...own.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = ""]) => code);
    assert.equal(programs.length, 2);
    asked.length = 0;
    for (const [index, code] of programs.entries()) {
      const name = `${title.split(" ")[0]}${index}.ts`;
      await writeFile(new URL(name, folder), code);
      const output = await runProgram(`documented/comingFrom/${name}`, server.url, { RERANK_URL });
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
