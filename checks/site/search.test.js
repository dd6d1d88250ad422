// The search finds each operation and each code, without a network.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { operationPages } from "../../docs/build/operations.ts";
import { httpStatuses, operations } from "../../src/generated/contract.ts";
import { searcher } from "./site.js";
import { expectQuiet, useSite } from "./visit.js";

const site = useSite();
const guides = Object.fromEntries(
  operationPages.map(({ id, page, hasGuide }) => [id, `${hasGuide ? "guide" : "reference"}/${page}`]),
);
const words = {
  "rerank documents": "guide/rerank",
  "upload file": "guide/upload",
  "scale deployment": "guide/scale",
  "resume job": "guide/resume",
  "why was my upload not retried": "guide/questions",
};

// What people type, and the page with the answer: a guide, or the recipe where there is one.
const typed = {
  abort: "guide/retries codes/CANCELLED",
  cancel: "guide/retries codes/CANCELLED",
  CORS: "guide/runtimes recipes/browser",
  browser: "guide/runtimes recipes/browser",
  "github actions": "guide/cli recipes/scale-to-zero",
  poll: "guide/resume recipes/did-it-run",
  progress: "guide/upload",
  "large file": "guide/upload",
  "retry upload": "guide/upload guide/questions",
  idempotency: "guide/retries",
  cursor: "guide/documents guide/questions recipes/assistant",
  lambda: "guide/runtimes recipes/workers",
  logging: "guide/observing",
  proxy: "guide/runtimes recipes/proxies",
  timeouts: "guide/retries codes/DEADLINE_EXCEEDED",
  "rate limit": "codes/RESOURCE_EXHAUSTED",
  cost: "guide/scale recipes/scale-to-zero",
  gpu: "guide/scale recipes/scale-to-zero",
  offline: "guide/testing recipes/jest-vitest",
  jest: "guide/testing recipes/jest-vitest",
  vitest: "guide/testing recipes/jest-vitest",
  mock: "guide/testing",
  memory: "guide/upload guide/benchmarks",
  "cjs require": "guide/runtimes",
  commonjs: "guide/runtimes",
  "next.js": "guide/runtimes recipes/nextjs",
  python: "guide/languages recipes/python",
  go: "guide/languages recipes/go",
  curl: "guide/languages",
  temporal: "guide/beyond-one-machine",
  queue: "guide/beyond-one-machine",
  batch: "guide/rerank guide/bulk",
  csv: "guide/prepare-data",
  parquet: "guide/prepare-data",
  "pandas nan": "guide/prepare-data",
  429: "codes/RESOURCE_EXHAUSTED",
  503: "codes/UNAVAILABLE",
  401: "codes/UNAUTHENTICATED",
  FAILED_PRECONDITION: "codes/FAILED_PRECONDITION",
  "api key": "guide/quickstart codes/UNAUTHENTICATED",
  "env variables": "guide/quickstart guide/cli",
  "typescript types": "guide/runtimes api/tunerank",
  openapi: "guide/documents",
  changelog: "guide/changelog",
  version: "guide/versioning",
  "tls certificate": "guide/runtimes recipes/proxies",
  kubernetes: "guide/scale guide/runtimes recipes/scale-to-zero",
  cron: "guide/scale guide/beyond-one-machine recipes/scale-to-zero",
  "scale to zero": "guide/scale recipes/scale-to-zero",
  opentelemetry: "guide/observing",
  langchain: "guide/adapters",
  "relevance score": "guide/rerank",
  "llms.txt": "guide/documents recipes/assistant",
};

const results = await searcher();
const found = (query) => results(query).map(({ page }) => page);

test("the search of a page, its host gone, shows what its index has", async () => {
  const { page, seen, context, close } = await site.open("index.html", { apart: true });
  await page.getByRole("button", { name: "Search" }).click();
  const input = page.locator("#localsearch-input");
  await input.fill("rerank");
  await page.locator(".result").first().waitFor();
  await context.setOffline(true);
  for (const query of ["why was my upload not retried", "UNAVAILABLE", "next.js", "rerankDocuments"]) {
    await input.fill("");
    await page.locator(".result").first().waitFor({ state: "detached" });
    await input.fill(query);
    await page.locator(".result").first().waitFor();
    const links = await page.locator(".result").evaluateAll((all) => all.map(({ pathname }) => pathname));
    const pages = links.map((link) => link.slice(1).replace(".html", ""));
    assert.deepEqual(pages, found(query).slice(0, pages.length), query);
  }
  expectQuiet(seen);
  await close();
});

describe("the search", () => {
  test("knows 17 codes and 4 operations to ask for", () => {
    assert.equal(Object.keys(httpStatuses).length, 17);
    assert.deepEqual(Object.keys(guides).sort(), Object.keys(operations).sort());
  });
  for (const name of Object.keys(httpStatuses))
    test(`finds ${name} first`, () => assert.equal(found(name)[0], `codes/${name}`));
  for (const [query, pages] of Object.entries({ ...guides, ...words, ...typed }))
    test(`finds ${pages.replaceAll(" ", " or ")} for "${query}" among the first three`, () => {
      const first = found(query).slice(0, 3);
      assert.ok(
        pages.split(" ").some((page) => first.includes(page)),
        first.join("\n"),
      );
    });
});
