// axe finds nothing on our pages; in the search, which the theme draws, only what is recorded.
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { describe, test } from "node:test";
import { pagesOf } from "./site.js";
import { phone, useSite } from "./visit.js";

const site = useSite();
const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const baselineFile = new URL("./baseline.json", import.meta.url);
const baseline = JSON.parse(await readFile(baselineFile, "utf8"));
const own = await pagesOf();
const schemes = ["light", "dark"];

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

// What a new release mended is to be taken out of the record, so that it cannot come back.
async function expectRecorded(page, name, colorScheme) {
  const rules = (await violations(page)).map(({ id }) => id).sort();
  if (process.env.UPDATE_BASELINE) {
    baseline[name] = { ...baseline[name], [colorScheme]: rules };
    await writeFile(baselineFile, `${JSON.stringify(baseline, null, 2)}\n`);
  }
  assert.deepEqual(rules, baseline[name]?.[colorScheme]);
}

describe("axe has nothing but what is recorded against", () => {
  for (const colorScheme of schemes) {
    test(`the theme's search, ${colorScheme}`, async () => {
      const { page, close } = await site.open("guide/upload.html", { colorScheme });
      await page.keyboard.press("Control+k");
      await page.locator("#localsearch-input").fill("upload");
      await page.locator(".result").first().waitFor();
      await expectRecorded(page, "search", colorScheme);
      await close();
    });
  }
});
