// Every page loads from its own host alone, without complaint of its own or of axe, has links that lead somewhere and
// fits a phone.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { describe, test } from "node:test";
import { pagesOf } from "./site.js";
import { axeFinds, expectQuiet, phone, useSite } from "./visit.js";

const site = useSite();
const pages = await pagesOf();
const seenPages = new Map();

// As the reader has it: scripts have run.
function linksAndAnchors() {
  return {
    links: [...document.querySelectorAll("a[href]")].map((link) => link.href),
    anchors: [...document.querySelectorAll("[id]")].map((element) => element.id),
  };
}

function widths() {
  const { scrollWidth, clientWidth } = document.documentElement;
  const wide = [...document.querySelectorAll("body *")].filter((element) => {
    const { right, width } = element.getBoundingClientRect();
    return width > 0 && right > clientWidth + 1 && !element.closest("pre, table, .VPSidebar");
  });
  return {
    scrollWidth,
    clientWidth,
    wide: wide.slice(0, 5).map((element) => element.outerHTML.slice(0, 120)),
  };
}

// What is taller has parts that are folded; the pages of the reference never are.
async function expectShort(page, name) {
  await page.setViewportSize({ width: 1440, height: 900 });
  const { height, parts } = await page.evaluate(() => ({
    height: document.documentElement.scrollHeight,
    parts: document.querySelectorAll(".vp-doc details").length,
  }));
  const isLong = parts > 0 && !name.startsWith("reference/");
  assert.ok(height < 4000 || isLong, `it is ${height} px tall`);
  assert.deepEqual(await page.evaluate(cutParts), []);
}

// A long line of code goes on below, and a table is no wider than the text.
function cutParts() {
  const { right } = document.querySelector(".vp-doc").getBoundingClientRect();
  const isCut = (each) =>
    each.scrollWidth > each.clientWidth + 1 || each.getBoundingClientRect().right > right + 1;
  const parts = [...document.querySelectorAll(".vp-doc :is(pre, table)")];
  return parts.filter(isCut).map((each) => each.innerText.slice(0, 80));
}

// A picture that is not there shows its words.
function lostPictures() {
  for (const picture of document.images) picture.loading = "eager";
  return Promise.all(
    [...document.images].map(async (picture) => {
      await picture.decode().catch(() => {});
      return picture.naturalWidth > 0 ? [] : picture.outerHTML;
    }),
  ).then((lost) => lost.flat());
}

// A name such as PERMISSION_DENIED is read in one piece.
function brokenNames() {
  const names = [...document.querySelectorAll(".vp-doc :is(h1, td code, li code)")];
  const broken = names.filter(
    (each) => /^[A-Z_]+$/.test(each.textContent.trim()) && each.getClientRects().length > 1,
  );
  return broken.map((each) => each.textContent);
}

// A guide written by hand that has code begins with it, or with the table that it is about: on the first screen.
async function expectCodeFirst(page, name) {
  const source = await readFile(
    new URL(`../../docs/${name.replace(".html", ".md")}`, import.meta.url),
    "utf8",
  ).catch(() => "");
  if (!/^(guide|recipes)\//.test(name) || !/^```\w+ (run|check|skip-check)/m.test(source)) return;
  const box = await page.locator(".vp-doc :is(div[class*=language-], table)").first().boundingBox();
  assert.ok(box !== null && box.y < 720, `its first code or table begins ${box?.y} px down`);
}

// What stands around each page alike: looked at on two of them.
const framed = ["index.html", "guide/upload.html"];

async function expectAccessible(page, name) {
  const exclude = framed.includes(name) ? [] : [".VPNav", ".VPSidebar"];
  assert.deepEqual(await axeFinds(page, { exclude }), [], "light");
  await page.emulateMedia({ colorScheme: "dark" });
  await page.waitForFunction(() => document.documentElement.classList.contains("dark"));
  // In the dark only the colours differ.
  const dark = await axeFinds(page, { exclude, rules: ["color-contrast", "link-in-text-block"] });
  assert.deepEqual(dark, [], "dark");
}

describe("each page", { concurrency: 4 }, () => {
  for (const name of pages) {
    test(`${name} loads from its own host, without complaint, also of axe, and fits a phone`, async () => {
      const { page, seen, close } = await site.open(name);
      expectQuiet(seen);
      assert.ok(seen.requests.length > 0);
      assert.match(await page.title(), /tunerank|Service/);
      const text = await page.locator("body").innerText();
      assert.ok(text.length > 100 && !text.includes("| ---"), "the page is empty, or a table is text");
      assert.deepEqual(await page.evaluate(lostPictures), []);
      seenPages.set(name, await page.evaluate(linksAndAnchors));
      await expectCodeFirst(page, name);
      await expectAccessible(page, name);
      await expectShort(page, name);
      await page.setViewportSize(phone);
      await page.evaluate(
        () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
      );
      const { scrollWidth, clientWidth, wide } = await page.evaluate(widths);
      assert.ok(scrollWidth <= clientWidth, `${scrollWidth} px wide on a phone: ${wide.join("\n")}`);
      assert.deepEqual(await page.evaluate(cutParts), []);
      assert.deepEqual(await page.evaluate(brokenNames), []);
      expectQuiet(seen);
      await close();
    });
  }
});

test("the first 60 words of the home page say what it is, of what and why", async () => {
  const { page, close } = await site.open("");
  const words = (await page.locator("main").innerText()).split(/\s+/).slice(0, 60).join(" ");
  assert.match(words, /TypeScript client that says whether your call ran/);
  assert.match(words, /the client of one HTTP machine-learning service/);
  assert.match(words, /its error says whether the operation may have run, and what to do now/);
  // Of the measured reasons there are those whose figures are as new as the code.
  assert.ok((await page.locator(".reasons li").count()) >= 3);
  await close();
});

test("on paper there is only the text, with what is folded", async () => {
  const { page, close } = await site.open("guide/rerank.html");
  await page.emulateMedia({ media: "print" });
  for (const part of [".VPNav", ".VPSidebar", ".VPDocFooter", ".page-tools", ".lab", ".copy"]) {
    assert.equal(await page.locator(`${part}:visible`).count(), 0, part);
  }
  assert.ok(await page.locator("h1").isVisible());
  const box = await page.locator(".vp-doc details.custom-block > :not(summary)").first().boundingBox();
  assert.ok(box !== null && box.height > 0);
  await close();
});

test("every internal link and anchor of every page leads somewhere", async (t) => {
  assert.equal(seenPages.size, pages.length);
  const status = new Map();
  const broken = [];
  let count = 0;
  for (const [name, { links }] of seenPages) {
    for (const link of links) {
      const { origin, pathname, hash } = new URL(link);
      if (origin !== site.origin && !link.startsWith("http://127.0.0.1")) continue;
      count++;
      if (!status.has(pathname)) status.set(pathname, (await fetch(site.origin + pathname)).status);
      const target = decodeURIComponent(pathname.slice(1)).replace(/(^|\/)$/, "$1index.html");
      const anchors = seenPages.get(target)?.anchors;
      const lost = hash !== "" && !anchors?.includes(decodeURIComponent(hash.slice(1)));
      if (status.get(pathname) !== 200 || lost) broken.push(`${link.slice(site.origin.length)} on ${name}`);
    }
  }
  t.diagnostic(`${pages.length} pages, ${count} internal links, ${status.size} addresses`);
  assert.ok(count > pages.length);
  assert.deepEqual([...new Set(broken)], []);
});
