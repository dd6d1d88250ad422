// What others show of a page: its head, its picture, its Markdown; and what stands where there is no page.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { addressOf, headOf } from "../../docs/build/head.ts";
import { folder, pagesOf } from "./site.js";
import { useSite } from "./visit.js";

const site = useSite();
const read = (name, encoding) => readFile(path.join(folder, name), encoding);
const pages = (await pagesOf()).filter((name) => name !== "404.html");
const published = { origin: "https://docs.example.com", base: "/tunerank/" };
const guide = { path: "guide/scale.md", title: "Scale", description: "Set replicas." };

const tagsOf = (html) => [...html.matchAll(/<(?:link|meta)\b[^>]*>/g)].map(([tag]) => tag);
const attributeOf = (tags, name) =>
  /(?:content|href)="([^"]*)"/.exec(tags.find((tag) => tag.includes(`="${name}"`)) ?? "")?.[1];

test("where the site's address is known, links to it are absolute", () => {
  const head = headOf(guide, published).map(([, attributes]) => Object.values(attributes).join(" "));
  const whole = "https://docs.example.com/tunerank";
  assert.ok(head.includes(`canonical ${whole}/guide/scale.html`));
  assert.ok(head.includes(`alternate text/markdown ${whole}/guide/scale.md`));
  assert.ok(head.includes(`og:url ${whole}/guide/scale.html`));
  assert.ok(head.includes(`og:image ${whole}/card.png`));
  assert.equal(addressOf("codes/index.html", published), `${whole}/codes/`);
});

test("where it is not, they lead from the host's root, and no page says where it stands", async () => {
  const text = JSON.stringify(headOf(guide, { origin: "", base: "/" }));
  assert.doesNotMatch(text, /https?:|canonical|og:url/);
  for (const name of pages) {
    const html = await read(name, "utf8");
    assert.doesNotMatch(tagsOf(html).join(""), /canonical|og:url/, name);
  }
  await assert.rejects(read("sitemap.xml"));
  assert.equal(await read("robots.txt", "utf8"), "User-agent: *\nAllow: /\n");
});

test("each page has a title and a description that no other has, a card, icons, and its Markdown", async () => {
  const seen = new Map();
  for (const name of pages) {
    const html = await read(name, "utf8");
    const tags = tagsOf(html);
    const title = /<title>(.*?)<\/title>/.exec(html)?.[1];
    const description = attributeOf(tags, "description");
    for (const text of [title, description]) {
      assert.ok(text?.length > 8, `${name}: ${text}`);
      assert.equal(seen.get(text), undefined, `${name}: ${text}`);
      seen.set(text, name);
    }
    assert.equal(attributeOf(tags, "og:title"), title, name);
    assert.equal(attributeOf(tags, "og:description"), description, name);
    assert.equal(attributeOf(tags, "twitter:card"), "summary_large_image");
    assert.equal(attributeOf(tags, "text/markdown"), `/${name.replace(/html$/, "md")}`);
    assert.match(await read(name.replace(/html$/, "md"), "utf8"), /^(#|<|\S)/);
    for (const icon of ["icon.svg", "icon-32.png", "icon-180.png"])
      assert.ok(html.includes(`href="/${icon}"`));
  }
});

test("the pictures are there, in the sizes that are told", async () => {
  for (const [name, width, height] of [
    ["card.png", 1200, 630],
    ["icon-32.png", 32, 32],
    ["icon-180.png", 180, 180],
  ]) {
    const png = await read(name);
    assert.deepEqual([png.readUInt32BE(16), png.readUInt32BE(20)], [width, height], name);
    assert.ok(png.length < 100_000, `${png.length} bytes`);
  }
});

test("a lost address leads on without JavaScript", async () => {
  const { page, close } = await site.open("guide/nothing.html", { apart: true, javaScriptEnabled: false });
  await page.getByRole("heading", { name: "There is no such page" }).waitFor();
  await page.getByRole("link", { name: "Quickstart" }).first().click();
  await page.getByRole("heading", { level: 1, name: "Quickstart" }).waitFor();
  await close();
});

test("a lost address has one sentence, and a search", async () => {
  const { page, close } = await site.open("guide/nothing.html", { apart: true });
  await page.getByRole("heading", { name: "There is no such page" }).waitFor();
  assert.equal((await page.locator("main p").first().innerText()).match(/\./g).length, 1);
  await page.locator("main").getByRole("button", { name: "Search" }).click();
  await page.locator("#localsearch-input").fill("install");
  await page.locator(".result").first().click();
  await page.getByRole("heading", { level: 1 }).waitFor();
  await close();
});

test("a page is copied as its Markdown, with what it includes", async () => {
  const { page, context, close } = await site.open("guide/upload.html", { apart: true });
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.getByRole("button", { name: "Copy page" }).click();
  await page.getByText("Copied").waitFor();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  assert.equal(copied, await read("guide/upload.md", "utf8"));
  assert.match(copied, /```ts\n/);
  assert.doesNotMatch(copied, /<!--@include|^<<< /m);
  await close();
});

test("llms.txt begins with the start, and follows the navigation", async () => {
  const list = await read("llms.txt", "utf8");
  const order = [
    "/index.md",
    "/guide/quickstart.md",
    "/guide/rerank.md",
    "/guide/errors.md",
    "/api/tunerank.md",
  ];
  const places = order.map((link) => list.indexOf(`](${link})`));
  assert.ok(places[0] > 0, `${places}`);
  assert.deepEqual(
    places,
    [...places].sort((a, b) => a - b),
  );
});

// One page, by the site's own configuration and theme.
async function builtAlone(page, env) {
  const docs = fileURLToPath(new URL("../../docs/", import.meta.url));
  const place = await mkdtemp(path.join(docs, "generated/alone-"));
  try {
    await mkdir(path.join(place, ".vitepress"));
    await symlink(path.join(docs, ".vitepress/theme"), path.join(place, ".vitepress/theme"));
    await cp(path.join(docs, page), path.join(place, page));
    const own = `import all from "../../../.vitepress/config.ts";
export default { ...all, outDir: "./site", srcExclude: [], rewrites: {}, ignoreDeadLinks: true };\n`;
    await writeFile(path.join(place, ".vitepress/config.ts"), own);
    const args = [path.join(docs, "node_modules/vitepress/bin/vitepress.js"), "build", place];
    const { status, stderr } = spawnSync(process.execPath, args, { env: { ...process.env, ...env } });
    assert.equal(status, 0, `${stderr}`);
    return await readFile(path.join(place, "site", page.replace(/md$/, "html")), "utf8");
  } finally {
    await rm(place, { recursive: true });
  }
}

test("where the build is told the repository's address, the page on faults and the footer lead there", async () => {
  const repository = "https://git.example.com/acme/tunerank";
  const known = await builtAlone("guide/contribute.md", { DOCS_REPOSITORY: `git+${repository}.git` });
  const linksOf = (html) =>
    [...html.matchAll(/<a [^>]*href="([^"]*)"[^>]*>(.*?)<\/a>/g)].map(
      ([, href, words]) => `${words}: ${href}`,
    );
  const links = linksOf(known).filter((each) => each.includes(repository));
  assert.deepEqual(links, [
    `the repository: ${repository}`,
    `the form for bugs: ${repository}/issues/new/choose`,
    `CONTRIBUTING.md: ${repository}/blob/HEAD/CONTRIBUTING.md`,
    `MIT: ${repository}/blob/HEAD/LICENSE`,
    `Repository: ${repository}`,
    `Edit this page: ${repository}/edit/main/docs/guide/contribute.md`,
  ]);
  const unknown = await read("guide/contribute.html", "utf8");
  assert.ok(!linksOf(unknown).some((each) => /^(the repository|the form|Repository|Edit)/.test(each)));
  assert.match(unknown, /In the repository, with the form for bugs/);
});
