// What a reader does: looks for an answer, uses a telephone, chooses the dark, takes a document away.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { test } from "node:test";
import { compareRevisions } from "../../contract/breaking/changelog.ts";
import { publishedForms } from "../../docs/build/addresses.ts";
import { pagesOf } from "./site.js";
import { expectQuiet, phone, useSite } from "./visit.js";

const site = useSite();
const root = new URL("../../", import.meta.url);

test("who asks why an upload was not retried has the answer after two clicks", async () => {
  const { page, seen, close } = await site.open("");
  await page.getByRole("link", { name: "All questions" }).click();
  await page
    .getByRole("link", { name: "Why was my upload not retried?" })
    .and(page.locator(".VPDocAside a, main a"))
    .first()
    .click();
  const heading = page.getByRole("heading", { name: "Why was my upload not retried?" });
  await heading.waitFor();
  assert.match(page.url(), /\/guide\/questions(\.html)?#why-was-my-upload-not-retried$/);
  assert.ok(await page.getByText("Because it may have succeeded.").isVisible());
  expectQuiet(seen);
  await close();
});

test("the home page has that answer after one click", async () => {
  const { page, close } = await site.open("");
  await page.getByRole("link", { name: "Why was my upload not retried?" }).click();
  await page.getByText("Because it may have succeeded.").waitFor();
  await close();
});

test("on a phone the menu opens, and leads to a page", async () => {
  const { page, seen, close } = await site.open("guide/quickstart.html", { viewport: phone });
  await page.getByRole("button", { name: "Menu", exact: true }).click();
  const link = page.locator(".VPSidebar").getByRole("link", { name: "Upload a dataset file" });
  await link.click();
  await page.getByRole("heading", { level: 1, name: "Upload a dataset file" }).waitFor();
  await page.waitForFunction(() => document.querySelector(".VPSidebar").getBoundingClientRect().right <= 0);
  expectQuiet(seen);
  await close();
});

test("who chose the dark keeps it", async () => {
  const { page, close } = await site.open("guide/quickstart.html", { apart: true });
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await ground();
  await page.getByRole("switch").first().click();
  await page.waitForFunction(() => document.documentElement.classList.contains("dark"));
  const dark = await ground();
  assert.notEqual(dark, light);
  await page.reload();
  assert.equal(await ground(), dark);
  await close();
});

test("the documents for download are those that the package ships", async () => {
  const names = [...publishedForms, "overlays/fern.yaml", "overlays/speakeasy.yaml"];
  for (const name of names) {
    assert.deepEqual(await download(name), await readFile(new URL(`dist/${name}`, root)), name);
  }
  assert.deepEqual(
    await download("skill.md"),
    await readFile(new URL("dist/skills/tunerank/SKILL.md", root)),
  );
});

test("every revision of the contract is served by its name, as its sums say, and the newest as latest", async () => {
  const folders = ["contract/revisions", "dist/revisions"].map((folder) => readdir(new URL(folder, root)));
  const kept = [...new Set((await Promise.all(folders)).flat())].sort(compareRevisions);
  for (const revision of [...kept, "latest"]) {
    const sums = `${await download(`contract/${revision}/SHA256SUMS`)}`.trim().split("\n");
    assert.ok(sums.length >= 5, `${sums.length} files`);
    for (const [sum, name] of sums.map((line) => line.split("  "))) {
      const served = await download(`contract/${revision}/${name}`);
      assert.equal(createHash("sha256").update(served).digest("hex"), sum, `${revision}/${name}`);
    }
  }
  assert.deepEqual(
    await download("contract/latest/openapi.yaml"),
    await readFile(new URL("dist/openapi.yaml", root)),
  );
});

async function download(name) {
  const response = await fetch(`${site.origin}/${name}`);
  assert.equal(response.status, 200, name);
  return Buffer.from(await response.arrayBuffer());
}

test("llms.txt lists pages that are there, and llms-full.txt holds their text", async () => {
  const list = await (await fetch(`${site.origin}/llms.txt`)).text();
  const whole = await (await fetch(`${site.origin}/llms-full.txt`)).text();
  const links = [...list.matchAll(/\]\((\/[^)]+)\)/g)].map(([, link]) => link);
  assert.ok(links.length > 60, `${links.length} links`);
  for (const link of links) {
    const response = await fetch(site.origin + link);
    assert.equal(response.status, 200, link);
    if (link.endsWith(".md") && link !== "/skill.md")
      assert.ok(whole.includes((await response.text()).trim()), link);
  }
  for (const name of await pagesOf()) {
    if (name === "404.html") continue;
    assert.ok(links.includes(`/${name.replace(/\.html$/, ".md")}`), `${name} is not in llms.txt`);
  }
  assert.doesNotMatch(whole, /<!--@include|^<<< /m);
});
