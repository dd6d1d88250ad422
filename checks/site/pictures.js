// node --import tsx checks/site/pictures.js: draws the pictures of docs/public that others show of the site, which git keeps.
import { readFile, writeFile } from "node:fs/promises";
import { launch } from "./visit.js";

const docs = new URL("../../docs/", import.meta.url);
const pictures = [
  { from: "public/card.svg", to: "public/card.png", width: 1200, height: 630 },
  { from: "public/icon.svg", to: "public/icon-32.png", width: 32, height: 32 },
  { from: "public/icon.svg", to: "public/icon-180.png", width: 180, height: 180 },
];

const typeface = await readFile(
  new URL("node_modules/@fontsource-variable/figtree/files/figtree-latin-wght-normal.woff2", docs),
);
const face = `@font-face { font-family: Figtree; font-weight: 300 900; src: url(data:font/woff2;base64,${typeface.toString("base64")}) }`;
const browser = await launch();
for (const { from, to, width, height } of pictures) {
  const page = await browser.newPage({ viewport: { width, height } });
  const svg = await readFile(new URL(from, docs), "utf8");
  await page.setContent(
    `<style>${face} body { margin: 0 } svg { display: block; width: 100vw }</style>${svg}`,
  );
  await page.evaluate(() => document.fonts.ready);
  await writeFile(new URL(to, docs), await page.screenshot({ omitBackground: true }));
}
await browser.close();
