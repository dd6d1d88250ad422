// axe finds nothing on our pages, in the menu and in the search.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { describe, test } from "node:test";
import { pagesOf } from "./site.js";
import { phone, useSite } from "./visit.js";

const site = useSite();
const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const own = await pagesOf();

// What stands around each page alike: looked at on two of them.
const frame = [".VPNav", ".VPSidebar"];
const framed = ["index.html", "guide/upload.html"];

async function violations(page, { exclude = [], rules } = {}) {
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(axe);
  // Without the selectors of everything that is in order it takes a fraction of the time.
  const options = { resultTypes: ["violations"], ...(rules && { runOnly: { type: "rule", values: rules } }) };
  const found = await page.evaluate(
    ([exclude, options]) => globalThis.axe.run({ exclude }, options),
    [exclude, options],
  );
  return found.violations;
}

const places = ({ id, nodes }) =>
  nodes.map((node) => `${id}: ${node.target.join(" ")}\n  ${node.any[0]?.message ?? node.failureSummary}`);

describe("axe has nothing against", { concurrency: 4 }, () => {
  for (const name of own) {
    test(`${name}, light and dark`, async () => {
      const { page, close } = await site.open(name);
      const exclude = framed.includes(name) ? [] : frame;
      assert.deepEqual((await violations(page, { exclude })).flatMap(places), [], "light");
      await page.emulateMedia({ colorScheme: "dark" });
      await page.waitForFunction(() => document.documentElement.classList.contains("dark"));
      // In the dark only the colours differ.
      const dark = await violations(page, { exclude, rules: ["color-contrast", "link-in-text-block"] });
      assert.deepEqual(dark.flatMap(places), [], "dark");
      await close();
    });
  }
});

test("axe has nothing against the menu of a phone", async () => {
  const { page, close } = await site.open("guide/upload.html", { viewport: phone });
  await page.getByRole("button", { name: "Menu", exact: true }).click();
  assert.deepEqual((await violations(page)).flatMap(places), []);
  await close();
});

for (const colorScheme of ["light", "dark"]) {
  test(`axe has nothing against the search, ${colorScheme}`, async () => {
    const { page, close } = await site.open("guide/upload.html", { colorScheme });
    await page.keyboard.press("Control+k");
    await page.locator("#localsearch-input").fill("upload");
    await page.locator(".result").first().waitFor();
    assert.deepEqual((await violations(page)).flatMap(places), []);
    await close();
  });
}
