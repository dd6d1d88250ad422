// axe finds nothing in the menu and in the search; allPages.test.js asks it about each page.
import assert from "node:assert/strict";
import { test } from "node:test";
import { axeFinds, phone, useSite } from "./visit.js";

const site = useSite();

test("axe has nothing against the menu of a phone", async () => {
  const { page, close } = await site.open("guide/upload.html", { viewport: phone });
  await page.getByRole("button", { name: "Menu", exact: true }).click();
  assert.deepEqual(await axeFinds(page), []);
  await close();
});

for (const colorScheme of ["light", "dark"]) {
  test(`axe has nothing against the search, ${colorScheme}`, async () => {
    const { page, close } = await site.open("guide/upload.html", { colorScheme });
    await page.keyboard.press("Control+k");
    await page.locator("#localsearch-input").fill("upload");
    await page.locator(".result").first().waitFor();
    assert.deepEqual(await axeFinds(page), []);
    await close();
  });
}
