// The TypeScript API: a page for each entry of the package, whose signatures have their types and whose types unfold.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { entries } from "../../scripts/build/entries.ts";
import { useSite } from "./visit.js";

const site = useSite();
const names = entries.map(({ name }) => name.replace(/^\./, "tunerank"));
const withoutScripts = { apart: true, javaScriptEnabled: false };

describe("the API page of", () => {
  for (const name of names) {
    test(`${name} has its signatures with types, and headings to link to, without JavaScript`, async () => {
      const { page, close } = await site.open(`api/${name}.html`, withoutScripts);
      assert.equal((await page.locator("h1").innerText()).replaceAll("\u200b", "").trim(), name);
      const signatures = await page.locator(".vp-doc div.language-ts code").allInnerTexts();
      const functions = signatures.filter((text) => text.startsWith("function "));
      assert.notEqual(functions.length, 0);
      for (const text of functions) assert.match(text, /^function \w+(<.*>)?\((\s*\w+\??: |\))/s, text);
      const ids = await page.locator(".vp-doc :is(h2, h3)").evaluateAll((all) => all.map(({ id }) => id));
      assert.ok(ids.every((id) => id !== "") && new Set(ids).size === ids.length, `${ids}`);
      assert.equal(await page.locator(".vp-doc details[open]").count(), 0);
      await close();
    });
  }
});

test("the overview leads to every entry, and says what each is for", async () => {
  const { page, close } = await site.open("api/index.html");
  for (const name of names) {
    const row = page.getByRole("row").filter({ has: page.getByRole("link", { name, exact: true }) });
    assert.ok((await row.locator("td").nth(1).innerText()).length > 20, name);
  }
  await close();
});
