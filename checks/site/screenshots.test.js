// Pictures of the main pages for people to look at: reports/screenshots, light and dark, on a desk and on a phone.
import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { phone, useSite } from "./visit.js";

const site = useSite();
const folder = fileURLToPath(new URL("../../reports/screenshots/", import.meta.url));
const pages = {
  home: "index.html",
  quickstart: "guide/quickstart.html",
  errors: "guide/errors.html",
  retries: "guide/retries.html",
  benchmarks: "guide/benchmarks.html",
  codes: "codes/index.html",
  api: "api/tunerank.html",
  reference: "reference/index.html",
};

describe("a picture is taken", { concurrency: 2 }, () => {
  for (const [name, address] of Object.entries(pages)) {
    test(`of ${name}`, async () => {
      await mkdir(folder, { recursive: true });
      for (const colorScheme of ["light", "dark"])
        for (const [place, viewport] of Object.entries({ desk: { width: 1440, height: 900 }, phone })) {
          // A page of its own: Chromium drew one that was resized at the width of another.
          const { page, close } = await site.open(address, { colorScheme, viewport });
          const file = path.join(folder, `${name}-${colorScheme}-${place}.png`);
          const height = Math.min(await page.evaluate(() => document.documentElement.scrollHeight), 6000);
          const clip = { x: 0, y: 0, width: viewport.width, height };
          const picture = await page.screenshot({ path: file, fullPage: true, clip });
          assert.ok(picture.length > 5000, `${file} shows nothing`);
          await close();
        }
    });
  }
});
