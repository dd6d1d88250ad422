// The search finds each operation and each code, without a network.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { httpStatuses, operations } from "../../src/generated/contract.ts";
import { expectQuiet, useSite } from "./visit.js";

const site = useSite();
const guides = {
  rerankDocuments: "/guide/rerank.html",
  uploadDatasetFile: "/guide/upload.html",
  scaleDeployment: "/guide/scale.html",
  resumeReinforcementFineTuningJob: "/guide/resume.html",
};
const words = {
  "rerank documents": "/guide/rerank.html",
  "upload file": "/guide/upload.html",
  "scale deployment": "/guide/scale.html",
  "resume job": "/guide/resume.html",
  "why was my upload not retried": "/guide/questions.html",
};

describe("the search, its host gone,", () => {
  let opened;
  before(async () => {
    opened = await site.open("index.html", { apart: true });
    await opened.page.getByRole("button", { name: "Search" }).click();
    await opened.page.locator("#localsearch-input").fill("rerank");
    await opened.page.locator(".result").first().waitFor();
    await opened.context.setOffline(true);
  });
  after(async () => {
    expectQuiet(opened.seen);
    await opened.close();
  });

  async function found(query) {
    const { page } = opened;
    const input = page.locator("#localsearch-input");
    await input.fill("");
    await page.locator(".result").first().waitFor({ state: "detached" });
    await input.fill(query);
    await page.locator(".result").first().waitFor();
    const links = await page
      .locator(".result")
      .evaluateAll((all) => all.map((each) => each.getAttribute("href")));
    return links.map((link) => new URL(link, site.origin).pathname);
  }

  test("knows 17 codes and 4 operations to ask for", () => {
    assert.equal(Object.keys(httpStatuses).length, 17);
    assert.deepEqual(Object.keys(guides).sort(), Object.keys(operations).sort());
  });
  for (const name of Object.keys(httpStatuses)) {
    test(`finds ${name} first`, async () => assert.equal((await found(name))[0], `/codes/${name}.html`));
  }
  for (const [query, page] of Object.entries({ ...guides, ...words })) {
    test(`finds ${page} for "${query}" among the first three`, async () =>
      assert.ok((await found(query)).slice(0, 3).includes(page), (await found(query)).join("\n")));
  }
});
