// What helps a reader find the way: the side bar shows where one is, long parts are folded, the search says its keys.
import assert from "node:assert/strict";
import { test } from "node:test";
import { commands } from "../../src/cli/program.ts";
import { expectQuiet, phone, useSite } from "./visit.js";

const site = useSite();

for (const [name, text] of [
  ["enums/JobState.html", "JobState"],
  ["reference/limits.html", "Limits"],
  ["guide/quickstart.html", "Quickstart"],
]) {
  test(`the side bar shows the entry of ${name}`, async () => {
    const { page, seen, close } = await site.open(name);
    const active = page.locator(".VPSidebarItem.is-link.is-active").getByText(text, { exact: true });
    await page.waitForFunction(
      (link) => {
        const { top, bottom } = link.getBoundingClientRect();
        return top > 0 && bottom <= innerHeight;
      },
      await active.elementHandle(),
    );
    expectQuiet(seen);
    await close();
  });
}

test("the search button says which keys open it", async () => {
  const { page, close } = await site.open("guide/quickstart.html");
  assert.ok(await page.locator(".DocSearch-Button-Keys").isVisible());
  await page.keyboard.press("Control+k");
  await page.locator("#localsearch-input").waitFor();
  await close();
});

// How light a picture is on the whole, from 0 to 255.
async function lightness(page, shot) {
  return page.evaluate(async (data) => {
    const image = new Image();
    image.src = `data:image/png;base64,${data}`;
    await image.decode();
    const canvas = Object.assign(document.createElement("canvas"), { width: 1, height: 1 });
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0, 1, 1);
    return context.getImageData(0, 0, 1, 1).data[0];
  }, shot.toString("base64"));
}

for (const system of ["light", "dark"]) {
  for (const chosen of ["light", "dark"]) {
    test(`on a ${system} system a chart is ${chosen} where the site is`, async () => {
      const { page, context, close } = await site.open("", { colorScheme: system, apart: true });
      await context.addInitScript(
        (value) => localStorage.setItem("vitepress-theme-appearance", value),
        chosen,
      );
      await page.goto(`${site.origin}/guide/bulk.html`, { waitUntil: "networkidle" });
      const found = await lightness(page, await page.locator(".vp-doc img").first().screenshot());
      assert.ok(chosen === "light" ? found > 190 : found < 80, `its lightness is ${found}`);
      await close();
    });
  }
}

test("a hash that is no text leads nowhere, and breaks nothing", async () => {
  const { page, seen, close } = await site.open("guide/errors.html#%zz", { apart: true });
  await page.evaluate(() => {
    location.hash = "#%E0%A4%A";
  });
  await page.waitForTimeout(200);
  expectQuiet(seen);
  await close();
});

test("each option of the command has its row", async () => {
  const { page, close } = await site.open("guide/cli.html");
  const text = await page.locator(".vp-doc").evaluate((element) => element.textContent);
  for (const command of commands) {
    for (const { long } of command.options) assert.ok(text.includes(long), `${command.name} ${long}`);
  }
  await close();
});

test("both changelogs have a feed, and a page leads to the assistants", async () => {
  const { page, close } = await site.open("guide/errors.html");
  const feed = await page.locator('link[type="application/rss+xml"]').getAttribute("href");
  const text = await (await fetch(new URL(feed, site.origin))).text();
  for (const title of ["tunerank 0.1.0", "Contract 0.2.0"])
    assert.ok(text.includes(`<title>${title}</title>`));
  await page.getByText("Open in an assistant").click();
  for (const name of ["Claude", "ChatGPT", "Cursor"]) {
    const address = await page.getByRole("link", { name, exact: true }).getAttribute("href");
    assert.match(decodeURIComponent(address), /^https:\/\/.*Read http.*\/guide\/errors\.md/);
  }
  await close();
});

test("at first the side bar shows at most thirty links, and a group opens by its heading", async () => {
  const { page, close } = await site.open("guide/quickstart.html");
  const links = page.locator(".VPSidebar a:visible");
  const few = await links.count();
  assert.ok(few > 5 && few <= 30, `${few} links`);
  await page.locator(".VPSidebar").getByRole("button", { name: "Recipes" }).first().click();
  await page.locator(".VPSidebar").getByRole("link", { name: "All recipes" }).waitFor();
  assert.ok((await links.count()) > few);
  await close();
});

for (const [place, viewport] of Object.entries({ desk: { width: 1440, height: 900 }, phone })) {
  test(`on the first screen of a ${place} the home page has code, with its package managers`, async () => {
    const { page, close } = await site.open("", { viewport });
    for (const name of ["npm", "pnpm", "yarn", "bun"])
      assert.ok(await page.locator(`.vp-code-group label[data-title=${name}]`).isVisible(), name);
    const box = await page.locator(".vp-doc .vp-code-group pre:visible").first().boundingBox();
    assert.ok(box.y + box.height <= viewport.height, `it ends ${box.y + box.height} px down`);
    if (place === "desk") {
      const program = await page.locator(".vp-doc div.language-js").first().boundingBox();
      assert.ok(program.y + program.height <= viewport.height, `${program.y + program.height}`);
    }
    await close();
  });
}

test("a copy button is seen without a mouse", async () => {
  const { page, seen, close } = await site.open("reference/rerank.html", { apart: true });
  const button = page.locator(".vp-code-group .active button.copy");
  assert.equal(await button.evaluate((each) => getComputedStyle(each).opacity), "1");
  expectQuiet(seen);
  await close();
});

test("below the title of a page, on a phone too, it can be copied", async () => {
  for (const viewport of [phone, { width: 1440, height: 900 }]) {
    const { page, close } = await site.open("guide/errors.html", { viewport });
    const [title, tools] = await Promise.all(
      ["h1", ".page-tools"].map((each) => page.locator(`.vp-doc ${each}`).boundingBox()),
    );
    assert.ok(tools.y >= title.y + title.height - 4 && tools.y < title.y + title.height + 40);
    await close();
  }
});
